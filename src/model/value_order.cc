#include "model/value_order.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/numeric_id.h"

namespace hearth::model {
namespace {

// Integers and doubles share a rank; all other types keep the order of ValueType.
int Rank(ValueType type) {
  return static_cast<int>(type == ValueType::kDouble ? ValueType::kInteger : type);
}

// NaN is below every number and equal to itself.
std::weak_ordering CompareDoubles(double left, double right) {
  if (std::isnan(left) || std::isnan(right)) return std::isnan(right) <=> std::isnan(left);
  if (left < right) return std::weak_ordering::less;
  return left > right ? std::weak_ordering::greater : std::weak_ordering::equivalent;
}

// Exact: an integer beyond 2^53 is not rounded to a double first.
std::weak_ordering CompareIntegerToDouble(int64_t left, double right) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (std::isnan(right) || right < -kTwoTo63) return std::weak_ordering::greater;
  if (right >= kTwoTo63) return std::weak_ordering::less;
  const auto whole = static_cast<int64_t>(right);  // In range; rounds towards zero.
  if (left != whole) return left <=> whole;
  const double fraction = right - static_cast<double>(whole);
  return CompareDoubles(0, fraction);
}

std::weak_ordering CompareNumbers(const ValueView& left, const ValueView& right) {
  const bool left_is_integer = left.type() == ValueType::kInteger;
  const bool right_is_integer = right.type() == ValueType::kInteger;
  if (left_is_integer && right_is_integer) return left.integer() <=> right.integer();
  if (left_is_integer) return CompareIntegerToDouble(left.integer(), right.number());
  if (right_is_integer) return 0 <=> CompareIntegerToDouble(right.integer(), left.number());
  return CompareDoubles(left.number(), right.number());
}

std::weak_ordering CompareSegments(std::string_view left, std::string_view right) {
  const std::optional<int64_t> left_number = NumericId(left);
  const std::optional<int64_t> right_number = NumericId(right);
  if (left_number && right_number) return *left_number <=> *right_number;
  if (left_number || right_number) return right_number.has_value() <=> left_number.has_value();
  return left <=> right;
}

// Removes the first segment and its '/' from `path`, and returns the segment.
std::string_view TakeFirstSegment(std::string_view* path) {
  const std::string_view segment = path->substr(0, path->find('/'));
  path->remove_prefix(std::min(segment.size() + 1, path->size()));
  return segment;
}

std::weak_ordering CompareGeoPoints(const GeoPoint& left, const GeoPoint& right) {
  const std::weak_ordering order = CompareDoubles(left.latitude, right.latitude);
  return order != 0 ? order : CompareDoubles(left.longitude, right.longitude);
}

std::weak_ordering CompareArrays(ArrayView left, ArrayView right) {
  while (true) {
    const std::optional<ValueView> left_item = left.Next();
    const std::optional<ValueView> right_item = right.Next();
    if (!left_item || !right_item) return left_item.has_value() <=> right_item.has_value();
    const std::weak_ordering order = CompareValues(*left_item, *right_item);
    if (order != 0) return order;
  }
}

size_t CountItems(ArrayView array) {
  size_t count = 0;
  while (array.Next()) ++count;
  return count;
}

std::weak_ordering CompareVectors(const ArrayView& left, const ArrayView& right) {
  const std::weak_ordering order = CountItems(left) <=> CountItems(right);
  return order != 0 ? order : CompareArrays(left, right);
}

std::weak_ordering CompareMaps(MapView left, MapView right) {
  while (true) {
    const std::optional<FieldView> left_field = left.Next();
    const std::optional<FieldView> right_field = right.Next();
    if (!left_field || !right_field) return left_field.has_value() <=> right_field.has_value();
    std::weak_ordering order = left_field->name <=> right_field->name;
    if (order == 0) order = CompareValues(left_field->value, right_field->value);
    if (order != 0) return order;
  }
}

}  // namespace

std::weak_ordering CompareNames(std::string_view left, std::string_view right) {
  while (!left.empty() && !right.empty()) {
    const std::weak_ordering order =
        CompareSegments(TakeFirstSegment(&left), TakeFirstSegment(&right));
    if (order != 0) return order;
  }
  return right.empty() <=> left.empty();
}

std::weak_ordering CompareValues(const ValueView& left, const ValueView& right) {
  const ValueType type = left.type();
  if (const int rank = Rank(type), other = Rank(right.type()); rank != other) return rank <=> other;
  switch (type) {
    case ValueType::kNull:
      return std::weak_ordering::equivalent;
    case ValueType::kBoolean:
      return left.boolean() <=> right.boolean();
    case ValueType::kInteger:
    case ValueType::kDouble:
      return CompareNumbers(left, right);
    case ValueType::kTimestamp:
      return left.timestamp() <=> right.timestamp();
    case ValueType::kString:
    case ValueType::kBytes:
      return left.text() <=> right.text();
    case ValueType::kReference:
      return CompareNames(left.text(), right.text());
    case ValueType::kGeoPoint:
      return CompareGeoPoints(left.geo_point(), right.geo_point());
    case ValueType::kArray:
      return CompareArrays(left.array(), right.array());
    case ValueType::kVector:
      return CompareVectors(left.vector(), right.vector());
    case ValueType::kMap:
      return CompareMaps(left.map(), right.map());
  }
  return std::weak_ordering::equivalent;
}

}  // namespace hearth::model
