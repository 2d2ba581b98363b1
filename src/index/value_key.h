// Order-preserving byte encodings of values: as CompareValues orders values, memcmp orders these.
// No encoding is a prefix of another one, so they can be strung together; the bytes of a descending
// component are those of the ascending one, each complemented. docs/formats/indexes.md has the
// layout and examples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/value.h"

namespace hearth::index {

// Longer encodings are cut off here when they go into an index. Firestore's documented limit.
inline constexpr size_t kComponentBytesMax = 1'500;

// Appends the whole encoding, however long. Values that compare equal get the same bytes.
void AppendValueKey(const model::ValueView& value, std::string* out);

// The first byte of the encodings of all values with the same type as `value` (integers and
// doubles are one type here). NaN counts as a number: the numbers proper start at kNumbersProper.
std::string TypeKey(const model::ValueView& value);
// The least encoding of a number that is not NaN.
std::string LeastNumberKey();

// Complements all bytes from `from` on.
void Complement(size_t from, std::string* bytes);

// The length of the component, complemented or not, that `bytes` begin with; components that were
// cut off have kComponentBytesMax bytes. nullopt when there is none: such bytes are damaged.
enum class ByteOrder : uint8_t { kAscending, kDescending };
std::optional<size_t> ComponentLength(std::string_view bytes, ByteOrder order);

// The number that an ascending component stands for, as a double or an integer; nullopt if it is
// no number. Whether it was a double is not in the key.
struct NumberKey {
  double number;                   // The value, rounded down if it is an integer beyond 2^53.
  std::optional<int64_t> integer;  // The exact value where it is whole and fits.
};
std::optional<NumberKey> DecodeNumberKey(std::string_view component);

}  // namespace hearth::index
