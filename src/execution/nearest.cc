#include "execution/nearest.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "execution/conjunction_shape.h"
#include "execution/index_match.h"
#include "index/entries.h"
#include "index/value_key.h"
#include "model/document.h"
#include "model/path_encoding.h"
#include "vector/nearest.h"
#include "vector/packed_vector.h"

namespace hearth::execution {
namespace {

using index::Definition;
using index::FieldMode;
using index::Index;
using index::IndexField;
using index::QueryScope;
using model::DocumentPath;

// How many entries to request from an approximate index, at first and if those were too few.
constexpr size_t kNearEntriesMin = 50;
constexpr size_t kMoreNearEntries = 10;
constexpr size_t kNearEntriesMax = 5'000;

// True if there are only equalities: a vector index can cover the whole conjunction.
bool IsForVectorIndex(const Layout& layout, const ConjunctionShape& shape) {
  return shape.inequalities.empty() && shape.name_inequalities.empty() && !shape.name_equal &&
         SuffixOf(layout, shape).empty();
}

bool Serves(const Index& index, const query::FindNearest& nearest, const Layout& layout,
            const ConjunctionShape& shape) {
  const Definition& definition = index.definition;
  return index.state == index::State::kReady && definition.vector &&
         definition.vector->path == nearest.vector_field &&
         definition.vector->dimension == nearest.query_vector.size() &&
         definition.scope == layout.scope &&
         definition.fields.size() == FixedFieldsOf(shape).size() &&
         std::all_of(definition.fields.begin(), definition.fields.end(),
                     [&](const IndexField& field) { return IsFixed(field, shape); });
}

Definition WantedIndex(const Context& context, const ConjunctionShape& shape) {
  const query::FindNearest& nearest = *context.query.query.nearest;
  Definition definition{context.query.query.collection_id, context.layout.scope, {}, false};
  for (const auto& [path, value] : shape.constants) {
    definition.fields.push_back({path, FieldMode::kAscending});
  }
  if (shape.contains) definition.fields.push_back({shape.contains->path, FieldMode::kContains});
  definition.vector =
      index::VectorPart{nearest.vector_field, static_cast<uint32_t>(nearest.query_vector.size())};
  return definition;
}

VectorScan ScanOf(const Context& context, const Index& index, const query::Conjunction& conjunction,
                  const ConjunctionShape& shape) {
  VectorScan scan{&index, &conjunction, {}, {}, {}};
  scan.fixed = FixedPrefix(index, index.definition.fields.size(), context.layout, shape);
  scan.prefix = scan.fixed;
  const std::string& parent = context.query.query.parent.document_path;
  if (context.layout.scope == QueryScope::kCollectionGroup && !parent.empty()) {
    scan.prefix += model::EncodeSubtreePrefix(parent);
  }
  for (const query::Order& order : context.layout.fields) {
    const size_t begin = scan.constants.size();
    scan.constants += shape.constants.at(order.path);
    if (order.direction == query::SortDirection::kDescending)
      index::Complement(begin, &scan.constants);
  }
  return scan;
}

// Converts a sort key to bytes that sort as the query's results do, and back: the sort key,
// complemented if results are in reverse order, and the offset of the name in it.
void SetTieBreak(const Layout& layout, const SortKey& key, std::string* bytes) {
  *bytes = key.bytes;
  if (layout.backward) index::Complement(0, bytes);
  *bytes += model::EncodeUint32(static_cast<uint32_t>(key.name_at));
}

SortKey KeyOfTieBreak(const Layout& layout, std::string_view bytes) {
  const size_t size = bytes.size() - sizeof(uint32_t);
  SortKey key{std::string(bytes.substr(0, size)), *model::DecodeUint32(bytes.substr(size))};
  if (layout.backward) index::Complement(0, &key.bytes);
  return key;
}

// Finds the neighbours when the first one is requested.
class NearestStream : public Stream {
 public:
  enum class Compares : uint8_t { kDocuments, kEntries };
  NearestStream(const Context& context, Compares what)
      : context_(context),
        wanted_(*context.query.query.nearest),
        reads_documents_(what == Compares::kDocuments) {}

  Result<bool> Next(Item* item) final {
    if (!neighbours_) {
      ASSIGN_OR_RETURN(neighbours_, Find());
    }
    if (next_ == neighbours_->size()) return false;
    const vector::Neighbour& neighbour = (*neighbours_)[next_++];
    *item = {};
    item->key = KeyOfTieBreak(context_.layout, neighbour.name);
    item->was_cut = true;  // The types of its numbers are unknown.
    item->distance = neighbour.distance;
    item->was_read = reads_documents_;
    return true;
  }

 protected:
  // Nearest first.
  virtual Result<std::vector<vector::Neighbour>> Find() = 0;

  vector::NearestResults NewResults(size_t limit) const {
    return vector::NearestResults({wanted_.measure, limit, wanted_.distance_threshold});
  }

