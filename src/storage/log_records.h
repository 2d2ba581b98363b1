// Private to this folder: the records of RocksDB's log files (write-ahead logs and MANIFEST).
//
// A log is a row of blocks of 32 KiB, the last one shorter. A block is a row of fragments: masked
// CRC-32C of type and payload (4 bytes, little-endian), payload length (2, little-endian), type
// (1), payload. Less than a header's room at the end of a block is zeros. A record is one kFull
// fragment, or a kFirst, any number of kMiddle, and a kLast.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hearth::storage {

inline constexpr size_t kLogBlockBytes = 32768;

// Reads a log block by block, looking only at its shape and its checksums.
//
// Threads: one at a time. Errors: DataLoss where a complete fragment is damaged.
class LogScanner {
 public:
  // The next block: kLogBlockBytes, or less at the end of the file.
  Status Feed(std::string_view block);

  // True when the blocks so far end within a record.
  bool torn() const { return torn_ || in_record_; }
  // Where the last complete record ends.
  uint64_t intact_bytes() const { return intact_bytes_; }
  // True when there is no complete record.
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

// CRC-32C, continued from that of the bytes before; 0 to begin with.
uint32_t Crc32c(uint32_t crc, std::string_view bytes);

}  // namespace hearth::storage
