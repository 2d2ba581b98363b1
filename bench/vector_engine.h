// Nearest-neighbor searches through the engine, without the network: documents in a store on disk,
// and vector indexes declared by the configuration.
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

// A separate database in `folder`, which must be new, with one collection of vectors. Any failure
// ends the program.
//
// Threads: one at a time. Ownership: owns the store and the engine; the folder is not removed.
class VectorEngine {
 public:
  VectorEngine(const std::string& folder, const vector::HnswOptions& options);
  ~VectorEngine();

  // Adds the documents "0", "1" and so on.
  void Fill(const std::vector<std::vector<float>>& points);
  enum class Kind { kFlat, kHnsw };
  // Declares the index and waits until it is ready.
  void Declare(Kind kind);
  // Closes the engine and reopens it with the index declared; waits until the index is ready.
  void Restart(Kind kind);
  // Returns the ids of the nearest. Adds the processor time used to `seconds`.
  std::set<std::string> Search(const std::vector<float>& query, size_t limit, double* seconds);

 private:
  void Open();

  const std::string folder_;
  const vector::HnswOptions options_;
  const SystemClock clock_;
  RandomSource random_;
  std::unique_ptr<storage::Store> store_;
  std::unique_ptr<engine::Engine> engine_;
  documents::DatabaseHandle database_;
};

}  // namespace hearth::bench
