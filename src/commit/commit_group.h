#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/memory_budget.h"
#include "base/status.h"
#include "commit/admitted_commit.h"
#include "documents/commit_clock.h"
#include "documents/database.h"
#include "documents/document_reader.h"
#include "index/index_set.h"
#include "indexing/index_registry.h"
#include "model/record.h"
#include "model/timestamp.h"
#include "request/write.h"
#include "storage/store.h"
#include "watch/change.h"

namespace hearth::commit {

// The commits of one sync: what goes to disk, and what is left to do afterwards.
//
// A small write can replace a large document or move many index entries. So a group, and each of
// its commits, is bounded by what it stages and by the work it makes, not only by the requests'
// sizes. Staged bytes are claimed from the memory budget until the group is destroyed.
//
// Threads: one at a time. Ownership: borrows all that it is given, a commit only while it is
// staged.
class CommitGroup {
 public:
  // The group is full from here on.
  static constexpr size_t kStagedBytesMax = 16 * 1024 * 1024;
  static constexpr size_t kWorkBytesMax = 64 * 1024 * 1024;
  // A single commit beyond these is refused.
  static constexpr size_t kCommitStagedBytesMax = 128 * 1024 * 1024;
  static constexpr size_t kCommitWorkBytesMax = 512 * 1024 * 1024;
  // A staged byte is in a record, in the batch and in the store's form of the batch.
  static constexpr size_t kMemoryPerStagedByte = 3;
  // What staging a write takes besides its contents, and what computing an index entry costs
  // besides staging it, in bytes.
  static constexpr size_t kStagedPerWrite = 512;
  static constexpr size_t kWorkPerEntry = 512;

  // `room`: not OK if the disk is nearly full, and only deletes may use the rest. `memory`: null:
  // unlimited.
  CommitGroup(documents::CommitClock& clock, const documents::DocumentReader& reader,
              indexing::IndexRegistry& registry, Status room, MemoryBudget* memory);

  // Adds the commit if all of its writes succeed, and takes its writes. Otherwise the group stages
  // nothing of it, but an index that its documents did not fit into stays dropped. nullopt: the
  // commit is for the next group, because there is no room left in this one. It is unchanged then.
  std::optional<Result<request::CommitResult>> Stage(AdmittedCommit& commit);

  bool is_full() const {
    return staged_bytes_ >= kStagedBytesMax || worked_bytes_ >= kWorkBytesMax;
  }
  size_t staged_bytes() const { return staged_bytes_; }
  // The work so far, of commits that failed too.
  size_t worked_bytes() const { return worked_bytes_; }

  // Call it after the last commit, before anything else is added to the batch.
  void Close();
  // Call it once the batch is stored, or could not be.
  void NoteOutcome(const Status& stored);

  // The state of documents after the group's writes so far; null: deleted.
  using Overlay = std::unordered_map<std::string, model::Record>;

  storage::Batch& batch() { return batch_; }
  Overlay& overlay() { return overlay_; }
  // The databases that this group creates, with their first commits.
  const std::map<documents::Database*, model::Timestamp>& new_databases() const {
    return new_databases_;
  }
  // Over the commits that change something on disk.
  std::optional<model::Timestamp> newest() const { return newest_; }
  const std::vector<index::EntryChange>& vector_changes() const { return vector_changes_; }
  std::vector<watch::Change> TakeChanges() { return std::exchange(changes_, {}); }

 private:
  struct Touched;
  class Staging;

  Status Check(const AdmittedCommit& commit) const;
  Result<model::Record> Load(const std::string& document_key) const;
  // What could not be claimed may be there for the next group, unless nothing else is in this one.
  Status OrWait(Status status, Staging* staging) const;
  Status LoadAll(const AdmittedCommit& commit, Staging* staging) const;
  Status Edit(const AdmittedCommit& commit, Staging* staging, request::CommitResult* result) const;
  // Drops indexes created on demand whose entries would be too large.
  Status AppendEntries(const documents::Database& database, Staging* staging);
  Status TryAppendEntries(const documents::Database& database, Staging* staging) const;
  void DropIndex(const index::Index& dropped);
  // Cannot fail.
  void Put(const AdmittedCommit& commit, Staging* staging, model::Timestamp commit_time);
  void PutDocument(const Touched& touched, model::Timestamp commit_time);
  void PutEntry(index::EntryChange entry);
  void PutLog(documents::Database* database, const std::vector<std::string_view>& changed_keys,
              model::Timestamp commit_time);

  documents::CommitClock& clock_;
  const documents::DocumentReader& reader_;
  indexing::IndexRegistry& registry_;
  const Status room_;

  std::shared_ptr<const index::IndexSet> indexes_;  // Shared with the registry and readers.
  // Null if the group dropped none. Shared likewise.
  std::shared_ptr<const index::IndexSet> indexes_before_drops_;
  std::vector<index::Index> dropped_indexes_;
  storage::Batch batch_;
  Overlay overlay_;
  std::map<documents::Database*, model::Timestamp> new_databases_;
  std::optional<model::Timestamp> newest_;
  std::vector<index::EntryChange> vector_changes_;
  std::vector<watch::Change> changes_;
  size_t staged_bytes_ = 0;
  size_t worked_bytes_ = 0;
  MemoryBudget* const memory_;  // May be null.
  std::vector<MemoryClaim> claims_;
};

}  // namespace hearth::commit
