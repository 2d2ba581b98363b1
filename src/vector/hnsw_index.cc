#include "vector/hnsw_index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"

namespace hearth::vector {
namespace {

// Fewer changes than this do not degrade a graph, however small it is.
constexpr size_t kChurnMin = 1'000;
// Number of vectors moved with each change. More than one, so that the move completes before the
// new graph is worn out too.
constexpr int kMovesPerChange = 4;
// Larger components are clamped to this: the sum of 2,048 squared differences then fits in a float.
constexpr float kComponentMax = 1e17f;

constexpr std::array<char, 8> kMagic = {'H', 'e', 'a', 'r', 't', 'h', 'N', 'N'};
constexpr uint32_t kFormat = 1;
constexpr uint32_t kNoKey = std::numeric_limits<uint32_t>::max();

Status Damaged(const std::string& what) {
  return Status(Code::kDataLoss, "the file of the vector index has " + what);
}

// The length of a vector whose squares may overflow a double.
double Norm(std::span<const double> vector) {
  double largest = 0;
  for (const double component : vector) largest = std::max(largest, std::abs(component));
  if (largest == 0 || !std::isfinite(largest)) return largest;
  double sum = 0;
  for (const double component : vector) {
    const double scaled = component / largest;
    sum += scaled * scaled;
  }
  return largest * std::sqrt(sum);
}

bool ReadKey(CheckedReader& reader, std::optional<std::string>* key) {
  uint32_t size;
  if (!reader.ReadNumber(&size)) return false;
  key->reset();
  if (size == kNoKey) return true;
  if (size > reader.remaining()) return false;
  key->emplace(size, '\0');
  return reader.Read((*key)->data(), size);
}

void WriteKey(const std::string& key, CheckedWriter& writer) {
  writer.AppendNumber(static_cast<uint32_t>(key.size()));
  writer.Append(key.data(), key.size());
}

}  // namespace

Result<std::unique_ptr<HnswIndex>> HnswIndex::Create(const HnswOptions& options) {
  RETURN_IF_ERROR(ValidateOptions(options));
  std::unique_ptr<HnswIndex> index(new HnswIndex(options));
  WriterLock lock(index->mutex_);
  RETURN_IF_ERROR(index->StartGeneration());
  return index;
}

// Empty if the vector has no direction and the measure needs one.
Result<std::vector<float>> HnswIndex::Prepare(std::span<const double> vector) const {
  if (vector.size() != options_.dimension) {
    return InvalidArgument("the vector index has " + std::to_string(options_.dimension) +
                           " dimensions, the vector " + std::to_string(vector.size()));
  }
  if (std::any_of(vector.begin(), vector.end(), [](double x) { return std::isnan(x); })) {
    return InvalidArgument("a vector in the index cannot have NaN");
  }
  std::vector<float> prepared(vector.size());
  if (options_.measure != DistanceMeasure::kCosine) {
    std::transform(vector.begin(), vector.end(), prepared.begin(), [](double component) {
      return static_cast<float>(std::clamp<double>(component, -kComponentMax, kComponentMax));
    });
    return prepared;
  }
  const double norm = Norm(vector);
  if (norm == 0 || !std::isfinite(norm)) return std::vector<float>();
  std::transform(vector.begin(), vector.end(), prepared.begin(),
                 [norm](double component) { return static_cast<float>(component / norm); });
  return prepared;
}

// Records failures after which the graph cannot be trusted.
Status HnswIndex::Note(Status status) {
  if (!status.ok()) broken_ = status;
  return status;
}

Status HnswIndex::Put(std::string_view key, std::span<const double> vector) {
  ASSIGN_OR_RETURN(const std::vector<float> prepared, Prepare(vector));
  if (key.size() > kKeyBytesMax) return InvalidArgument("the key is too long");
  WriterLock lock(mutex_);
  RETURN_IF_ERROR(broken_);
  if (prepared.empty()) {
    RETURN_IF_ERROR(Note(RemovePlaced(key)));
    aside_.emplace(key);
  } else {
    if (const auto found = aside_.find(key); found != aside_.end()) aside_.erase(found);
    RETURN_IF_ERROR(Note(PutPlaced(key, prepared)));
  }
  return Note(Tend());
}

Status HnswIndex::Remove(std::string_view key) {
  WriterLock lock(mutex_);
  RETURN_IF_ERROR(broken_);
  if (const auto found = aside_.find(key); found != aside_.end()) aside_.erase(found);
  RETURN_IF_ERROR(Note(RemovePlaced(key)));
  return Note(Tend());
}

Status HnswIndex::PutPlaced(std::string_view key, std::span<const float> vector) {
  const auto [entry, added] = places_.try_emplace(std::string(key), Place{});
  if (!added) {
    const Place place = entry->second;
    if (place.generation == current_.number) return current_.graph->Replace(place.slot, vector);
    worn_.graph->Remove(place.slot);
    worn_.keys[place.slot] = nullptr;
  }
  ASSIGN_OR_RETURN(const HnswGraph::Slot slot, InsertIntoCurrent(&entry->first, vector));
  entry->second = {current_.number, slot};
  return Status();
}

Status HnswIndex::RemovePlaced(std::string_view key) {
  const auto entry = places_.find(std::string(key));
  if (entry == places_.end()) return Status();
  Generation& holding = Holding(entry->second);
  holding.graph->Remove(entry->second.slot);
  holding.keys[entry->second.slot] = nullptr;
  places_.erase(entry);
  // An empty index starts with a new graph: no removed slots to walk over.
  if (places_.empty()) return StartGeneration();
  return Status();
}

HnswIndex::Generation& HnswIndex::Holding(const Place& place) {
  return place.generation == current_.number ? current_ : worn_;
}

Result<HnswGraph::Slot> HnswIndex::InsertIntoCurrent(const std::string* key,
                                                     std::span<const float> vector) {
  ASSIGN_OR_RETURN(const HnswGraph::Slot slot, current_.graph->Insert(vector));
  if (slot >= current_.keys.size()) current_.keys.resize(slot + 1);
  current_.keys[slot] = key;
  return slot;
}

// Starts a new graph for insertions. The previous one becomes the worn one, unless it is empty.
Status HnswIndex::StartGeneration() {
  ASSIGN_OR_RETURN(std::unique_ptr<HnswGraph> graph, HnswGraph::Create(options_));
  Generation started;
  started.number = current_.number + 1;
  started.graph = std::move(graph);
  worn_ = std::exchange(current_, std::move(started));
  if (places_.empty()) worn_ = Generation();
  next_to_move_ = 0;
  return Status();
}

Status HnswIndex::Tend() {
  if (worn_.graph) return MoveSome();
  if (current_.graph->churn() <= std::max(kChurnMin, current_.graph->live())) return Status();
  return StartGeneration();
}

Status HnswIndex::MoveSome() {
  for (int moved = 0; moved < kMovesPerChange;) {
    if (next_to_move_ == worn_.keys.size()) {
      worn_ = Generation();
      return Status();
    }
    const HnswGraph::Slot from = next_to_move_++;
    const std::string* key = worn_.keys[from];
    if (key == nullptr) continue;
    ASSIGN_OR_RETURN(const HnswGraph::Slot slot, InsertIntoCurrent(key, worn_.graph->vector(from)));
    places_.find(*key)->second = {current_.number, slot};
    worn_.keys[from] = nullptr;
    ++moved;
  }
  return Status();
}

double HnswIndex::Reported(float distance) const {
  switch (options_.measure) {
    case DistanceMeasure::kEuclidean:
      return std::sqrt(static_cast<double>(distance));
    case DistanceMeasure::kCosine:
      return 1 + static_cast<double>(distance);
    case DistanceMeasure::kDotProduct:
      break;
  }
  return -static_cast<double>(distance);
}

Result<std::vector<Neighbour>> HnswIndex::Search(std::span<const double> query,
                                                 const SearchOptions& search) const {
  ASSIGN_OR_RETURN(const std::vector<float> prepared, Prepare(query));
  if (prepared.empty() ||
      !std::all_of(query.begin(), query.end(), [](double x) { return std::isfinite(x); })) {
    return InvalidArgument("nothing is near a vector without a direction");
  }
  const size_t ef = search.ef == 0 ? options_.ef_search : search.ef;
  ReaderLock lock(mutex_);
  RETURN_IF_ERROR(broken_);
  NearestResults results({options_.measure, search.limit, std::nullopt});
  RETURN_IF_ERROR(Collect(current_, prepared, {search.limit, ef}, results));
  if (worn_.graph) {
    // Vectors that have moved and changed since still take up results here, so ask for more.
    const size_t limit = std::max(search.limit, ef);
    RETURN_IF_ERROR(Collect(worn_, prepared, {limit, ef}, results));
    if (results.size() < std::min(search.limit, places_.size())) {
      results = NearestResults({options_.measure, search.limit, std::nullopt});
      RETURN_IF_ERROR(Collect(current_, prepared, {search.limit, ef}, results));
      RETURN_IF_ERROR(Collect(worn_, prepared, {worn_.graph->slots(), ef}, results));
    }
  }
  for (const std::string& key : aside_) {
    if (!results.Offer(std::numeric_limits<double>::quiet_NaN(), key)) break;
  }
  return results.Take();
}

Status HnswIndex::Collect(const Generation& generation, std::span<const float> query,
                          const HnswGraph::SearchOptions& search, NearestResults& results) const {
  ASSIGN_OR_RETURN(const std::vector<HnswGraph::Found> found,
                   generation.graph->Search(query, search));
  for (const HnswGraph::Found& candidate : found) {
    // Without a key the vector has moved, and is found at its new place.
    const std::string* key = generation.keys[candidate.slot];
    if (key != nullptr) results.Offer(Reported(candidate.distance), *key);
  }
  return Status();
}

size_t HnswIndex::size() const {
  ReaderLock lock(mutex_);
  return places_.size() + aside_.size();
}

size_t HnswIndex::bytes() const {
  ReaderLock lock(mutex_);
  size_t bytes = sizeof(*this);
  for (const Generation* generation : {&current_, &worn_}) {
    if (!generation->graph) continue;
    bytes += generation->graph->bytes() + generation->keys.capacity() * sizeof(std::string*);
  }
  // A node, a bucket and, for most keys, an allocation for the characters.
  constexpr size_t kEach = sizeof(Places::value_type) + 3 * sizeof(void*) + 16;
  for (const auto& [key, place] : places_) bytes += kEach + key.size();
  for (const std::string& key : aside_) bytes += kEach + key.size();
  return bytes;
}

// The layout, in the byte order of the host; the reader checks the checksum that follows:
//   magic: 8 bytes, format: 4
//   options: dimension, measure, m, ef_construction, ef_search, capacity_initial: 8 each
//   keys without a direction: their number: 8, then length and bytes of each
//   generations: 8; for each, the older first, a graph (hnsw_graph.h), then for each slot the
//     length of its key (4 bytes, all ones for no key) and the key
Status HnswIndex::Save(const std::string& path) const {
  ASSIGN_OR_RETURN(CheckedWriter writer, CheckedWriter::Create(path));
  {
    ReaderLock lock(mutex_);
    RETURN_IF_ERROR(broken_);
    writer.Append(kMagic.data(), kMagic.size());
    writer.AppendNumber(kFormat);
    for (const uint64_t number :
         {options_.dimension, static_cast<size_t>(options_.measure), options_.m,
          options_.ef_construction, options_.ef_search, options_.capacity_initial}) {
      writer.AppendNumber(number);
    }
    writer.AppendNumber<uint64_t>(aside_.size());
    for (const std::string& key : aside_) WriteKey(key, writer);
    writer.AppendNumber<uint64_t>(worn_.graph ? 2 : 1);
    if (worn_.graph) WriteGeneration(worn_, writer);
    WriteGeneration(current_, writer);
  }
  return writer.Commit();
}

void HnswIndex::WriteGeneration(const Generation& generation, CheckedWriter& writer) const {
  generation.graph->Write(writer);
  for (const std::string* key : generation.keys) {
    if (key == nullptr) {
      writer.AppendNumber(kNoKey);
    } else {
      WriteKey(*key, writer);
    }
  }
}

Result<std::unique_ptr<HnswIndex>> HnswIndex::Load(const std::string& path) {
  ASSIGN_OR_RETURN(CheckedReader reader, CheckedReader::Open(path));
  std::array<char, kMagic.size()> magic;
  uint32_t format;
  if (!reader.Read(magic.data(), magic.size()) || magic != kMagic || !reader.ReadNumber(&format) ||
      format != kFormat) {
    return Damaged("another format");
  }
  std::array<uint64_t, 6> numbers;
  if (!reader.ReadNumber(&numbers) ||
      numbers[1] > static_cast<uint64_t>(DistanceMeasure::kDotProduct)) {
    return Damaged("no options");
  }
  const HnswOptions options = {numbers[0], static_cast<DistanceMeasure>(numbers[1]),
                               numbers[2], numbers[3],
                               numbers[4], numbers[5]};
  if (!ValidateOptions(options).ok()) return Damaged("impossible options");
  std::unique_ptr<HnswIndex> index(new HnswIndex(options));
  WriterLock lock(index->mutex_);
  RETURN_IF_ERROR(index->Read(reader));
  RETURN_IF_ERROR(reader.Verify());
  return index;
}

Status HnswIndex::Read(CheckedReader& reader) {
  RETURN_IF_ERROR(ReadAside(reader));
  uint64_t generations;
  if (!reader.ReadNumber(&generations) || generations < 1 || generations > 2) {
    return Damaged("no generations");
  }
  worn_.number = 1;
  current_.number = 2;
  if (generations == 2) RETURN_IF_ERROR(ReadGeneration(reader, &worn_));
  RETURN_IF_ERROR(ReadGeneration(reader, &current_));
  for (HnswGraph::Slot slot = 0; slot < current_.keys.size(); ++slot) {
    if (current_.graph->IsLive(slot) != (current_.keys[slot] != nullptr)) {
      return Damaged("keys that do not match its vectors");
    }
  }
  return Status();
}

Status HnswIndex::ReadAside(CheckedReader& reader) {
  uint64_t count;
  if (!reader.ReadNumber(&count)) return Damaged("an end too early");
  for (uint64_t i = 0; i < count; ++i) {
    std::optional<std::string> key;
    if (!ReadKey(reader, &key) || !key) return Damaged("a key too few");
    aside_.insert(*std::move(key));
  }
  return Status();
}

Status HnswIndex::ReadGeneration(CheckedReader& reader, Generation* generation) {
  ASSIGN_OR_RETURN(generation->graph, HnswGraph::Read(options_, reader));
  generation->keys.resize(generation->graph->slots());
  for (HnswGraph::Slot slot = 0; slot < generation->keys.size(); ++slot) {
    std::optional<std::string> key;
    if (!ReadKey(reader, &key)) return Damaged("a key too few");
    if (!key) continue;
    const auto [entry, added] =
        places_.try_emplace(*std::move(key), Place{generation->number, slot});
    if (!added || !generation->graph->IsLive(slot)) {
      return Damaged("keys that do not match its vectors");
    }
    generation->keys[slot] = &entry->first;
  }
  return Status();
}

}  // namespace hearth::vector
