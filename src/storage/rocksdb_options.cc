#include "storage/rocksdb_options.h"

#include <algorithm>

#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "rocksdb/write_buffer_manager.h"
#include "storage/rocksdb_logger.h"

namespace hearth::storage {
namespace {

// One flush and one compaction: enough for one committer. RocksDB uses a quarter of the jobs for
// flushes, and error_listener.cc relies on there being one.
constexpr int kBackgroundJobs = 2;
static_assert(kBackgroundJobs < 8);
constexpr size_t kBlockBytes = size_t{8} << 10;
constexpr size_t kArenaBlockBytesMax = size_t{256} << 10;  // Small: an idle family costs one block.
// A table's index and its filter are one block each, several megabytes for a table with a million
// keys. In a cache shard that is not several times larger, they would be read from the file for
// every key.
constexpr size_t kCacheShardBytesMin = size_t{16} << 20;
constexpr int kCacheShardBitsMax = 6;
constexpr double kFilterBitsPerKey = 10;  // 1% of absent keys cost a read.
// Bounds how much log a start replays after a crash. Also makes rarely written families flush.
constexpr uint64_t kWalBytesMax = uint64_t{64} << 20;
// Files of stamped spaces that are not rewritten otherwise are compacted at this age, to drop their
// expired keys.
constexpr uint64_t kStampedFileAgeSecondsMax = uint64_t{6} * 60 * 60;

rocksdb::CompressionType FirstSupported(std::initializer_list<rocksdb::CompressionType> wanted) {
  const std::vector<rocksdb::CompressionType> supported = rocksdb::GetSupportedCompressions();
  for (const rocksdb::CompressionType type : wanted) {
    if (std::find(supported.begin(), supported.end(), type) != supported.end()) return type;
  }
  return rocksdb::kNoCompression;
}

rocksdb::ColumnFamilyOptions FamilyOptions(const RocksDbOptions& options,
                                           const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.block_size = kBlockBytes;
  // In the cache, so that memory is bounded however many files there are. With priority over data
  // blocks, because every read needs them.
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.format_version = 5;
  table.checksum = rocksdb::kXXH3;

  rocksdb::ColumnFamilyOptions family;
  family.write_buffer_size = options.write_buffer_bytes / 2;
  // RocksDB's default is an eighth of the buffer; one block must never fill the buffer.
  family.arena_block_size = std::min(kArenaBlockBytesMax, family.write_buffer_size / 8);
  family.target_file_size_base = options.table_file_bytes;
  family.level_compaction_dynamic_level_bytes = true;
  family.compression = FirstSupported({rocksdb::kLZ4Compression, rocksdb::kSnappyCompression});
  family.bottommost_compression =
      FirstSupported({rocksdb::kZSTD, rocksdb::kLZ4Compression, rocksdb::kSnappyCompression});
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return family;
}

}  // namespace

std::shared_ptr<rocksdb::Cache> NewBlockCache(size_t bytes_max) {
  int shard_bits = 0;
  while (shard_bits < kCacheShardBitsMax && bytes_max >> (shard_bits + 1) >= kCacheShardBytesMin) {
    ++shard_bits;
  }
  return rocksdb::NewLRUCache(bytes_max, shard_bits);
}

rocksdb::DBOptions DatabaseOptions(const RocksDbOptions& options,
                                   const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::DBOptions db;
  db.create_missing_column_families = true;
  db.paranoid_checks = true;
  // One budget for the buffers of all families, charged to the cache.
  db.write_buffer_manager =
      std::make_shared<rocksdb::WriteBufferManager>(options.write_buffer_bytes, cache);
  db.max_total_wal_size = kWalBytesMax;
  db.max_open_files = options.open_tables_max;
  db.max_background_jobs = kBackgroundJobs;
  // There is one committer: support for concurrent ones would only add cost.
  db.allow_concurrent_memtable_write = false;
  db.enable_write_thread_adaptive_yield = false;
  // A start must not read every file, and a small server must not wake up to write statistics.
  db.skip_stats_update_on_db_open = true;
  db.stats_dump_period_sec = 0;
  db.stats_persist_period_sec = 0;
  db.info_log = std::make_shared<RocksDbLogger>();
  // Any flaw in the log that OpenRocksDbStore has not already identified as the torn end of an
  // unacknowledged commit is damage.
  db.wal_recovery_mode = rocksdb::WALRecoveryMode::kAbsoluteConsistency;
  // If RocksDB 7.8 cannot record a synced log in the MANIFEST, it fails the write after having put
  // it into the memtable, where a later write makes it visible. It would also miss the loss of the
  // newest log. WalMark tracks the logs instead.
  db.track_and_verify_wals_in_manifest = false;
  // The store decides when to resume after an error. If RocksDB chose the time, it could resume on
  // a log that has not been cut back yet.
  db.max_bgerror_resume_count = 0;
  // The store flushes when it is closed, unless there was an error: then a flush would wait
  // forever. The only data that RocksDB would save here is the healer's dummy change.
  db.avoid_flush_during_shutdown = true;
  return db;
}

std::vector<rocksdb::ColumnFamilyDescriptor> FamilyDescriptors(
    const RocksDbOptions& options, const std::shared_ptr<rocksdb::Cache>& cache,
    const std::shared_ptr<rocksdb::CompactionFilterFactory>& expiry) {
  const rocksdb::ColumnFamilyOptions plain = FamilyOptions(options, cache);

  rocksdb::ColumnFamilyOptions documents = plain;
  auto table = *plain.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kFilterBitsPerKey));
  documents.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));

  rocksdb::ColumnFamilyOptions stamped = plain;
  stamped.compaction_filter_factory = expiry;
  stamped.periodic_compaction_seconds = kStampedFileAgeSecondsMax;

  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (size_t space = 0; space < kSpaces; ++space) {
    switch (static_cast<Space>(space)) {
      case Space::kMeta:
      case Space::kIndexes:
        descriptors.emplace_back(kFamilyNames[space], plain);
        break;
      case Space::kDocuments:
        descriptors.emplace_back(kFamilyNames[space], documents);
        break;
      case Space::kHistory:
      case Space::kLog:
        descriptors.emplace_back(kFamilyNames[space], stamped);
        break;
    }
  }
  descriptors.emplace_back(rocksdb::kDefaultColumnFamilyName, plain);
  return descriptors;
}

}  // namespace hearth::storage
