#include "execution/planner.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "execution/conjunction_shape.h"
#include "execution/index_match.h"
#include "execution/merge.h"
#include "execution/sorter.h"
#include "index/entries.h"
#include "index/value_key.h"
#include "model/document.h"
#include "model/path_encoding.h"

namespace hearth::execution {
namespace {

using index::Definition;
using index::FieldMode;
using index::Index;
using index::IndexField;
using index::QueryScope;
using model::FieldPath;

// How far the planner looks ahead to compare what its alternatives would read.
constexpr size_t kProbedEntriesMax = 500;
// The cost of reading a single document, relative to one read by a scan.
constexpr size_t kReadCost = 4;
// The cost beyond the probed entries is unknown; reading an index is the better guess.
constexpr size_t kUnknownIndexCost = 100 * kProbedEntriesMax;
constexpr size_t kUnknownDocumentsCost = 2 * kUnknownIndexCost;

// Converts a position among complete values to one among truncated values, as in indexes.
Position CutPosition(Position position, bool is_lower) {
  if (position.prefix.size() <= index::kComponentBytesMax) return position;
  position.prefix.resize(index::kComponentBytesMax);
  position.after = !is_lower;
  return position;
}

void Narrow(Range range, Range* result) {
  if (range.lower) result->RaiseLower(*std::move(range.lower));
  if (range.upper) result->ReduceUpper(*std::move(range.upper));
}

// The range of suffixes that the filters on the first suffix field allow.
Range RangeOfFirst(const ValueRange& values, const query::Order& order) {
  Range range;
  if (values.range.lower) range.lower = CutPosition(*values.range.lower, true);
  if (values.range.upper) range.upper = CutPosition(*values.range.upper, false);
  if (order.direction == query::SortDirection::kAscending) return range;
  Range turned;
  if (range.upper) turned.lower = Complemented(*range.upper);
  if (range.lower) turned.upper = Complemented(*range.lower);
  return turned;
}

// The range that filters on names, and the parent of a collection group, allow if the suffix is
// only the name.
Range RangeOfNames(const Context& context, const ConjunctionShape& shape) {
  Range range;
  const Layout& layout = context.layout;
  const std::string& parent = context.query.query.parent.document_path;
  const auto add = [&](Position position, bool is_lower) {
    if (is_lower != layout.name_descending) {
      range.RaiseLower(std::move(position));
    } else {
      range.ReduceUpper(std::move(position));
    }
  };
  if (layout.scope == QueryScope::kCollectionGroup && !parent.empty()) {
    Position begin{model::EncodeSubtreePrefix(parent), false};
    Position end{begin.prefix, true};
    add(layout.name_descending ? Complemented(std::move(begin)) : std::move(begin), true);
    add(layout.name_descending ? Complemented(std::move(end)) : std::move(end), false);
  }
  for (const query::FieldFilter* filter : shape.name_inequalities) {
    const std::string_view reference = model::ValueView(filter->value).text();
    const auto at = [&](bool after) {
      return NamePosition(layout, reference, layout.name_descending ? !after : after);
    };
    switch (filter->op) {
      case query::Operator::kLess:
        add(at(false), false);
        break;
      case query::Operator::kLessOrEqual:
        add(at(true), false);
        break;
      case query::Operator::kGreater:
        add(at(true), true);
        break;
      case query::Operator::kGreaterOrEqual:
        add(at(false), true);
        break;
      default:
        break;
    }
  }
  return range;
}

bool AreRanges(const std::vector<const query::FieldFilter*>& filters) {
  return std::all_of(filters.begin(), filters.end(), [](const query::FieldFilter* filter) {
    return filter->op != query::Operator::kNotEqual && filter->op != query::Operator::kNotIn;
  });
}

// Everything in a scan except its indexes.
IndexScan ScanOf(const Context& context, const ConjunctionShape& shape,
                 const std::vector<query::Order>& suffix) {
  IndexScan scan;
  scan.constants = shape.constants;
  scan.range = CursorRange(context.layout, context.query, shape.constants, Cut::kAsInIndexes);
  for (size_t i = 0; i < suffix.size(); ++i) {
    const auto found = shape.inequalities.find(suffix[i].path);
    if (found == shape.inequalities.end()) continue;
    ValueRange values = ValuesThatPass(found->second);
    if (i == 0) Narrow(RangeOfFirst(values, suffix[i]), &scan.range);
    if (i > 0 || !values.excluded.empty()) scan.filters.push_back({i, std::move(values)});
  }
  if (suffix.empty()) {
    Narrow(RangeOfNames(context, shape), &scan.range);
    scan.is_exact = AreRanges(shape.name_inequalities);
  } else {
    scan.is_exact = shape.name_inequalities.empty();
  }
  return scan;
}

// Counts the entries that a scan of one index would read, up to kProbedEntriesMax.
Result<size_t> Probe(const Context& context, const ScannedIndex& scanned, const Range& range) {
  Range physical = range;
  if (scanned.inverted) {
    physical = {};
    if (range.upper) physical.lower = Complemented(*range.upper);
    if (range.lower) physical.upper = Complemented(*range.lower);
  }
  const auto cursor = context.source.ScanIndexes(ToKeyRange(scanned.prefix, physical),
                                                 storage::Direction::kForward);
  size_t count = 0;
  for (; cursor->Valid() && count < kProbedEntriesMax; cursor->Next()) ++count;
  RETURN_IF_ERROR(cursor->status());
  return count;
}

class Planner {
 public:
  explicit Planner(const Context& context)
      : context_(context),
        indexes_(context.source.indexes().Of(context.source.database_number(),
                                             context.query.query.collection_id)) {}

