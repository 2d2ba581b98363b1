// Private to this folder: removes expired keys of the stamped spaces.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "rocksdb/compaction_filter.h"

namespace hearth::storage {

// Makes compaction filters that drop the keys whose last eight bytes, read as a big-endian number,
// are below the horizon. Shorter keys stay.
//
// Threads: safe for concurrent use. Ownership: RocksDB keeps it for the lifetime of the database.
class ExpiryFilterFactory final : public rocksdb::CompactionFilterFactory {
 public:
  // Never goes back: a lower stamp is ignored.
  void Raise(uint64_t stamp);

  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context& context) override;
  const char* Name() const override { return "hearth.expiry"; }

 private:
  std::atomic<uint64_t> horizon_ = 0;
};

}  // namespace hearth::storage
