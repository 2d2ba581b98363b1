#include "commit/commit_group.h"

#include <algorithm>
#include <deque>

#include "base/status_macros.h"
#include "commit/document_edit.h"
#include "documents/change_log.h"
#include "documents/keys.h"
#include "indexing/index_keys.h"
#include "model/document.h"
#include "model/document_key.h"

namespace hearth::commit {
namespace {

using model::Timestamp;
using storage::Space;

constexpr size_t kNoWrite = static_cast<size_t>(-1);

// In Firestore's words. Another attempt would fail as well, so SDKs must not retry.
Status TooBig() { return InvalidArgument("Transaction too big. Decrease transaction size."); }

bool AddsData(const std::vector<request::Write>& writes) {
  return std::any_of(writes.begin(), writes.end(), [](const request::Write& write) {
    return write.kind != request::WriteKind::kDelete && write.kind != request::WriteKind::kVerify;
  });
}

size_t BytesOf(const model::Record& record) { return record ? record->size() : 0; }

// What the write brings along.
size_t ContentBytes(const request::Write& write) {
  size_t bytes = write.fields.encoded().size();
  for (const model::FieldTransform& transform : write.transforms) bytes += transform.operand.size();
  return bytes;
}

}  // namespace

// One document that a commit touches.
struct CommitGroup::Touched {
  std::string key;
  const model::DocumentPath* path;
  DocumentEdit edit;
  size_t first_write;
  size_t last_write;
  bool keeps_fields = false;  // One of the writes changes only some fields.
  model::Record after = nullptr;
};

// A commit on its way into the group.
class CommitGroup::Staging {
 public:
  Staging(size_t writes, MemoryBudget* memory) : claim_(memory) {
    if (writes > 1) next_write_.assign(writes, kNoWrite);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  Touched* Find(const std::string& key) {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : &touched_[found->second];
  }
  Touched& Add(Touched touched) {
    if (!next_write_.empty()) by_key_.emplace(touched.key, touched_.size());
    return touched_.emplace_back(std::move(touched));
  }
  void AddWrite(Touched& touched, size_t write) {
    next_write_[std::exchange(touched.last_write, write)] = write;
  }
  size_t NextWrite(size_t write) const {
    return next_write_.empty() ? kNoWrite : next_write_[write];
  }
  // Each document once, in order of first use.
  std::deque<Touched>& touched() { return touched_; }

  // Claims what the commit will stage at most.
  Status Claim(size_t bytes) {
    staged_bytes_ += bytes;
    worked_bytes += bytes;
    if (staged_bytes_ > kCommitStagedBytesMax) return TooBig();
    if (claim_.Resize(staged_bytes_ * kMemoryPerStagedByte)) return Status();
    return Status(Code::kResourceExhausted, "not enough memory for what the commit changes");
  }
  size_t staged_bytes() const { return staged_bytes_; }
  MemoryClaim TakeClaim() { return std::move(claim_); }
  Status CheckWork() const {
    return worked_bytes - work_in_vain_ > kCommitWorkBytesMax ? TooBig() : Status();
  }

  // Returns to the moment before any index entry was staged, when there were `staged_bytes` and
  // `worked_before`. What was done since still counts as work of the group, but not as the
  // commit's.
  void DropEntries(size_t staged_bytes, size_t worked_before) {
    entries = {};
    staged_bytes_ = staged_bytes;
    claim_.Shrink(claim_.bytes() - staged_bytes * kMemoryPerStagedByte);
    work_in_vain_ = worked_bytes - worked_before;
  }

  index::EntryChanges entries;
  size_t worked_bytes = 0;
  bool must_wait = false;  // There may be room in the next group.

 private:
  std::deque<Touched> touched_;  // A deque, so that pointers into it stay valid.
  // The next write of the same document; kNoWrite: none. Empty if there is only one write, which
  // then needs no map either.
  std::vector<size_t> next_write_;
  std::unordered_map<std::string, size_t> by_key_;
  size_t staged_bytes_ = 0;
  size_t work_in_vain_ = 0;
  MemoryClaim claim_;  // Its own, so that what becomes large counts as large, step by step.
};

CommitGroup::CommitGroup(documents::CommitClock& clock, const documents::DocumentReader& reader,
                         indexing::IndexRegistry& registry, Status room, MemoryBudget* memory)
    : clock_(clock),
      reader_(reader),
      registry_(registry),
      room_(std::move(room)),
      indexes_(registry.Current()),
      memory_(memory) {}

std::optional<Result<request::CommitResult>> CommitGroup::Stage(AdmittedCommit& commit) {
  if (const Status status = Check(commit); !status.ok()) return status;
  Staging staging(commit.writes.size(), memory_);
  request::CommitResult result;
  Status status = LoadAll(commit, &staging);
  if (status.ok()) {
    result.commit_time = clock_.Assign();
    result.write_results.resize(commit.writes.size());
    status = Edit(commit, &staging, &result);
  }
  if (status.ok()) status = AppendEntries(*commit.database, &staging);
  if (!status.ok() && staging.must_wait) return std::nullopt;
  worked_bytes_ += staging.worked_bytes;
  if (!status.ok()) return status;
  Put(commit, &staging, result.commit_time);
  staged_bytes_ += staging.staged_bytes();
  claims_.push_back(staging.TakeClaim());
  commit.writes.clear();  // Staged: the group may wait for the disk.
  return result;
}

Status CommitGroup::Check(const AdmittedCommit& commit) const {
  if (AddsData(commit.writes)) RETURN_IF_ERROR(room_);
  return commit.database->is_deleted ? documents::DatabaseDeleted(*commit.database) : Status();
}

Result<model::Record> CommitGroup::Load(const std::string& document_key) const {
  const auto staged = overlay_.find(document_key);
  return staged != overlay_.end() ? Result<model::Record>(staged->second)
                                  : reader_.Newest(document_key);
}

Status CommitGroup::OrWait(Status status, Staging* staging) const {
  staging->must_wait = status.code() == Code::kResourceExhausted && !batch_.empty();
  return status;
}

// Finds the documents of all writes.
Status CommitGroup::LoadAll(const AdmittedCommit& commit, Staging* staging) const {
  const documents::Database& database = *commit.database;
  for (size_t i = 0; i < commit.writes.size(); ++i) {
    const request::Write& write = commit.writes[i];
    size_t bytes = kStagedPerWrite + ContentBytes(write);
    std::string key = model::DocumentKey(database.number, write.path);
    Touched* touched = staging->Find(key);
    if (touched) {
      staging->AddWrite(*touched, i);
    } else {
      ASSIGN_OR_RETURN(model::Record before, Load(key));
      bytes += BytesOf(before);
      touched = &staging->Add({std::move(key), &write.path,
                               DocumentEdit(database.name, write.path, std::move(before)), i, i});
    }
    if (write.mask && !std::exchange(touched->keeps_fields, true)) {
      bytes += BytesOf(touched->edit.before());
    }
    Status status = staging->Claim(bytes);
    if (status.ok() && !batch_.empty() &&
        staged_bytes_ + staging->staged_bytes() > kStagedBytesMax) {
      status = Status(Code::kResourceExhausted, "the group is full");
    }
    if (!status.ok()) return OrWait(status, staging);
  }
  return staging->CheckWork();
}

// Applies the writes document by document, in their order for each: only one document is decoded at
// a time.
Status CommitGroup::Edit(const AdmittedCommit& commit, Staging* staging,
                         request::CommitResult* result) const {
  for (Touched& touched : staging->touched()) {
    for (size_t i = touched.first_write; i != kNoWrite; i = staging->NextWrite(i)) {
      const size_t worked_before = touched.edit.worked_bytes();
      RETURN_IF_ERROR(touched.edit.Apply(commit.writes[i], result->commit_time,
                                         &result->write_results[i].transform_results));
      staging->worked_bytes += touched.edit.worked_bytes() - worked_before;
      RETURN_IF_ERROR(staging->CheckWork());
    }
    RETURN_IF_ERROR(touched.edit.Finish());
    touched.after = touched.edit.After(result->commit_time);
    for (size_t i = touched.first_write; i != kNoWrite; i = staging->NextWrite(i)) {
      result->write_results[i].document = touched.after;
    }
  }
  return Status();
}

Status CommitGroup::AppendEntries(const documents::Database& database, Staging* staging) {
  const size_t staged_before = staging->staged_bytes();
  const size_t worked_before = staging->worked_bytes;
  while (true) {
    const Status status = TryAppendEntries(database, staging);
    const index::Index* const too_large = staging->entries.too_large;
    if (!too_large || too_large->origin != index::Origin::kOnDemand) return status;
    // Nobody asked for this index but a query: it must not stand in the way of writes.
    DropIndex(*too_large);
    staging->DropEntries(staged_before, worked_before);
  }
}

Status CommitGroup::TryAppendEntries(const documents::Database& database, Staging* staging) const {
  index::EntryChanges& entries = staging->entries;
  for (const Touched& touched : staging->touched()) {
    if (!touched.edit.IsChange()) continue;
    std::string_view before;
    std::string_view after;
    if (touched.edit.before()) before = model::RecordFields(*touched.edit.before());
    if (touched.after) after = model::RecordFields(*touched.after);
    const size_t bytes_before = entries.bytes;
    const size_t computed_before = entries.computed;
    const Status appended = indexes_->AppendChanges(database.number, *touched.path,
                                                    touched.edit.before() ? &before : nullptr,
                                                    touched.after ? &after : nullptr, &entries);
    staging->worked_bytes += (entries.computed - computed_before) * kWorkPerEntry;
    RETURN_IF_ERROR(appended);
    const Status claimed = staging->Claim(entries.bytes - bytes_before);
    if (!claimed.ok()) return OrWait(claimed, staging);
    RETURN_IF_ERROR(staging->CheckWork());
  }
  return Status();
}

void CommitGroup::DropIndex(const index::Index& dropped) {
  if (!indexes_before_drops_) indexes_before_drops_ = indexes_;
  dropped_indexes_.push_back(dropped);
  indexes_ = std::make_shared<const index::IndexSet>(indexes_->Without(dropped_indexes_.back()));
}

void CommitGroup::Put(const AdmittedCommit& commit, Staging* staging, Timestamp commit_time) {
  const model::DatabaseNumber number = commit.database->number;
  std::vector<std::string_view> changed_keys;
  for (const Touched& touched : staging->touched()) {
    if (!touched.edit.IsChange()) continue;
    changed_keys.push_back(touched.key);
    PutDocument(touched, commit_time);
    indexes_->NoteTouched(number, *touched.path, touched.key);
    changes_.push_back({number, *touched.path, touched.edit.before(), touched.after, commit_time});
  }
  for (index::EntryChange& entry : staging->entries.changes) PutEntry(std::move(entry));
  if (!changed_keys.empty()) PutLog(commit.database.get(), changed_keys, commit_time);
}

// Adds one document's change, and what it replaced.
void CommitGroup::PutDocument(const Touched& touched, Timestamp commit_time) {
  const model::Record& before = touched.edit.before();
  batch_.Put(Space::kHistory, documents::HistoryKey(touched.key, commit_time),
             before ? *before : std::string());
  if (touched.after) {
    batch_.Put(Space::kDocuments, touched.key, *touched.after);
  } else {
    batch_.Delete(Space::kDocuments, touched.key);
  }
  overlay_[touched.key] = touched.after;
}

void CommitGroup::PutEntry(index::EntryChange entry) {
  if (entry.has_vector) vector_changes_.push_back(entry);
  if (entry.value) {
    batch_.Put(Space::kIndexes, std::move(entry.key), *std::move(entry.value));
  } else {
    batch_.Delete(Space::kIndexes, std::move(entry.key));
  }
}

// Adds the log entry of one commit; with it, a database exists on disk.
void CommitGroup::PutLog(documents::Database* database,
                         const std::vector<std::string_view>& changed_keys, Timestamp commit_time) {
  batch_.Put(Space::kLog, documents::LogKey(database->number, commit_time),
             documents::EncodeLogEntry(changed_keys));
  if (!database->is_on_disk && new_databases_.emplace(database, commit_time).second) {
    batch_.Put(Space::kMeta, std::string(documents::kDatabaseKeyPrefix) + database->name.text(),
               documents::EncodeDatabaseRecord({database->number, commit_time}));
  }
  newest_ = commit_time;
}

void CommitGroup::Close() {
  if (newest_) {
    batch_.Put(Space::kMeta, std::string(documents::kCommitTimeKey),
               model::EncodeUint64(static_cast<uint64_t>(newest_->micros())));
  }
  for (const index::Index& index : dropped_indexes_) indexing::StageDrop(index.number, &batch_);
  // Before the group is stored: from then on, the entries of dropped indexes are incomplete.
  if (indexes_before_drops_) registry_.Set(indexes_);
}

void CommitGroup::NoteOutcome(const Status& stored) {
  if (!indexes_before_drops_) return;
  if (!stored.ok()) return registry_.Set(std::exchange(indexes_before_drops_, nullptr));
  for (index::Index& index : dropped_indexes_) {
    registry_.AddDropped({std::move(index), indexes_before_drops_});
  }
  indexes_before_drops_ = nullptr;
}

}  // namespace hearth::commit
