#include "vector/nearest.h"

#include <algorithm>
#include <utility>

namespace hearth::vector {

NearestResults::NearestResults(const NearestOptions& options) : options_(options) {}

bool NearestResults::PassesThreshold(double distance) const {
  if (!options_.threshold) return true;
  return options_.measure == DistanceMeasure::kDotProduct ? distance >= *options_.threshold
                                                          : distance <= *options_.threshold;
}

bool NearestResults::ComesBefore(double distance, std::string_view name,
                                 const Neighbour& other) const {
  if (IsNearer(options_.measure, distance, other.distance)) return true;
  if (IsNearer(options_.measure, other.distance, distance)) return false;
  return name < other.name;
}

bool NearestResults::Offer(double distance, std::string_view name) {
  if (options_.limit == 0 || !PassesThreshold(distance)) return false;
  const bool full = heap_.size() == options_.limit;
  if (full && !ComesBefore(distance, name, heap_.front())) return false;

  const auto before = [this](const Neighbour& a, const Neighbour& b) {
    return ComesBefore(a.distance, a.name, b);
  };
  if (full) {
    std::pop_heap(heap_.begin(), heap_.end(), before);
    heap_.back().distance = distance;
    heap_.back().name = name;
  } else {
    heap_.push_back({distance, std::string(name)});
  }
  std::push_heap(heap_.begin(), heap_.end(), before);
  return true;
}

std::vector<Neighbour> NearestResults::Take() {
  std::sort_heap(heap_.begin(), heap_.end(), [this](const Neighbour& a, const Neighbour& b) {
    return ComesBefore(a.distance, a.name, b);
  });
  return std::exchange(heap_, {});
}

}  // namespace hearth::vector