  Result<Plan> Make() {
    Plan plan;
    VectorPlan vectors;
    if (context_.query.query.nearest) {
      vectors = PlanVectorScans(context_);
      plan.vectors = std::move(vectors.scans);
    }
    if (!plan.vectors.empty()) {
      DescribeUse(&plan);
      return plan;
    }
    const bool can_use_indexes =
        !context_.query.query.collection_id.empty() && context_.source.changed().has_value();
    for (const query::Conjunction& conjunction : context_.query.disjuncts) {
      const ConjunctionShape shape(conjunction);
      ConjunctionPlan& chosen = plan.conjunctions.emplace_back();
      if (shape.is_contradiction) {
        chosen.kind = ConjunctionPlan::Kind::kNothing;
      } else if (shape.name_equal) {
        chosen.kind = ConjunctionPlan::Kind::kLookup;
      } else if (!IsWholeCollection(shape)) {
        if (can_use_indexes) {
          ASSIGN_OR_RETURN(chosen, Choose(shape, &plan));
        } else if (!context_.query.query.collection_id.empty()) {
          AppendMissing(shape, &plan);
        }
      }
      plan.scans_documents |= chosen.kind == ConjunctionPlan::Kind::kNone;
    }
    if (plan.scans_documents) plan.conjunctions.clear();
    // With the vector indexes, no other index is needed.
    if (!vectors.missing.empty()) plan.missing = std::move(vectors.missing);
    DescribeUse(&plan);
    return plan;
  }

 private:
  // True if the documents themselves, in the order of their keys, are the answer.
  bool IsWholeCollection(const ConjunctionShape& shape) const {
    return context_.layout.scope == QueryScope::kCollection && context_.layout.fields.empty() &&
           shape.constants.empty() && !shape.contains && !context_.keys_only;
  }

  void AppendMissing(const ConjunctionShape& shape, Plan* plan) const {
    for (Definition& definition : IdealIndexes(context_.query.query, context_.layout, shape)) {
      if (auto shared = SharedFormOf(definition, shape)) {
        plan->shared_forms.emplace(definition, *std::move(shared));
      }
      plan->missing.push_back(std::move(definition));
    }
  }

  // The form with the first field of a map that an index of all its keys can serve: one that is
  // fixed, or that follows the fixed ones.
  static std::optional<Definition> SharedFormOf(const Definition& definition,
                                                const ConjunctionShape& shape) {
    if (definition.vector) return std::nullopt;
    for (size_t i = 0; i < definition.fields.size(); ++i) {
      if (auto shared = index::SharedForm(definition, i)) return shared;
      if (!IsFixed(definition.fields[i], shape)) break;
    }
    return std::nullopt;
  }

