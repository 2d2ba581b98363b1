#include "queries/trees.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

namespace hearth::queries {
namespace {

using model::ValueType;

template <typename T>
int Compare(const T& left, const T& right) {
  return left < right ? -1 : right < left ? 1 : 0;
}

// The rank of a type among the others; integers and doubles share one.
int Rank(ValueType type) {
  switch (type) {
    case ValueType::kNull:
      return 0;
    case ValueType::kBoolean:
      return 1;
    case ValueType::kInteger:
    case ValueType::kDouble:
      return 2;
    case ValueType::kTimestamp:
      return 3;
    case ValueType::kString:
      return 4;
    case ValueType::kBytes:
      return 5;
    case ValueType::kReference:
      return 6;
    case ValueType::kGeoPoint:
      return 7;
    case ValueType::kArray:
      return 8;
    case ValueType::kVector:
      return 9;
    case ValueType::kMap:
      break;
  }
  return 10;
}

std::vector<std::string_view> Split(std::string_view path) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = path.find('/');
    parts.push_back(path.substr(0, end));
    if (end == std::string_view::npos) return parts;
    path.remove_prefix(end + 1);
  }
}

std::optional<int64_t> NumberInId(std::string_view id) {
  if (!id.starts_with("__id") || !id.ends_with("__") || id.size() < 7) return std::nullopt;
  const std::string_view digits = id.substr(4, id.size() - 6);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

int CompareIds(std::string_view left, std::string_view right) {
  const std::optional<int64_t> left_number = NumberInId(left);
  const std::optional<int64_t> right_number = NumberInId(right);
  if (left_number && right_number) return Compare(*left_number, *right_number);
  if (left_number) return -1;
  if (right_number) return 1;
  return Compare(left, right);
}

int CompareNumbers(const Tree& left, const Tree& right) {
  if (IsNan(left) || IsNan(right)) return Compare(!IsNan(left), !IsNan(right));
  // Has 64 bits of precision: it represents every integer and every double exactly.
  static_assert(std::numeric_limits<long double>::digits >= 64);
  const auto exact = [](const Tree& tree) {
    return tree.type == ValueType::kInteger ? static_cast<long double>(tree.integer)
                                            : static_cast<long double>(tree.number);
  };
  return Compare(exact(left), exact(right));
}

int CompareItems(const std::vector<Tree>& left, const std::vector<Tree>& right) {
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (const int order = CompareTrees(left[i], right[i]); order != 0) return order;
  }
  return Compare(left.size(), right.size());
}

int CompareMaps(const Document& left, const Document& right) {
  auto l = left.begin();
  auto r = right.begin();
  for (; l != left.end() && r != right.end(); ++l, ++r) {
    if (const int order = Compare(l->first, r->first); order != 0) return order;
    if (const int order = CompareTrees(l->second, r->second); order != 0) return order;
  }
  return Compare(l != left.end(), r != right.end());
}

