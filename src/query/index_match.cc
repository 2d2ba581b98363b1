#include "query/index_match.h"

#include <algorithm>

#include "index/entries.h"
#include "index/value_key.h"

namespace hearth::query {

using index::Definition;
using index::FieldMode;
using index::Index;
using index::IndexField;
using index::QueryScope;
using model::FieldPath;

bool IsFixed(const IndexField& field, const ConjunctionShape& shape) {
  if (field.mode == FieldMode::kContains) {
    return shape.contains && shape.contains->path == field.path;
  }
  return shape.constants.contains(field.path);
}

std::set<FieldPath> FixedFields(const ConjunctionShape& shape) {
  std::set<FieldPath> fields;
  for (const auto& [path, value] : shape.constants) fields.insert(path);
  if (shape.contains) fields.insert(shape.contains->path);
  return fields;
}

std::optional<IndexMatch> MatchIndex(const Definition& definition, const Layout& layout,
                                     const ConjunctionShape& shape,
                                     const std::vector<Order>& suffix) {
  if (definition.vector || definition.scope != layout.scope ||
      definition.fields.size() < suffix.size()) {
    return std::nullopt;
  }
  IndexMatch match{definition.name_descending != layout.name_descending, {}};
  const size_t fixed = definition.fields.size() - suffix.size();
  for (size_t i = 0; i < suffix.size(); ++i) {
    const IndexField& field = definition.fields[fixed + i];
    if (field.path != suffix[i].path || field.mode == FieldMode::kContains) return std::nullopt;
    const bool is_opposite = (field.mode == FieldMode::kDescending) !=
                             (suffix[i].direction == SortDirection::kDescending);
    if (is_opposite != match.inverted) return std::nullopt;
  }
  for (size_t i = 0; i < fixed; ++i) {
    if (!IsFixed(definition.fields[i], shape)) return std::nullopt;
    match.covered.insert(definition.fields[i].path);
  }
  return match;
}

std::string FixedPrefix(const Index& index, size_t fixed, const Layout& layout,
                        const ConjunctionShape& shape) {
  std::string prefix = layout.scope == QueryScope::kCollection
                           ? index::IndexKeyPrefix(index.number, layout.collection)
                           : index::IndexKeyPrefix(index.number);
  for (size_t i = 0; i < fixed; ++i) {
    const IndexField& field = index.definition.fields[i];
    std::string component;
    if (field.mode == FieldMode::kContains) {
      index::AppendValueKey(model::ValueView(shape.contains->value), &component);
    } else {
      component = shape.constants.at(field.path);
    }
    if (component.size() > index::kComponentBytesMax) component.resize(index::kComponentBytesMax);
    if (field.mode == FieldMode::kDescending) index::Complement(0, &component);
    prefix += component;
  }
  return prefix;
}

std::vector<const IndexMatch*> ChooseCover(const std::vector<IndexMatch>& matches,
                                           std::set<FieldPath>* uncovered) {
  std::vector<const IndexMatch*> chosen;
  while (!uncovered->empty()) {
    const IndexMatch* best = nullptr;
    size_t best_gain = 0;
    for (const IndexMatch& match : matches) {
      const auto gain = static_cast<size_t>(
          std::count_if(match.covered.begin(), match.covered.end(),
                        [&](const FieldPath& path) { return uncovered->contains(path); }));
      // Among those that cover as much, the one with the fewest fields.
      const bool is_better = gain > best_gain || (best && gain == best_gain &&
                                                  match.covered.size() < best->covered.size());
      if (gain > 0 && is_better) {
        best = &match;
        best_gain = gain;
      }
    }
    if (best == nullptr) return chosen;
    chosen.push_back(best);
    for (const FieldPath& path : best->covered) uncovered->erase(path);
  }
  return chosen;
}

}  // namespace hearth::query
