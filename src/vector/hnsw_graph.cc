#include "vector/hnsw_graph.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <string>
#include <utility>

// hnswlib's headers define non-inline functions and variables. Renaming them allows a program that
// includes these headers as well to link.
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif
#define hnswlib hearth_hnswlib
#define AVXCapable HearthHnswlibAvxCapable
#define AVX512Capable HearthHnswlibAvx512Capable
#define cpuid HearthHnswlibCpuid
#define xgetbv HearthHnswlibXgetbv
// Its prefetches read one link past the last. That is harmless, but AddressSanitizer aborts the
// process.
#if defined(__SANITIZE_ADDRESS__)
#define NO_MANUAL_VECTORIZATION
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NO_MANUAL_VECTORIZATION
#endif
#endif
#include <hnswlib/hnswlib.h>

#include "base/check.h"
#include "base/status_macros.h"
#include "model/limits.h"
#include "vector/distance_kernels.h"

namespace hearth::vector {
namespace {

using Algorithm = hnswlib::HierarchicalNSW<float>;
using hnswlib::tableint;

constexpr size_t kSlotsMax = size_t{1} << 30;  // hnswlib stores some counts in an int.
constexpr size_t kLinksMax = 1'024;
constexpr size_t kCandidatesMax = 100'000;
constexpr int kLayersMax = 64;  // The chance of a higher layer is below 2^-64.
// Up to this size comparing with every vector is faster than walking the graph, and exact.
constexpr size_t kScanSlotsMax = 1'000;

// Tells hnswlib how to compute the distance.
class Space : public hnswlib::SpaceInterface<float> {
 public:
  Space(DistanceMeasure measure, size_t dimension) {
    parameters_.dimension = dimension;
    parameters_.squared = measure == DistanceMeasure::kEuclidean;
    parameters_.kernel =
        parameters_.squared ? BestKernels().quick_squared_distance : BestKernels().quick_dot;
  }
  size_t get_data_size() override { return parameters_.dimension * sizeof(float); }
  hnswlib::DISTFUNC<float> get_dist_func() override {
    return parameters_.squared ? &SquaredDistance : &TurnedProduct;
  }
  void* get_dist_func_param() override { return &parameters_; }

 private:
  struct Parameters {
    float (*kernel)(const float* a, const float* b, size_t size);
    size_t dimension;
    bool squared;
  };

  static float SquaredDistance(const void* a, const void* b, const void* parameters) {
    const auto& space = *static_cast<const Parameters*>(parameters);
    return space.kernel(static_cast<const float*>(a), static_cast<const float*>(b),
                        space.dimension);
  }
  static float TurnedProduct(const void* a, const void* b, const void* parameters) {
    return -SquaredDistance(a, b, parameters);
  }

  Parameters parameters_;
};

// Runs an action that may throw.
template <typename Action>
Status Guard(Action action) {
  try {
    action();
    return Status();
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, "no memory for the vector index");
  } catch (const std::exception& thrown) {
    return Status(Code::kInternal, std::string("hnswlib: ") + thrown.what());
  }
}

// The number of locks for updates: at most hnswlib's 65,536, but not more than the capacity.
size_t UpdateLocks(size_t capacity) {
  return std::min<size_t>(capacity, Algorithm::max_update_element_locks);
}

bool ComesBefore(const HnswGraph::Found& a, const HnswGraph::Found& b) {
  return a.distance < b.distance || (a.distance == b.distance && a.slot < b.slot);
}

}  // namespace

Status ValidateOptions(const HnswOptions& options) {
  const auto within = [](size_t value, size_t low, size_t high) {
    return value >= low && value <= high;
  };
  if (!within(options.dimension, 1, model::kVectorDimensionsMax)) {
    return InvalidArgument("a vector index needs 1 to 2048 dimensions");
  }
  if (!within(options.m, 2, kLinksMax) || !within(options.ef_construction, 1, kCandidatesMax) ||
      !within(options.ef_search, 1, kCandidatesMax) ||
      !within(options.capacity_initial, 1, kSlotsMax)) {
    return InvalidArgument("an option of the vector index is out of range");
  }
  return Status();
}

struct HnswGraph::Library {
  explicit Library(const HnswOptions& options)
      : space(options.measure, options.dimension),
        algorithm(&space, options.capacity_initial, options.m, options.ef_construction) {
    std::vector<std::mutex>(UpdateLocks(options.capacity_initial))
        .swap(algorithm.link_list_update_locks_);
  }

  const float* Vector(Slot slot) const {
    // The rows of layer 0 are multiples of four bytes, and malloc aligns the first.
    return reinterpret_cast<const float*>(algorithm.getDataByInternalId(slot));
  }
  float Distance(const float* query, Slot slot) const {
    return algorithm.fstdistfunc_(query, Vector(slot), algorithm.dist_func_param_);
  }
  std::span<tableint> Links(Slot slot, int layer) const {
    hnswlib::linklistsizeint* list = algorithm.get_linklist_at_level(slot, layer);
    return {list + 1, algorithm.getListCount(list)};
  }

