#include "commit/committer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "commit/document_edit.h"
#include "documents/change_log.h"
#include "documents/keys.h"
#include "model/document.h"

namespace hearth::commit {
namespace {

using model::Timestamp;
using storage::Space;

// One document that a commit touches.
struct Touched {
  std::string key;
  const model::DocumentPath* path;
  DocumentEdit edit;
  model::Record after;
};

// The documents that a commit touches, each once, in order of first use.
class TouchedDocuments {
 public:
  Touched* Find(const std::string& key) {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : &touched_[found->second];
  }
  Touched& Add(std::string key, const model::DocumentPath& path, DocumentEdit edit) {
    by_key_.emplace(key, touched_.size());
    return touched_.emplace_back(Touched{std::move(key), &path, std::move(edit), nullptr});
  }
  std::deque<Touched>& all() { return touched_; }

 private:
  std::deque<Touched> touched_;  // A deque, so that pointers into it stay valid.
  std::unordered_map<std::string, size_t> by_key_;
};

Status Closing() { return Status(Code::kUnavailable, "the database is closing"); }

bool AddsData(const std::vector<request::Write>& writes) {
  return std::any_of(writes.begin(), writes.end(), [](const request::Write& write) {
    return write.kind != request::WriteKind::kDelete && write.kind != request::WriteKind::kVerify;
  });
}

Status AppendEntryChanges(const index::IndexSet& indexes, const documents::Database& database,
                          const Touched& touched, std::vector<index::EntryChange>* entries) {
  std::string_view before;
  std::string_view after;
  if (touched.edit.before()) before = model::RecordFields(*touched.edit.before());
  if (touched.after) after = model::RecordFields(*touched.after);
  return indexes.AppendChanges(database.number, *touched.path,
                               touched.edit.before() ? &before : nullptr,
                               touched.after ? &after : nullptr, entries);
}

}  // namespace

// The commits of one sync: what goes to disk, and the results to report afterwards.
struct Committer::Group {
  std::shared_ptr<const index::IndexSet> indexes;  // Shared with the registry and readers.
  storage::Batch batch;
  Overlay overlay;
  std::map<documents::Database*, Timestamp> new_databases;  // With their first commits.
  std::optional<Timestamp> newest;  // Over the commits that change something on disk.
  std::vector<index::EntryChange> vector_changes;
  std::vector<watch::Change> changes;
  Status room;  // Not OK: the disk is nearly full, and only deletes may use the rest.

  // Adds one document's change, and what it replaced.
  void Put(const std::string& key, const model::Record& before, const model::Record& after,
           Timestamp commit_time) {
    batch.Put(Space::kHistory, documents::HistoryKey(key, commit_time),
              before ? *before : std::string());
    if (after) {
      batch.Put(Space::kDocuments, key, *after);
    } else {
      batch.Delete(Space::kDocuments, key);
    }
    overlay[key] = after;
  }

  void PutEntry(index::EntryChange entry) {
    if (entry.has_vector) vector_changes.push_back(entry);
    if (entry.value) {
      batch.Put(Space::kIndexes, std::move(entry.key), *std::move(entry.value));
    } else {
      batch.Delete(Space::kIndexes, std::move(entry.key));
    }
  }

