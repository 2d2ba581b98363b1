#include "engine/database_remover.h"

#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "documents/keys.h"
#include "model/document_key.h"

namespace hearth::engine {
namespace {

using model::DatabaseNumber;
using storage::Space;

constexpr std::chrono::milliseconds kRemoverPauseAfterError{500};

std::string NoteKey(DatabaseNumber number) {
  return std::string(documents::kDatabaseRemainsKeyPrefix) +
         model::EncodeUint32(static_cast<uint32_t>(number));
}

}  // namespace

Result<std::unique_ptr<DatabaseRemover>> DatabaseRemover::Load(storage::Store& store) {
  std::unique_ptr<DatabaseRemover> remover(new DatabaseRemover(store));
  const std::unique_ptr<storage::Snapshot> snapshot = store.NewSnapshot();
  const auto cursor =
      snapshot->Scan(Space::kMeta, storage::PrefixRange(documents::kDatabaseRemainsKeyPrefix),
                     storage::Direction::kForward);
  MutexLock lock(remover->mutex_);
  for (; cursor->Valid(); cursor->Next()) {
    ASSIGN_OR_RETURN(
        const uint32_t number,
        model::DecodeUint32(cursor->key().substr(documents::kDatabaseRemainsKeyPrefix.size())));
    remover->remaining_[DatabaseNumber{number}] = cursor->value();
  }
  RETURN_IF_ERROR(cursor->status());
  return remover;
}

DatabaseRemover::~DatabaseRemover() { Stop(); }

void DatabaseRemover::Start(indexing::CommitSteps& committer, ForgetIndexes forget_indexes) {
  committer_ = &committer;
  forget_indexes_ = std::move(forget_indexes);
  thread_ = std::thread([this] { Run(); });
}

void DatabaseRemover::Stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

bool DatabaseRemover::stopping() const {
  MutexLock lock(mutex_);
  return stopping_;
}

void DatabaseRemover::StageAdd(const documents::Database& database, storage::Batch* batch) {
  batch->Put(Space::kMeta, NoteKey(database.number), database.name.text());
}

void DatabaseRemover::Add(const documents::Database& database) {
  {
    MutexLock lock(mutex_);
    remaining_[database.number] = database.name.text();
  }
  changed_.NotifyAll();
}

std::vector<std::string> DatabaseRemover::Remaining() const {
  MutexLock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [number, name] : remaining_) names.push_back(name);
  return names;
}

void DatabaseRemover::AwaitIdle() {
  MutexLock lock(mutex_);
  while (!remaining_.empty() && !stopping_) changed_.Wait(mutex_);
}

void DatabaseRemover::Run() {
  while (true) {
    DatabaseNumber number{};
    {
      MutexLock lock(mutex_);
      while (remaining_.empty() && !stopping_) changed_.Wait(mutex_);
      if (stopping_) return;
      number = remaining_.begin()->first;
    }
    if (Remove(number) == Outcome::kStopped) return;
    std::string name;
    {
      MutexLock lock(mutex_);
      name = remaining_[number];
      remaining_.erase(number);
    }
    changed_.NotifyAll();
    Log(LogLevel::kInfo, "a deleted database is gone from the disk", {{"database", name}});
  }
}

DatabaseRemover::Outcome DatabaseRemover::Remove(DatabaseNumber number) {
  // First, because builds read documents.
  AwaitIndexesForgotten(number);
  const std::string prefix = model::DatabaseKeyPrefix(number);
  const std::pair<Space, std::string> parts[] = {
      {Space::kDocuments, prefix},
      {Space::kHistory, prefix},
      {Space::kLog, prefix},
      // Only if a policy was stored in the same group as the deletion.
      {Space::kMeta, std::string(documents::kTtlKeyPrefix) + prefix}};
  for (const auto& [space, key_prefix] : parts) {
    bool finished = false;
    while (!finished) {
      if (stopping()) return Outcome::kStopped;
      const Status status = RemoveSome(space, key_prefix, &finished);
      if (!status.ok()) PauseAfter(status);
    }
  }
  while (true) {
    if (stopping()) return Outcome::kStopped;
    const Status status = RemoveNote(number);
    if (status.ok()) return Outcome::kDone;
    PauseAfter(status);
  }
}

void DatabaseRemover::AwaitIndexesForgotten(DatabaseNumber number) {
  {
    MutexLock lock(mutex_);
    are_indexes_forgotten_ = false;
  }
  forget_indexes_(number, [this] {
    {
      MutexLock lock(mutex_);
      are_indexes_forgotten_ = true;
    }
    changed_.NotifyAll();
  });
  MutexLock lock(mutex_);
  while (!are_indexes_forgotten_ && !stopping_) changed_.Wait(mutex_);
}

Status DatabaseRemover::RemoveSome(Space space, const std::string& prefix, bool* finished) {
  std::vector<std::string> keys;
  bool is_all = false;
  {
    const auto snapshot = store_.NewSnapshot();
    const auto cursor =
        snapshot->Scan(space, storage::PrefixRange(prefix), storage::Direction::kForward);
    for (; cursor->Valid() && keys.size() < kStepKeysMax; cursor->Next()) {
      keys.emplace_back(cursor->key());
    }
    RETURN_IF_ERROR(cursor->status());
    is_all = !cursor->Valid();
  }
  if (!keys.empty()) {
    const auto stage = [&](storage::Batch* batch) {
      for (const std::string& key : keys) batch->Delete(space, key);
    };
    RETURN_IF_ERROR(committer_->RunStep(stage, [] {}));
  }
  *finished = is_all;
  return Status();
}

Status DatabaseRemover::RemoveNote(DatabaseNumber number) {
  return committer_->RunStep(
      [&](storage::Batch* batch) { batch->Delete(Space::kMeta, NoteKey(number)); }, [] {});
}

void DatabaseRemover::PauseAfter(const Status& status) {
  Log(LogLevel::kWarning, "cannot remove a deleted database; will retry",
      {{"error", status.ToString()}});
  MutexLock lock(mutex_);
  if (!stopping_) changed_.WaitFor(mutex_, kRemoverPauseAfterError);
}

}  // namespace hearth::engine