  Space space;
  Algorithm algorithm;
};

HnswGraph::HnswGraph(std::unique_ptr<Library> library) : library_(std::move(library)) {}

HnswGraph::~HnswGraph() = default;

Result<std::unique_ptr<HnswGraph>> HnswGraph::Create(const HnswOptions& options) {
  RETURN_IF_ERROR(ValidateOptions(options));
  std::unique_ptr<HnswGraph> graph;
  RETURN_IF_ERROR(Guard([&] {
    graph = std::unique_ptr<HnswGraph>(new HnswGraph(std::make_unique<Library>(options)));
  }));
  return graph;
}

Result<HnswGraph::Slot> HnswGraph::Insert(std::span<const float> vector) {
  Algorithm& algorithm = library_->algorithm;
  CHECK(vector.size_bytes() == algorithm.data_size_);
  if (!free_.empty()) {
    const Slot slot = free_.back();
    free_.pop_back();
    library_->algorithm.unmarkDeletedInternal(slot);
    RETURN_IF_ERROR(Relink(slot, vector));
    return slot;
  }
  if (slots() == algorithm.max_elements_) {
    const size_t capacity = std::min(kSlotsMax, slots() + slots() / 2 + 64);
    if (capacity == slots()) return Status(Code::kResourceExhausted, "the vector index is full");
    RETURN_IF_ERROR(Grow(capacity));
  }
  // Slots are added only if there are no removed ones: among removed ones hnswlib 0.6.2 may find no
  // neighbour for a new slot, and crash.
  const auto slot = static_cast<Slot>(slots());
  RETURN_IF_ERROR(Guard([&] { algorithm.addPoint(vector.data(), slot); }));
  EnsureReachable(slot);
  return slot;
}

Status HnswGraph::Replace(Slot slot, std::span<const float> vector) {
  CHECK(IsLive(slot) && vector.size_bytes() == library_->algorithm.data_size_);
  if (std::memcmp(library_->Vector(slot), vector.data(), vector.size_bytes()) == 0) {
    return Status();
  }
  return Relink(slot, vector);
}

// Gives a slot in use another vector. The former neighbours keep their links to it, which degrades
// the graph. Repairing each of them, as hnswlib would by default, takes many times as long as an
// insertion.
Status HnswGraph::Relink(Slot slot, std::span<const float> vector) {
  ++churn_;
  constexpr float kMendNeighbours = 0;
  RETURN_IF_ERROR(
      Guard([&] { library_->algorithm.updatePoint(vector.data(), slot, kMendNeighbours); }));
  EnsureReachable(slot);
  return Status();
}

void HnswGraph::Remove(Slot slot) {
  CHECK(IsLive(slot));
  library_->algorithm.markDeletedInternal(slot);
  free_.push_back(slot);
  ++churn_;
}

// hnswlib's own resizeIndex leaves an inconsistent state if it runs out of memory half-way.
Status HnswGraph::Grow(size_t capacity) {
  return Guard([&] {
    Algorithm& algorithm = library_->algorithm;
    auto visited = std::make_unique<hnswlib::VisitedListPool>(1, static_cast<int>(capacity));
    std::vector<std::mutex> locks(capacity);
    std::vector<std::mutex> update_locks(UpdateLocks(capacity));
    algorithm.element_levels_.resize(capacity);
    void* rows =
        std::realloc(algorithm.data_level0_memory_, capacity * algorithm.size_data_per_element_);
    if (rows == nullptr) throw std::bad_alloc();
    algorithm.data_level0_memory_ = static_cast<char*>(rows);
    void* lists = std::realloc(algorithm.linkLists_, capacity * sizeof(char*));
    if (lists == nullptr) throw std::bad_alloc();
    algorithm.linkLists_ = static_cast<char**>(lists);

    algorithm.link_list_locks_.swap(locks);
    algorithm.link_list_update_locks_.swap(update_locks);
    const std::unique_ptr<hnswlib::VisitedListPool> outgrown(
        std::exchange(algorithm.visited_list_pool_, visited.release()));
    algorithm.max_elements_ = capacity;
  });
}

