#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "vector/checked_file.h"
#include "vector/distance.h"

namespace hearth::vector {

struct HnswOptions {
  size_t dimension;
  DistanceMeasure measure;
  // Links per node in the upper layers; twice as many in the lowest.
  size_t m = 16;
  // Number of candidates kept while a node is linked.
  size_t ef_construction = 200;
  // The same during a search, unless the search overrides it.
  size_t ef_search = 100;
  // Initial room for vectors. The room grows by half whenever it is full.
  size_t capacity_initial = 1'024;
};

// InvalidArgument unless a graph can work with all the numbers.
Status ValidateOptions(const HnswOptions& options);

// A navigable small-world graph over float vectors in numbered slots: hnswlib without exceptions.
// The slot of a removed vector stays as a path to others until it is reused.
//
// Threads: const functions concurrently, others exclusively. Ownership: owns a copy of each vector.
// Errors: ResourceExhausted if out of memory, Internal if hnswlib refuses. After either error the
// links may be wrong and the graph must be rebuilt.
class HnswGraph {
 public:
  using Slot = uint32_t;
  // `distance`: squared for kEuclidean, else the negated product.
  struct Found {
    float distance;
    Slot slot;
  };
  struct SearchOptions {
    size_t limit;
    size_t ef;
  };

  static Result<std::unique_ptr<HnswGraph>> Create(const HnswOptions& options);
  ~HnswGraph();

  // Vectors have the dimension given in the options, and are normalized for kCosine.
  Result<Slot> Insert(std::span<const float> vector);
  Status Replace(Slot slot, std::span<const float> vector);
  void Remove(Slot slot);  // Requires a live slot.

  // Nearest first: `limit` results, or all live vectors if there are fewer.
  Result<std::vector<Found>> Search(std::span<const float> query,
                                    const SearchOptions& options) const;
  std::span<const float> vector(Slot slot) const;
  bool IsLive(Slot slot) const;
  size_t slots() const;  // Live and removed; slots are numbered from 0.
  size_t live() const;
  // The number of replacements, removals and reuses of removed slots. Each may leave links slightly
  // worse than a rebuild would.
  size_t churn() const { return churn_; }
  size_t bytes() const;

  // The layout, in the byte order of the host:
  //   slots: 8 bytes, entry slot: 4, top layer: 4
  //   for each slot its top layer: 4
  //   for each slot: links of layer 0 (2 bytes count, 1 byte removed?, 1 unused, 2·m × 4), the
  //     vector (dimension × 4), the slot's number: 8
  //   for each slot and each layer from 1: links (2 bytes count, 2 unused, m × 4)
  void Write(CheckedWriter& writer) const;
  // DataLoss for bytes that are not a graph. Safe on any bytes, but correct only if the reader
  // verifies.
  static Result<std::unique_ptr<HnswGraph>> Read(const HnswOptions& options, CheckedReader& reader);

 private:
  struct Library;  // Keeps hnswlib's headers out of this one.

  explicit HnswGraph(std::unique_ptr<Library> library);
  Status Grow(size_t capacity);
  Status Relink(Slot slot, std::span<const float> vector);
  void EnsureReachable(Slot slot);
  std::vector<Found> Scan(std::span<const float> query, size_t limit) const;
  std::vector<Found> Walk(std::span<const float> query, const SearchOptions& options) const;
  bool ReadLinks(CheckedReader& reader, size_t count);
  bool LinksAreSound() const;
  bool LayerIsSound(Slot slot, int layer) const;

  std::unique_ptr<Library> library_;
  std::vector<Slot> free_;  // Removed slots.
  size_t churn_ = 0;
};

}  // namespace hearth::vector
