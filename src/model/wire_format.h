// The protobuf wire format, to the extent that documents need it: varints, fixed 64-bit words and
// length-delimited bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::model {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2 };

constexpr uint32_t WireTag(uint32_t field_number, WireType type) {
  return field_number << 3 | static_cast<uint32_t>(type);
}

// Takes items off the front of arbitrary bytes. Every function returns false if the bytes do not
// hold such an item; the reader must not be used after that. Borrows the bytes.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes)
      : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool AtEnd() const { return next_ == end_; }
  std::string_view rest() const { return {next_, static_cast<size_t>(end_ - next_)}; }
  // False once a varint was longer than necessary.
  bool minimal() const { return minimal_; }

  [[nodiscard]] bool Varint(uint64_t* value) {
    if (next_ != end_ && (*next_ & 0x80) == 0) [[likely]] {
      *value = static_cast<uint8_t>(*next_++);
      return true;
    }
    return LongVarint(value);
  }
  [[nodiscard]] bool Fixed64(uint64_t* value);
  [[nodiscard]] bool Bytes(std::string_view* bytes) {
    uint64_t size;
    if (!Varint(&size) || size > static_cast<uint64_t>(end_ - next_)) return false;
    *bytes = {next_, static_cast<size_t>(size)};
    next_ += size;
    return true;
  }

 private:
  bool LongVarint(uint64_t* value);

  const char* next_;
  const char* end_;
  bool minimal_ = true;
};

size_t VarintSize(uint64_t value);
void AppendVarint(uint64_t value, std::string* out);
void AppendFixed64(uint64_t value, std::string* out);
// A tag, the length and the bytes.
void AppendBytes(uint32_t tag, std::string_view bytes, std::string* out);

}  // namespace hearth::model
