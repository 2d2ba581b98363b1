#include "model/transform.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

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

bool IsLess(const ValueView& left, const ValueView& right) {
  return CompareValues(left, right) < 0;
}

// Answers which values are among some items. Sorts them if there are many questions, so that two
// long arrays are not compared item by item.
class Lookup {
 public:
  Lookup(std::vector<ValueView> items, size_t questions)
      : items_(std::move(items)), is_sorted_(questions > kQuestionsWithoutSortingMax) {
    if (is_sorted_) std::ranges::sort(items_, IsLess);
  }

  bool Contains(const ValueView& wanted) const {
    if (is_sorted_) return std::ranges::binary_search(items_, wanted, IsLess);
    return std::ranges::any_of(
        items_, [&wanted](const ValueView& item) { return CompareValues(item, wanted) == 0; });
  }

 private:
  static constexpr size_t kQuestionsWithoutSortingMax = 16;

  std::vector<ValueView> items_;
  const bool is_sorted_;
};

std::string EncodeItems(const std::vector<ValueView>& items) {
  std::vector<std::string> encoded;
  encoded.reserve(items.size());
  for (const ValueView& item : items) encoded.emplace_back(item.encoded());
  return EncodeArray(encoded);
}

std::string Union(std::vector<ValueView> items, const ValueView& operand) {
  const std::vector<ValueView> wanted = ItemsOf(operand);
  const Lookup stored(items, wanted.size());
  std::set<ValueView, decltype(&IsLess)> added(&IsLess);
  for (const ValueView& item : wanted) {
    if (!stored.Contains(item) && added.insert(item).second) items.push_back(item);
  }
  return EncodeItems(items);
}

std::string Without(std::vector<ValueView> items, const ValueView& operand) {
  const Lookup unwanted(ItemsOf(operand), items.size());
  std::erase_if(items, [&unwanted](const ValueView& item) { return unwanted.Contains(item); });
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
