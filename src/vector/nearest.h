#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vector/distance.h"

namespace hearth::vector {

struct Neighbour {
  double distance;
  std::string name;
  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};

struct NearestOptions {
  DistanceMeasure measure;
  size_t limit;
  // Only candidates at most this far; for kDotProduct, with at least this product. NaN never
  // passes.
  std::optional<double> threshold;
};

// Keeps the nearest `limit` of the offered candidates. Equal distances are ordered by name, as
// bytes; NaN distances come last. Memory is proportional to the limit, not to the number of
// candidates.
//
// Threads: one at a time. Ownership: copies the names that it keeps. Errors: none.
class NearestResults {
 public:
  explicit NearestResults(const NearestOptions& options);

  // Offer each candidate once. Returns whether it is among the nearest so far.
  bool Offer(double distance, std::string_view name);
  size_t size() const { return heap_.size(); }
  // The kept candidates, nearest first. Leaves this empty.
  std::vector<Neighbour> Take();

 private:
  bool PassesThreshold(double distance) const;
  bool ComesBefore(double distance, std::string_view name, const Neighbour& other) const;

  NearestOptions options_;
  std::vector<Neighbour> heap_;  // The farthest first, as a heap of std::push_heap.
};

}  // namespace hearth::vector
