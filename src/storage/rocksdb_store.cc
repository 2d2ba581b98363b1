#include "storage/rocksdb_store.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/status_macros.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/write_batch.h"
#include "storage/data_folder.h"
#include "storage/error_listener.h"
#include "storage/expiry_filter.h"
#include "storage/healer.h"
#include "storage/log_check.h"
#include "storage/rocksdb_open.h"
#include "storage/rocksdb_options.h"
#include "storage/rocksdb_reads.h"
#include "storage/rocksdb_status.h"
#include "storage/tsan_order.h"
#include "storage/wal_guard.h"
#include "storage/wal_mark.h"

namespace hearth::storage {
namespace {

// A batch's buffer is kept for the next commit, unless an unusually large commit has made it bigger
// than this.
constexpr size_t kBatchBytesKept = size_t{1} << 20;
// How long a commit waits in total for flushes and compactions that lag behind.
constexpr std::chrono::milliseconds kStallPause{10};
constexpr int kStallTriesMax = 500;

// Ranges from a disk with a write cache to one that is about to fail.
std::vector<double> SyncSecondsBounds() {
  return {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
          0.05,   0.1,     0.25,   0.5,   1,      2.5,   5};
}

// Everything that an open store consists of. Destroyed from the last member to the first.
struct Parts {
  std::unique_ptr<DataFolder> folder;
  std::shared_ptr<WalGuard> wal;  // Shared with `env`.
  std::unique_ptr<rocksdb::Env> env;
  std::shared_ptr<rocksdb::Cache> cache;        // Shared with `db`.
  std::shared_ptr<ErrorListener> errors;        // Shared with `db`.
  std::shared_ptr<ExpiryFilterFactory> expiry;  // Shared with `db`.
  std::unique_ptr<rocksdb::DB> db;
  std::vector<std::unique_ptr<rocksdb::ColumnFamilyHandle>> families;  // See kFamilyNames.
};

// After a commit or a background job has failed, the next commit first tries to heal the store.
class RocksDbStore final : public Store {
 public:
  RocksDbStore(Parts parts, const RocksDbOptions& options)
      : parts_(std::move(parts)),
        path_(options.path),
        reserve_bytes_(options.reserve_bytes),
        metrics_(options.metrics),
        sync_seconds_(metrics_.get().GetHistogram(
            "hearth_storage_sync_seconds",
            "How long it took to write a group of commits to the log and sync it.",
            SyncSecondsBounds())) {
    database_.db = parts_.db.get();
    database_.errors = &reports_;
    for (size_t i = 0; i < kSpaces; ++i) database_.families[i] = parts_.families[i].get();
    healer_ = std::make_unique<Healer>(
        *parts_.db, *parts_.families[kSpaces], *parts_.wal, *parts_.errors, reports_,
        metrics_.get().GetCounter("hearth_storage_healed_total",
                                  "I/O failures after which the store works again."));
    free_bytes_ = metrics_.get().AddGauge(
        "hearth_storage_free_bytes", "Free space on the disk that holds the data.",
        [this] { return static_cast<double>(FreeBytes().value_or(0)); });
    const rocksdb::Cache& cache = *parts_.cache;
    cache_bytes_ = metrics_.get().AddGauge(
        "hearth_storage_block_cache_bytes", "Bytes in the block cache, unflushed writes included.",
        [&cache] { return static_cast<double>(cache.GetUsage()); });
    cache_bytes_max_ = metrics_.get().AddGauge(
        "hearth_storage_block_cache_bytes_max", "Bytes that the block cache may hold.",
        [&cache] { return static_cast<double>(cache.GetCapacity()); });
  }
  ~RocksDbStore() override;
  RocksDbStore(const RocksDbStore&) = delete;
  RocksDbStore& operator=(const RocksDbStore&) = delete;

  Result<std::optional<std::string>> Get(Space space, std::string_view key) const override {
    return GetFrom(database_, rocksdb::ReadOptions(), space, key);
  }
  std::optional<Result<std::optional<std::string>>> GetIfInMemory(
      Space space, std::string_view key) const override {
    return GetFromMemory(database_, space, key);
  }
  std::unique_ptr<Snapshot> NewSnapshot() const override {
    const TsanOrderLock lock(order_);
    return NewRocksDbSnapshot(database_);
  }

  Status DoCommit(const Batch& batch) override;

  uint64_t ApproximateBytes(Space space, const KeyRange& range) const override {
    return ApproximateBytesOf(database_, space, range);
  }

  Status CheckRoomToGrow() const override;

