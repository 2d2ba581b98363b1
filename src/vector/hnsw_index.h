#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "vector/hnsw_graph.h"
#include "vector/nearest.h"
#include "vector/shared_mutex.h"

namespace hearth::vector {

// Approximate nearest neighbours among keyed vectors, in memory. Distances are those of vectors
// rounded to float; callers that report distances must recompute them from the exact vectors.
//
// Vectors are found as soon as they are put, and never after they are removed. Changes wear a graph
// out. So after as many changes as there are vectors, the vectors move to a new graph, a few with
// each later change. Until that is done, searches look into both graphs. No single call builds a
// whole graph.
//
// Vectors whose cosine is undefined (all zeros, or an infinity) cannot be in a graph. They come
// after all others, with distance NaN, if the others do not fill the limit.
//
// Threads: safe for concurrent use; searches run concurrently with each other but not with changes.
// Ownership: owns copies of keys and vectors.
// Errors: InvalidArgument for the caller's mistakes; ResourceExhausted if out of memory and
// Internal if hnswlib fails: from then on every call fails, and the owner must build a new index.
class HnswIndex {
 public:
  // Enough for the keys of index entries.
  static constexpr size_t kKeyBytesMax = 8 * 1024;

  struct SearchOptions {
    size_t limit;
    size_t ef = 0;  // 0: that of the index. More finds more, but takes longer.
  };

  static Result<std::unique_ptr<HnswIndex>> Create(const HnswOptions& options);

  // Adds `key`, or replaces its vector. InvalidArgument for another dimension or a NaN.
  Status Put(std::string_view key, std::span<const double> vector) EXCLUDES_LOCK(mutex_);
  // Does nothing if there is no such key.
  Status Remove(std::string_view key) EXCLUDES_LOCK(mutex_);
  // Nearest first; as many as the limit, or all if there are fewer. InvalidArgument for another
  // dimension, and for a query with a component that is not finite or, with kCosine, without a
  // direction.
  Result<std::vector<Neighbour>> Search(std::span<const double> query,
                                        const SearchOptions& search) const EXCLUDES_LOCK(mutex_);

  const HnswOptions& options() const { return options_; }
  size_t size() const EXCLUDES_LOCK(mutex_);
  size_t bytes() const EXCLUDES_LOCK(mutex_);  // Approximate memory use.

  // Replaces the file at `path` once the whole index is on disk. Changes wait while it is written;
  // searches do not. One Save per path at a time. Unavailable for I/O errors.
  Status Save(const std::string& path) const EXCLUDES_LOCK(mutex_);
  // Loads a saved index. NotFound if there is no file, Unavailable for I/O errors, DataLoss for any
  // other file: damaged, of another format, or from a host with another byte order.
  static Result<std::unique_ptr<HnswIndex>> Load(const std::string& path);

 private:
  // Where a key's vector is.
  struct Place {
    uint32_t generation;
    HnswGraph::Slot slot;
  };
  using Places = std::unordered_map<std::string, Place>;
  struct Generation {
    uint32_t number = 0;
    std::unique_ptr<HnswGraph> graph;
    // By slot: the key in `places_`; null if it was removed or has moved.
    std::vector<const std::string*> keys;
  };

  explicit HnswIndex(const HnswOptions& options) : options_(options) {}

  Status PutPlaced(std::string_view key, std::span<const float> vector) REQUIRES_LOCK(mutex_);
  Status RemovePlaced(std::string_view key) REQUIRES_LOCK(mutex_);
  Result<HnswGraph::Slot> InsertIntoCurrent(const std::string* key, std::span<const float> vector)
      REQUIRES_LOCK(mutex_);
  Generation& Holding(const Place& place) REQUIRES_LOCK(mutex_);
  Status Tend() REQUIRES_LOCK(mutex_);
  Status MoveSome() REQUIRES_LOCK(mutex_);
  Status StartGeneration() REQUIRES_LOCK(mutex_);
  Status Note(Status status) REQUIRES_LOCK(mutex_);
  Result<std::vector<float>> Prepare(std::span<const double> vector) const;
  Status Collect(const Generation& generation, std::span<const float> query,
                 const HnswGraph::SearchOptions& search, NearestResults& results) const
      REQUIRES_SHARED_LOCK(mutex_);
  double Reported(float distance) const;
  void WriteGeneration(const Generation& generation, CheckedWriter& writer) const
      REQUIRES_SHARED_LOCK(mutex_);
  Status Read(CheckedReader& reader) REQUIRES_LOCK(mutex_);
  Status ReadGeneration(CheckedReader& reader, Generation* generation) REQUIRES_LOCK(mutex_);
  Status ReadAside(CheckedReader& reader) REQUIRES_LOCK(mutex_);

  HnswOptions options_;        // Constant after creation.
  mutable SharedMutex mutex_;  // Leaf lock.
  Status broken_ GUARDED_BY(mutex_);
  Places places_ GUARDED_BY(mutex_);
  // Keys whose vectors have no direction.
  std::set<std::string, std::less<>> aside_ GUARDED_BY(mutex_);
  Generation current_ GUARDED_BY(mutex_);
  // The graph that is being moved into `current_`; usually there is none. Moved slots stay as paths
  // to others.
  Generation worn_ GUARDED_BY(mutex_);
  HnswGraph::Slot next_to_move_ GUARDED_BY(mutex_) = 0;
};

}  // namespace hearth::vector
