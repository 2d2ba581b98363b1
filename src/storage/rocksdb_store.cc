#include "storage/rocksdb_store.h"

#include <utility>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/write_batch.h"
#include "storage/expiry_filter.h"
#include "storage/rocksdb_options.h"
#include "storage/rocksdb_reads.h"
#include "storage/rocksdb_status.h"

namespace hearth::storage {
namespace {

// A batch's buffer is kept for the next commit unless an unusually big one has blown it up.
constexpr size_t kBatchBytesKept = size_t{1} << 20;

class RocksDbStore final : public Store {
 public:
  RocksDbStore(std::unique_ptr<rocksdb::DB> db, std::vector<rocksdb::ColumnFamilyHandle*> handles,
               std::shared_ptr<ExpiryFilterFactory> expiry)
      : db_(std::move(db)), handles_(std::move(handles)), expiry_(std::move(expiry)) {
    database_.db = db_.get();
    for (size_t space = 0; space < kSpaces; ++space) database_.families[space] = handles_[space];
  }
  ~RocksDbStore() override {
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    }
  }

  Result<std::optional<std::string>> Get(Space space, std::string_view key) const override {
    return GetFrom(database_, rocksdb::ReadOptions(), space, key);
  }
  std::optional<Result<std::optional<std::string>>> GetIfInMemory(
      Space space, std::string_view key) const override {
    return GetFromMemory(database_, space, key);
  }
  std::unique_ptr<Snapshot> NewSnapshot() const override { return NewRocksDbSnapshot(database_); }

  Status Commit(const Batch& batch) override {
    for (const Batch::Change& change : batch.changes()) {
      rocksdb::ColumnFamilyHandle* family = database_.family(change.space);
      const rocksdb::Status added = change.value ? batch_.Put(family, change.key, *change.value)
                                                 : batch_.Delete(family, change.key);
      if (!added.ok()) return FromRocksDb(added);
    }
    rocksdb::WriteOptions options;
    options.sync = true;
    const rocksdb::Status written = db_->Write(options, &batch_);
    if (batch_.GetDataSize() > kBatchBytesKept) batch_ = rocksdb::WriteBatch();
    batch_.Clear();
    return FromRocksDb(written);
  }

  void ExpireBefore(uint64_t stamp) override { expiry_->Raise(stamp); }

 private:
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;  // Owned by db_.
  OpenDatabase database_;
  std::shared_ptr<ExpiryFilterFactory> expiry_;  // Shared with db_.
  rocksdb::WriteBatch batch_;                    // Commit's; commits come one at a time.
};

}  // namespace

Result<std::unique_ptr<Store>> OpenRocksDbStore(const RocksDbOptions& options) {
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  auto expiry = std::make_shared<ExpiryFilterFactory>();
  rocksdb::DBOptions db_options = DatabaseOptions(options, cache);
  db_options.create_if_missing = true;
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const rocksdb::Status opened = rocksdb::DB::Open(
      db_options, options.path, FamilyDescriptors(options, cache, expiry), &handles, &db);
  if (!opened.ok()) return FromRocksDb(opened).While("opening " + options.path);
  return std::unique_ptr<Store>(std::make_unique<RocksDbStore>(
      std::unique_ptr<rocksdb::DB>(db), std::move(handles), std::move(expiry)));
}

}  // namespace hearth::storage
