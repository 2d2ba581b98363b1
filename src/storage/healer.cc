#include "storage/healer.h"

#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "rocksdb/convenience.h"

namespace hearth::storage {
namespace {

// Resuming takes a while: RocksDB pauses for a second after each error, and flushes everything in
// memory.
constexpr std::chrono::milliseconds kPatience{5'000};
constexpr std::chrono::milliseconds kQuietWaitMax{3'000};
constexpr std::chrono::milliseconds kQuietWaitStep{5};

// Waits until RocksDB's background jobs have ended, as they do after an error. An error in a job
// that is still running would make RocksDB abort the resumption and drop a flush that it has
// scheduled.
void WaitUntilQuiet(rocksdb::DB& db) {
  for (auto waited = kQuietWaitStep; waited < kQuietWaitMax; waited += kQuietWaitStep) {
    uint64_t flushes = 0;
    uint64_t compactions = 0;
    const bool known =
        db.GetIntProperty(rocksdb::DB::Properties::kNumRunningFlushes, &flushes) &&
        db.GetIntProperty(rocksdb::DB::Properties::kNumRunningCompactions, &compactions);
    if (!known || flushes + compactions == 0) return;
    std::this_thread::sleep_for(kQuietWaitStep);
  }
}

}  // namespace

Healer::~Healer() {
  if (!healing_.joinable()) return;
  rocksdb::CancelAllBackgroundWork(&db_, /*wait=*/false);
  healing_.join();
}

Status Healer::HealIfTroubled() {
  if (!healing_.joinable()) {
    if (!errors_.troubled()) return Status();
    healing_ = std::thread([this] {
      Status outcome = Heal();
      MutexLock lock(mutex_);
      outcome_ = std::move(outcome);
      changed_.NotifyAll();
    });
  }
  std::optional<Status> outcome;
  {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    MutexLock lock(mutex_);
    while (!outcome_ && std::chrono::steady_clock::now() < deadline) {
      changed_.WaitFor(mutex_, kPatience);
    }
    outcome = std::exchange(outcome_, std::nullopt);
  }
  if (!outcome) {
    return Status(Code::kUnavailable,
                  "the store is still healing after an I/O error; if this lasts, restart hearth");
  }
  healing_.join();
  if (outcome->ok()) {
    healed_.Add();
    Log(LogLevel::kInfo, "storage healed");
  } else {
    errors_.Set();
  }
  return outcome->While("healing the store");
}

Status Healer::Heal() {
  RETURN_IF_ERROR(reports_.Of(wal_.CutBack()));
  const WalGuard::Abandoning abandoning(wal_);
  WaitUntilQuiet(db_);
  // Clear this first, so that an error during the resumption is noticed.
  errors_.Clear();
  // Flushes everything that could not be flushed before, and accepts writes again.
  RETURN_IF_ERROR(reports_.Of(db_.Resume()));
  RETURN_IF_ERROR(BeginNewLog());
  // After RocksDB fails to write a MANIFEST it deletes no files, because the failed one may name
  // them. The flush has put a new one into effect.
  return reports_.Of(db_.EnableFileDeletions(/*force=*/true));
}

// Flushing a family begins a new log, and a new MANIFEST if needed, unless there is nothing to
// flush. Hence the dummy change, which itself needs no log.
Status Healer::BeginNewLog() {
  rocksdb::WriteOptions without_log;
  without_log.disableWAL = true;
  RETURN_IF_ERROR(reports_.Of(db_.Delete(without_log, &unused_, "")));
  rocksdb::FlushOptions at_once;
  at_once.allow_write_stall = true;
  RETURN_IF_ERROR(reports_.Of(db_.Flush(at_once, &unused_)));
  // After its first hard error RocksDB no longer waits for flushes.
  for (auto waited = kQuietWaitStep; waited < kQuietWaitMax; waited += kQuietWaitStep) {
    uint64_t unflushed = 0;
    const bool known =
        db_.GetIntProperty(&unused_, rocksdb::DB::Properties::kNumImmutableMemTable, &unflushed);
    if (known && unflushed == 0 && wal_.Writable()) return Status();
    if (errors_.troubled()) break;
    std::this_thread::sleep_for(kQuietWaitStep);
  }
  return Status(Code::kUnavailable, "RocksDB did not begin a new log");
}

}  // namespace hearth::storage
