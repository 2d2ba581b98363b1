#include "storage/log_records.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace hearth::storage {
namespace {

constexpr size_t kHeaderBytes = 7;
constexpr size_t kLengthOffset = 4;
constexpr size_t kTypeOffset = 6;
enum FragmentType : unsigned char { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

constexpr size_t kSlices = 8;  // Bytes processed at a time.
using CrcTables = std::array<std::array<uint32_t, 256>, kSlices>;

constexpr CrcTables MakeCrcTables() {
  constexpr uint32_t kPolynomial = 0x82f63b78;  // Castagnoli, reflected.
  CrcTables tables = {};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (uint32_t byte = 0; byte < 256; ++byte) {
    for (size_t slice = 1; slice < kSlices; ++slice) {
      const uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr CrcTables kCrcTables = MakeCrcTables();

unsigned char ByteAt(std::string_view bytes, size_t offset) {
  return static_cast<unsigned char>(bytes[offset]);
}

// RocksDB stores checksums rotated and shifted, so that the checksum of data with embedded
// checksums stays sound.
uint32_t Mask(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8; }

uint32_t StoredCrc(std::string_view header) {
  return static_cast<uint32_t>(ByteAt(header, 0)) | static_cast<uint32_t>(ByteAt(header, 1)) << 8 |
         static_cast<uint32_t>(ByteAt(header, 2)) << 16 |
         static_cast<uint32_t>(ByteAt(header, 3)) << 24;
}

size_t LengthOf(std::string_view header) {
  return static_cast<size_t>(ByteAt(header, kLengthOffset)) |
         static_cast<size_t>(ByteAt(header, kLengthOffset + 1)) << 8;
}

bool IsKnownType(unsigned char type) { return type >= kFull && type <= kLast; }

bool IsZero(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
}

// True if `rest`, which is shorter than its header says, holds a complete fragment anyway: its
// checksum is right for some shorter length, and the bytes after it may be the next fragment. Then
// the length is wrong, and the log is not torn.
bool HidesACompleteFragment(std::string_view rest) {
  const uint32_t stored = StoredCrc(rest);
  uint32_t crc = Crc32c(0, rest.substr(kTypeOffset, 1));
  for (size_t end = kHeaderBytes;; ++end) {
    if (Mask(crc) == stored) {
      const std::string_view next = rest.substr(end);
      if (next.size() < kHeaderBytes || IsKnownType(ByteAt(next, kTypeOffset))) return true;
    }
    if (end == rest.size()) return false;
    crc = Crc32c(crc, rest.substr(end, 1));
  }
}

std::string_view LastPart(std::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

// 0 if `text` is not a number.
uint64_t ToNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

}  // namespace

uint64_t WalNumber(std::string_view name) {
  constexpr std::string_view kSuffix = ".log";
  name = LastPart(name);
  if (!name.ends_with(kSuffix)) return 0;
  name.remove_suffix(kSuffix.size());
  return ToNumber(name);
}

uint64_t ManifestNumber(std::string_view name) {
  constexpr std::string_view kPrefix = "MANIFEST-";
  name = LastPart(name);
  if (!name.starts_with(kPrefix)) return 0;
  name.remove_prefix(kPrefix.size());
  return ToNumber(name);
}

std::string WalName(uint64_t number) {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "%06llu.log", static_cast<unsigned long long>(number));
  return name.data();
}

uint32_t Crc32c(uint32_t crc, std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little);
  crc = ~crc;
  while (bytes.size() >= kSlices) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), kSlices);
    word ^= crc;
    crc = 0;
    for (size_t slice = 0; slice < kSlices; ++slice) {
      crc ^= kCrcTables[kSlices - 1 - slice][(word >> (8 * slice)) & 0xff];
    }
    bytes.remove_prefix(kSlices);
  }
  for (const char byte : bytes) {
    crc = (crc >> 8) ^ kCrcTables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  }
  return ~crc;
}

struct LogScanner::Fragment {
  size_t offset;  // Within its block.
  size_t end;
  unsigned char type;
};

Status LogScanner::Damaged(size_t offset_in_block, const char* what) const {
  return Status(Code::kDataLoss,
                std::string(what) + " at offset " + std::to_string(block_start_ + offset_in_block));
}

Status LogScanner::Take(const Fragment& fragment) {
  const bool begins = fragment.type == kFull || fragment.type == kFirst;
  if (begins == in_record_) return Damaged(fragment.offset, "fragment out of order");
  const bool ends = fragment.type == kFull || fragment.type == kLast;
  in_record_ = !ends;
  if (ends) intact_bytes_ = block_start_ + fragment.end;
  return Status();
}

Status LogScanner::Feed(std::string_view block) {
  // After a power failure some file systems leave zeros in place of data that was not written.
  if (torn_) return IsZero(block) ? Status() : Damaged(0, "data after a torn record");
  size_t offset = 0;
  while (offset < block.size()) {
    const std::string_view rest = block.substr(offset);
    if (kLogBlockBytes - offset < kHeaderBytes) {
      if (!IsZero(rest)) return Damaged(offset, "damaged padding");
      break;
    }
    if (rest.size() < kHeaderBytes || IsZero(rest)) {
      torn_ = true;
      break;
    }
    const unsigned char type = ByteAt(rest, kTypeOffset);
    const size_t end = offset + kHeaderBytes + LengthOf(rest);
    if (!IsKnownType(type)) return Damaged(offset, "unknown fragment type");
    if (end > kLogBlockBytes) return Damaged(offset, "impossible fragment length");
    if (end > block.size()) {
      if (HidesACompleteFragment(rest)) return Damaged(offset, "wrong fragment length");
      torn_ = true;
      break;
    }
    const uint32_t crc = Crc32c(0, rest.substr(kTypeOffset, end - offset - kTypeOffset));
    if (Mask(crc) != StoredCrc(rest)) return Damaged(offset, "checksum mismatch");
    if (Status taken = Take({offset, end, type}); !taken.ok()) return taken;
    offset = end;
  }
  block_start_ += block.size();
  return Status();
}

}  // namespace hearth::storage
