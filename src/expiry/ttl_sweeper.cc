#include "expiry/ttl_sweeper.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "index/entries.h"
#include "index/value_key.h"
#include "model/document.h"
#include "model/fields.h"

namespace hearth::expiry {
namespace {

using index::Index;
using index::TtlPolicy;
using model::Timestamp;

std::string TimeKey(int64_t micros) {
  std::string key;
  const std::string value = model::EncodeTimestamp(Timestamp::FromMicros(micros));
  index::AppendValueKey(model::ValueView(value), &key);
  return key;
}

// Counts down the operations in progress. Threads: safe for concurrent use.
class Countdown {
 public:
  explicit Countdown(size_t count) : left_(count) {}

  void Succeed() EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    ++succeeded_;
    CountDown();
  }
  void Fail(int64_t expired_at_micros) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    oldest_failed_ = std::min(oldest_failed_.value_or(expired_at_micros), expired_at_micros);
    CountDown();
  }
  void Skip() EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    CountDown();
  }
  void Wait() EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    while (left_ > 0) done_.Wait(mutex_);
  }

  size_t succeeded() const EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    return succeeded_;
  }
  std::optional<int64_t> oldest_failed() const EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    return oldest_failed_;
  }

 private:
  void CountDown() REQUIRES_LOCK(mutex_) {
    if (--left_ == 0) done_.NotifyAll();
  }

  mutable Mutex mutex_;  // Leaf lock.
  CondVar done_;
  size_t left_ GUARDED_BY(mutex_);
  size_t succeeded_ GUARDED_BY(mutex_) = 0;
  std::optional<int64_t> oldest_failed_ GUARDED_BY(mutex_);
};

// The time in the entry's key, which was made from a timestamp.
int64_t TimeOfComponent(std::string_view component) {
  uint64_t ordered = 0;
  for (const char byte : component.substr(1)) {
    ordered = ordered << 8 | static_cast<uint8_t>(byte);
  }
  return static_cast<int64_t>(ordered ^ (uint64_t{1} << 63));
}

}  // namespace

index::Definition TtlIndex(const TtlPolicy& policy) {
  return {policy.collection_group,
          index::QueryScope::kCollectionGroup,
          {{policy.field, index::FieldMode::kAscending}},
          false};
}

TtlSweeper::TtlSweeper(const storage::Store& store, const Clock& clock,
                       const indexing::IndexRegistry& indexes, Hooks hooks)
    : store_(store),
      clock_(clock),
      indexes_(indexes),
      hooks_(std::move(hooks)),
      pace_(clock, hooks_.commits) {}

TtlSweeper::~TtlSweeper() { Stop(); }

void TtlSweeper::Start() {
  thread_ = std::thread([this] { Run(); });
}

void TtlSweeper::Stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

bool TtlSweeper::stopping() const {
  MutexLock lock(mutex_);
  return stopping_;
}

void TtlSweeper::Run() {
  while (true) {
    {
      MutexLock lock(mutex_);
      if (!stopping_) changed_.WaitFor(mutex_, kPeriod);
      if (stopping_) return;
    }
    Sweep();
  }
}

size_t TtlSweeper::Sweep() {
  bool is_finished = false;
  size_t deleted = SweepRound(From::kBeginning, &is_finished);
  while (!is_finished && !stopping()) {
    deleted += SweepRound(From::kLastTurn, &is_finished);
  }
  return deleted;
}

size_t TtlSweeper::SweepRound(From from, bool* is_finished) {
  {
    MutexLock lock(mutex_);
    while (is_sweeping_) changed_.Wait(mutex_);
    is_sweeping_ = true;
  }
  if (from == From::kBeginning) {
    turns_.clear();
    pace_.BeginSweep();
  }
  size_t deleted = 0;
  std::map<std::pair<model::DatabaseNumber, std::string>, Turn> unfinished;
  for (const documents::DatabaseHandle& database : hooks_.databases()) {
    for (const TtlPolicy& policy : hooks_.policies(*database)) {
      if (stopping()) break;
      const auto key = std::make_pair(database->number, policy.collection_group);
      Turn turn = std::move(turns_[key]);
      turn.deleted = 0;
      const Status status = SweepPolicy(*database, policy, &turn);
      deleted += turn.deleted;
      if (!status.ok()) {
        Log(LogLevel::kWarning, "cannot delete expired documents; will retry",
            {{"collection", policy.collection_group}, {"error", status.ToString()}});
      } else if (!turn.is_finished) {
        unfinished[key] = std::move(turn);
      }
    }
  }
  *is_finished = unfinished.empty();
  turns_ = std::move(unfinished);
  {
    MutexLock lock(mutex_);
    is_sweeping_ = false;
  }
  changed_.NotifyAll();
  return deleted;
}

std::optional<Index> TtlSweeper::IndexOf(const documents::Database& database,
                                         const TtlPolicy& policy) const {
  const auto indexes = indexes_.Current();
  const index::Definition definition = TtlIndex(policy);
  for (const Index& index : indexes->Of(database.number, policy.collection_group)) {
    if (index.state == index::State::kReady && index.definition == definition) return index;
  }
  return std::nullopt;
}

