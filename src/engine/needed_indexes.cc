#include "engine/needed_indexes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "query/required_index.h"

namespace hearth::engine {
namespace {

using index::Definition;
using index::FieldMode;
using index::QueryScope;

// An index of one field is made by an override, which must name the automatic ones too.
void AddOverride(const Definition& definition, index::IndexConfig* config) {
  const index::IndexField& field = definition.fields[0];
  const auto found = std::find_if(
      config->overrides.begin(), config->overrides.end(), [&](const index::FieldOverride& each) {
        return each.collection_group == definition.collection_id && each.field == field.path;
      });
  if (found != config->overrides.end()) {
    found->indexes.push_back({field.mode, definition.scope});
    return;
  }
  config->overrides.push_back({definition.collection_id,
                               field.path,
                               {{FieldMode::kAscending, QueryScope::kCollection},
                                {FieldMode::kDescending, QueryScope::kCollection},
                                {FieldMode::kContains, QueryScope::kCollection},
                                {field.mode, definition.scope}}});
}

}  // namespace

void NeededIndexRecorder::Note(model::DatabaseNumber database,
                               const query::NormalizedQuery& query) {
  std::vector<Definition> needed = query::NeededIndexes(query);
  if (needed.empty()) return;
  MutexLock lock(mutex_);
  for (Definition& definition : needed) {
    if (indexes_ >= kIndexesMax) return;
    if (needed_[database].insert(std::move(definition)).second) ++indexes_;
  }
}

index::IndexConfig NeededIndexRecorder::Of(model::DatabaseNumber database) const {
  index::IndexConfig config;
  MutexLock lock(mutex_);
  const auto found = needed_.find(database);
  if (found == needed_.end()) return config;
  for (const Definition& definition : found->second) {
    if (definition.fields.size() == 1 && definition.scope == QueryScope::kCollectionGroup) {
      AddOverride(definition, &config);
    } else {
      config.composites.push_back(definition);
    }
  }
  return config;
}

}  // namespace hearth::engine
