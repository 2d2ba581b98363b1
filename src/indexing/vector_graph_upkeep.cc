#include "indexing/vector_graph_upkeep.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "documents/change_log.h"
#include "documents/keys.h"
#include "index/entries.h"
#include "model/document.h"
#include "vector/checked_file.h"

namespace hearth::indexing {
namespace {

using model::Timestamp;
using storage::Space;

// An insertion takes about a millisecond.
constexpr size_t kChangesPerStep = 100;
// A graph that has missed more documents than this, and more than it has vectors, is rebuilt.
constexpr size_t kMissedMax = 10'000;
// Bounds the log reading to a few seconds.
constexpr size_t kMissedCommitsMax = 1'000'000;

constexpr const char* kGraphExtension = ".graph";
constexpr const char* kTimeExtension = ".time";
constexpr std::array<char, 8> kTimeMagic = {'H', 'e', 'a', 'r', 't', 'h', 'N', 'T'};
constexpr uint32_t kTimeFormat = 1;

Result<Timestamp> NewestIn(const storage::Snapshot& snapshot) {
  ASSIGN_OR_RETURN(const std::optional<std::string> stored,
                   snapshot.Get(Space::kMeta, documents::kCommitTimeKey));
  if (!stored) return Timestamp();
  ASSIGN_OR_RETURN(const uint64_t micros, model::DecodeUint64(*stored));
  return Timestamp::FromMicros(static_cast<int64_t>(micros));
}

std::string FilePath(const std::string& folder, index::IndexNumber number, const char* extension) {
  return folder + "/" + std::to_string(static_cast<uint32_t>(number)) + extension;
}

}  // namespace

VectorGraphUpkeep::VectorGraphUpkeep(storage::Store& store, const Clock& clock,
                                     const VectorGraphOptions& options,
                                     std::chrono::seconds history,
                                     std::shared_ptr<VectorGraph> graph)
    : store_(store),
      clock_(clock),
      options_(options),
      history_(history),
      graph_(std::move(graph)) {}

std::string VectorGraphUpkeep::PathOf(const char* extension) const {
  return FilePath(options_.folder, graph_->index().number, extension);
}

void VectorGraphUpkeep::RemoveFiles(const std::string& folder, index::IndexNumber number) {
  if (folder.empty()) return;
  for (const char* extension : {kTimeExtension, kGraphExtension}) {
    std::error_code ignored;  // A leftover file is detected by its time, or overwritten.
    std::filesystem::remove(FilePath(folder, number, extension), ignored);
  }
}

Result<bool> VectorGraphUpkeep::Step() {
  Result<bool> more = Continue();
  if (!more.ok()) phase_ = Phase::kStart;
  return more;
}

Result<bool> VectorGraphUpkeep::Continue() {
  switch (phase_) {
    case Phase::kStart:
      RETURN_IF_ERROR(Start());
      return true;
    case Phase::kBuild:
      RETURN_IF_ERROR(BuildSome());
      return true;
    case Phase::kCatchUp:
      RETURN_IF_ERROR(CatchUpSome());
      return true;
    case Phase::kLive:
      break;
  }
  if (graph_->is_collecting()) return TakeInSome();
  ASSIGN_OR_RETURN(const bool can_catch_up, StartCatchUp());
  if (!can_catch_up) RETURN_IF_ERROR(StartBuild());
  return true;
}

Status VectorGraphUpkeep::Start() {
  if (!options_.folder.empty()) {
    const Result<Timestamp> through = LoadTime();
    Status status = through.status();
    if (status.ok()) status = graph_->Load(PathOf(kGraphExtension), *through);
    if (status.ok()) {
      ASSIGN_OR_RETURN(const bool can_catch_up, StartCatchUp());
      if (can_catch_up) {
        origin_ = Origin::kLoaded;
        saved_through_ = *through;
        save_due_at_ = clock_.Monotonic() + options_.save_period;
        return Status();
      }
    } else if (status.code() != Code::kNotFound) {
      Log(LogLevel::kWarning, "cannot use a saved vector graph",
          {{"collection", graph_->index().definition.collection_id}, {"error", status.ToString()}});
    }
  }
  return StartBuild();
}

Status VectorGraphUpkeep::StartBuild() {
  RETURN_IF_ERROR(graph_->Reset());
  graph_->StartCollecting();
  ASSIGN_OR_RETURN(const Timestamp newest, NewestIn(*store_.NewSnapshot()));
  graph_->SetThrough(newest);
  origin_ = Origin::kBuilt;
  saved_through_ = Timestamp();
  save_due_at_ = clock_.Monotonic();  // As soon as the graph is ready.
  phase_ = Phase::kBuild;
  last_key_.clear();
  return Status();
}

// Changes applied before are in the snapshot too: an entry put here is never older than the one it
// replaces. The same holds for catching up.
Status VectorGraphUpkeep::BuildSome() {
  RETURN_IF_ERROR(graph_->TakeIn(kChangesPerStep).status());
  const std::unique_ptr<storage::Snapshot> snapshot = store_.NewSnapshot();
  storage::KeyRange range = storage::PrefixRange(index::IndexKeyPrefix(graph_->index().number));
  if (!last_key_.empty()) range.first = last_key_ + '\0';
  const auto cursor = snapshot->Scan(Space::kIndexes, range, storage::Direction::kForward);
  for (size_t put = 0; cursor->Valid() && put < kChangesPerStep; ++put, cursor->Next()) {
    RETURN_IF_ERROR(graph_->Put(cursor->key(), cursor->value()));
    last_key_ = cursor->key();
  }
  RETURN_IF_ERROR(cursor->status());
  if (cursor->Valid()) return Status();
  ASSIGN_OR_RETURN(const Timestamp newest, NewestIn(*snapshot));
  GoLive(newest);
  return Status();
}

void VectorGraphUpkeep::GoLive(Timestamp newest) {
  graph_->BecomeComplete(newest);
  phase_ = Phase::kLive;
  if (!graph_->is_complete()) return;
  Log(LogLevel::kInfo, "a vector graph is ready",
      {{"collection", graph_->index().definition.collection_id},
       {"index", index::Properties(graph_->index().definition)},
       {"vectors", graph_->vectors()},
       {"origin", origin_ == Origin::kLoaded ? "loaded" : "built"}});
}

Result<bool> VectorGraphUpkeep::StartCatchUp() {
  const Timestamp after = graph_->through();
  graph_->StartCollecting();
  const std::unique_ptr<storage::Snapshot> snapshot = store_.NewSnapshot();
  ASSIGN_OR_RETURN(const Timestamp newest, NewestIn(*snapshot));
  const int64_t oldest =
      std::max(clock_.WallMicros(), newest.micros()) - std::chrono::microseconds(history_).count();
  // A graph that is newer than the store belongs to another store.
  if (after > newest || (after < newest && after.micros() < oldest)) return false;
  std::map<std::string, Missed> missed;
  ASSIGN_OR_RETURN(const bool is_enough, ReadLog(*snapshot, after, &missed));
  if (!is_enough) return false;
  missed_.clear();
  for (auto& [key, each] : missed) missed_.push_back(std::move(each));
  next_missed_ = 0;
  phase_ = Phase::kCatchUp;
  return true;
}

Result<bool> VectorGraphUpkeep::ReadLog(const storage::Snapshot& snapshot, Timestamp after,
                                        std::map<std::string, Missed>* missed) const {
  const model::DatabaseNumber database = graph_->index().database;
  storage::KeyRange later = storage::PrefixRange(model::DatabaseKeyPrefix(database));
  later.first = documents::LogKey(database, Timestamp::FromMicros(after.micros() + 1));
  const size_t missed_max = std::max(kMissedMax, graph_->vectors());
  const auto cursor = snapshot.Scan(Space::kLog, std::move(later), storage::Direction::kForward);
  for (size_t commits = 0; cursor->Valid(); cursor->Next(), ++commits) {
    ASSIGN_OR_RETURN(const bool is_known,
                     ReadLogEntry(snapshot, cursor->key(), cursor->value(), missed));
    if (!is_known || missed->size() > missed_max || commits > kMissedCommitsMax) return false;
  }
  RETURN_IF_ERROR(cursor->status());
  return true;
}

Result<bool> VectorGraphUpkeep::ReadLogEntry(const storage::Snapshot& snapshot,
                                             std::string_view log_key, std::string_view entry,
                                             std::map<std::string, Missed>* missed) const {
  const index::Index& index = graph_->index();
  ASSIGN_OR_RETURN(const uint64_t micros,
                   model::DecodeUint64(log_key.substr(log_key.size() - sizeof(uint64_t))));
  ASSIGN_OR_RETURN(const std::vector<std::string> changed, documents::DecodeLogEntry(entry));
  for (const std::string& suffix : changed) {
    const std::string key = model::DatabaseKeyPrefix(index.database) + suffix;
    ASSIGN_OR_RETURN(const model::DocumentPath path, model::DocumentPathOfKey(key));
    const std::string_view collection = path.collection();
    if (collection.substr(collection.rfind('/') + 1) != index.definition.collection_id) continue;
    ASSIGN_OR_RETURN(const std::optional<std::string> before,
                     snapshot.Get(Space::kHistory,
                                  documents::HistoryKey(
                                      key, Timestamp::FromMicros(static_cast<int64_t>(micros)))));
    if (!before) return false;
    Missed& each = (*missed)[key];
    each.document_key = key;
    if (before->empty()) continue;
    ASSIGN_OR_RETURN(
        std::vector<index::Entry> entries,
        index::EntriesOf(index.number, index.definition, path, model::RecordFields(*before)));
    for (index::Entry& old : entries) each.old_keys.push_back(std::move(old.key));
  }
  return true;
}

Status VectorGraphUpkeep::CatchUpSome() {
  RETURN_IF_ERROR(graph_->TakeIn(kChangesPerStep).status());
  const std::unique_ptr<storage::Snapshot> snapshot = store_.NewSnapshot();
  for (size_t i = 0; i < kChangesPerStep && next_missed_ < missed_.size(); ++i) {
    RETURN_IF_ERROR(CatchUpOn(*snapshot, missed_[next_missed_++]));
    NoteChanges(1);
  }
  if (next_missed_ < missed_.size()) return Status();
  missed_.clear();
  ASSIGN_OR_RETURN(const Timestamp newest, NewestIn(*snapshot));
  GoLive(newest);
  return Status();
}

Status VectorGraphUpkeep::CatchUpOn(const storage::Snapshot& snapshot, const Missed& missed) {
  const index::Index& index = graph_->index();
  ASSIGN_OR_RETURN(const std::optional<std::string> record,
                   snapshot.Get(Space::kDocuments, missed.document_key));
  std::vector<index::Entry> entries;
  if (record) {
    ASSIGN_OR_RETURN(const model::DocumentPath path, model::DocumentPathOfKey(missed.document_key));
    ASSIGN_OR_RETURN(entries, index::EntriesOf(index.number, index.definition, path,
                                               model::RecordFields(*record)));
  }
  for (const std::string& key : missed.old_keys) {
    const bool is_there = std::any_of(entries.begin(), entries.end(),
                                      [&](const index::Entry& entry) { return entry.key == key; });
    if (!is_there) RETURN_IF_ERROR(graph_->Remove(key));
  }
  for (const index::Entry& entry : entries) {
    RETURN_IF_ERROR(graph_->Put(entry.key, entry.value));
  }
  return Status();
}

Result<bool> VectorGraphUpkeep::TakeInSome() {
  const size_t before = graph_->pending();
  ASSIGN_OR_RETURN(const bool more, graph_->TakeIn(kChangesPerStep));
  NoteChanges(std::min(before, kChangesPerStep));
  if (IsSaveDue()) {
    const Status status = Save();
    if (!status.ok()) {
      Log(LogLevel::kWarning, "cannot save a vector graph", {{"error", status.ToString()}});
    }
  }
  return more || !graph_->is_collecting();
}

void VectorGraphUpkeep::NoteChanges(size_t count) {
  changes_since_attempt_ += count;
  has_unsaved_changes_ |= count > 0;
}

bool VectorGraphUpkeep::IsSaveDue() const {
  if (options_.folder.empty() || graph_->through() == saved_through_) return false;
  return changes_since_attempt_ >= options_.save_changes_max || clock_.Monotonic() >= save_due_at_;
}

Status VectorGraphUpkeep::Save() {
  if (options_.folder.empty() || !graph_->is_complete()) return Status();
  const Timestamp through = graph_->through();
  if (through == saved_through_) return Status();
  changes_since_attempt_ = 0;
  save_due_at_ = clock_.Monotonic() + options_.save_period;
  if (has_unsaved_changes_ || saved_through_ == Timestamp()) {
    std::error_code error;
    std::filesystem::create_directories(options_.folder, error);
    if (error) return Status(Code::kUnavailable, options_.folder + ": " + error.message());
    RETURN_IF_ERROR(graph_->Save(PathOf(kGraphExtension)));
    has_unsaved_changes_ = false;
  }
  RETURN_IF_ERROR(SaveTime(through));
  saved_through_ = through;
  return Status();
}

// The layout, in the byte order of the host; the reader verifies the checksum that follows:
// magic: 8 bytes, format: 4, the commit time in microseconds: 8
Status VectorGraphUpkeep::SaveTime(Timestamp through) const {
  ASSIGN_OR_RETURN(vector::CheckedWriter writer,
                   vector::CheckedWriter::Create(PathOf(kTimeExtension)));
  writer.Append(kTimeMagic.data(), kTimeMagic.size());
  writer.AppendNumber(kTimeFormat);
  writer.AppendNumber(through.micros());
  return writer.Commit();
}

Result<Timestamp> VectorGraphUpkeep::LoadTime() const {
  ASSIGN_OR_RETURN(vector::CheckedReader reader,
                   vector::CheckedReader::Open(PathOf(kTimeExtension)));
  std::array<char, kTimeMagic.size()> magic;
  uint32_t format = 0;
  int64_t micros = 0;
  if (!reader.Read(magic.data(), magic.size()) || magic != kTimeMagic ||
      !reader.ReadNumber(&format) || format != kTimeFormat || !reader.ReadNumber(&micros)) {
    return Status(Code::kDataLoss, "cannot decode the time of a vector graph");
  }
  RETURN_IF_ERROR(reader.Verify());
  return Timestamp::FromMicros(micros);
}

}  // namespace hearth::indexing