  // Offers the document if it has a matching vector.
  void OfferDocument(const SortKey& key, std::string_view fields, vector::NearestResults* results) {
    const std::optional<model::ValueView> value = model::FindField(fields, wanted_.vector_field);
    if (!value || value->type() != model::ValueType::kVector) return;
    if (vector::VectorDimension(*value) != wanted_.query_vector.size()) return;
    vector::DecodeVector(*value, &components_);
    context_.tally->AddVector();
    OfferComponents(key, results);
  }

  // Offers the vector in `components_`.
  void OfferComponents(const SortKey& key, vector::NearestResults* results) {
    SetTieBreak(context_.layout, key, &tie_break_);
    results->Offer(vector::Distance(wanted_.measure, wanted_.query_vector, components_),
                   tie_break_);
  }

  const Context context_;
  const query::FindNearest& wanted_;
  std::vector<double> components_;  // Reused for each vector, as is `tie_break_`.
  std::string tie_break_;

 private:
  const bool reads_documents_;
  std::optional<std::vector<vector::Neighbour>> neighbours_;
  size_t next_ = 0;
};

class NearestOfDocuments final : public NearestStream {
 public:
  NearestOfDocuments(const Context& context, std::unique_ptr<Stream> documents)
      : NearestStream(context, Compares::kDocuments), documents_(std::move(documents)) {}

 private:
  Result<std::vector<vector::Neighbour>> Find() override {
    vector::NearestResults results = NewResults(wanted_.limit);
    Item item;
    while (true) {
      ASSIGN_OR_RETURN(const bool found, documents_->Next(&item));
      if (!found) return results.Take();
      if (!item.record) {
        ASSIGN_OR_RETURN(const DocumentPath path, PathOf(context_.layout, item.key));
        ASSIGN_OR_RETURN(item.record, context_.source.Get(path));
        if (!item.was_read) context_.tally->AddResultDocument(path);
        if (!item.record) return Status(Code::kDataLoss, "an indexed document does not exist");
        RETURN_IF_ERROR(context_.Pause(item.record->size()));
      }
      OfferDocument(item.key, model::RecordFields(*item.record), &results);
      item = {};
    }
  }

  const std::unique_ptr<Stream> documents_;
};

class NearestOfIndexes final : public NearestStream {
 public:
  NearestOfIndexes(const Context& context, const std::vector<VectorScan>& scans)
      : NearestStream(context, Compares::kEntries), scans_(scans) {
    // Documents that the entries cannot decide are read, and read again if they are neighbours.
    context.tally->ExpectDocumentsAgain();
  }

 private:
  // The outcome for one entry.
  enum class Verdict { kOffered, kPassedOver };

  Result<std::vector<vector::Neighbour>> Find() override {
    // Several scans may find the same document.
    vector::NearestResults results = NewResults(wanted_.limit * scans_.size());
    RETURN_IF_ERROR(OfferChanged(&results));
    for (const VectorScan& scan : scans_) {
      ASSIGN_OR_RETURN(const bool is_done, SearchApproximately(scan, &results));
      if (!is_done) RETURN_IF_ERROR(CompareAll(scan, &results));
    }
    std::vector<vector::Neighbour> found = results.Take();
    const auto is_same = [](const auto& left, const auto& right) {
      return left.name == right.name;
    };
    found.erase(std::unique(found.begin(), found.end(), is_same), found.end());
    if (found.size() > wanted_.limit) found.resize(wanted_.limit);
    return found;
  }

  // Offers the documents that have changed since the read time, as they were then. Their entries
  // are ignored.
  Status OfferChanged(vector::NearestResults* results) {
    for (const std::string& key : *context_.source.changed()) {
      RETURN_IF_ERROR(context_.Pause());
      ASSIGN_OR_RETURN(const DocumentPath path, model::DocumentPathOfKey(key));
      if (!query::IsInScope(context_.query.query, path)) continue;
      std::string name;
      index::AppendName(path, context_.layout.scope, false, &name);
      changed_names_.insert(std::move(name));
      ASSIGN_OR_RETURN(const model::Record record, context_.source.Get(path));
      if (!record) continue;
      context_.tally->AddDocument(path);
      RETURN_IF_ERROR(context_.Pause(record->size()));
      const std::string_view fields = model::RecordFields(*record);
      if (!query::Matches(context_.query, {context_.source.database_name(), path, fields}))
        continue;
      const std::optional<SortKey> sort_key = SortKeyOf(context_.layout, path, fields);
      if (sort_key) OfferDocument(*sort_key, fields, results);
    }
    return Status();
  }

  Status CompareAll(const VectorScan& scan, vector::NearestResults* results) {
    const auto cursor = context_.source.ScanIndexes(storage::PrefixRange(scan.prefix),
                                                    storage::Direction::kForward);
    for (; cursor->Valid(); cursor->Next()) {
      RETURN_IF_ERROR(context_.Pause(cursor->value().size()));
      RETURN_IF_ERROR(OfferEntry(scan, cursor->key(), cursor->value(), results).status());
    }
    return cursor->status();
  }

