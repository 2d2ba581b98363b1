#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "indexing/vector_graph.h"
#include "model/timestamp.h"
#include "storage/store.h"

namespace hearth::indexing {

struct VectorGraphOptions {
  std::string folder;  // Where graphs are saved; empty: nowhere.
  VectorGraphLimits limits;
  // A graph that has changed is saved when so much time or so many changes have passed.
  std::chrono::seconds save_period = std::chrono::minutes(10);
  size_t save_changes_max = 20'000;
};

// Makes one graph complete and keeps it so: loads what was saved and adds what has changed since,
// as the log of commits says, or builds all of it from the index's entries; then takes in the
// changes that commits leave; and saves it now and then.
//
// Saved are two files: the graph (vector/hnsw_index.h), and the time up to which it has all
// commits. The time is written after the graph, so it may be older than it should be, which costs
// work but no harm.
//
// Threads: one at a time. Ownership: shares the graph with searches; borrows the rest.
// Errors: those of the store and of the files; the caller tries again later.
class VectorGraphUpkeep {
 public:
  enum class Origin : uint8_t { kNone, kBuilt, kLoaded };

  // `history`: how far back the log of commits goes.
  VectorGraphUpkeep(storage::Store& store, const Clock& clock, const VectorGraphOptions& options,
                    std::chrono::seconds history, std::shared_ptr<VectorGraph> graph);

  const VectorGraph& graph() const { return *graph_; }
  const std::shared_ptr<VectorGraph>& shared_graph() const { return graph_; }
  Origin origin() const { return origin_; }

  // Does a little of what is to be done. False when nothing is.
  Result<bool> Step();
  // Saves the graph if it is complete and has changed since. Nothing without a folder.
  Status Save();

  static void RemoveFiles(const std::string& folder, index::IndexNumber number);

 private:
  enum class Phase : uint8_t { kStart, kBuild, kCatchUp, kLive };
  // A document that has changed, and all entries that it has had since.
  struct Missed {
    std::string document_key;
    std::vector<std::string> old_keys;
  };

  std::string PathOf(const char* extension) const;
  Result<bool> Continue();
  Status Start();
  Status StartBuild();
  Status BuildSome();
  // False when the log does not say enough.
  Result<bool> StartCatchUp();
  Result<bool> ReadLog(const storage::Snapshot& snapshot, model::Timestamp after,
                       std::map<std::string, Missed>* missed) const;
  Result<bool> ReadLogEntry(const storage::Snapshot& snapshot, std::string_view log_key,
                            std::string_view entry, std::map<std::string, Missed>* missed) const;
  Status CatchUpSome();
  Status CatchUpOn(const storage::Snapshot& snapshot, const Missed& missed);
  void GoLive(model::Timestamp newest);
  Result<bool> TakeInSome();
  void NoteChanges(size_t count);
  bool IsSaveDue() const;
  Result<model::Timestamp> LoadTime() const;
  Status SaveTime(model::Timestamp through) const;

  storage::Store& store_;
  const Clock& clock_;
  const VectorGraphOptions& options_;
  const std::chrono::seconds history_;
  const std::shared_ptr<VectorGraph> graph_;
  Origin origin_ = Origin::kNone;
  Phase phase_ = Phase::kStart;
  std::string last_key_;        // Of kBuild: the entry that was put last.
  std::vector<Missed> missed_;  // Of kCatchUp.
  size_t next_missed_ = 0;
  bool has_unsaved_changes_ = false;
  size_t changes_since_attempt_ = 0;  // To save it.
  std::chrono::steady_clock::time_point save_due_at_;
  model::Timestamp saved_through_;
};

}  // namespace hearth::indexing
