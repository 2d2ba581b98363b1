#include "watch/result_window.h"

#include <iterator>
#include <limits>
#include <set>

namespace hearth::watch {
namespace {

// A place and a path, each in both maps.
constexpr size_t kEachEntryBytes = 256;
size_t BytesOfEntry(const std::string& path, const std::string& place) {
  return kEachEntryBytes + 2 * (path.size() + place.size());
}

size_t CapacityOf(const query::Query& query) {
  constexpr size_t kMax = std::numeric_limits<size_t>::max();
  if (!query.limit) return kMax;
  return *query.limit > kMax - query.offset ? kMax : query.offset + *query.limit;
}

}  // namespace

ResultWindow::ResultWindow(const LiveQuery& query, WatchMemory memory)
    : query_(query),
      offset_(query.query().query.offset),
      capacity_(CapacityOf(query.query().query)),
      memory_(std::move(memory)),
      paths_by_place_(Before{query.layout().backward}) {}

bool ResultWindow::Append(const model::DocumentPath& path, const model::Record& record) {
  std::optional<std::string> place = query_.PlaceOf(path, record);
  if (!place) return true;
  if (offset_ > 0 && paths_by_place_.size() == offset_) first_visible_ = *place;
  return Insert(path.path(), *std::move(place));
}

bool ResultWindow::Insert(const std::string& path, std::string place) {
  if (!memory_.Grow(BytesOfEntry(path, place))) return false;
  places_by_path_[path] = place;
  paths_by_place_[std::move(place)] = path;
  return true;
}

void ResultWindow::Erase(const std::string& path) {
  const auto place = places_by_path_.find(path);
  if (place == places_by_path_.end()) return;
  memory_.Shrink(BytesOfEntry(place->first, place->second));
  paths_by_place_.erase(place->second);
  places_by_path_.erase(place);
}

ResultWindow::Outcome ResultWindow::Apply(const Changes& changes,
                                          std::vector<std::string>* pushed_out) {
  if (capacity_ == 0) return Outcome::kApplied;
  // Documents could move in from the offset, and their contents are not known.
  if (offset_ > 0) return Outcome::kRunAgain;
  // Beyond this place, only documents among the changes are known.
  std::optional<std::string> horizon;
  if (paths_by_place_.size() >= capacity_) horizon = std::prev(paths_by_place_.end())->first;
  for (const auto& [path, record] : changes) Erase(path->path());
  const auto comes_before = paths_by_place_.key_comp();
  std::set<std::string_view> inserted;
  for (const auto& [path, record] : changes) {
    std::optional<std::string> place = query_.PlaceOf(*path, record);
    if (!place || (horizon && comes_before(*horizon, *place))) continue;
    if (!Insert(path->path(), *std::move(place))) return Outcome::kNoMemory;
    inserted.insert(path->path());
  }
  if (horizon && paths_by_place_.size() < capacity_) return Outcome::kRunAgain;
  while (paths_by_place_.size() > capacity_) {
    std::string last = std::prev(paths_by_place_.end())->second;
    Erase(last);
    if (!inserted.contains(last)) pushed_out->push_back(std::move(last));
  }
  return Outcome::kApplied;
}

bool ResultWindow::Shows(const std::string& path) const {
  const auto place = places_by_path_.find(path);
  if (place == places_by_path_.end()) return false;
  if (offset_ == 0) return true;
  return first_visible_ && !paths_by_place_.key_comp()(place->second, *first_visible_);
}

std::vector<std::string_view> ResultWindow::Visible() const {
  std::vector<std::string_view> visible;
  if (offset_ > 0 && !first_visible_) return visible;
  auto entry = offset_ == 0 ? paths_by_place_.begin() : paths_by_place_.find(*first_visible_);
  for (; entry != paths_by_place_.end(); ++entry) visible.push_back(entry->second);
  return visible;
}

}  // namespace hearth::watch
