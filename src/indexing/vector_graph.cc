#include "indexing/vector_graph.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "index/entries.h"
#include "vector/nearest.h"
#include "vector/packed_vector.h"

namespace hearth::indexing {
namespace {

using execution::Source;
using model::Timestamp;

// With more keys than this to look up only because they have changed, comparing all entries is
// cheaper.
constexpr size_t kChangedSinceMax = 1'000;

vector::HnswOptions ToGraphOptions(const index::Definition& definition,
                                   const index::HnswOptions& options) {
  vector::HnswOptions result{definition.vector->dimension, options.distance_measure};
  result.m = options.links;
  result.ef_construction = options.construction_candidates;
  result.ef_search = options.search_candidates;
  return result;
}

bool IsSameGraph(const vector::HnswOptions& left, const vector::HnswOptions& right) {
  return left.dimension == right.dimension && left.measure == right.measure && left.m == right.m &&
         left.ef_construction == right.ef_construction;
}

// True if a candidate at this distance would not be a result.
bool IsBeyondThreshold(const query::FindNearest& wanted, double distance) {
  if (!wanted.distance_threshold) return false;
  return vector::IsNearer(wanted.measure, *wanted.distance_threshold, distance);
}

}  // namespace

VectorGraph::VectorGraph(index::Index index, const index::HnswOptions& options,
                         const VectorGraphLimits& limits)
    : index_(std::move(index)),
      options_(options),
      limits_(limits),
      key_prefix_(index::IndexKeyPrefix(index_.number)) {
  CHECK(index_.definition.vector.has_value());
}

size_t VectorGraph::BytesOf(const Change& change) {
  return sizeof(Change) + change.key.size() +
         (change.vector ? change.vector->size() * sizeof(double) : 0);
}

bool VectorGraph::Append(const std::vector<index::EntryChange>& changes, Timestamp time) {
  MutexLock lock(mutex_);
  newest_ = time;
  if (is_collecting_) {
    for (const index::EntryChange& change : changes) {
      if (change.key.starts_with(key_prefix_)) Collect(change, time);
    }
    if (pending_.size() > limits_.pending_max || pending_bytes_ > limits_.pending_bytes_max) {
      GiveUp();
    }
  }
  if (is_complete_ && pending_.empty()) through_ = time;
  return !pending_.empty() || !is_collecting_;
}

void VectorGraph::Collect(const index::EntryChange& change, Timestamp time) {
  Change collected{time, change.key, std::nullopt};
  if (change.value) {
    const Result<index::VectorEntry> entry =
        index::DecodeVectorEntry(*change.value, index_.definition.vector->dimension);
    CHECK(entry.ok());  // It was encoded just before.
    CHECK(vector::UnpackVector(entry->packed, &collected.vector.emplace()).ok());
  }
  pending_bytes_ += BytesOf(collected);
  pending_.push_back(std::make_shared<const Change>(std::move(collected)));
}

void VectorGraph::GiveUp() {
  Log(LogLevel::kWarning, "a vector graph cannot keep up with writes",
      {{"collection", index_.definition.collection_id}, {"pending", pending_.size()}});
  is_collecting_ = false;
  is_complete_ = false;
  Forget();
}

void VectorGraph::Forget() {
  pending_.clear();
  pending_bytes_ = 0;
  recent_.clear();
  forgotten_ = newest_;
}

std::shared_ptr<vector::HnswIndex> VectorGraph::graph() const {
  MutexLock lock(mutex_);
  return graph_;
}

bool VectorGraph::is_complete() const {
  MutexLock lock(mutex_);
  return is_complete_;
}

bool VectorGraph::is_collecting() const {
  MutexLock lock(mutex_);
  return is_collecting_;
}

size_t VectorGraph::pending() const {
  MutexLock lock(mutex_);
  return pending_.size();
}

size_t VectorGraph::vectors() const {
  const std::shared_ptr<vector::HnswIndex> graph = this->graph();
  return graph ? graph->size() : 0;
}

Timestamp VectorGraph::through() const {
  MutexLock lock(mutex_);
  return through_;
}

void VectorGraph::SetThrough(Timestamp time) {
  MutexLock lock(mutex_);
  through_ = time;
}

Status VectorGraph::Reset() {
  ASSIGN_OR_RETURN(std::unique_ptr<vector::HnswIndex> empty,
                   vector::HnswIndex::Create(ToGraphOptions(index_.definition, options_)));
  MutexLock lock(mutex_);
  graph_ = std::move(empty);
  is_complete_ = false;
  is_collecting_ = false;
  through_ = Timestamp();
  Forget();
  return Status();
}

Status VectorGraph::Load(const std::string& path, Timestamp through) {
  ASSIGN_OR_RETURN(std::unique_ptr<vector::HnswIndex> loaded, vector::HnswIndex::Load(path));
  if (!IsSameGraph(loaded->options(), ToGraphOptions(index_.definition, options_))) {
    return Status(Code::kNotFound, "the saved graph has different options");
  }
  RETURN_IF_ERROR(Reset());
  MutexLock lock(mutex_);
  graph_ = std::move(loaded);
  through_ = through;
  return Status();
}

void VectorGraph::StartCollecting() {
  MutexLock lock(mutex_);
  Forget();
  is_collecting_ = true;
}

void VectorGraph::BecomeComplete(Timestamp newest) {
  MutexLock lock(mutex_);
  is_complete_ = is_collecting_;
  forgotten_ = std::max(forgotten_, newest);
}

Result<bool> VectorGraph::TakeIn(size_t max) {
  const std::shared_ptr<vector::HnswIndex> graph = this->graph();
  for (size_t taken = 0;; ++taken) {
    std::shared_ptr<const Change> change;
    {
      MutexLock lock(mutex_);
      if (pending_.empty()) return false;
      if (taken == max) return true;
      change = pending_.front();
    }
    RETURN_IF_ERROR(change->vector ? graph->Put(change->key, *change->vector)
                                   : graph->Remove(change->key));
    MutexLock lock(mutex_);
    // All of them may have been dropped in the meantime.
    if (pending_.empty() || pending_.front() != change) continue;
    pending_.pop_front();
    pending_bytes_ -= BytesOf(*change);
    recent_.push_back({change->time, change->key});
    while (recent_.size() > limits_.recent_max) {
      forgotten_ = recent_.front().time;
      recent_.pop_front();
    }
    if (!is_complete_) continue;
    if (pending_.empty()) {
      through_ = newest_;
    } else if (pending_.front()->time > change->time) {
      through_ = change->time;
    }
  }
}

Status VectorGraph::Put(std::string_view key, std::string_view value) {
  ASSIGN_OR_RETURN(const index::VectorEntry entry,
                   index::DecodeVectorEntry(value, index_.definition.vector->dimension));
  ASSIGN_OR_RETURN(const std::vector<double> components, vector::UnpackVector(entry.packed));
  return graph()->Put(key, components);
}

Status VectorGraph::Remove(std::string_view key) { return graph()->Remove(key); }

Status VectorGraph::Save(const std::string& path) const { return graph()->Save(path); }

// Changes are checked twice. Those that are pending before the graph is searched are compared: the
// graph may not have them. Those that readers do not see yet are added afterwards: the graph may
// have them in place of what readers do see.
std::optional<Source::NearEntries> VectorGraph::Find(const query::FindNearest& wanted,
                                                     const Reading& reading) const {
  if (wanted.measure != options_.distance_measure) return std::nullopt;
  Pending pending;
  std::shared_ptr<vector::HnswIndex> graph;
  {
    MutexLock lock(mutex_);
    if (!is_complete_) return std::nullopt;
    pending.assign(pending_.begin(), pending_.end());
    graph = graph_;
  }
  const size_t ef = std::max<size_t>(options_.search_candidates, reading.count);
  const Result<std::vector<vector::Neighbour>> found =
      graph->Search(wanted.query_vector, {reading.count, ef});
  if (!found.ok()) return std::nullopt;  // A vector without a direction, or a corrupt graph.

  Source::NearEntries near;
  near.is_all = found->size() < reading.count || IsBeyondThreshold(wanted, found->back().distance);
  for (const vector::Neighbour& neighbour : *found) near.keys.push_back(neighbour.name);
  near.is_all &= AddNearPending(pending, wanted, reading, &near.keys);
  if (!AddChangedSince(reading.time, &near.keys)) return std::nullopt;
  std::sort(near.keys.begin(), near.keys.end());
  near.keys.erase(std::unique(near.keys.begin(), near.keys.end()), near.keys.end());
  ++searches_;
  return near;
}

bool VectorGraph::AddNearPending(const Pending& pending, const query::FindNearest& wanted,
                                 const Reading& reading, std::vector<std::string>* keys) const {
  std::unordered_map<std::string_view, const Change*> latest;
  for (const std::shared_ptr<const Change>& change : pending) {
    if (change->time <= reading.time) latest[change->key] = change.get();
  }
  vector::NearestResults results({wanted.measure, reading.count, std::nullopt});
  for (const auto& [key, change] : latest) {
    if (!change->vector) continue;
    results.Offer(vector::Distance(wanted.measure, wanted.query_vector, *change->vector), key);
  }
  for (vector::Neighbour& neighbour : results.Take()) keys->push_back(std::move(neighbour.name));
  return latest.size() <= reading.count;
}

bool VectorGraph::AddChangedSince(Timestamp time, std::vector<std::string>* keys) const {
  MutexLock lock(mutex_);
  if (!is_complete_ || forgotten_ > time) return false;
  size_t added = 0;
  for (auto change = pending_.rbegin(); change != pending_.rend() && (*change)->time > time;
       ++change, ++added) {
    if (added == kChangedSinceMax) return false;
    keys->push_back((*change)->key);
  }
  for (auto change = recent_.rbegin(); change != recent_.rend() && change->time > time;
       ++change, ++added) {
    if (added == kChangedSinceMax) return false;
    keys->push_back(change->key);
  }
  return true;
}

}  // namespace hearth::indexing
