// Order-preserving byte encodings of values: memcmp orders them as CompareValues orders the values.
// No encoding is a prefix of another, so they can be concatenated. The bytes of a descending
// component are the complement of the ascending ones. docs/formats/indexes.md has the layout and
// examples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/value.h"

namespace hearth::index {

// Longer encodings are truncated to this length in an index. Firestore's documented limit.
inline constexpr size_t kComponentBytesMax = 1'500;

// Appends the complete encoding, however long. Values that compare equal have the same encoding.
void AppendValueKey(const model::ValueView& value, std::string* out);

// Appends the name of a map's field. Sorts as the field does in its map.
void AppendFieldNameKey(std::string_view name, std::string* out);

// The first byte of the encodings of all values with the same type as `value` (integers and doubles
// are one type here). NaN counts as a number; the other numbers start at LeastNumberKey().
std::string TypeKey(const model::ValueView& value);
// The smallest encoding of a number that is not NaN.
std::string LeastNumberKey();

// Complements all bytes from `from` on.
void Complement(size_t from, std::string* bytes);

// The length of the component, complemented or not, at the start of `bytes`. Truncated components
// have kComponentBytesMax bytes. nullopt if there is none: such bytes are damaged.
enum class ByteOrder : uint8_t { kAscending, kDescending };
std::optional<size_t> ComponentLength(std::string_view bytes, ByteOrder order);

// The number that an ascending component encodes, as a double or an integer; nullopt if it is not a
// number. The key does not tell whether it was a double.
struct NumberKey {
  double number;                   // The value, rounded down if it is an integer beyond 2^53.
  std::optional<int64_t> integer;  // The exact value if it is whole and fits.
};
std::optional<NumberKey> DecodeNumberKey(std::string_view component);

}  // namespace hearth::index