// A node that none of its neighbours links to is never found. hnswlib drops links to a node if
// others look better. In that case the nearest neighbour replaces its farthest link with one to
// this node.
void HnswGraph::EnsureReachable(Slot slot) {
  const std::span<tableint> neighbours = library_->Links(slot, 0);
  if (neighbours.empty()) return;
  Slot nearest = neighbours.front();
  float nearest_distance = std::numeric_limits<float>::infinity();
  for (const Slot neighbour : neighbours) {
    const std::span<tableint> links = library_->Links(neighbour, 0);
    if (std::find(links.begin(), links.end(), slot) != links.end()) return;
    const float distance = library_->Distance(library_->Vector(slot), neighbour);
    if (distance < nearest_distance) {
      nearest_distance = distance;
      nearest = neighbour;
    }
  }
  const Algorithm& algorithm = library_->algorithm;
  const std::span<tableint> links = library_->Links(nearest, 0);
  if (links.size() < algorithm.maxM0_) {
    hnswlib::linklistsizeint* list = algorithm.get_linklist0(nearest);
    list[1 + links.size()] = slot;
    algorithm.setListCount(list, static_cast<uint16_t>(links.size() + 1));
    return;
  }
  const auto distance = [&](Slot other) {
    return library_->Distance(library_->Vector(nearest), other);
  };
  *std::max_element(links.begin(), links.end(),
                    [&](Slot a, Slot b) { return distance(a) < distance(b); }) = slot;
}

Result<std::vector<HnswGraph::Found>> HnswGraph::Search(std::span<const float> query,
                                                        const SearchOptions& options) const {
  CHECK(query.size_bytes() == library_->algorithm.data_size_);
  const size_t wanted = std::min(options.limit, live());
  std::vector<Found> found;
  if (wanted == 0) return found;
  RETURN_IF_ERROR(Guard([&] {
    if (slots() > std::max(kScanSlotsMax, options.limit)) found = Walk(query, options);
    // Whatever the state of the links, the search returns as many results as requested.
    if (found.size() < wanted) found = Scan(query, options.limit);
  }));
  return found;
}

std::vector<HnswGraph::Found> HnswGraph::Scan(std::span<const float> query, size_t limit) const {
  std::vector<Found> found;
  found.reserve(live());
  for (Slot slot = 0; slot < slots(); ++slot) {
    if (IsLive(slot)) found.push_back({library_->Distance(query.data(), slot), slot});
  }
  const size_t kept = std::min(limit, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<ptrdiff_t>(kept), found.end(),
                    ComesBefore);
  found.resize(kept);
  return found;
}

// Does not use hnswlib's searchKnn, whose ef belongs to the graph and not to the search.
std::vector<HnswGraph::Found> HnswGraph::Walk(std::span<const float> query,
                                              const SearchOptions& options) const {
  const Algorithm& algorithm = library_->algorithm;
  Slot nearest = algorithm.enterpoint_node_;
  float distance = library_->Distance(query.data(), nearest);
  for (int layer = algorithm.maxlevel_; layer > 0; --layer) {
    for (bool nearer = true; nearer;) {
      nearer = false;
      for (const Slot neighbour : library_->Links(nearest, layer)) {
        const float other = library_->Distance(query.data(), neighbour);
        if (other >= distance) continue;
        distance = other;
        nearest = neighbour;
        nearer = true;
      }
    }
  }
  const size_t ef = std::max(options.ef, options.limit);
  auto candidates = algorithm.num_deleted_ != 0
                        ? algorithm.searchBaseLayerST<true>(nearest, query.data(), ef)
                        : algorithm.searchBaseLayerST<false>(nearest, query.data(), ef);
  while (candidates.size() > options.limit) candidates.pop();
  std::vector<Found> found(candidates.size());
  for (auto place = found.rbegin(); place != found.rend(); ++place, candidates.pop()) {
    *place = {candidates.top().first, candidates.top().second};
  }
  return found;
}

std::span<const float> HnswGraph::vector(Slot slot) const {
  return {library_->Vector(slot), library_->algorithm.data_size_ / sizeof(float)};
}

bool HnswGraph::IsLive(Slot slot) const {
  return slot < slots() && !library_->algorithm.isMarkedDeleted(slot);
}

size_t HnswGraph::slots() const { return library_->algorithm.cur_element_count; }

size_t HnswGraph::live() const { return slots() - free_.size(); }

size_t HnswGraph::bytes() const {
  const Algorithm& algorithm = library_->algorithm;
  const size_t each = algorithm.size_data_per_element_ + sizeof(std::mutex) + sizeof(int) +
                      sizeof(char*) + sizeof(hnswlib::vl_type);
  // hnswlib's table of labels: a node and a bucket per label.
  const size_t label = sizeof(std::pair<size_t, tableint>) + 3 * sizeof(void*);
  // On average, one slot in m has links in an upper layer.
  const size_t upper = slots() / algorithm.M_ * algorithm.size_links_per_element_;
  return algorithm.max_elements_ * each + slots() * label + upper +
         UpdateLocks(algorithm.max_elements_) * sizeof(std::mutex) + sizeof(Library);
}

