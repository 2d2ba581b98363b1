// Private to this folder: the records of RocksDB's log files (write-ahead logs and MANIFEST).
//
// A log is a sequence of 32 KiB blocks, the last one shorter. A block is a sequence of fragments:
// masked CRC-32C of type and payload (4 bytes, little-endian), payload length (2, little-endian),
// type (1), payload. If the rest of a block is shorter than a header, it is filled with zeros. A
// record is one kFull fragment, or a kFirst, any number of kMiddle, and a kLast.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hearth::storage {

inline constexpr size_t kLogBlockBytes = 32768;

// Reads a log block by block, checking only its structure and its checksums.
//
// Threads: one at a time. Errors: DataLoss if a complete fragment is damaged.
class LogScanner {
 public:
  // The next block: kLogBlockBytes, or less at the end of the file.
  Status Feed(std::string_view block);

  // True if the blocks so far end within a record.
  bool torn() const { return torn_ || in_record_; }
  // Where the last complete record ends.
  uint64_t intact_bytes() const { return intact_bytes_; }
  // True if there is no complete record.
  bool empty() const { return intact_bytes_ == 0; }

 private:
  struct Fragment;

  Status Take(const Fragment& fragment);
  Status Damaged(size_t offset_in_block, const char* what) const;

  uint64_t block_start_ = 0;
  uint64_t intact_bytes_ = 0;
  bool in_record_ = false;
  bool torn_ = false;
};

// The number in the name of a write-ahead log, such as "/data/db/000012.log"; 0 for other files.
uint64_t WalNumber(std::string_view name);
// The same for a MANIFEST, such as "/data/db/MANIFEST-000005".
uint64_t ManifestNumber(std::string_view name);
// The name of a log within its folder, such as "000012.log".
std::string WalName(uint64_t number);

// CRC-32C, continued from `crc`, the checksum of the preceding bytes; 0 to begin with.
uint32_t Crc32c(uint32_t crc, std::string_view bytes);

}  // namespace hearth::storage
