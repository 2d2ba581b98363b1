#include "execution/required_index.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "execution/index_match.h"
#include "index/create_index_link.h"

namespace hearth::execution {
namespace {

using index::Definition;
using index::FieldMode;
using index::FieldOverride;
using index::IndexConfig;
using index::QueryScope;
using index::SingleFieldIndex;
using index::VectorIndex;
using model::FieldPath;

// The override of this field, or of the whole collection group; null if there is none.
const FieldOverride* OverrideOf(const IndexConfig& config, const std::string& collection_id,
                                const FieldPath& field) {
  const FieldOverride* of_all = nullptr;
  for (const FieldOverride& each : config.overrides) {
    if (each.collection_group != collection_id) continue;
    if (each.field == field) return &each;
    if (!each.field) of_all = &each;
  }
  return of_all;
}

// The indexes of one field: the automatic ones, unless the configuration overrides them.
std::vector<SingleFieldIndex> SingleFieldIndexes(const IndexConfig& config,
                                                 const std::string& collection_id,
                                                 const FieldPath& field) {
  if (const FieldOverride* found = OverrideOf(config, collection_id, field)) return found->indexes;
  return {{FieldMode::kAscending, QueryScope::kCollection},
          {FieldMode::kDescending, QueryScope::kCollection},
          {FieldMode::kContains, QueryScope::kCollection}};
}

// All indexes that Firestore would have for a query on these fields.
std::vector<Definition> ConfiguredIndexes(const IndexConfig& config,
                                          const std::string& collection_id,
                                          const std::set<FieldPath>& fields) {
  std::vector<Definition> definitions;
  for (const Definition& composite : config.composites) {
    if (composite.collection_id == collection_id) definitions.push_back(composite);
  }
  for (const FieldPath& field : fields) {
    for (const SingleFieldIndex& single : SingleFieldIndexes(config, collection_id, field)) {
      definitions.push_back({collection_id,
                             single.scope,
                             {{field, single.mode}},
                             single.mode == FieldMode::kDescending});
    }
  }
  return definitions;
}

// The index that the query requires, in the directions that it states.
Definition Wanted(const query::NormalizedQuery& query, const Layout& layout,
                  const ConjunctionShape& shape) {
  Definition definition{query.query.collection_id,
                        layout.scope,
                        {},
                        query.orders.back().direction == query::SortDirection::kDescending};
  if (shape.contains) definition.fields.push_back({shape.contains->path, FieldMode::kContains});
  for (const auto& [path, value] : shape.constants) {
    definition.fields.push_back({path, FieldMode::kAscending});
  }
  for (const query::Order& order : query.orders) {
    if (order.path.IsName() || shape.constants.contains(order.path)) continue;
    definition.fields.push_back({order.path, order.direction == query::SortDirection::kDescending
                                                 ? FieldMode::kDescending
                                                 : FieldMode::kAscending});
  }
  return definition;
}

Status MissingIndex(const query::NormalizedQuery& query, const Definition& definition,
                    const ConjunctionShape& shape) {
  const auto ranges = shape.inequalities.size() > 1 ? index::RangeFilters::kOnSeveralFields
                                                    : index::RangeFilters::kOnOneFieldAtMost;
  return Status(Code::kFailedPrecondition,
                index::MissingIndexMessage(query.query.parent.database, definition, ranges));
}

// Names ascend without an index. Descending names need an index that has nothing else.
std::optional<Definition> FindMissingNameIndex(const query::NormalizedQuery& query,
                                               const Layout& layout, const IndexConfig& config) {
  if (query.orders.back().direction == query::SortDirection::kAscending) return std::nullopt;
  Definition wanted{query.query.collection_id, layout.scope, {}, true};
  const bool is_there = std::ranges::find(config.composites, wanted) != config.composites.end();
  return is_there ? std::nullopt : std::optional(std::move(wanted));
}

// The index that the configuration lacks for the conjunction; nullopt if it lacks none.
std::optional<Definition> FindMissing(const query::NormalizedQuery& query, const Layout& layout,
                                      const ConjunctionShape& shape, const IndexConfig& config) {
  const std::vector<query::Order> suffix = SuffixOf(layout, shape);
  FixedFields uncovered = FixedFieldsOf(shape);
  if (shape.is_contradiction || shape.name_equal) return std::nullopt;
  if (uncovered.empty() && suffix.empty()) return FindMissingNameIndex(query, layout, config);
  std::set<FieldPath> fields;
  for (const index::IndexField& field : uncovered) fields.insert(field.path);
  for (const query::Order& order : suffix) fields.insert(order.path);
  std::vector<IndexMatch> matches;
  for (const Definition& definition :
       ConfiguredIndexes(config, query.query.collection_id, fields)) {
    std::optional<IndexMatch> match = MatchIndex(definition, layout, shape, suffix);
    // Hearth can read an index backwards; Firestore cannot.
    const bool is_exact = match && match->inverted == layout.backward;
    if (match && (is_exact || suffix.empty())) matches.push_back(*std::move(match));
  }
  if (!matches.empty()) ChooseCover(matches, &uncovered);
  if (!matches.empty() && uncovered.empty()) return std::nullopt;

  Definition wanted = Wanted(query, layout, shape);
  if (suffix.empty()) {
    // Equalities alone are joined: the missing index has only one field.
    std::erase_if(wanted.fields, [&](const auto& field) { return !uncovered.contains(field); });
    wanted.fields.resize(1, wanted.fields.front());
    wanted.name_descending = false;
  }
  return wanted;
}

// A nearest-neighbour search needs a vector index with all fields that are compared for equality.
// nullopt if the configuration has it.
std::optional<VectorIndex> FindMissingVectorIndex(const query::NormalizedQuery& query,
                                                  const Layout& layout,
                                                  const ConjunctionShape& shape,
                                                  const IndexConfig& config) {
  const query::FindNearest& nearest = *query.query.nearest;
  const bool is_there =
      std::any_of(config.vectors.begin(), config.vectors.end(), [&](const VectorIndex& each) {
        return each.collection_group == query.query.collection_id && each.scope == layout.scope &&
               each.field == nearest.vector_field &&
               each.dimension == nearest.query_vector.size() &&
               each.prefix.size() == FixedFieldsOf(shape).size() &&
               std::all_of(each.prefix.begin(), each.prefix.end(),
                           [&](const index::IndexField& field) { return IsFixed(field, shape); });
      });
  if (is_there) return std::nullopt;
  VectorIndex wanted{query.query.collection_id,
                     layout.scope,
                     {},
                     nearest.vector_field,
                     static_cast<uint32_t>(nearest.query_vector.size()),
                     std::nullopt};
  if (shape.contains) wanted.prefix.push_back({shape.contains->path, FieldMode::kContains});
  for (const auto& [path, value] : shape.constants) {
    wanted.prefix.push_back({path, FieldMode::kAscending});
  }
  return wanted;
}

Status CheckVectorIndex(const query::NormalizedQuery& query, const Layout& layout,
                        const IndexConfig& config) {
  for (const query::Conjunction& conjunction : query.disjuncts) {
    const std::optional<VectorIndex> missing =
        FindMissingVectorIndex(query, layout, ConjunctionShape(conjunction), config);
    if (!missing) continue;
    return Status(Code::kFailedPrecondition,
                  index::MissingVectorIndexMessage(query.query.parent.database, *missing));
  }
  return Status();
}

// A single field needs no configuration. Most queries have only one: this avoids the full check.
bool HasOneField(const query::Conjunction& conjunction, const Layout& layout) {
  if (conjunction.filters.size() + layout.fields.size() > 1) return false;
  if (layout.fields.empty()) return !layout.backward;
  return layout.name_descending ==
         (layout.fields[0].direction == query::SortDirection::kDescending);
}

}  // namespace

Status CheckIndexes(const query::NormalizedQuery& query, const IndexConfig& config) {
  static const IndexConfig kNoIndexes;
  if (query.query.collection_id.empty()) return Status();
  const Layout layout = LayoutOf(query);
  if (query.query.nearest) return CheckVectorIndex(query, layout, config);
  const IndexConfig& usable = query::IsBelowDocument(query.query) ? kNoIndexes : config;
  for (const query::Conjunction& conjunction : query.disjuncts) {
    const ConjunctionShape shape(conjunction);
    const std::optional<Definition> missing = FindMissing(query, layout, shape, usable);
    if (missing) return MissingIndex(query, *missing, shape);
  }
  return Status();
}

Status CheckListener(const query::NormalizedQuery& query) {
  if (query.query.collection_id.empty()) {
    return InvalidArgument("All-collection queries are not supported by real-time queries.");
  }
  if (query::IsBelowDocument(query.query)) {
    return InvalidArgument(
        "'all_descendants' in CollectionSelector with document parent is not supported by "
        "real-time queries.");
  }
  return Status();
}

NeededIndexList NeededIndexes(const query::NormalizedQuery& query) {
  NeededIndexList needed;
  // No index helps if a query over all collections, or over the descendants of a document, is
  // refused.
  if (query.query.collection_id.empty() || query::IsBelowDocument(query.query)) return needed;
  const Layout layout = LayoutOf(query);
  const bool is_group = layout.scope == QueryScope::kCollectionGroup;
  IndexConfig config;
  for (const query::Conjunction& conjunction : query.disjuncts) {
    if (!is_group && HasOneField(conjunction, layout) && !query.query.nearest) continue;
    const ConjunctionShape shape(conjunction);
    if (query.query.nearest) {
      auto missing = FindMissingVectorIndex(query, layout, shape, config);
      if (missing) config.vectors.push_back(*std::move(missing));
      continue;
    }
    // Each index covers at least one more field, so there are at most as many as fixed fields.
    for (size_t i = 0; i <= FixedFieldsOf(shape).size(); ++i) {
      std::optional<Definition> missing = FindMissing(query, layout, shape, config);
      if (!missing) break;
      config.composites.push_back(*std::move(missing));
    }
  }
  return {std::move(config.composites), std::move(config.vectors)};
}

bool MayBeIndexed(const std::string& collection_id, const FieldPath& field,
                  const IndexConfig& config) {
  const FieldOverride* found = OverrideOf(config, collection_id, field);
  return found == nullptr || !found->indexes.empty();
}

}  // namespace hearth::execution