  // The indexes that the conjunction can use, as indexes on fields.
  std::vector<const Index*> UsableFor(const ConjunctionShape& shape, Plan* plan) const {
    std::vector<const Index*> usable;
    for (const Index& index : indexes_) {
      if (index.state != index::State::kReady) continue;
      if (!index::MapPosition(index.definition)) {
        usable.push_back(&index);
        continue;
      }
      for (Index& part : PartsOfMapIndex(index, context_.layout, shape)) {
        plan->map_parts.push_back(std::make_shared<const Index>(std::move(part)));
        usable.push_back(plan->map_parts.back().get());
      }
    }
    return usable;
  }

  Result<ConjunctionPlan> Choose(const ConjunctionShape& shape, Plan* plan) {
    const std::vector<query::Order> suffix = SuffixOf(context_.layout, shape);
    const std::vector<const Index*> usable = UsableFor(shape, plan);
    std::vector<IndexMatch> matches;
    for (const Index* index : usable) {
      auto match = MatchIndex(index->definition, context_.layout, shape, suffix);
      if (!match) continue;
      // The entries with one key of a map must be contiguous.
      if (index->map_key &&
          index->map_key->position + suffix.size() > index->definition.fields.size()) {
        continue;
      }
      match->index = index;
      matches.push_back(*std::move(match));
    }
    FixedFields uncovered = FixedFieldsOf(shape);
    std::vector<const IndexMatch*> cover = ChooseCover(matches, &uncovered);
    if (cover.empty() && uncovered.empty() && !matches.empty()) cover.push_back(&matches[0]);
    ConjunctionPlan ordered;
    if (!cover.empty()) ordered = InOrder(shape, suffix, cover);
    if (!cover.empty() && uncovered.empty()) {
      if (cover.size() > 1) {
        plan->alternatives_to_joins.push_back(
            DirectIndex(context_.query.query, context_.layout, shape));
      }
      return ordered;
    }
    AppendMissing(shape, plan);
    // Even if it covers no fixed field, an index may still provide the order and a range.
    if (cover.empty() && !matches.empty()) ordered = InOrder(shape, suffix, {&matches[0]});
    ordered.scan.is_exact = false;
    return Cheapest(shape, usable, std::move(ordered));
  }

  ConjunctionPlan InOrder(const ConjunctionShape& shape, const std::vector<query::Order>& suffix,
                          const std::vector<const IndexMatch*>& cover) const {
    ConjunctionPlan result;
    result.kind = ConjunctionPlan::Kind::kScan;
    result.scan = ScanOf(context_, shape, suffix);
    for (const IndexMatch* match : cover) {
      const size_t fixed = match->index->definition.fields.size() - suffix.size();
      result.scan.indexes.push_back({match->index,
                                     FixedPrefix(*match->index, fixed, context_.layout, shape),
                                     match->inverted});
    }
    return result;
  }

