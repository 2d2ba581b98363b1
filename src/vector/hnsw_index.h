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
// rounded to float; whoever reports distances computes them again from the exact ones.
//
// What was put is found at once, and what was removed is never returned. Changes wear a graph out,
// so after as many as there are vectors they move, a few with each later change, into a new graph;
// until that is done searches look into both. No single call builds a whole graph.
//
// Vectors whose cosine is undefined (all zeros, or an infinity) have no place in a graph: they come
// behind all others, with distance NaN, when others do not fill the limit.
//
// Threads: safe for concurrent use; searches run beside each other and between changes.
// Ownership: owns copies of keys and vectors.
// Errors: InvalidArgument for the caller's mistakes; ResourceExhausted without memory and Internal
// if hnswlib fails: from then on every call fails, and the owner builds a new index.
class HnswIndex {
 public:
  // Enough for the keys of index entries.
  static constexpr size_t kKeyBytesMax = 8 * 1024;

  struct SearchOptions {
    size_t limit;
    size_t ef = 0;  // 0: that of the index. More finds more, and takes longer.
  };

  static Result<std::unique_ptr<HnswIndex>> Create(const HnswOptions& options);

  // Adds `key`, or replaces its vector. InvalidArgument for another dimension or a NaN.
  Status Put(std::string_view key, std::span<const double> vector) EXCLUDES_LOCK(mutex_);
  // Nothing happens when there is no such key.
  Status Remove(std::string_view key) EXCLUDES_LOCK(mutex_);
  // Nearest first; as many as the limit or as there are. InvalidArgument for another dimension, and
  // for a query with a component that is not finite or, with kCosine, without a direction.
  Result<std::vector<Neighbour>> Search(std::span<const double> query,
                                        const SearchOptions& search) const EXCLUDES_LOCK(mutex_);

  const HnswOptions& options() const { return options_; }
  size_t size() const EXCLUDES_LOCK(mutex_);
  size_t bytes() const EXCLUDES_LOCK(mutex_);  // Of memory, near enough.

  // Replaces the file at `path` once all of the index is on disk. Changes wait while it is written,
  // searches do not. One Save to a path at a time. Unavailable for I/O.
  Status Save(const std::string& path) const EXCLUDES_LOCK(mutex_);
  // What was saved. NotFound without a file, Unavailable for I/O, DataLoss for any other file:
  // damaged, of another format or of a host with another byte order.
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
    // By slot: the key in `places_`; null when it was removed or has moved on.
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
  // The one that moves into `current_`; without a graph most of the time. Slots that moved stay as
  // ways to others.
  Generation worn_ GUARDED_BY(mutex_);
  HnswGraph::Slot next_to_move_ GUARDED_BY(mutex_) = 0;
};

}  // namespace hearth::vector
