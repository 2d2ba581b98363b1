// For tests: a store that fails on request.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/mutex.h"
#include "base/status.h"
#include "storage/store.h"

namespace hearth::storage {

// A status to fail with.
inline const Status kDataLoss(Code::kDataLoss, "checksum");

// Passes everything on to another store, except for the failures that a test has requested. A
// failed commit changes nothing, as the contract of Store requires.
//
// Threads: safe for concurrent use. Ownership: borrows the store. Errors: the requested ones.
class FaultyStore final : public Store {
 public:
  // Where values are: on disk, so that reads must wait for it, or in memory.
  enum class Values { kInMemory, kOnDisk };

  explicit FaultyStore(Store& store, Values values = Values::kInMemory)
      : store_(store), values_(values) {}

  // The `nth` call from now on (1: the next one) fails with `status`.
  void FailCommit(size_t nth, Status status) { commit_fault_.Plan(nth, std::move(status)); }
  // Counts the gets of the store and of its snapshots.
  void FailGet(size_t nth, Status status) { get_fault_.Plan(nth, std::move(status)); }
  // Counts the steps of all cursors together; creating a cursor is its first step.
  void FailScan(size_t nth, Status status) { scan_fault_.Plan(nth, std::move(status)); }

  // Runs before every commit, on the thread that commits: it may block to gather a group.
  void BeforeCommits(std::function<void()> hook) { SetHook(kBefore, std::move(hook)); }
  // Runs when a commit is in the store but not acknowledged yet.
  void AfterCommits(std::function<void()> hook) { SetHook(kAfter, std::move(hook)); }
  // Runs before every snapshot, on the thread that takes it.
  void BeforeSnapshots(std::function<void()> hook) { SetHook(kSnapshot, std::move(hook)); }

  // Runs before every step of every cursor, on the thread that makes it.
  void BeforeSteps(std::function<void()> hook) { SetHook(kStep, std::move(hook)); }

  void RemoveHooks() {
    for (const Moment moment : {kBefore, kAfter, kSnapshot, kStep}) SetHook(moment, nullptr);
  }

  Result<std::optional<std::string>> Get(Space space, std::string_view key) const override {
    if (Status status = get_fault_.Next(); !status.ok()) return status;
    return store_.Get(space, key);
  }

  std::optional<Result<std::optional<std::string>>> GetIfInMemory(
      Space space, std::string_view key) const override {
    if (values_ == Values::kOnDisk) return std::nullopt;
    return Get(space, key);
  }

  std::unique_ptr<Snapshot> NewSnapshot() const override {
    RunHook(kSnapshot);
    return std::make_unique<FaultySnapshot>(*this, store_.NewSnapshot());
  }

  Status DoCommit(const Batch& batch) override {
    RunHook(kBefore);
    if (Status status = commit_fault_.Next(); !status.ok()) return status;
    Status status = store_.Commit(batch);
    if (status.ok()) RunHook(kAfter);
    return status;
  }

  uint64_t ApproximateBytes(Space space, const KeyRange& range) const override {
    return store_.ApproximateBytes(space, range);
  }

  void BeginService() override { store_.BeginService(); }

  // From now on, or no longer, the disk is nearly full.
  void SetNearlyFull(bool is_nearly_full) { is_nearly_full_ = is_nearly_full; }
  Status CheckRoomToGrow() const override {
    return is_nearly_full_ ? Status(Code::kResourceExhausted, "nearly full") : Status();
  }

  void ExpireBefore(uint64_t stamp) override { store_.ExpireBefore(stamp); }

 private:
  // Counts calls and makes one of them fail.
  class Fault {
   public:
    void Plan(size_t nth, Status status) {
      MutexLock lock(mutex_);
      calls_left_ = nth;
      status_ = std::move(status);
    }
    Status Next() {
      MutexLock lock(mutex_);
      if (calls_left_ == 0 || --calls_left_ > 0) return Status();
      return status_;
    }

   private:
    Mutex mutex_;
    size_t calls_left_ GUARDED_BY(mutex_) = 0;
    Status status_ GUARDED_BY(mutex_);
  };

  class FaultyCursor final : public Cursor {
   public:
    FaultyCursor(const FaultyStore& store, std::unique_ptr<Cursor> cursor)
        : store_(store), cursor_(std::move(cursor)) {
      Step();
    }
    bool Valid() const override { return fault_.ok() && cursor_->Valid(); }
    Status status() const override { return fault_.ok() ? cursor_->status() : fault_; }
    std::string_view key() const override { return cursor_->key(); }
    std::string_view value() const override { return cursor_->value(); }
    void Next() override {
      store_.RunHook(kStep);
      cursor_->Next();
      Step();
    }
    void Seek(std::string_view key) override {
      store_.RunHook(kStep);
      cursor_->Seek(key);
      Step();
    }

   private:
    void Step() {
      if (fault_.ok()) fault_ = store_.scan_fault_.Next();
    }

    const FaultyStore& store_;
    std::unique_ptr<Cursor> cursor_;
    Status fault_;
  };

  class FaultySnapshot final : public Snapshot {
   public:
    FaultySnapshot(const FaultyStore& store, std::unique_ptr<Snapshot> snapshot)
        : store_(store), snapshot_(std::move(snapshot)) {}
    Result<std::optional<std::string>> Get(Space space, std::string_view key) const override {
      if (Status status = store_.get_fault_.Next(); !status.ok()) return status;
      return snapshot_->Get(space, key);
    }
    std::unique_ptr<Cursor> Scan(Space space, KeyRange range, Direction direction,
                                 const PauseFunction* pause) const override {
      return std::make_unique<FaultyCursor>(
          store_, snapshot_->Scan(space, std::move(range), direction, pause));
    }

   private:
    const FaultyStore& store_;
    std::unique_ptr<Snapshot> snapshot_;
  };

  enum Moment { kBefore, kAfter, kSnapshot, kStep };

  void SetHook(Moment moment, std::function<void()> hook) {
    MutexLock lock(hook_mutex_);
    hooks_[moment] = std::move(hook);
  }
  void RunHook(Moment moment) const {
    std::function<void()> hook;
    {
      MutexLock lock(hook_mutex_);
      hook = hooks_[moment];
    }
    if (hook) hook();
  }

  Store& store_;
  const Values values_;
  std::atomic<bool> is_nearly_full_ = false;
  mutable Fault commit_fault_;
  mutable Fault get_fault_;
  mutable Fault scan_fault_;
  mutable Mutex hook_mutex_;
  std::array<std::function<void()>, 4> hooks_ GUARDED_BY(hook_mutex_);
};

}  // namespace hearth::storage
