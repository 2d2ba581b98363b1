#include "indexing/vector_graphs.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/log.h"

namespace hearth::indexing {
namespace {

using index::Index;
using index::IndexNumber;

constexpr std::chrono::seconds kGraphPauseAfterError{5};

const Index* FindReady(const index::IndexSet& indexes, model::DatabaseNumber database,
                       const index::Definition& definition) {
  for (const Index& index : indexes.Of(database, definition.collection_id)) {
    if (index.definition == definition && index.state == index::State::kReady) return &index;
  }
  return nullptr;
}

}  // namespace

VectorGraphs::VectorGraphs(storage::Store& store, const Clock& clock, const IndexRegistry& registry,
                           const VectorGraphOptions& options, std::chrono::seconds history)
    : store_(store), clock_(clock), registry_(registry), options_(options), history_(history) {}

VectorGraphs::~VectorGraphs() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  if (thread_.joinable()) thread_.join();
  for (auto& [number, care] : cares_) {
    const Status status = care.upkeep->Save();
    if (!status.ok()) {
      Log(LogLevel::kWarning, "cannot save a vector graph", {{"error", status.ToString()}});
    }
  }
}

void VectorGraphs::Start() {
  thread_ = std::thread([this] { Run(); });
}

void VectorGraphs::SetWanted(model::DatabaseNumber database,
                             const std::vector<index::VectorIndex>& wanted) {
  std::vector<Wanted> graphs;
  for (const index::VectorIndex& each : wanted) {
    if (each.hnsw) graphs.push_back({index::DefinitionOf(each), *each.hnsw});
  }
  {
    MutexLock lock(mutex_);
    // An empty list counts only after a non-empty one: after a start, the configuration may not
    // have arrived yet, and files must not be removed because of that.
    if (graphs.empty() && !wanted_.contains(database)) return;
    wanted_[database] = std::move(graphs);
    wanted_changed_ = true;
  }
  Wake();
}

std::shared_ptr<const VectorGraphs::Graphs> VectorGraphs::Current() const {
  MutexLock lock(mutex_);
  return graphs_;
}

void VectorGraphs::Append(const std::vector<index::EntryChange>& changes, model::Timestamp time) {
  bool has_work = false;
  for (const auto graphs = Current(); const Kept& kept : *graphs) {
    has_work |= kept.graph->Append(changes, time);
  }
  if (has_work) Wake();
}

std::optional<execution::Source::NearEntries> VectorGraphs::Find(
    const Index& index, const query::FindNearest& wanted,
    const VectorGraph::Reading& reading) const {
  for (const auto graphs = Current(); const Kept& kept : *graphs) {
    if (kept.graph->index().number == index.number) return kept.graph->Find(wanted, reading);
  }
  return std::nullopt;
}

std::vector<VectorGraphStatus> VectorGraphs::Statuses() const {
  std::vector<VectorGraphStatus> statuses;
  for (const auto graphs = Current(); const auto& [graph, origin] : *graphs) {
    statuses.push_back({graph->index().number, graph->index().database, graph->is_complete(),
                        origin, graph->vectors(), graph->pending(), graph->searches()});
  }
  return statuses;
}

void VectorGraphs::Maintain() { Wake(); }

void VectorGraphs::Wake() {
  {
    MutexLock lock(mutex_);
    has_work_ = true;
  }
  changed_.NotifyAll();
}

void VectorGraphs::AwaitIdle() {
  Wake();
  MutexLock lock(mutex_);
  while (!stopping_ && (has_work_ || !is_idle_)) changed_.Wait(mutex_);
}

void VectorGraphs::Run() {
  bool has_more = true;
  while (true) {
    {
      MutexLock lock(mutex_);
      while (!stopping_ && !has_work_ && !has_more) {
        is_idle_ = true;
        changed_.NotifyAll();
        changed_.Wait(mutex_);
      }
      if (stopping_) return;
      is_idle_ = false;
      has_work_ = false;
    }
    has_more = RunOnce();
  }
}

bool VectorGraphs::RunOnce() {
  Reconcile();
  bool has_more = false;
  bool has_news = false;
  for (auto& [number, care] : cares_) {
    const VectorGraphUpkeep::Origin before = care.upkeep->origin();
    has_more |= StepOne(care);
    has_news |= care.upkeep->origin() != before;
  }
  if (has_news) Publish();
  return has_more;
}

bool VectorGraphs::StepOne(Care& care) {
  if (care.pause_until && clock_.Monotonic() < *care.pause_until) return false;
  care.pause_until.reset();
  const Result<bool> has_more = care.upkeep->Step();
  if (has_more.ok()) return *has_more;
  Log(LogLevel::kWarning, "updating a vector graph failed; will retry",
      {{"collection", care.upkeep->graph().index().definition.collection_id},
       {"error", has_more.status().ToString()}});
  care.pause_until = clock_.Monotonic() + kGraphPauseAfterError;
  return false;
}

void VectorGraphs::Reconcile() {
  const std::shared_ptr<const index::IndexSet> indexes = registry_.Current();
  WantedGraphs wanted;
  {
    MutexLock lock(mutex_);
    if (indexes == reconciled_.lock() && !wanted_changed_) return;
    wanted_changed_ = false;
    wanted = wanted_;
  }
  reconciled_ = indexes;
  std::map<IndexNumber, Care> kept;
  for (const auto& [database, graphs] : wanted) {
    for (const Wanted& each : graphs) {
      const Index* index = FindReady(*indexes, database, each.definition);
      if (index == nullptr) continue;
      const auto found = cares_.find(index->number);
      if (found != cares_.end() && found->second.upkeep->graph().options() == each.options) {
        kept.insert(cares_.extract(found));
        continue;
      }
      auto graph = std::make_shared<VectorGraph>(*index, each.options, options_.limits);
      kept[index->number].upkeep =
          std::make_unique<VectorGraphUpkeep>(store_, clock_, options_, history_, std::move(graph));
    }
  }
  cares_ = std::move(kept);
  RemoveStrayFiles(*indexes, wanted);
  Publish();
}

// Removes files whose index is gone, or should no longer have a graph.
void VectorGraphs::RemoveStrayFiles(const index::IndexSet& indexes, const WantedGraphs& wanted) {
  if (options_.folder.empty()) return;
  std::set<IndexNumber> numbers;
  std::error_code error;  // Without a folder there is nothing to remove.
  for (const auto& file : std::filesystem::directory_iterator(options_.folder, error)) {
    const std::string name = file.path().stem();
    uint32_t number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc()) {
      numbers.insert(IndexNumber{number});
    }
  }
  for (const Index* index : indexes.all()) {
    // The wishes of other databases are not known yet.
    if (!wanted.contains(index->database) || cares_.contains(index->number)) {
      numbers.erase(index->number);
    }
  }
  for (const IndexNumber number : numbers) VectorGraphUpkeep::RemoveFiles(options_.folder, number);
}

void VectorGraphs::Publish() {
  auto graphs = std::make_shared<Graphs>();
  for (const auto& [number, care] : cares_) {
    // Owned by the thread, the list, and the users of the list.
    graphs->push_back({care.upkeep->shared_graph(), care.upkeep->origin()});
  }
  MutexLock lock(mutex_);
  graphs_ = std::move(graphs);
}

}  // namespace hearth::indexing
