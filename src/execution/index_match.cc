#include "execution/index_match.h"

#include <algorithm>
#include <utility>

#include "index/entries.h"
#include "index/value_key.h"

namespace hearth::execution {

using index::Definition;
using index::FieldMode;
using index::Index;
using index::IndexField;
using index::QueryScope;

bool IsFixed(const IndexField& field, const ConjunctionShape& shape) {
  if (field.mode == FieldMode::kContains) {
    return shape.contains && shape.contains->path == field.path;
  }
  return shape.constants.contains(field.path);
}

FixedFields FixedFieldsOf(const ConjunctionShape& shape) {
  FixedFields fields;
  for (const auto& [path, value] : shape.constants) fields.insert({path, FieldMode::kAscending});
  if (shape.contains) fields.insert({shape.contains->path, FieldMode::kContains});
  return fields;
}

std::optional<IndexMatch> MatchIndex(const Definition& definition, const Layout& layout,
                                     const ConjunctionShape& shape,
                                     const std::vector<query::Order>& suffix) {
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
                             (suffix[i].direction == query::SortDirection::kDescending);
    if (is_opposite != match.inverted) return std::nullopt;
  }
  for (size_t i = 0; i < fixed; ++i) {
    IndexField field = definition.fields[i];
    if (!IsFixed(field, shape)) return std::nullopt;
    if (field.mode == FieldMode::kDescending) field.mode = FieldMode::kAscending;
    match.covered.insert(std::move(field));
  }
  return match;
}

std::string FixedPrefix(const Index& index, size_t fixed, const Layout& layout,
                        const ConjunctionShape& shape) {
  std::string prefix = layout.scope == QueryScope::kCollection
                           ? index::IndexKeyPrefix(index.number, layout.collection)
                           : index::IndexKeyPrefix(index.number);
  const auto append_map_key = [&](size_t position) {
    if (index.map_key && index.map_key->position == position) prefix += index.map_key->bytes;
  };
  for (size_t i = 0; i < fixed; ++i) {
    append_map_key(i);
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
  append_map_key(fixed);
  return prefix;
}

std::vector<Index> PartsOfMapIndex(const Index& index, const Layout& layout,
                                   const ConjunctionShape& shape) {
  std::set<model::FieldPath> paths;
  for (const auto& [path, value] : shape.constants) paths.insert(path);
  for (const query::Order& order : layout.fields) paths.insert(order.path);
  std::vector<Index> parts;
  for (const model::FieldPath& path : paths) {
    std::optional<Definition> definition = index::FormFor(path, index.definition);
    if (!definition) continue;
    Index& part = parts.emplace_back(index);
    part.definition = *std::move(definition);
    part.map_key = {*index::MapPosition(index.definition), ""};
    index::AppendFieldNameKey(path.segments().back(), &part.map_key->bytes);
  }
  return parts;
}

std::vector<const IndexMatch*> ChooseCover(const std::vector<IndexMatch>& matches,
                                           FixedFields* uncovered) {
  std::vector<const IndexMatch*> chosen;
  while (!uncovered->empty()) {
    const IndexMatch* best = nullptr;
    size_t best_gain = 0;
    for (const IndexMatch& match : matches) {
      const auto gain = static_cast<size_t>(
          std::count_if(match.covered.begin(), match.covered.end(),
                        [&](const IndexField& field) { return uncovered->contains(field); }));
      // Among those that cover equally many fields, prefer the one with the fewest fields.
      const bool is_better = gain > best_gain || (best && gain == best_gain &&
                                                  match.covered.size() < best->covered.size());
      if (gain > 0 && is_better) {
        best = &match;
        best_gain = gain;
      }
    }
    if (best == nullptr) return chosen;
    chosen.push_back(best);
    for (const IndexField& field : best->covered) uncovered->erase(field);
  }
  return chosen;
}

}  // namespace hearth::execution
