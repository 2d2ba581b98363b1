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
  std::string folder;  // Where graphs are saved; empty: not saved.
  VectorGraphLimits limits;
  // A changed graph is saved after this much time or this many changes.
  std::chrono::seconds save_period = std::chrono::minutes(10);
  size_t save_changes_max = 20'000;
};

// Makes one graph complete and keeps it so: loads the saved graph and adds the changes since then
// from the log of commits, or builds the graph from the index's entries; then applies the changes
// that commits append; and saves it periodically.
//
// Two files are saved: the graph (vector/hnsw_index.h), and the time up to which it has all
// commits. The time is written after the graph, so it may be older than necessary, which costs work
// but does no harm.
//
// Threads: one at a time. Ownership: shares the graph with searches; borrows the rest.
// Errors: those of the store and of the files; the caller retries later.
class VectorGraphUpkeep {
 public:
  enum class Origin : uint8_t { kNone, kBuilt, kLoaded };

  // `history`: how far back the log of commits reaches.
  VectorGraphUpkeep(storage::Store& store, const Clock& clock, const VectorGraphOptions& options,
                    std::chrono::seconds history, std::shared_ptr<VectorGraph> graph);

  const VectorGraph& graph() const { return *graph_; }
  const std::shared_ptr<VectorGraph>& shared_graph() const { return graph_; }
  Origin origin() const { return origin_; }

  // Does a small part of the work. False if there is nothing to do.
  Result<bool> Step();
  // Saves the graph if it is complete and has changed since the last save. No effect without a
  // folder.
  Status Save();

  static void RemoveFiles(const std::string& folder, index::IndexNumber number);

 private:
  enum class Phase : uint8_t { kStart, kBuild, kCatchUp, kLive };
  // A changed document, and all entries it has had since.
  struct Missed {
    std::string document_key;
    std::vector<std::string> old_keys;
  };

  std::string PathOf(const char* extension) const;
  Result<bool> Continue();
  Status Start();
  Status StartBuild();
  Status BuildSome();
  // False if the log is not sufficient.
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
  std::string last_key_;        // For kBuild: the last entry that was put.
  std::vector<Missed> missed_;  // For kCatchUp.
  size_t next_missed_ = 0;
  bool has_unsaved_changes_ = false;
  size_t changes_since_attempt_ = 0;  // Since the last attempt to save.
  std::chrono::steady_clock::time_point save_due_at_;
  model::Timestamp saved_through_;
};

}  // namespace hearth::indexing
