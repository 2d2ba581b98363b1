// Private to this folder: how keys of the stamped spaces vanish.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "rocksdb/compaction_filter.h"

namespace hearth::storage {

// Makes the filters that drop, during compactions, the keys whose last eight bytes, read as a
// big-endian number, are below the horizon. Shorter keys stay.
//
// Threads: safe for concurrent use. Ownership: RocksDB keeps it for as long as the database lives.
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
