#include "indexing/needed_indexes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "execution/required_index.h"

namespace hearth::indexing {
namespace {

using index::Definition;
using index::FieldMode;
using index::QueryScope;

// An index on one field is created by an override, which must also list the automatic ones.
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

// True if an override can create it: the name is ordered in the direction that the field implies.
bool IsSingleField(const Definition& definition) {
  return definition.fields.size() == 1 &&
         definition.name_descending == index::ImpliedNameDescending(definition.fields);
}

}  // namespace

void NeededIndexRecorder::Note(model::DatabaseNumber database,
                               const query::NormalizedQuery& query) {
  execution::NeededIndexList list = execution::NeededIndexes(query);
  if (list.definitions.empty() && list.vectors.empty()) return;
  MutexLock lock(mutex_);
  Needed& needed = needed_[database];
  const auto is_full = [&]() REQUIRES_LOCK(mutex_) {
    const size_t of_database = needed.definitions.size() + needed.vectors.size();
    return indexes_ >= kIndexesMax || of_database >= kIndexesOfDatabaseMax;
  };
  for (Definition& definition : list.definitions) {
    if (is_full()) return;
    if (needed.definitions.insert(std::move(definition)).second) ++indexes_;
  }
  for (index::VectorIndex& vector : list.vectors) {
    if (is_full()) return;
    index::IndexKey key = index::KeyOf(vector);
    if (needed.vectors.emplace(std::move(key), std::move(vector)).second) ++indexes_;
  }
}

void NeededIndexRecorder::Forget(model::DatabaseNumber database) {
  MutexLock lock(mutex_);
  const auto found = needed_.find(database);
  if (found == needed_.end()) return;
  indexes_ -= found->second.definitions.size() + found->second.vectors.size();
  needed_.erase(found);
}

index::IndexConfig NeededIndexRecorder::Of(model::DatabaseNumber database) const {
  index::IndexConfig config;
  {
    MutexLock lock(mutex_);
    const auto found = needed_.find(database);
    if (found == needed_.end()) return config;
    for (const Definition& definition : found->second.definitions) {
      if (IsSingleField(definition)) {
        AddOverride(definition, &config);
      } else {
        config.composites.push_back(definition);
      }
    }
    for (const auto& [key, vector] : found->second.vectors) config.vectors.push_back(vector);
  }
  index::Sort(config);
  return config;
}

}  // namespace hearth::indexing
