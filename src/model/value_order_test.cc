#include "model/value_order.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/testing/test_seed.h"
#include "model/testing/random_value.h"

namespace hearth::model {
namespace {

int Sign(std::weak_ordering order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

int Compare(const std::string& left, const std::string& right) {
  return Sign(CompareValues(ValueView(left), ValueView(right)));
}

template <typename T>
int NaiveThreeWay(const T& left, const T& right) {
  return left < right ? -1 : right < left ? 1 : 0;
}

int NaiveNumbers(long double left, long double right) {
  if (std::isnan(left) || std::isnan(right))
    return NaiveThreeWay(!std::isnan(left), !std::isnan(right));
  return NaiveThreeWay(left, right);
}

// A long double on x86 has a 64-bit mantissa: it represents every int64_t and every double exactly.
long double Number(const Tree& tree) {
  return tree.type == ValueType::kInteger ? static_cast<long double>(tree.integer) : tree.number;
}

int NaiveBytes(const std::string& left, const std::string& right) {
  return NaiveThreeWay(std::vector<unsigned char>(left.begin(), left.end()),
                       std::vector<unsigned char>(right.begin(), right.end()));
}

// Segments with numeric ids before all others: {0, number, ""} or {1, 0, text}.
std::vector<std::tuple<int, long, std::string>> OrderedSegments(const std::string& name) {
  std::vector<std::tuple<int, long, std::string>> segments;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    const std::string segment = name.substr(begin, end - begin);
    if (segment.starts_with("__id")) {
      segments.emplace_back(0, std::stol(segment.substr(4)), "");
    } else {
      segments.emplace_back(1, 0, segment);
    }
    begin = end + 1;
  }
  return segments;
}

int NaiveCompare(const Tree& left, const Tree& right);

int NaiveLists(const std::vector<Tree>& left, const std::vector<Tree>& right) {
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (const int order = NaiveCompare(left[i], right[i]); order != 0) return order;
  }
  return NaiveThreeWay(left.size(), right.size());
}

int NaiveMaps(const Tree& left, const Tree& right) {
  auto r = right.fields.begin();
  for (const auto& [name, value] : left.fields) {
    if (r == right.fields.end()) return 1;
    if (const int order = NaiveBytes(name, r->first); order != 0) return order;
    if (const int order = NaiveCompare(value, r->second); order != 0) return order;
    ++r;
  }
  return r == right.fields.end() ? 0 : -1;
}

int NaiveCompare(const Tree& left, const Tree& right) {
  const auto rank = [](const Tree& tree) {
    return tree.type == ValueType::kDouble ? ValueType::kInteger : tree.type;
  };
  if (rank(left) != rank(right)) return NaiveThreeWay(rank(left), rank(right));
  switch (left.type) {
    case ValueType::kNull:
      return 0;
    case ValueType::kBoolean:
      return NaiveThreeWay(left.boolean, right.boolean);
    case ValueType::kInteger:
    case ValueType::kDouble:
      return NaiveNumbers(Number(left), Number(right));
    case ValueType::kTimestamp:
      return NaiveThreeWay(left.integer, right.integer);
    case ValueType::kString:
    case ValueType::kBytes:
      return NaiveBytes(left.text, right.text);
    case ValueType::kReference:
      return NaiveThreeWay(OrderedSegments(left.text), OrderedSegments(right.text));
    case ValueType::kGeoPoint:
      return NaiveThreeWay(std::pair(left.number, left.longitude),
                           std::pair(right.number, right.longitude));
    case ValueType::kArray:
      return NaiveLists(left.items, right.items);
    case ValueType::kVector:
      if (left.items.size() != right.items.size()) {
        return NaiveThreeWay(left.items.size(), right.items.size());
      }
      return NaiveLists(left.items, right.items);
    case ValueType::kMap:
      return NaiveMaps(left, right);
  }
  return 0;
}

TEST(CompareValuesTest, AgreesWithANaiveComparison) {
  const uint64_t seed = TestSeed();
  RandomTrees random(seed);
  for (int i = 0; i < 20'000; ++i) {
    const Tree left = random.Value(3);
    const Tree right = random.Value(3);
    const std::string left_encoded = EncodeTree(left);
    const std::string right_encoded = EncodeTree(right);
    ASSERT_EQ(Compare(left_encoded, right_encoded), NaiveCompare(left, right))
        << testing::PrintToString(left_encoded) << " and " << testing::PrintToString(right_encoded);
    ASSERT_EQ(Compare(left_encoded, left_encoded), 0);
  }
}

TEST(CompareValuesTest, SortsValuesOfAllTypes) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string vector = EncodeTree(
      {.type = ValueType::kVector, .items = {{.type = ValueType::kDouble, .number = 9}}});
  const std::string longer_vector =
      EncodeTree({.type = ValueType::kVector,
                  .items = {{.type = ValueType::kDouble}, {.type = ValueType::kDouble}}});
  const std::string name = "projects/p/databases/(default)/documents/c/";
  const std::vector<std::string> ascending = {
      EncodeNull(),
      EncodeBoolean(false),
      EncodeBoolean(true),
      EncodeDouble(nan),
      EncodeDouble(-infinity),
      EncodeDouble(-9.3e18),
      EncodeInteger(std::numeric_limits<int64_t>::min()),
      EncodeDouble(-0.5),
      EncodeInteger(0),
      EncodeDouble(0.5),
      EncodeInteger(1),
      EncodeDouble(9007199254740992.0),
      EncodeInteger(9007199254740993),
      EncodeDouble(9007199254740994.0),
      EncodeInteger(std::numeric_limits<int64_t>::max()),
      EncodeDouble(9223372036854775808.0),
      EncodeDouble(infinity),
      EncodeTimestamp(Timestamp::FromMicros(-1)),
      EncodeTimestamp(Timestamp::FromMicros(0)),
      EncodeString(""),
      EncodeString("a"),
      EncodeString("\xef\xbf\xae"),
      EncodeString("\xf0\x9f\x98\x80"),
      EncodeBytes(""),
      EncodeBytes("\x01"),
      EncodeBytes("\xff"),
      EncodeReference(name + "__id-7__"),
      EncodeReference(name + "__id9__"),
      EncodeReference(name + "__id10__"),
      EncodeReference(name + "a"),
      EncodeReference(name + "a/b/c"),
      EncodeReference(name + "a!"),
      EncodeGeoPoint({-1, 5}),
      EncodeGeoPoint({1, -5}),
      EncodeGeoPoint({1, 5}),
      EncodeArray({}),
      EncodeArray({EncodeInteger(1)}),
      EncodeArray({EncodeInteger(1), EncodeNull()}),
      EncodeArray({EncodeInteger(2)}),
      vector,
      longer_vector,
      EncodeMap({}),
      EncodeMap({{"a", EncodeInteger(1)}}),
      EncodeMap({{"a", EncodeInteger(1)}, {"b", EncodeNull()}}),
      EncodeMap({{"a", EncodeInteger(2)}}),
      EncodeMap({{"b", EncodeInteger(0)}})};
  for (size_t i = 0; i < ascending.size(); ++i) {
    for (size_t j = 0; j < ascending.size(); ++j) {
      EXPECT_EQ(Compare(ascending[i], ascending[j]), NaiveThreeWay(i, j)) << i << " and " << j;
    }
  }
}