  // A scan in the order of one index, to be sorted afterwards: some fixed fields, and possibly a
  // range of the next one.
  std::optional<ConjunctionPlan> OutOfOrder(const ConjunctionShape& shape,
                                            const Index& index) const {
    const Definition& definition = index.definition;
    if (definition.scope != context_.layout.scope || definition.vector) return std::nullopt;
    size_t fixed = 0;
    while (fixed < definition.fields.size() && IsFixed(definition.fields[fixed], shape)) ++fixed;
    if (index.map_key && index.map_key->position > fixed) return std::nullopt;
    const auto rest = definition.fields.begin() + static_cast<ptrdiff_t>(fixed);
    if (std::any_of(rest, definition.fields.end(),
                    [](const IndexField& field) { return field.mode == FieldMode::kContains; })) {
      return std::nullopt;
    }
    // A document that lacks one of the index's fields may be a result.
    const bool all_are_required =
        std::all_of(rest, definition.fields.end(), [&](const auto& field) {
          return shape.constants.contains(field.path) || IsOrdered(field.path);
        });
    const bool has_range =
        rest != definition.fields.end() && shape.inequalities.contains(rest->path);
    if (!all_are_required || (fixed == 0 && !has_range)) return std::nullopt;

    auto inner_query = std::make_shared<query::NormalizedQuery>(context_.query);
    inner_query->query.start.reset();
    inner_query->query.end.reset();
    inner_query->orders.clear();
    for (auto field = rest; field != definition.fields.end(); ++field) {
      inner_query->orders.push_back({field->path, field->mode == FieldMode::kDescending
                                                      ? query::SortDirection::kDescending
                                                      : query::SortDirection::kAscending});
    }
    inner_query->orders.push_back({context_.query.orders.back().path,
                                   definition.name_descending ? query::SortDirection::kDescending
                                                              : query::SortDirection::kAscending});
    auto inner_layout = std::make_shared<Layout>(LayoutOf(*inner_query));
    ConjunctionShape inner_shape = shape;
    // A field that the index has as an ordered field is not fixed there, even if it has only one
    // value.
    for (auto field = rest; field != definition.fields.end(); ++field) {
      inner_shape.constants.erase(field->path);
    }
    const Context inner = context_.For(*inner_query, *inner_layout);
    ConjunctionPlan result;
    result.kind = ConjunctionPlan::Kind::kSorted;
    result.scan = ScanOf(inner, inner_shape, inner_layout->fields);
    result.scan.is_exact = false;
    const bool inverted = definition.name_descending != inner_layout->name_descending;
    result.scan.indexes.push_back(
        {&index, FixedPrefix(index, fixed, context_.layout, shape), inverted});
    result.inner_query = std::move(inner_query);
    result.inner_layout = std::move(inner_layout);
    return result;
  }

  bool IsOrdered(const FieldPath& path) const {
    return std::any_of(context_.layout.fields.begin(), context_.layout.fields.end(),
                       [&](const query::Order& order) { return order.path == path; });
  }

  // If no index fits exactly: compares the costs of the usable ones and of scanning the documents.
  Result<ConjunctionPlan> Cheapest(const ConjunctionShape& shape,
                                   const std::vector<const Index*>& usable,
                                   ConjunctionPlan ordered) {
    ASSIGN_OR_RETURN(const size_t documents, ProbeDocuments());
    size_t best_cost = documents < kProbedEntriesMax ? documents : kUnknownDocumentsCost;
    ConjunctionPlan best;
    const auto consider = [&](ConjunctionPlan candidate) -> Status {
      ASSIGN_OR_RETURN(const size_t entries,
                       Probe(context_, candidate.scan.indexes[0], candidate.scan.range));
      const size_t cost = entries < kProbedEntriesMax ? entries * kReadCost : kUnknownIndexCost;
      if (cost < best_cost) {
        best_cost = cost;
        best = std::move(candidate);
      }
      return Status();
    };
    if (ordered.kind == ConjunctionPlan::Kind::kScan) RETURN_IF_ERROR(consider(std::move(ordered)));
    for (const Index* index : usable) {
      if (auto candidate = OutOfOrder(shape, *index)) {
        RETURN_IF_ERROR(consider(*std::move(candidate)));
      }
    }
    return best;
  }

  // The number of documents that a scan would examine, up to the bound.
  Result<size_t> ProbeDocuments() {
    if (probed_documents_) return *probed_documents_;
    std::string prefix = model::DatabaseKeyPrefix(context_.source.database_number());
    const query::Query& query = context_.query.query;
    if (context_.layout.scope == QueryScope::kCollection) {
      ASSIGN_OR_RETURN(const model::CollectionPath collection,
                       model::CollectionPath::Parse(context_.layout.collection));
      prefix = model::CollectionKeyPrefix(context_.source.database_number(), collection);
    } else {
      prefix += model::EncodeSubtreePrefix(query.parent.document_path);
    }
    const auto cursor = context_.source.ScanDocuments(storage::PrefixRange(prefix));
    size_t count = 0;
    for (; cursor->Valid() && count < kProbedEntriesMax; cursor->Next()) ++count;
    RETURN_IF_ERROR(cursor->status());
    probed_documents_ = count;
    return count;
  }

