#include "model/wire_format.h"

#include <bit>

namespace hearth::model {

bool WireReader::LongVarint(uint64_t* value) {
  uint64_t result = 0;
  for (unsigned shift = 0; shift < 64 && next_ != end_; shift += 7) {
    const auto byte = static_cast<uint8_t>(*next_++);
    if (shift == 63 && byte > 1) return false;  // More than 64 bits.
    result |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) != 0) continue;
    if (byte == 0 && shift > 0) minimal_ = false;
    *value = result;
    return true;
  }
  return false;
}

bool WireReader::Fixed64(uint64_t* value) {
  if (end_ - next_ < 8) return false;
  uint64_t result = 0;
  for (unsigned i = 0; i < 8; ++i) {
    result |= static_cast<uint64_t>(static_cast<uint8_t>(next_[i])) << (8 * i);
  }
  next_ += 8;
  *value = result;
  return true;
}

size_t VarintSize(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}

void AppendVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

void AppendFixed64(uint64_t value, std::string* out) {
  for (unsigned i = 0; i < 8; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

void AppendBytes(uint32_t tag, std::string_view bytes, std::string* out) {
  AppendVarint(tag, out);
  AppendVarint(bytes.size(), out);
  out->append(bytes);
}

}  // namespace hearth::model
