#include "storage/rocksdb_reads.h"

#include <utility>

#include "base/check.h"

namespace hearth::storage {
namespace {

rocksdb::Slice ToSlice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view ToView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

class RocksDbCursor final : public Cursor {
 public:
  RocksDbCursor(const OpenDatabase& database, rocksdb::ReadOptions options, Space space,
                KeyRange range, Direction direction, const PauseFunction* pause)
      : errors_(*database.errors),
        pause_(pause != nullptr && *pause ? pause : nullptr),
        range_(std::move(range)),
        first_(range_.first),
        last_(range_.last),
        direction_(direction) {
    options.iterate_lower_bound = &first_;
    if (!range_.last.empty()) options.iterate_upper_bound = &last_;
    if (pause_ != nullptr) options.max_skippable_internal_keys = kSkippedKeysMax;
    iterator_.reset(database.db->NewIterator(options, database.family(space)));
    if (direction_ == Direction::kForward) {
      iterator_->SeekToFirst();
    } else {
      iterator_->SeekToLast();
    }
    Arrive();
  }
  // RocksDB keeps pointers to the bounds.
  RocksDbCursor(const RocksDbCursor&) = delete;
  RocksDbCursor& operator=(const RocksDbCursor&) = delete;

  bool Valid() const override { return iterator_->Valid(); }
  Status status() const override {
    return paused_.ok() ? errors_.Of(iterator_->status()) : paused_;
  }

  std::string_view key() const override {
    CHECK(iterator_->Valid());
    return ToView(iterator_->key());
  }
  std::string_view value() const override {
    CHECK(iterator_->Valid());
    return ToView(iterator_->value());
  }

  void Next() override {
    CHECK(iterator_->Valid());
    if (direction_ == Direction::kForward) {
      iterator_->Next();
    } else {
      iterator_->Prev();
    }
    Arrive();
  }

  void Seek(std::string_view key) override {
    Jump(key);
    Arrive();
  }

 private:
  void Jump(std::string_view key) {
    if (direction_ == Direction::kForward) {
      iterator_->Seek(ToSlice(key));
    } else {
      iterator_->SeekForPrev(ToSlice(key));
    }
  }

  // Goes on where RocksDB has stopped because it passed over many keys.
  void Arrive() {
    if (!paused_.ok()) paused_ = Status();
    while (!iterator_->Valid() && iterator_->status().IsIncomplete()) {
      if (paused_ = (*pause_)(); !paused_.ok()) return;
      std::string reached;
      const rocksdb::Status known =
          iterator_->GetProperty("rocksdb.iterator.internal-key", &reached);
      CHECK(known.ok());
      Jump(reached);
    }
  }

  const ErrorReports& errors_;
  const PauseFunction* const pause_;  // Null: the cursor never pauses.
  Status paused_;
  const KeyRange range_;
  const rocksdb::Slice first_;
  const rocksdb::Slice last_;
  const Direction direction_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

class RocksDbSnapshot final : public Snapshot {
 public:
  explicit RocksDbSnapshot(const OpenDatabase& database) : database_(database) {
    options_.snapshot = database_.db->GetSnapshot();
  }
  ~RocksDbSnapshot() override { database_.db->ReleaseSnapshot(options_.snapshot); }
  RocksDbSnapshot(const RocksDbSnapshot&) = delete;
  RocksDbSnapshot& operator=(const RocksDbSnapshot&) = delete;

  Result<std::optional<std::string>> Get(Space space, std::string_view key) const override {
    return GetFrom(database_, options_, space, key);
  }
  std::unique_ptr<Cursor> Scan(Space space, KeyRange range, Direction direction,
                               const PauseFunction* pause) const override {
    return std::make_unique<RocksDbCursor>(database_, options_, space, std::move(range), direction,
                                           pause);
  }

 private:
  const OpenDatabase database_;
  rocksdb::ReadOptions options_;
};

}  // namespace

uint64_t ApproximateBytesOf(const OpenDatabase& database, Space space, const KeyRange& range) {
  // RocksDB needs an upper bound: this is longer than any possible last key.
  const std::string last = range.last.empty() ? std::string(64, '\xff') : range.last;
  const rocksdb::Range bounds(range.first, last);
  rocksdb::SizeApproximationOptions options;
  options.include_memtables = true;
  uint64_t bytes = 0;
  database.db->GetApproximateSizes(options, database.family(space), &bounds, 1, &bytes)
      .PermitUncheckedError();
  return bytes;
}

Result<std::optional<std::string>> GetFrom(const OpenDatabase& database,
                                           const rocksdb::ReadOptions& options, Space space,
                                           std::string_view key) {
  std::string value;
  const rocksdb::Status status =
      database.db->Get(options, database.family(space), ToSlice(key), &value);
  if (status.IsNotFound()) return std::optional<std::string>();
  if (!status.ok()) return database.errors->Of(status);
  return std::optional<std::string>(std::move(value));
}

std::optional<Result<std::optional<std::string>>> GetFromMemory(const OpenDatabase& database,
                                                                Space space, std::string_view key) {
  rocksdb::ReadOptions options;
  options.read_tier = rocksdb::kBlockCacheTier;
  std::string value;
  const rocksdb::Status status =
      database.db->Get(options, database.family(space), ToSlice(key), &value);
  if (status.IsIncomplete()) return std::nullopt;
  if (status.IsNotFound()) return std::optional<std::string>();
  if (!status.ok()) return database.errors->Of(status);
  // For a key in a file that is not open, RocksDB returns "found" without a value, instead of
  // "incomplete". So an empty value proves nothing.
  if (value.empty()) return std::nullopt;
  return std::optional<std::string>(std::move(value));
}

std::unique_ptr<Snapshot> NewRocksDbSnapshot(const OpenDatabase& database) {
  return std::make_unique<RocksDbSnapshot>(database);
}

}  // namespace hearth::storage