std::string ShowText(std::string_view text) {
  constexpr size_t kShownMax = 24;
  std::string shown = "\"";
  for (const char character : text.substr(0, kShownMax)) {
    if (character >= ' ' && character != '"') {
      shown.push_back(character);
    } else {
      constexpr char kDigits[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(character);
      shown += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  if (text.size() > kShownMax) {
    shown += "…" + std::to_string(text.size()) + "…" + std::string(text.substr(text.size() - 2));
  }
  return shown + "\"";
}

std::string ShowItems(const std::vector<Tree>& items) {
  std::string shown;
  for (const Tree& item : items) shown += (shown.empty() ? "" : ", ") + Show(item);
  return shown;
}

}  // namespace

bool IsNan(const Tree& tree) { return tree.type == ValueType::kDouble && std::isnan(tree.number); }

bool IsNumber(const Tree& tree) {
  return tree.type == ValueType::kInteger || tree.type == ValueType::kDouble;
}

int ComparePaths(std::string_view left, std::string_view right) {
  const std::vector<std::string_view> l = Split(left);
  const std::vector<std::string_view> r = Split(right);
  for (size_t i = 0; i < std::min(l.size(), r.size()); ++i) {
    if (const int order = CompareIds(l[i], r[i]); order != 0) return order;
  }
  return Compare(l.size(), r.size());
}

int CompareTrees(const Tree& left, const Tree& right) {
  const int rank = Rank(left.type);
  if (const int order = Compare(rank, Rank(right.type)); order != 0) return order;
  switch (left.type) {
    case ValueType::kNull:
      return 0;
    case ValueType::kBoolean:
      return Compare(left.boolean, right.boolean);
    case ValueType::kInteger:
    case ValueType::kDouble:
      return CompareNumbers(left, right);
    case ValueType::kTimestamp:
      return Compare(left.integer, right.integer);
    case ValueType::kString:
    case ValueType::kBytes:
      return Compare(left.text, right.text);
    case ValueType::kReference:
      // "projects/P/databases/D/documents/…": the fixed segments are equal, the others decide.
      return ComparePaths(left.text, right.text);
    case ValueType::kGeoPoint:
      if (const int order = Compare(left.number, right.number); order != 0) return order;
      return Compare(left.longitude, right.longitude);
    case ValueType::kArray:
      return CompareItems(left.items, right.items);
    case ValueType::kVector:
      if (const int order = Compare(left.items.size(), right.items.size()); order != 0)
        return order;
      return CompareItems(left.items, right.items);
    case ValueType::kMap:
      break;
  }
  return CompareMaps(left.fields, right.fields);
}

Tree TreeOfType(ValueType type) {
  Tree tree;
  tree.type = type;
  return tree;
}

Tree IntegerTree(int64_t integer) {
  Tree tree = TreeOfType(ValueType::kInteger);
  tree.integer = integer;
  return tree;
}

Tree DoubleTree(double number) {
  Tree tree = TreeOfType(ValueType::kDouble);
  tree.number = number;
  return tree;
}

Tree DecodeTree(const model::ValueView& value) {
  Tree tree;
  tree.type = value.type();
  switch (tree.type) {
    case ValueType::kNull:
      break;
    case ValueType::kBoolean:
      tree.boolean = value.boolean();
      break;
    case ValueType::kInteger:
      tree.integer = value.integer();
      break;
    case ValueType::kDouble:
      tree.number = value.number();
      break;
    case ValueType::kTimestamp:
      tree.integer = value.timestamp().micros();
      break;
    case ValueType::kString:
    case ValueType::kBytes:
    case ValueType::kReference:
      tree.text = value.text();
      break;
    case ValueType::kGeoPoint:
      tree.number = value.geo_point().latitude;
      tree.longitude = value.geo_point().longitude;
      break;
    case ValueType::kArray:
    case ValueType::kVector: {
      const bool is_array = tree.type == ValueType::kArray;
      for (auto rest = is_array ? value.array() : value.vector(); const auto item = rest.Next();) {
        tree.items.push_back(DecodeTree(*item));
      }
      break;
    }
    case ValueType::kMap:
      for (auto rest = value.map(); const auto field = rest.Next();) {
        tree.fields.emplace(field->name, DecodeTree(field->value));
      }
      break;
  }
  return tree;
}

const Tree* Find(const Document& document, const model::FieldPath& path) {
  const Document* fields = &document;
  const Tree* found = nullptr;
  for (const std::string& segment : path.segments()) {
    if (fields == nullptr) return nullptr;
    const auto field = fields->find(segment);
    if (field == fields->end()) return nullptr;
    found = &field->second;
    fields = found->type == ValueType::kMap ? &found->fields : nullptr;
  }
  return found;
}

std::string Show(const Tree& tree) {
  switch (tree.type) {
    case ValueType::kNull:
      return "null";
    case ValueType::kBoolean:
      return tree.boolean ? "true" : "false";
    case ValueType::kInteger:
      return std::to_string(tree.integer);
    case ValueType::kDouble: {
      char text[40];
      std::snprintf(text, sizeof text, "double(%.17g)", tree.number);
      return text;
    }
    case ValueType::kTimestamp:
      return "time(" + std::to_string(tree.integer) + ")";
    case ValueType::kString:
      return ShowText(tree.text);
    case ValueType::kBytes:
      return "bytes(" + ShowText(tree.text) + ")";
    case ValueType::kReference:
      return "reference(" + tree.text + ")";
    case ValueType::kGeoPoint:
      return "geo(" + std::to_string(tree.number) + ", " + std::to_string(tree.longitude) + ")";
    case ValueType::kArray:
      return "[" + ShowItems(tree.items) + "]";
    case ValueType::kVector:
      return "vector(" + ShowItems(tree.items) + ")";
    case ValueType::kMap:
      break;
  }
  return Show(tree.fields);
}

std::string Show(const Document& document) {
  std::string shown;
  for (const auto& [name, value] : document) {
    shown += (shown.empty() ? "" : ", ") + name + ": " + Show(value);
  }
  return "{" + shown + "}";
}

std::string ShowPaths(const std::vector<std::string>& paths) {
  std::string shown;
  for (const std::string& path : paths) shown += " " + path;
  return shown.empty() ? " nothing" : shown;
}

}  // namespace hearth::queries