  void BeginService() override { reports_.BeginService(); }

  void ExpireBefore(uint64_t stamp) override { parts_.expiry->Raise(stamp); }

 private:
  // nullopt if the file system does not tell.
  std::optional<uint64_t> FreeBytes() const;
  Status Write(const Batch& batch);
  // A RocksDB write with a sync, timed.
  rocksdb::Status WriteSynced();

  Parts parts_;
  const std::string path_;
  const uint64_t reserve_bytes_;
  mutable std::atomic<bool> has_room_ = true;
  ErrorReports reports_;
  const MetricsOrPrivate metrics_;
  Histogram& sync_seconds_;
  OpenDatabase database_;
  std::unique_ptr<Healer> healer_;
  rocksdb::WriteBatch batch_;  // Used by Write; commits come one at a time.
  mutable TsanOrder order_;
  // Last, because their callbacks read the members above.
  MetricCallback free_bytes_;
  MetricCallback cache_bytes_;
  MetricCallback cache_bytes_max_;
};

RocksDbStore::~RocksDbStore() {
  healer_.reset();
  if (Status cut = FromRocksDb(parts_.wal->CutBack()); !cut.ok()) {
    Log(LogLevel::kError, "a failed commit may reappear at the next start",
        {{"error", cut.ToString()}});
  } else if (!parts_.errors->troubled()) {
    // So that the next start has no log to replay. If this fails, the log is still there.
    bool flushed = true;
    for (const auto& family : parts_.families) {
      if (!parts_.db->Flush(rocksdb::FlushOptions(), family.get()).ok()) flushed = false;
    }
    // From now on no log is needed. If this fails, the mark only asks for logs that are there.
    if (flushed) parts_.wal->mark().Reset({}).PermitUncheckedError();
  }
}

std::optional<uint64_t> RocksDbStore::FreeBytes() const {
  uint64_t bytes = 0;
  const rocksdb::Status known =
      parts_.wal->GetFreeSpace(path_, rocksdb::IOOptions(), &bytes, nullptr);
  return known.ok() ? std::optional<uint64_t>(bytes) : std::nullopt;
}

Status RocksDbStore::CheckRoomToGrow() const {
  if (reserve_bytes_ == 0) return Status();
  const std::optional<uint64_t> free = FreeBytes();
  const bool has_room = !free || *free >= reserve_bytes_;
  if (has_room_.exchange(has_room) != has_room) {
    Log(has_room ? LogLevel::kInfo : LogLevel::kWarning,
        has_room ? "the disk has space again; all commits are accepted"
                 : "the disk is nearly full; only deletes are accepted",
        {{"free_bytes", free.value_or(0)}, {"reserve_bytes", reserve_bytes_}});
  }
  if (has_room) return Status();
  return Status(Code::kResourceExhausted,
                "the server's disk is nearly full; only deletes are accepted until there is space");
}

Status RocksDbStore::DoCommit(const Batch& batch) {
  if (batch.empty()) return Status();
  RETURN_IF_ERROR(healer_->HealIfTroubled());
  Status written = Write(batch);
  if (!written.ok() && parts_.wal->Writable()) {
    // Nothing was written to the log: the write was refused because of a background job's failure,
    // which may be over.
    RETURN_IF_ERROR(healer_->HealIfTroubled());
    written = Write(batch);
  }
  return written.While("committing");
}

rocksdb::Status RocksDbStore::WriteSynced() {
  rocksdb::WriteOptions options;
  options.sync = true;
  const auto started = std::chrono::steady_clock::now();
  rocksdb::Status written = parts_.db->Write(options, &batch_);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - started;
  sync_seconds_.Observe(taken.count());
  return written;
}

Status RocksDbStore::Write(const Batch& batch) {
  batch_.Clear();
  for (const Batch::Change& change : batch.changes()) {
    rocksdb::ColumnFamilyHandle* family = database_.family(change.space);
    const rocksdb::Status added = change.value ? batch_.Put(family, change.key, *change.value)
                                               : batch_.Delete(family, change.key);
    if (!added.ok()) return reports_.Of(added);
  }
  const TsanOrderLock lock(order_);
  rocksdb::Status written = WriteSynced();
  // After a compaction error RocksDB does not block when writes must stall: it returns
  // "incomplete".
  for (int tries = 0; written.IsIncomplete() && tries < kStallTriesMax; ++tries) {
    std::this_thread::sleep_for(kStallPause);
    written = WriteSynced();
  }
  if (batch_.GetDataSize() > kBatchBytesKept) batch_ = rocksdb::WriteBatch();
  if (written.ok()) {
    parts_.wal->Acknowledge();
    return Status();
  }
  // RocksDB calls the listener before it acts on a background error, so the listener's state alone
  // is not enough.
  parts_.errors->Set();
  if (Status cut = FromRocksDb(parts_.wal->CutBack()); !cut.ok()) {
    Log(LogLevel::kError, "cannot remove a failed commit from the log; will retry",
        {{"error", cut.ToString()}});
  }
  return reports_.Of(written.IsBusy() ? parts_.wal->failure() : written);
}

// Compares the write-ahead logs with the mark, which the guard keeps from then on.
Status CheckLogs(const RocksDbOptions& options, Parts& parts) {
  const std::string mark_path = parts.folder->mark_path();
  ASSIGN_OR_RETURN(std::unique_ptr<WalMark> mark, WalMark::Open(*parts.wal, mark_path));
  const LogLoss loss = options.accept_loss ? LogLoss::kAccepted : LogLoss::kRefused;
  std::vector<WalExtent> left;
  if (parts.folder->contents() == DataFolder::Contents::kDatabase) {
    if (mark->found() == WalMark::Found::kDamage && loss == LogLoss::kRefused) {
      return Status(Code::kDataLoss, mark_path +
                                         " is damaged: cannot tell whether a write-ahead log is "
                                         "missing; --accept-loss starts anyway");
    }
    if (mark->found() != WalMark::Found::kLogs) {
      Log(LogLevel::kWarning, "cannot tell whether a write-ahead log is missing",
          {{"without", mark_path}});
    }
    ASSIGN_OR_RETURN(left, CheckAndMendLogs(*parts.wal, {.path = parts.folder->db_path(),
                                                         .acknowledged = mark->logs(),
                                                         .manifest = mark->manifest(),
                                                         .loss = loss,
                                                         .aside = parts.folder->aside_path()}));
  }
  if (mark->found() != WalMark::Found::kLogs || left != mark->logs()) {
    RETURN_IF_ERROR(FromRocksDb(mark->Reset(std::move(left))));
  }
  parts.wal->Keep(std::move(mark));
  return Status();
}

Status OpenDatabaseIn(const RocksDbOptions& options, Parts& parts) {
  const bool is_new = parts.folder->contents() == DataFolder::Contents::kNone;
  const std::string path = parts.folder->db_path();
  RETURN_IF_ERROR(CheckLogs(options, parts));

  parts.cache = NewBlockCache(options.block_cache_bytes);
  rocksdb::DBOptions db_options = DatabaseOptions(options, parts.cache);
  db_options.create_if_missing = is_new;
  db_options.error_if_exists = is_new;
  // RocksDB would create the folder too, but would first warn that it is missing.
  if (is_new) {
    const rocksdb::Status made = parts.env->CreateDirIfMissing(path);
    if (!made.ok()) return FromRocksDb(made);
  }
  db_options.env = parts.env.get();
  db_options.listeners.push_back(parts.errors);
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  const rocksdb::Status opened = rocksdb::DB::Open(
      db_options, path, FamilyDescriptors(options, parts.cache, parts.expiry), &families, &db);
  if (!opened.ok()) return FromRocksDb(opened);
  parts.db.reset(db);
  for (rocksdb::ColumnFamilyHandle* family : families) parts.families.emplace_back(family);
  return is_new ? parts.folder->Finish() : parts.folder->Upgrade();
}

}  // namespace

Result<std::unique_ptr<Store>> OpenRocksDbStoreOn(const RocksDbOptions& options,
                                                  std::shared_ptr<rocksdb::FileSystem> files) {
  Parts parts;
  parts.wal = std::make_shared<WalGuard>(std::move(files));
  ASSIGN_OR_RETURN(parts.folder, DataFolder::Open(options.path, parts.wal));
  parts.env = rocksdb::NewCompositeEnv(parts.wal);
  parts.errors = std::make_shared<ErrorListener>();
  parts.expiry = std::make_shared<ExpiryFilterFactory>();
  const Status opened = OpenDatabaseIn(options, parts);
  if (!opened.ok()) return opened.While("opening " + options.path);
  return std::unique_ptr<Store>(std::make_unique<RocksDbStore>(std::move(parts), options));
}

Result<std::unique_ptr<Store>> OpenRocksDbStore(const RocksDbOptions& options) {
  return OpenRocksDbStoreOn(options, rocksdb::FileSystem::Default());
}

}  // namespace hearth::storage