  // Adds the log entry of one commit; with it, a database exists on disk.
  void PutLog(documents::Database* database, const std::vector<std::string_view>& changed_keys,
              Timestamp commit_time) {
    batch.Put(Space::kLog, documents::LogKey(database->number, commit_time),
              documents::EncodeLogEntry(changed_keys));
    if (!database->is_on_disk && new_databases.emplace(database, commit_time).second) {
      batch.Put(Space::kMeta, std::string(documents::kDatabaseKeyPrefix) + database->name.text(),
                documents::EncodeDatabaseRecord({database->number, commit_time}));
    }
    newest = commit_time;
  }
};

Committer::Committer(storage::Store& store, documents::CommitClock& clock,
                     documents::DocumentCache& cache, const documents::DocumentReader& reader,
                     transactions::LockTable& locks, const indexing::IndexRegistry& indexes,
                     indexing::VectorGraphs& vector_graphs, watch::ChangeFeed& change_feed)
    : store_(store),
      clock_(clock),
      cache_(cache),
      reader_(reader),
      locks_(locks),
      indexes_(indexes),
      vector_graphs_(vector_graphs),
      change_feed_(change_feed),
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

bool Committer::TakeWork(Work* work) {
  MutexLock lock(mutex_);
  while (queue_.empty() && steps_.empty() && !stopping_) changed_.Wait(mutex_);
  size_t bytes = 0;
  while (!queue_.empty() && work->commits.size() < kGroupCommitsMax && bytes < kGroupBytesMax) {
    work->commits.push_back(queue_.Pop());
    bytes += request::ApproximateBytes(work->commits.back().writes);
  }
  work->steps = std::exchange(steps_, {});
  has_ended_ = work->empty();
  return !has_ended_;
}

void Committer::Run() {
  while (true) {
    Work work;
    if (!TakeWork(&work)) return;
    CommitGroup(std::move(work));
  }
}

Status Committer::Store(Group& group) {
  if (group.newest) {
    group.batch.Put(Space::kMeta, std::string(documents::kCommitTimeKey),
                    model::EncodeUint64(static_cast<uint64_t>(group.newest->micros())));
  }
  Status stored = group.batch.empty() ? Status() : store_.Commit(group.batch);
  if (stored.ok()) {
    if (!group.batch.empty()) groups_.Add();
    for (auto& [key, record] : group.overlay) cache_.Update(key, std::move(record));
    for (const auto& [database, created] : group.new_databases) {
      database->created_micros = created.micros();
      database->is_on_disk = true;
    }
    if (group.newest) vector_graphs_.Append(group.vector_changes, *group.newest);
  } else {
    ++failed_groups_;
  }
  return stored;
}

void Committer::CommitGroup(Work work) {
  std::vector<AdmittedCommit>& commits = work.commits;
  Group group;
  group.indexes = indexes_.Current();
  group.room = store_.CheckRoomToGrow();
  std::vector<Result<request::CommitResult>> results;
  std::vector<transactions::LockOwner> owners;
  results.reserve(commits.size());
  owners.reserve(commits.size());
  for (AdmittedCommit& commit : commits) {
    results.push_back(Stage(commit, &group));
    owners.push_back(commit.owner);
  }

  for (const indexing::CommitStep& step : work.steps) step.stage(&group.batch);
  const Status stored = Store(group);
  if (!stored.ok()) {
    Log(LogLevel::kError, "commit failed",
        {{"commits", commits.size()}, {"error", stored.ToString()}});
  }
  if (!stored.ok()) group.changes.clear();
  change_feed_.MakeVisible(std::move(group.changes));
  locks_.ReleaseAll(owners);
  for (size_t i = 0; i < commits.size(); ++i) {
    // If the store failed, commits that had failed before get that error too: they may have been
    // judged by writes of the group that were never stored.
    commits[i].done(stored.ok() ? std::move(results[i]) : Result<request::CommitResult>(stored));
  }
  for (const indexing::CommitStep& step : work.steps) step.done(stored);
}

Result<model::Record> Committer::Load(const std::string& document_key, const Overlay& overlay) {
  const auto staged = overlay.find(document_key);
  return staged != overlay.end() ? Result<model::Record>(staged->second)
                                 : reader_.Newest(document_key);
}

// Adds the commit to the group if all of its writes succeed; otherwise leaves the group as it was.
Result<request::CommitResult> Committer::Stage(AdmittedCommit& commit, Group* group) {
  if (AddsData(commit.writes)) RETURN_IF_ERROR(group->room);
  const documents::Database& database = *commit.database;
  if (database.is_deleted) return documents::DatabaseDeleted(database);
  request::CommitResult result{clock_.Assign(), {}};
  TouchedDocuments documents;
  std::vector<const Touched*> touched_by_write;
  for (request::Write& write : commit.writes) {
    std::string key = model::DocumentKey(database.number, write.path);
    Touched* touched = documents.Find(key);
    if (!touched) {
      ASSIGN_OR_RETURN(model::Record before, Load(key, group->overlay));
      touched = &documents.Add(std::move(key), write.path,
                               DocumentEdit(database.name, write.path, std::move(before)));
    }
    request::WriteResult& write_result = result.write_results.emplace_back();
    RETURN_IF_ERROR(
        touched->edit.Apply(write, result.commit_time, &write_result.transform_results));
    touched_by_write.push_back(touched);
  }

  std::vector<index::EntryChange> entries;
  for (Touched& touched : documents.all()) {
    touched.after = touched.edit.After(result.commit_time);
    if (!touched.edit.IsChange()) continue;
    RETURN_IF_ERROR(AppendEntryChanges(*group->indexes, database, touched, &entries));
  }
  std::vector<std::string_view> changed_keys;
  for (Touched& touched : documents.all()) {
    if (!touched.edit.IsChange()) continue;
    changed_keys.push_back(touched.key);
    group->Put(touched.key, touched.edit.before(), touched.after, result.commit_time);
    group->indexes->NoteTouched(database.number, *touched.path, touched.key);
    group->changes.push_back(
        {database.number, *touched.path, touched.edit.before(), touched.after, result.commit_time});
  }
  for (index::EntryChange& entry : entries) group->PutEntry(std::move(entry));
  for (size_t i = 0; i < touched_by_write.size(); ++i) {
    result.write_results[i].document = touched_by_write[i]->after;
  }
  if (!changed_keys.empty()) group->PutLog(commit.database.get(), changed_keys, result.commit_time);
  return result;
}

}  // namespace hearth::commit