void HnswGraph::Write(CheckedWriter& writer) const {
  const Algorithm& algorithm = library_->algorithm;
  const size_t count = slots();
  writer.AppendNumber<uint64_t>(count);
  writer.AppendNumber<uint32_t>(algorithm.enterpoint_node_);
  writer.AppendNumber<int32_t>(algorithm.maxlevel_);
  writer.Append(algorithm.element_levels_.data(), count * sizeof(int));
  writer.Append(algorithm.data_level0_memory_, count * algorithm.size_data_per_element_);
  for (size_t slot = 0; slot < count; ++slot) {
    const auto layers = static_cast<size_t>(algorithm.element_levels_[slot]);
    if (layers == 0) continue;
    writer.Append(algorithm.linkLists_[slot], layers * algorithm.size_links_per_element_);
  }
}

Result<std::unique_ptr<HnswGraph>> HnswGraph::Read(const HnswOptions& options,
                                                   CheckedReader& reader) {
  const Status damaged(Code::kDataLoss, "the links of the vector index are damaged");
  uint64_t count;
  uint32_t entry;
  int32_t top;
  if (!reader.ReadNumber(&count) || !reader.ReadNumber(&entry) || !reader.ReadNumber(&top)) {
    return damaged;
  }
  const size_t row_bytes = (options.dimension + 2 * options.m) * sizeof(float);
  if (count > kSlotsMax || count > reader.remaining() / row_bytes) return damaged;
  // The initial capacity may be a corrupt number that exceeds all memory.
  HnswOptions fitting = options;
  fitting.capacity_initial = std::max<size_t>(1, count);
  ASSIGN_OR_RETURN(std::unique_ptr<HnswGraph> graph, Create(fitting));
  Algorithm& algorithm = graph->library_->algorithm;
  algorithm.enterpoint_node_ = entry;
  algorithm.maxlevel_ = top;
  bool sound = false;
  RETURN_IF_ERROR(Guard([&] { sound = graph->ReadLinks(reader, count); }));
  if (!sound || !graph->LinksAreSound()) return damaged;
  algorithm.num_deleted_ = graph->free_.size();
  return graph;
}

// Leaves the data it has read in a state that can be destroyed, even if it fails.
bool HnswGraph::ReadLinks(CheckedReader& reader, size_t count) {
  Algorithm& algorithm = library_->algorithm;
  std::vector<int> layers(count);
  if (!reader.Read(layers.data(), count * sizeof(int)) ||
      !reader.Read(algorithm.data_level0_memory_, count * algorithm.size_data_per_element_)) {
    return false;
  }
  for (Slot slot = 0; slot < count; ++slot) {
    const int top = layers[slot];
    if (top < 0 || top > kLayersMax) return false;
    const size_t bytes = static_cast<size_t>(top) * algorithm.size_links_per_element_;
    algorithm.linkLists_[slot] = nullptr;
    if (top > 0) {
      // One extra byte, as in hnswlib.
      algorithm.linkLists_[slot] = static_cast<char*>(std::calloc(bytes + 1, 1));
      if (algorithm.linkLists_[slot] == nullptr) throw std::bad_alloc();
    }
    algorithm.element_levels_[slot] = top;
    algorithm.cur_element_count = slot + 1;
    if (top > 0 && !reader.Read(algorithm.linkLists_[slot], bytes)) return false;
    if (algorithm.getExternalLabel(slot) != slot) return false;
    algorithm.label_lookup_[slot] = slot;
    if (algorithm.isMarkedDeleted(slot)) free_.push_back(slot);
  }
  return true;
}

bool HnswGraph::LinksAreSound() const {
  const Algorithm& algorithm = library_->algorithm;
  if (slots() == 0) return algorithm.maxlevel_ == -1 && algorithm.enterpoint_node_ == tableint(-1);
  if (algorithm.enterpoint_node_ >= slots() ||
      algorithm.element_levels_[algorithm.enterpoint_node_] != algorithm.maxlevel_) {
    return false;
  }
  for (Slot slot = 0; slot < slots(); ++slot) {
    if (algorithm.element_levels_[slot] > algorithm.maxlevel_) return false;
    for (int layer = 0; layer <= algorithm.element_levels_[slot]; ++layer) {
      if (!LayerIsSound(slot, layer)) return false;
    }
  }
  return true;
}

bool HnswGraph::LayerIsSound(Slot slot, int layer) const {
  const Algorithm& algorithm = library_->algorithm;
  const std::span<tableint> links = library_->Links(slot, layer);
  if (links.size() > (layer == 0 ? algorithm.maxM0_ : algorithm.maxM_)) return false;
  return std::all_of(links.begin(), links.end(), [&](Slot other) {
    return other < slots() && other != slot && algorithm.element_levels_[other] >= layer;
  });
}

}  // namespace hearth::vector
