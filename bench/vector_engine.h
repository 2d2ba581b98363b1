// Searches for the nearest through the engine: documents in a store on disk, vector indexes as the
// configuration declares them. Without the network.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "engine/engine.h"
#include "storage/store.h"
#include "vector/hnsw_graph.h"

namespace hearth::bench {

// A database of its own in `folder`, which must be new, with one collection of vectors. Ends the
// program when anything fails.
//
// Threads: one at a time. Ownership: owns store and engine; the folder stays.
class VectorEngine {
 public:
  VectorEngine(const std::string& folder, const vector::HnswOptions& options);
  ~VectorEngine();

  // Adds the documents "0", "1" and so on.
  void Fill(const std::vector<std::vector<float>>& points);
  enum class Kind { kFlat, kHnsw };
  // Declares the index and waits until it is ready.
  void Declare(Kind kind);
  // Closes the engine and opens it again with the index declared; waits until that is ready.
  void Restart(Kind kind);
  // The ids of the nearest. `seconds` grows by the processor time that it took.
  std::set<std::string> Search(const std::vector<float>& query, size_t limit, double* seconds);

 private:
  void Open();

  const std::string folder_;
  const vector::HnswOptions options_;
  const SystemClock clock_;
  RandomSource random_;
  std::unique_ptr<storage::Store> store_;
  std::unique_ptr<engine::Engine> engine_;
  documents::Database* database_ = nullptr;
};

}  // namespace hearth::bench