  void DescribeUse(Plan* plan) const {
    const auto add = [plan](const char* scope, std::string properties) {
      query::IndexUse use{scope, std::move(properties)};
      if (std::find(plan->indexes_used.begin(), plan->indexes_used.end(), use) ==
          plan->indexes_used.end()) {
        plan->indexes_used.push_back(std::move(use));
      }
    };
    const bool is_group = context_.layout.scope == QueryScope::kCollectionGroup;
    const char* scope = is_group ? "Collection group" : "Collection";
    for (const ConjunctionPlan& conjunction : plan->conjunctions) {
      for (const ScannedIndex& scanned : conjunction.scan.indexes) {
        add(scope, index::Properties(scanned.index->definition));
      }
      if (conjunction.kind == ConjunctionPlan::Kind::kLookup) add(scope, "(__name__ ASC)");
    }
    for (const VectorScan& scan : plan->vectors) {
      add(scope, index::Properties(scan.index->definition));
    }
    if (plan->scans_documents) add(scope, "(__name__ ASC)");
  }

  const Context context_;
  const std::vector<Index>& indexes_;
  std::optional<size_t> probed_documents_;
};

}  // namespace

Result<Plan> MakePlan(const Context& context) { return Planner(context).Make(); }

namespace {

// Converts the documents of an index scan in another order to the sort keys of the query.
class Rekey final : public Stream {
 public:
  Rekey(const Context& context, std::unique_ptr<Stream> input, const Layout& input_layout)
      : context_(context), input_(std::move(input)), input_layout_(input_layout) {}

  Result<bool> Next(Item* item) override {
    while (true) {
      ASSIGN_OR_RETURN(const bool found, input_->Next(item));
      if (!found) return false;
      ASSIGN_OR_RETURN(const model::DocumentPath path, PathOf(input_layout_, item->key));
      if (!item->record) {
        ASSIGN_OR_RETURN(item->record, context_.source.Get(path));
        if (!item->record) return Status(Code::kDataLoss, "an indexed document does not exist");
      }
      std::optional<SortKey> key =
          SortKeyOf(context_.layout, path, model::RecordFields(*item->record));
      if (!key) continue;
      item->key = *std::move(key);
      return true;
    }
  }