  // Compares only the entries that an approximate index finds. False if there is no such index, or
  // if it finds too few entries of this scan.
  Result<bool> SearchApproximately(const VectorScan& scan, vector::NearestResults* results) {
    const size_t few = std::max(2 * wanted_.limit, wanted_.limit + kNearEntriesMin);
    const size_t more = std::max(few, std::min(few * kMoreNearEntries, kNearEntriesMax));
    for (const size_t count : std::array{few, more}) {
      const std::optional<Source::NearEntries> near =
          context_.source.FindNearEntries(*scan.index, wanted_, count);
      if (!near) return false;
      context_.tally->ExpectEntriesAgain();  // By the next round, or by CompareAll.
      vector::NearestResults found = NewResults(wanted_.limit);
      size_t offered = 0;
      for (const std::string& key : near->keys) {
        if (!key.starts_with(scan.prefix)) continue;
        RETURN_IF_ERROR(context_.Pause());
        ASSIGN_OR_RETURN(const std::optional<std::string> value,
                         context_.source.GetIndexEntry(key));
        if (!value) continue;
        ASSIGN_OR_RETURN(const Verdict verdict, OfferEntry(scan, key, *value, &found));
        if (verdict == Verdict::kOffered) ++offered;
      }
      if (offered < wanted_.limit && !near->is_all) continue;
      for (const vector::Neighbour& neighbour : found.Take()) {
        results->Offer(neighbour.distance, neighbour.name);
      }
      return true;
    }
    return false;
  }

  Result<Verdict> OfferEntry(const VectorScan& scan, std::string_view key, std::string_view value,
                             vector::NearestResults* results) {
    const bool is_new = context_.tally->AddEntry(key);
    const std::string_view name = key.substr(scan.fixed.size());
    if (!changed_names_.empty() && changed_names_.contains(name)) return Verdict::kPassedOver;
    ASSIGN_OR_RETURN(
        const index::VectorEntry entry,
        index::DecodeVectorEntry(value, static_cast<uint32_t>(wanted_.query_vector.size())));
    if (entry.flags.cut_end != 0) {
      ASSIGN_OR_RETURN(const bool passes, DocumentPasses(scan, name));
      if (!passes) return Verdict::kPassedOver;
    }
    RETURN_IF_ERROR(vector::UnpackVector(entry.packed, &components_));
    sort_key_.bytes = scan.constants;
    sort_key_.bytes += name;
    sort_key_.name_at = scan.constants.size();
    if (context_.layout.name_descending) index::Complement(sort_key_.name_at, &sort_key_.bytes);
    if (is_new) context_.tally->AddVector();
    OfferComponents(sort_key_, results);
    return Verdict::kOffered;
  }

  // If values are truncated in the key, the document decides.
  Result<bool> DocumentPasses(const VectorScan& scan, std::string_view name) {
    ASSIGN_OR_RETURN(const DocumentPath path, index::DecodeName(name, context_.layout.scope, false,
                                                                context_.layout.collection));
    ASSIGN_OR_RETURN(const model::Record record, context_.source.Get(path));
    context_.tally->AddDocument(path);
    if (!record) return Status(Code::kDataLoss, "an indexed document does not exist");
    RETURN_IF_ERROR(context_.Pause(record->size()));
    return query::Matches(*scan.conjunction,
                          {context_.source.database_name(), path, model::RecordFields(*record)});
  }

  const std::vector<VectorScan>& scans_;
  std::set<std::string, std::less<>> changed_names_;
  SortKey sort_key_;
};

}  // namespace

VectorPlan PlanVectorScans(const Context& context) {
  VectorPlan plan;
  if (context.query.query.collection_id.empty()) return plan;
  const std::vector<Index>& indexes = context.source.indexes().Of(
      context.source.database_number(), context.query.query.collection_id);
  for (const query::Conjunction& conjunction : context.query.disjuncts) {
    const ConjunctionShape shape(conjunction);
    if (shape.is_contradiction) continue;
    if (!IsForVectorIndex(context.layout, shape)) return {};
    const auto found = std::find_if(indexes.begin(), indexes.end(), [&](const Index& index) {
      return Serves(index, *context.query.query.nearest, context.layout, shape);
    });
    if (found == indexes.end()) {
      plan.missing.push_back(WantedIndex(context, shape));
    } else {
      plan.scans.push_back(ScanOf(context, *found, conjunction, shape));
    }
  }
  if (!plan.missing.empty() || !context.source.changed()) plan.scans.clear();
  return plan;
}

std::unique_ptr<Stream> NewNearestOfIndexes(const Context& context,
                                            const std::vector<VectorScan>& scans) {
  return std::make_unique<NearestOfIndexes>(context, scans);
}

std::unique_ptr<Stream> NewNearestOfDocuments(const Context& context,
                                              std::unique_ptr<Stream> documents) {
  return std::make_unique<NearestOfDocuments>(context, std::move(documents));
}

}  // namespace hearth::execution