Status TtlSweeper::SweepPolicy(documents::Database& database, const TtlPolicy& policy, Turn* turn) {
  const std::optional<Index> index = IndexOf(database, policy);
  turn->is_finished = !index;
  if (!index) return Status();
  index->activity->used_at_micros = clock_.WallMicros();
  const bool is_retry = turn->oldest_left_micros && turn->turns >= kTurnsBeforeRetry;
  if (turn->index != index->number || is_retry) *turn = Turn();
  turn->index = index->number;
  ++turn->turns;
  const std::chrono::microseconds offset = policy.offset;
  for (size_t step = 0; step < kStepsPerTurn && !stopping(); ++step) {
    pace_.BeginStep();
    const int64_t cutoff = clock_.WallMicros() - offset.count();
    ASSIGN_OR_RETURN(const std::vector<Candidate> candidates,
                     FindExpired(*index, cutoff, turn->after, pace_.step_max()));
    // Documents that could not be deleted are older than the next ones.
    const int64_t next = candidates.empty() ? cutoff : candidates.front().expired_at_micros;
    const int64_t oldest = turn->oldest_left_micros.value_or(next);
    Note(database, policy, 0, std::chrono::microseconds(cutoff - oldest));
    turn->is_finished = candidates.empty();
    if (turn->is_finished) return Status();
    const Outcome outcome = Delete(database, policy, cutoff, candidates);
    turn->deleted += outcome.deleted;
    if (!turn->oldest_left_micros) turn->oldest_left_micros = outcome.oldest_left_micros;
    Note(database, policy, outcome.deleted, std::chrono::microseconds(cutoff - oldest));
    turn->after = candidates.back().entry_key;
    Pause(pace_.EndStep(outcome.tried));
    if (outcome.oldest_left_micros) {
      turn->turns = 0;
      return Status();  // Perhaps it waited for locks, for seconds.
    }
  }
  return Status();
}

Result<std::vector<TtlSweeper::Candidate>> TtlSweeper::FindExpired(const Index& index,
                                                                   int64_t cutoff_micros,
                                                                   const std::string& after,
                                                                   size_t max) const {
  const std::string prefix = index::IndexKeyPrefix(index.number);
  const std::string type = TimeKey(cutoff_micros).substr(0, 1);
  storage::KeyRange range{prefix + type,
                          storage::PrefixRange(prefix + TimeKey(cutoff_micros)).last};
  if (!after.empty()) range.first = after + '\0';
  const auto snapshot = store_.NewSnapshot();
  const auto cursor = snapshot->Scan(storage::Space::kIndexes, range, storage::Direction::kForward);
  std::vector<Candidate> candidates;
  for (; cursor->Valid() && candidates.size() < max; cursor->Next()) {
    const std::string_view rest = cursor->key().substr(prefix.size());
    const std::optional<size_t> length = index::ComponentLength(rest, index::ByteOrder::kAscending);
    if (!length) return Status(Code::kDataLoss, "cannot decode an index entry");
    ASSIGN_OR_RETURN(model::DocumentPath path,
                     index::DecodeName(rest.substr(*length), index.definition.scope, false, ""));
    candidates.push_back(
        {std::string(cursor->key()), std::move(path), TimeOfComponent(rest.substr(0, *length))});
  }
  RETURN_IF_ERROR(cursor->status());
  return candidates;
}

TtlSweeper::Outcome TtlSweeper::Delete(documents::Database& database, const TtlPolicy& policy,
                                       int64_t cutoff_micros,
                                       const std::vector<Candidate>& candidates) {
  // Shared with the commits' callbacks.
  auto countdown = std::make_shared<Countdown>(candidates.size());
  size_t tried = 0;
  for (const Candidate& candidate : candidates) {
    const Result<model::Record> record = hooks_.get(database, candidate.path);
    std::optional<model::ValueView> value;
    if (record.ok() && *record) {
      value = model::FindField(model::RecordFields(**record), policy.field);
    }
    const bool has_expired = value && value->type() == model::ValueType::kTimestamp &&
                             value->timestamp().micros() <= cutoff_micros;
    if (!has_expired) {
      // It has changed, or cannot be read.
      record.ok() ? countdown->Skip() : countdown->Fail(candidate.expired_at_micros);
      continue;
    }
    request::Precondition unchanged{std::nullopt, model::RecordUpdateTime(**record)};
    request::Write write{candidate.path, request::WriteKind::kDelete, {}, std::nullopt, {},
                         unchanged};
    ++tried;
    hooks_.commit(database, std::move(write),
                  [countdown, at = candidate.expired_at_micros](const Status& status) {
                    status.ok() ? countdown->Succeed() : countdown->Fail(at);
                  });
  }
  countdown->Wait();
  return {countdown->succeeded(), tried, countdown->oldest_failed()};
}

void TtlSweeper::Pause(std::chrono::microseconds duration) {
  const auto until = std::chrono::steady_clock::now() + duration;
  MutexLock lock(mutex_);
  while (!stopping_) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    changed_.WaitFor(mutex_, left);
  }
}

void TtlSweeper::Note(const documents::Database& database, const TtlPolicy& policy,
                      uint64_t deleted, std::chrono::microseconds late) {
  MutexLock lock(mutex_);
  Progress& progress = progress_[{database.number, policy.collection_group}];
  progress.deleted += deleted;
  progress.late = late;
}

void TtlSweeper::Forget(model::DatabaseNumber database) {
  MutexLock lock(mutex_);
  std::erase_if(progress_, [&](const auto& entry) { return entry.first.first == database; });
}

std::vector<TtlStatus> TtlSweeper::StatusOf(const documents::Database& database) const {
  std::vector<TtlStatus> statuses;
  for (const TtlPolicy& policy : hooks_.policies(database)) {
    TtlStatus status{policy, IndexOf(database, policy).has_value(), 0, {}};
    MutexLock lock(mutex_);
    const auto found = progress_.find({database.number, policy.collection_group});
    if (found != progress_.end()) {
      status.deleted = found->second.deleted;
      status.late = found->second.late;
    }
    statuses.push_back(std::move(status));
  }
  return statuses;
}

}  // namespace hearth::expiry
