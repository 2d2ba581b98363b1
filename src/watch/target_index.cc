#include "watch/target_index.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "index/value_key.h"
#include "model/document.h"
#include "model/value.h"

namespace hearth::watch {
namespace {

using model::DatabaseNumber;
using model::ValueView;

// The keys of buckets: a letter, the database, and the name of the collection or group that the
// queries read.
std::string CollectionBucket(DatabaseNumber database, std::string_view collection) {
  return "c" + model::DatabaseKeyPrefix(database).append(collection);
}
std::string GroupBucket(DatabaseNumber database, std::string_view collection_id) {
  return "g" + model::DatabaseKeyPrefix(database).append(collection_id);
}
std::string DatabaseBucket(DatabaseNumber database) {
  return "d" + model::DatabaseKeyPrefix(database);
}

std::string_view LastSegment(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0.
}

std::string ValueKey(const ValueView& value) {
  std::string key;
  index::AppendValueKey(value, &key);
  return key;
}

// The filter by which a conjunction is indexed; null if none is suitable.
const query::FieldFilter* ProbeFilter(const query::Conjunction& conjunction) {
  const auto found = std::ranges::find_if(conjunction.filters, [](const query::FieldFilter& each) {
    return !each.path.IsName() &&
           (each.op == query::Operator::kEqual || each.op == query::Operator::kArrayContains);
  });
  return found == conjunction.filters.end() ? nullptr : &*found;
}

}  // namespace

TargetIndex::Place TargetIndex::PlaceOf(DatabaseNumber database,
                                        const query::NormalizedQuery& query) {
  Place place;
  const model::ParentName& parent = query.query.parent;
  if (query.query.collection_id.empty()) {
    place.bucket = DatabaseBucket(database);
  } else if (query.query.all_descendants) {
    place.bucket = GroupBucket(database, query.query.collection_id);
  } else {
    const std::string below = parent.document_path.empty() ? "" : parent.document_path + "/";
    place.bucket = CollectionBucket(database, below + query.query.collection_id);
  }
  for (const query::Conjunction& conjunction : query.disjuncts) {
    const query::FieldFilter* filter = ProbeFilter(conjunction);
    if (!filter) {
      place.is_any = true;
      place.values.clear();
      return place;
    }
    place.values.emplace_back(Probe{filter->path, filter->op == query::Operator::kArrayContains},
                              ValueKey(ValueView(filter->value)));
  }
  return place;
}

void TargetIndex::Add(TargetNumber number, DatabaseNumber database, const Target& target) {
  if (const auto* documents = std::get_if<DocumentSet>(&target)) {
    for (const model::DocumentPath& path : *documents) {
      by_document_[model::DocumentKey(database, path)].insert(number);
    }
    return;
  }
  const Place place = PlaceOf(database, std::get<0>(target)->query());
  Bucket& bucket = buckets_[place.bucket];
  if (place.is_any) bucket.any.insert(number);
  for (const auto& [probe, value] : place.values) Add(number, probe, value, &bucket.by_value);
}

void TargetIndex::Remove(TargetNumber number, DatabaseNumber database, const Target& target) {
  if (const auto* documents = std::get_if<DocumentSet>(&target)) {
    for (const model::DocumentPath& path : *documents) {
      const auto found = by_document_.find(model::DocumentKey(database, path));
      if (found == by_document_.end()) continue;
      found->second.erase(number);
      if (found->second.empty()) by_document_.erase(found);
    }
    return;
  }
  const Place place = PlaceOf(database, std::get<0>(target)->query());
  const auto found = buckets_.find(place.bucket);
  if (found == buckets_.end()) return;
  Bucket& bucket = found->second;
  bucket.any.erase(number);
  for (const auto& [probe, value] : place.values) {
    Remove(number, probe.path.segments(), probe.in_array, value, &bucket.by_value);
  }
  if (bucket.any.empty() && bucket.by_value.empty()) buckets_.erase(found);
}

void TargetIndex::Add(TargetNumber number, const Probe& probe, const std::string& value,
                      Field* root) {
  Field* field = root;
  for (const std::string& segment : probe.path.segments()) {
    std::unique_ptr<Field>& next = field->fields[segment];
    if (!next) next = std::make_unique<Field>();
    field = next.get();
  }
  (probe.in_array ? field->in_array : field->equal)[value].insert(number);
}

void TargetIndex::Remove(TargetNumber number, Segments path, bool in_array,
                         const std::string& value, Field* field) {
  if (path.empty()) {
    Field::NumbersByValue& by_value = in_array ? field->in_array : field->equal;
    const auto found = by_value.find(value);
    if (found == by_value.end()) return;  // Named twice by the query.
    found->second.erase(number);
    if (found->second.empty()) by_value.erase(found);
    return;
  }
  const auto next = field->fields.find(path.front());
  if (next == field->fields.end()) return;
  Remove(number, path.subspan(1), in_array, value, next->second.get());
  if (next->second->empty()) field->fields.erase(next);
}

void TargetIndex::FindIn(const Field& field, model::MapView map, std::vector<TargetNumber>* found) {
  if (field.fields.empty()) return;
  while (const std::optional<model::FieldView> each = map.Next()) {
    const auto next = field.fields.find(each->name);
    if (next != field.fields.end()) FindAt(*next->second, each->value, found);
  }
}

void TargetIndex::FindAt(const Field& field, const ValueView& value,
                         std::vector<TargetNumber>* found) {
  const auto look_up = [found](const Field::NumbersByValue& by_value, const ValueView& wanted) {
    const auto numbers = by_value.find(ValueKey(wanted));
    if (numbers == by_value.end()) return;
    found->insert(found->end(), numbers->second.begin(), numbers->second.end());
  };
  if (!field.equal.empty()) look_up(field.equal, value);
  if (!field.in_array.empty() && value.type() == model::ValueType::kArray) {
    for (model::ArrayView items = value.array(); const auto item = items.Next();) {
      look_up(field.in_array, *item);
    }
  }
  // No path leads into a vector.
  if (value.type() == model::ValueType::kMap) FindIn(field, value.map(), found);
}

void TargetIndex::Find(const Change& change, std::vector<TargetNumber>* found) const {
  if (const auto numbers = by_document_.find(model::DocumentKey(change.database, change.path));
      numbers != by_document_.end()) {
    found->insert(found->end(), numbers->second.begin(), numbers->second.end());
  }
  const std::string_view collection = change.path.collection();
  for (const std::string& key :
       {CollectionBucket(change.database, collection),
        GroupBucket(change.database, LastSegment(collection)), DatabaseBucket(change.database)}) {
    const auto bucket = buckets_.find(key);
    if (bucket == buckets_.end()) continue;
    found->insert(found->end(), bucket->second.any.begin(), bucket->second.any.end());
    for (const model::Record* record : {&change.before, &change.after}) {
      if (!*record) continue;
      FindIn(bucket->second.by_value,
             {model::RecordFields(**record), model::MapView::Tag::kDocument}, found);
    }
  }
}

}  // namespace hearth::watch