TEST(CompareValuesTest, EquivalentValuesOfDifferentBytes) {
  EXPECT_EQ(Compare(EncodeInteger(1), EncodeDouble(1)), 0);
  EXPECT_EQ(Compare(EncodeInteger(0), EncodeDouble(-0.0)), 0);
  EXPECT_EQ(Compare(EncodeDouble(0.0), EncodeDouble(-0.0)), 0);
  EXPECT_EQ(Compare(EncodeDouble(std::nan("1")), EncodeDouble(-std::nan("2"))), 0);
  EXPECT_EQ(Compare(EncodeInteger(std::numeric_limits<int64_t>::min()),
                    EncodeDouble(-9223372036854775808.0)),
            0);
  EXPECT_EQ(Compare(EncodeArray({EncodeInteger(1)}), EncodeArray({EncodeDouble(1)})), 0);
  EXPECT_EQ(Compare(EncodeMap({{"a", EncodeInteger(1)}}), EncodeMap({{"a", EncodeDouble(1)}})), 0);
}

TEST(CompareNamesTest, ComparesSegmentBySegment) {
  EXPECT_EQ(Sign(CompareNames("c/a", "c/a")), 0);
  EXPECT_EQ(Sign(CompareNames("c/a", "c/a/s/x")), -1);
  EXPECT_EQ(Sign(CompareNames("c/a", "c-/a")), -1);  // "/" is not part of a segment.
  EXPECT_EQ(Sign(CompareNames("c/__id9__", "c/__id10__")), -1);
  EXPECT_EQ(Sign(CompareNames("c/a", "c/__id10__")), 1);
}

}  // namespace
}  // namespace hearth::model
