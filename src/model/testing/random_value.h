// Random values for tests, kept as plain trees so that expectations do not depend on the code under
// test. Test support: included by tests only.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/value.h"
#include "model/value_wire.h"

namespace hearth::model {

// A decoded value. Which members are used depends on the type.
struct Tree {
  ValueType type = ValueType::kNull;
  bool boolean = false;
  int64_t integer = 0;  // Also the micros of a timestamp.
  double number = 0;    // Also the latitude of a geo point.
  double longitude = 0;
  std::string text = {};
  std::vector<Tree> items = {};  // Also the components of a vector.
  std::map<std::string, Tree> fields = {};
};

inline std::string EncodeTree(const Tree& tree);

inline std::vector<std::string> EncodeTrees(const std::vector<Tree>& trees) {
  std::vector<std::string> encoded;
  for (const Tree& tree : trees) encoded.push_back(EncodeTree(tree));
  return encoded;
}

inline std::string EncodeTree(const Tree& tree) {
  switch (tree.type) {
    case ValueType::kNull:
      return EncodeNull();
    case ValueType::kBoolean:
      return EncodeBoolean(tree.boolean);
    case ValueType::kInteger:
      return EncodeInteger(tree.integer);
    case ValueType::kDouble:
      return EncodeDouble(tree.number);
    case ValueType::kTimestamp:
      return EncodeTimestamp(Timestamp::FromMicros(tree.integer));
    case ValueType::kString:
      return EncodeString(tree.text);
    case ValueType::kBytes:
      return EncodeBytes(tree.text);
    case ValueType::kReference:
      return EncodeReference(tree.text);
    case ValueType::kGeoPoint:
      return EncodeGeoPoint({tree.number, tree.longitude});
    case ValueType::kArray:
      return EncodeArray(EncodeTrees(tree.items));
    case ValueType::kVector:
      return EncodeMap({{"__type__", EncodeString("__vector__")},
                        {"value", EncodeArray(EncodeTrees(tree.items))}});
    case ValueType::kMap:
      break;
  }
  std::vector<std::pair<std::string, std::string>> fields;
  for (const auto& [name, field] : tree.fields) fields.emplace_back(name, EncodeTree(field));
  return EncodeMap(fields);
}

// The fields of a document, in stored form.
inline std::string EncodeDocumentFields(const std::map<std::string, Tree>& fields) {
  std::string encoded;
  for (const auto& [name, tree] : fields) {
    AppendField(MapView::Tag::kDocument, name, EncodeTree(tree), &encoded);
  }
  return encoded;
}

// Makes trees from a few awkward ingredients, so that equal and nearly equal ones are frequent.
class RandomTrees {
 public:
  explicit RandomTrees(uint64_t seed) : engine_(seed) {}

  // A number below `bound`.
  size_t Below(size_t bound) { return engine_() % bound; }

  template <typename T>
  const T& Pick(const std::vector<T>& choices) {
    return choices[Below(choices.size())];
  }

  // A value with at most `depth` levels of nested containers.
  Tree Value(size_t depth) {
    return OfType(static_cast<ValueType>(Below(depth == 0 ? 9 : 12)), depth);
  }

  std::map<std::string, Tree> Fields(size_t depth) {
    std::map<std::string, Tree> fields;
    for (size_t count = Below(4); count > 0; --count) fields[Name()] = Value(depth);
    return fields;
  }

  std::string Name() {
    return Pick<std::string>({"a", "b", "B", "aa", "é", "\xf0\x9f\x98\x80", "a b", "z.z", "value"});
  }

 private:
  Tree OfType(ValueType type, size_t depth) {
    static constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    static const std::vector<int64_t> kIntegers = {
        0, 1, -1, 2, int64_t{1} << 53, (int64_t{1} << 53) + 1, -3, kMax, kMax - 1, -kMax - 1};
    static const std::vector<double> kDoubles = {0.0,
                                                 -0.0,
                                                 1.0,
                                                 -1.0,
                                                 1.5,
                                                 -0.5,
                                                 9007199254740992.0,
                                                 9223372036854775808.0,
                                                 -9223372036854775808.0,
                                                 kInfinity,
                                                 -kInfinity,
                                                 1e300,
                                                 std::numeric_limits<double>::quiet_NaN()};
    static const std::vector<double> kDegrees = {0.0, -0.0, 90.0, -90.0, 0.5};
    Tree tree;
    tree.type = type;
    tree.boolean = Below(2) == 1;
    tree.integer = type == ValueType::kTimestamp
                       ? Pick<int64_t>({0, 1, -1, 1'000'000, -1'000'001, 1'700'000'000'123'456})
                       : Pick(kIntegers);
    tree.number = Pick(type == ValueType::kGeoPoint ? kDegrees : kDoubles);
    tree.longitude = Pick(kDegrees);
    tree.text = type == ValueType::kReference ? Reference() : Text(type);
    if (type == ValueType::kArray) {
      for (size_t count = Below(4); count > 0; --count) {
        Tree item = Value(depth - 1);
        const bool forbidden = item.type == ValueType::kArray || item.type == ValueType::kVector;
        if (!forbidden) tree.items.push_back(std::move(item));
      }
    } else if (type == ValueType::kVector) {
      for (size_t count = 1 + Below(3); count > 0; --count) {
        tree.items.emplace_back();
        tree.items.back().type = ValueType::kDouble;
        tree.items.back().number = Pick<double>({0.0, -0.0, 1.0, 2.5, kInfinity});
      }
    } else if (type == ValueType::kMap) {
      tree.fields = Fields(depth - 1);
    }
    return tree;
  }

  std::string Text(ValueType type) {
    using namespace std::string_literals;
    if (type == ValueType::kBytes && Below(3) == 0)
      return Pick<std::string>({"\xff"s, "\x80\x00"s, "\x00"s});
    return Pick<std::string>(
        {""s, "a"s, "ab"s, "b"s, "a\x00"s, "é"s, "\xef\xbf\xae"s, "\xf0\x9f\x98\x80"s});
  }

  std::string Reference() {
    return "projects/" + Pick<std::string>({"p", "documents"}) + "/databases/" +
           Pick<std::string>({"(default)", "documents"}) + "/documents/c" +
           Pick<std::string>({"/a", "/__id7__", "/__id10__", "/__id-7__", "/__", "/a/b/c",
                              "/a!/b/c", "/__id7__/b/__id8__"});
  }

  std::mt19937_64 engine_;
};

}  // namespace hearth::model