 private:
  const Context context_;
  std::unique_ptr<Stream> input_;
  const Layout& input_layout_;
};

std::unique_ptr<Stream> OpenConjunction(const Context& context,
                                        const query::Conjunction& conjunction,
                                        const ConjunctionPlan& plan, size_t results_max) {
  switch (plan.kind) {
    case ConjunctionPlan::Kind::kNothing:
    case ConjunctionPlan::Kind::kNone:
      return NewListStream({});
    case ConjunctionPlan::Kind::kLookup:
      return NewRangeFilter(
          NewLookup(context, conjunction, *ConjunctionShape(conjunction).name_equal),
          CursorRange(context.layout, context.query, {}, Cut::kNo));
    case ConjunctionPlan::Kind::kScan:
      return NewIndexStream(context, conjunction, plan.scan);
    case ConjunctionPlan::Kind::kSorted:
      break;
  }
  const auto open = [context, uncounted = std::make_shared<Tally>(), &conjunction,
                     &plan](Pass pass) -> std::unique_ptr<Stream> {
    const Context outer = pass == Pass::kFirst ? context : context.CountedBy(uncounted.get());
    const Context inner = outer.For(*plan.inner_query, *plan.inner_layout);
    auto rekeyed = std::make_unique<Rekey>(outer, NewIndexStream(inner, conjunction, plan.scan),
                                           *plan.inner_layout);
    return NewRangeFilter(std::move(rekeyed),
                          CursorRange(context.layout, context.query, {}, Cut::kNo));
  };
  return NewSorter(open, context.layout, {results_max, kSortBytesMax, context.memory});
}

// Examines all documents in the query's scope one by one.
std::unique_ptr<Stream> OpenDocumentScan(const Context& context, size_t results_max) {
  const bool is_group = context.layout.scope == QueryScope::kCollectionGroup;
  const Range cursors = CursorRange(context.layout, context.query, {}, Cut::kNo);
  if (context.layout.fields.empty()) {
    std::unique_ptr<Stream> in_order;
    if (!is_group) {
      in_order = NewCollectionScan(context, context.layout.backward ? storage::Direction::kBackward
                                                                    : storage::Direction::kForward);
    } else if (!context.layout.backward) {
      in_order = NewSubtreeScan(context);
    }
    if (in_order) return NewRangeFilter(std::move(in_order), cursors);
  }
  const auto open = [context, uncounted = std::make_shared<Tally>(), is_group, cursors](Pass pass) {
    const Context own = pass == Pass::kFirst ? context : context.CountedBy(uncounted.get());
    return NewRangeFilter(
        is_group ? NewSubtreeScan(own) : NewCollectionScan(own, storage::Direction::kForward),
        cursors);
  };
  return NewSorter(open, context.layout, {results_max, kSortBytesMax, context.memory});
}

// The documents that have changed since the read time, as they were then.
Result<std::unique_ptr<Stream>> OpenChanged(const Context& context) {
  const Range cursors = CursorRange(context.layout, context.query, {}, Cut::kNo);
  std::vector<Item> items;
  for (const std::string& key : *context.source.changed()) {
    ASSIGN_OR_RETURN(const model::DocumentPath path, model::DocumentPathOfKey(key));
    if (!query::IsInScope(context.query.query, path)) continue;
    ASSIGN_OR_RETURN(const model::Record record, context.source.Get(path));
    if (!record) continue;
    context.tally->AddDocument(path);
    const std::string_view fields = model::RecordFields(*record);
    if (!query::Matches(context.query, {context.source.database_name(), path, fields})) continue;
    std::optional<SortKey> sort_key = SortKeyOf(context.layout, path, fields);
    if (!sort_key || !cursors.Contains(sort_key->bytes)) continue;
    items.push_back(
        {.key = *std::move(sort_key), .record = nullptr, .was_cut = true, .was_read = true});
  }
  std::sort(items.begin(), items.end(), [&context](const Item& left, const Item& right) {
    return context.layout.Before(left.key.bytes, right.key.bytes);
  });
  return NewListStream(std::move(items));
}

// True if two of the scans may read the same index entries.
bool HasCommonEntries(const Plan& plan) {
  std::vector<const ScannedIndex*> all;
  for (const ConjunctionPlan& conjunction : plan.conjunctions) {
    for (const ScannedIndex& scanned : conjunction.scan.indexes) all.push_back(&scanned);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      // Keys begin with the number of their index.
      if (all[i]->prefix.starts_with(all[j]->prefix) ||
          all[j]->prefix.starts_with(all[i]->prefix)) {
        return true;
      }
    }
  }
  return false;
}

Result<std::unique_ptr<Stream>> OpenDocuments(const Context& context, const Plan& plan,
                                              size_t results_max) {
  if (plan.scans_documents) return OpenDocumentScan(context, results_max);
  const bool reads_changed =
      !plan.indexes_used.empty() && context.source.changed() && !context.source.changed()->empty();
  if (plan.conjunctions.size() + (reads_changed ? 1 : 0) > 1) {
    // Several streams may examine the same document; some of them may take it and others not.
    context.tally->ExpectDocumentsAgain();
    if (HasCommonEntries(plan)) context.tally->ExpectEntriesAgain();
  }
  std::vector<std::unique_ptr<Stream>> streams;
  for (size_t i = 0; i < plan.conjunctions.size(); ++i) {
    streams.push_back(
        OpenConjunction(context, context.query.disjuncts[i], plan.conjunctions[i], results_max));
  }
  if (reads_changed) {
    ASSIGN_OR_RETURN(std::unique_ptr<Stream> changed, OpenChanged(context));
    streams.push_back(std::move(changed));
  }
  if (streams.empty()) return NewListStream({});
  return NewMerge(std::move(streams), context.layout);
}

}  // namespace

Result<std::unique_ptr<Stream>> OpenPlan(const Context& context, const Plan& plan,
                                         size_t results_max) {
  if (!context.query.query.nearest) return OpenDocuments(context, plan, results_max);
  if (!plan.vectors.empty()) return NewNearestOfIndexes(context, plan.vectors);
  ASSIGN_OR_RETURN(std::unique_ptr<Stream> documents, OpenDocuments(context, plan, results_max));
  return NewNearestOfDocuments(context, std::move(documents));
}

}  // namespace hearth::execution
