#include "watch/target_index.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "index/value_key.h"
#include "model/document.h"
#include "model/fields.h"
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

void EraseNumber(std::vector<TargetNumber>* numbers, TargetNumber number) {
  const auto found = std::ranges::find(*numbers, number);
  if (found == numbers->end()) return;
  *found = numbers->back();
  numbers->pop_back();
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
      by_document_[model::DocumentKey(database, path)].push_back(number);
    }
    return;
  }
  const Place place = PlaceOf(database, std::get<0>(target)->query());
  Bucket& bucket = buckets_[place.bucket];
  if (place.is_any) bucket.any.push_back(number);
  for (const auto& [probe, value] : place.values) bucket.by_value[probe][value].push_back(number);
}

void TargetIndex::Remove(TargetNumber number, DatabaseNumber database, const Target& target) {
  if (const auto* documents = std::get_if<DocumentSet>(&target)) {
    for (const model::DocumentPath& path : *documents) {
      const auto found = by_document_.find(model::DocumentKey(database, path));
      if (found == by_document_.end()) continue;
      EraseNumber(&found->second, number);
      if (found->second.empty()) by_document_.erase(found);
    }
    return;
  }
  const Place place = PlaceOf(database, std::get<0>(target)->query());
  const auto found = buckets_.find(place.bucket);
  if (found == buckets_.end()) return;
  Bucket& bucket = found->second;
  EraseNumber(&bucket.any, number);
  for (const auto& [probe, value] : place.values) {
    auto& by_value = bucket.by_value[probe];
    EraseNumber(&by_value[value], number);
    if (by_value[value].empty()) by_value.erase(value);
    if (by_value.empty()) bucket.by_value.erase(probe);
  }
  if (bucket.any.empty() && bucket.by_value.empty()) buckets_.erase(found);
}

void TargetIndex::FindIn(const Bucket& bucket, const model::Record& record, Numbers* found) {
  if (!record) return;
  const std::string_view fields = model::RecordFields(*record);
  for (const auto& [probe, by_value] : bucket.by_value) {
    const std::optional<ValueView> value = model::FindField(fields, probe.path);
    if (!value) continue;
    const auto look_up = [found, &by_value = by_value](const ValueView& wanted) {
      const auto numbers = by_value.find(ValueKey(wanted));
      if (numbers == by_value.end()) return;
      found->insert(found->end(), numbers->second.begin(), numbers->second.end());
    };
    if (!probe.in_array) {
      look_up(*value);
    } else if (value->type() == model::ValueType::kArray) {
      for (model::ArrayView items = value->array(); const auto item = items.Next();) {
        look_up(*item);
      }
    }
  }
}

void TargetIndex::Find(const Change& change, Numbers* found) const {
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
    FindIn(bucket->second, change.before, found);
    FindIn(bucket->second, change.after, found);
  }
}

}  // namespace hearth::watch
