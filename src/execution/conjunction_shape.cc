#include "execution/conjunction_shape.h"

#include <algorithm>
#include <utility>

#include "index/value_key.h"

namespace hearth::execution {
namespace {

using index::Definition;
using index::FieldMode;

FieldMode ModeOf(query::SortDirection direction) {
  return direction == query::SortDirection::kAscending ? FieldMode::kAscending
                                                       : FieldMode::kDescending;
}

Definition EmptyDefinition(const query::Query& query, const Layout& layout) {
  return Definition{query.collection_id, layout.scope, {}, layout.name_descending};
}

}  // namespace

ConjunctionShape::ConjunctionShape(const query::Conjunction& conjunction) {
  for (const query::FieldFilter& filter : conjunction.filters) {
    if (filter.path.IsName()) {
      if (filter.op == query::Operator::kEqual) {
        name_equal = &filter;
      } else {
        name_inequalities.push_back(&filter);
      }
    } else if (filter.op == query::Operator::kEqual) {
      std::string key;
      index::AppendValueKey(model::ValueView(filter.value), &key);
      const auto [place, is_new] = constants.emplace(filter.path, key);
      is_contradiction |= !is_new && place->second != key;
    } else if (filter.op == query::Operator::kArrayContains) {
      contains = &filter;
    } else {
      inequalities[filter.path].push_back(&filter);
    }
  }
  for (const auto& [path, value] : constants) {
    const auto found = inequalities.find(path);
    if (found == inequalities.end()) continue;
    const ValueRange passing = ValuesThatPass(found->second);
    is_contradiction |= !passing.range.Contains(value) ||
                        std::find(passing.excluded.begin(), passing.excluded.end(), value) !=
                            passing.excluded.end();
    inequalities.erase(found);
  }
}

std::vector<query::Order> SuffixOf(const Layout& layout, const ConjunctionShape& shape) {
  std::vector<query::Order> suffix;
  for (const query::Order& order : layout.fields) {
    if (!shape.constants.contains(order.path)) suffix.push_back(order);
  }
  return suffix;
}

Definition DirectIndex(const query::Query& query, const Layout& layout,
                       const ConjunctionShape& shape) {
  Definition definition = EmptyDefinition(query, layout);
  for (const auto& [path, value] : shape.constants) {
    definition.fields.push_back({path, FieldMode::kAscending});
  }
  if (shape.contains) definition.fields.push_back({shape.contains->path, FieldMode::kContains});
  const size_t fixed = definition.fields.size();
  for (const query::Order& order : SuffixOf(layout, shape)) {
    definition.fields.push_back({order.path, ModeOf(order.direction)});
  }
  // Fixed fields have no direction of their own: they are ascending in either form.
  definition = index::Canonical(std::move(definition));
  const bool first_descends =
      definition.fields.size() > fixed && definition.fields[fixed].mode == FieldMode::kDescending;
  if (first_descends || (definition.fields.size() == fixed && definition.name_descending)) {
    for (size_t i = fixed; i < definition.fields.size(); ++i) {
      FieldMode& mode = definition.fields[i].mode;
      mode = mode == FieldMode::kAscending ? FieldMode::kDescending : FieldMode::kAscending;
    }
    definition.name_descending = !definition.name_descending;
  }
  return definition;
}

std::vector<Definition> IdealIndexes(const query::Query& query, const Layout& layout,
                                     const ConjunctionShape& shape) {
  const size_t fixed = shape.constants.size() + (shape.contains ? 1 : 0);
  if (fixed < 2 || !SuffixOf(layout, shape).empty()) return {DirectIndex(query, layout, shape)};
  std::vector<Definition> indexes;
  Definition empty{query.collection_id, layout.scope, {}, false};
  for (const auto& [path, value] : shape.constants) {
    indexes.push_back(empty);
    indexes.back().fields.push_back({path, FieldMode::kAscending});
  }
  if (shape.contains) {
    indexes.push_back(empty);
    indexes.back().fields.push_back({shape.contains->path, FieldMode::kContains});
  }
  return indexes;
}

}  // namespace hearth::execution
