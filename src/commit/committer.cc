#include "commit/committer.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace hearth::commit {
namespace {

Status Closing() { return Status(Code::kUnavailable, "the database is closing"); }

}  // namespace

Committer::Committer(storage::Store& store, documents::CommitClock& clock,
                     documents::DocumentCache& cache, const documents::DocumentReader& reader,
                     transactions::LockTable& locks, indexing::IndexRegistry& indexes,
                     indexing::VectorGraphs& vector_graphs, watch::ChangeFeed& change_feed,
                     MemoryBudget* memory)
    : store_(store),
      clock_(clock),
      cache_(cache),
      reader_(reader),
      locks_(locks),
      indexes_(indexes),
      vector_graphs_(vector_graphs),
      change_feed_(change_feed),
      memory_(memory),
      thread_([this] { Run(); }) {}

void Committer::Stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

void Committer::Submit(AdmittedCommit commit) {
  bool has_ended;
  {
    MutexLock lock(mutex_);
    has_ended = has_ended_;
    if (!has_ended) queue_.Push(commit.client, std::move(commit));
  }
  changed_.NotifyOne();
  if (!has_ended) return;
  locks_.Release(commit.owner);
  commit.done(Closing());
}

void Committer::Submit(indexing::CommitStep step) {
  bool has_ended;
  {
    MutexLock lock(mutex_);
    has_ended = has_ended_;
    if (!has_ended) steps_.push_back(std::move(step));
  }
  changed_.NotifyOne();
  if (has_ended) step.done(Closing());
}

std::optional<size_t> Committer::AwaitWork(std::vector<indexing::CommitStep>* steps) {
  MutexLock lock(mutex_);
  if (queue_.empty()) owed_turns_.ForgiveAll();
  while (queue_.empty() && steps_.empty() && !deferred_ && !stopping_) changed_.Wait(mutex_);
  *steps = std::exchange(steps_, {});
  has_ended_ = queue_.empty() && steps->empty() && !deferred_;
  if (has_ended_) return std::nullopt;
  return queue_.size();
}

AdmittedCommit Committer::TakeNext() {
  MutexLock lock(mutex_);
  return owed_turns_.TakeNext(&queue_);
}

void Committer::Charge(ClientKey client, size_t bytes) {
  if (bytes < OwedTurns::kTurnBytes) return;
  MutexLock lock(mutex_);
  owed_turns_.Charge(client, bytes, queue_);
}

void Committer::Run() {
  while (true) {
    Work work;
    const std::optional<size_t> commits = AwaitWork(&work.steps);
    if (!commits) return;
    CommitGroup group(clock_, reader_, indexes_, store_.CheckRoomToGrow(), memory_);
    StageWaiting(*commits, &group, &work);
    for (const indexing::CommitStep& step : work.steps) step.stage(&group.batch());
    Finish(group, std::move(work));
  }
}

void Committer::StageWaiting(size_t commits, CommitGroup* group, Work* work) {
  work->commits.reserve(std::min(commits + 1, kGroupCommitsMax));
  work->results.reserve(std::min(commits + 1, kGroupCommitsMax));
  while (work->commits.size() < kGroupCommitsMax && !group->is_full() &&
         (deferred_ || commits > 0)) {
    if (deferred_) {
      work->commits.push_back(*std::exchange(deferred_, std::nullopt));
    } else {
      work->commits.push_back(TakeNext());
      --commits;
    }
    AdmittedCommit& commit = work->commits.back();
    const size_t worked_before = group->worked_bytes();
    std::optional<Result<request::CommitResult>> result = group->Stage(commit);
    Charge(commit.client, group->worked_bytes() - worked_before);
    if (!result) {
      deferred_ = std::move(commit);
      work->commits.pop_back();
      break;
    }
    work->results.push_back(*std::move(result));
  }
  group->Close();
}

Status Committer::Store(CommitGroup& group) {
  Status stored = group.batch().empty() ? Status() : store_.Commit(group.batch());
  if (stored.ok()) {
    if (!group.batch().empty()) groups_.Add();
    for (auto& [key, record] : group.overlay()) cache_.Update(key, std::move(record));
    for (const auto& [database, created] : group.new_databases()) {
      database->created_micros = created.micros();
      database->is_on_disk = true;
    }
    if (group.newest()) vector_graphs_.Append(group.vector_changes(), *group.newest());
  } else {
    ++failed_groups_;
  }
  group.NoteOutcome(stored);
  return stored;
}

void Committer::Finish(CommitGroup& group, Work work) {
  std::vector<watch::Change> changes = group.TakeChanges();
  const Status stored = Store(group);
  if (!stored.ok()) {
    Log(LogLevel::kError, "commit failed",
        {{"commits", work.commits.size()}, {"error", stored.ToString()}});
    changes.clear();
  }
  change_feed_.MakeVisible(std::move(changes));
  std::vector<transactions::LockOwner> owners;
  owners.reserve(work.commits.size());
  for (const AdmittedCommit& commit : work.commits) owners.push_back(commit.owner);
  locks_.ReleaseAll(owners);
  for (size_t i = 0; i < work.commits.size(); ++i) {
    // If the store failed, commits that had failed before get that error too: they may have been
    // judged by writes of the group that were never stored.
    work.commits[i].done(stored.ok() ? std::move(work.results[i])
                                     : Result<request::CommitResult>(stored));
  }
  for (const indexing::CommitStep& step : work.steps) step.done(stored);
}

}  // namespace hearth::commit
