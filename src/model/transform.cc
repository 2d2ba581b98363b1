#include "model/transform.h"

#include <algorithm>
#include <limits>

#include "base/status_macros.h"
#include "model/fields.h"
#include "model/value_order.h"

namespace hearth::model {
namespace {

int64_t SaturatingAdd(int64_t left, int64_t right) {
  int64_t sum;
  if (!__builtin_add_overflow(left, right, &sum)) return sum;
  return right > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

// Firestore documents server times as having millisecond precision, coarser than the commit's time.
Timestamp FloorToMillis(Timestamp time) {
  const int64_t excess = time.nanos() / 1'000 % 1'000;
  return Timestamp::FromMicros(time.micros() - excess);
}

// In the functions below, `current` and `operand` are numbers.
std::string Increment(const ValueView& current, const ValueView& operand) {
  if (current.type() == ValueType::kInteger && operand.type() == ValueType::kInteger) {
    return EncodeInteger(SaturatingAdd(current.integer(), operand.integer()));
  }
  return EncodeDouble(current.number() + operand.number());
}

// NaN wins over every number. Of two equal numbers the stored one stays, whatever its type.
std::string Extreme(TransformKind kind, const ValueView& current, const ValueView& operand) {
  const std::weak_ordering order = CompareValues(operand, current);
  const bool operand_wins = kind == TransformKind::kMaximum ? order > 0 : order < 0;
  const bool take_operand = operand.IsNan() || (operand_wins && !current.IsNan());
  return std::string(take_operand ? operand.encoded() : current.encoded());
}

std::vector<ValueView> ItemsOf(const ValueView& value) {
  std::vector<ValueView> items;
  if (value.type() != ValueType::kArray) return items;
  for (ArrayView rest = value.array(); const std::optional<ValueView> item = rest.Next();) {
    items.push_back(*item);
  }
  return items;
}

bool Contains(const std::vector<ValueView>& items, const ValueView& wanted) {
  return std::ranges::any_of(
      items, [&wanted](const ValueView& item) { return CompareValues(item, wanted) == 0; });
}

std::string EncodeItems(const std::vector<ValueView>& items) {
  std::vector<std::string> encoded;
  encoded.reserve(items.size());
  for (const ValueView& item : items) encoded.emplace_back(item.encoded());
  return EncodeArray(encoded);
}

std::string Union(std::vector<ValueView> items, const ValueView& operand) {
  for (const ValueView& item : ItemsOf(operand)) {
    if (!Contains(items, item)) items.push_back(item);
  }
  return EncodeItems(items);
}

std::string Without(std::vector<ValueView> items, const ValueView& operand) {
  const std::vector<ValueView> unwanted = ItemsOf(operand);
  std::erase_if(items, [&unwanted](const ValueView& item) { return Contains(unwanted, item); });
  return EncodeItems(items);
}

}  // namespace

Status ValidateTransform(const FieldTransform& transform) {
  if (transform.kind == TransformKind::kServerTime) {
    if (transform.operand.empty()) return Status();
    return InvalidArgument("A server time takes no operand.");
  }
  ASSIGN_OR_RETURN(const std::string operand, ValidateValue(transform.operand));
  const ValueView value(operand);
  const bool wants_array =
      transform.kind == TransformKind::kArrayUnion || transform.kind == TransformKind::kArrayRemove;
  if (wants_array && value.type() != ValueType::kArray) {
    return InvalidArgument("Input must be an array.");
  }
  if (!wants_array && !value.IsNumber()) return InvalidArgument("Input must be int64 or double.");
  return Status();
}

std::string ApplyTransform(const FieldTransform& transform,
                           const std::optional<std::string>& current, Timestamp commit_time) {
  if (transform.kind == TransformKind::kServerTime) {
    return EncodeTimestamp(FloorToMillis(commit_time));
  }
  const ValueView operand(transform.operand);
  // A missing field behaves like null: neither a number nor an array.
  const std::string null = EncodeNull();
  const ValueView value(current ? std::string_view(*current) : null);
  if (transform.kind == TransformKind::kArrayUnion) return Union(ItemsOf(value), operand);
  if (transform.kind == TransformKind::kArrayRemove) return Without(ItemsOf(value), operand);
  if (!value.IsNumber()) return transform.operand;
  if (transform.kind == TransformKind::kIncrement) return Increment(value, operand);
  return Extreme(transform.kind, value, operand);
}

std::string TransformResult(const FieldTransform& transform, const std::string& new_value) {
  const bool is_array =
      transform.kind == TransformKind::kArrayUnion || transform.kind == TransformKind::kArrayRemove;
  return is_array ? EncodeNull() : new_value;
}

}  // namespace hearth::model
