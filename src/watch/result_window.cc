#include "watch/result_window.h"

#include <iterator>
#include <limits>

namespace hearth::watch {
namespace {

size_t CapacityOf(const query::Query& query) {
  constexpr size_t kMax = std::numeric_limits<size_t>::max();
  if (!query.limit) return kMax;
  return *query.limit > kMax - query.offset ? kMax : query.offset + *query.limit;
}

}  // namespace

ResultWindow::ResultWindow(const LiveQuery& query)
    : query_(query),
      offset_(query.query().query.offset),
      capacity_(CapacityOf(query.query().query)),
      paths_by_place_(Before{query.layout().backward}) {}

void ResultWindow::Clear() {
  paths_by_place_.clear();
  places_by_path_.clear();
}

void ResultWindow::Append(const model::DocumentPath& path, const model::Record& record) {
  std::optional<std::string> place = query_.PlaceOf(path, record);
  if (!place) return;
  places_by_path_[path.path()] = *place;
  paths_by_place_[*std::move(place)] = path.path();
}

void ResultWindow::Erase(const std::string& path) {
  const auto place = places_by_path_.find(path);
  if (place == places_by_path_.end()) return;
  paths_by_place_.erase(place->second);
  places_by_path_.erase(place);
}

bool ResultWindow::Apply(const Changes& changes) {
  if (capacity_ == 0) return true;
  // Documents could move in from the offset, and their contents are not known.
  if (offset_ > 0) return false;
  // Beyond this place, only documents among the changes are known.
  std::optional<std::string> horizon;
  if (paths_by_place_.size() >= capacity_) horizon = std::prev(paths_by_place_.end())->first;
  for (const auto& [path, record] : changes) Erase(path->path());
  const auto comes_before = paths_by_place_.key_comp();
  for (const auto& [path, record] : changes) {
    std::optional<std::string> place = query_.PlaceOf(*path, record);
    if (!place || (horizon && comes_before(*horizon, *place))) continue;
    places_by_path_[path->path()] = *place;
    paths_by_place_[*std::move(place)] = path->path();
  }
  if (horizon && paths_by_place_.size() < capacity_) return false;
  while (paths_by_place_.size() > capacity_) {
    Erase(std::string(std::prev(paths_by_place_.end())->second));
  }
  return true;
}

std::set<std::string> ResultWindow::Visible() const {
  std::set<std::string> visible;
  size_t skipped = 0;
  for (const auto& [place, path] : paths_by_place_) {
    if (skipped++ >= offset_) visible.insert(path);
  }
  return visible;
}

}  // namespace hearth::watch
