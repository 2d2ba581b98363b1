#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "index/index_config.h"
#include "index/index_config_order.h"

namespace hearth::index {
namespace {

using OrderedJson = nlohmann::ordered_json;  // Keeps keys in insertion order.

FieldRank RankOf(FieldMode mode) {
  switch (mode) {
    case FieldMode::kAscending:
      return FieldRank::kAscending;
    case FieldMode::kDescending:
      return FieldRank::kDescending;
    case FieldMode::kContains:
    case FieldMode::kMapEntries:  // Not in a configuration.
      break;
  }
  return FieldRank::kContains;
}

std::vector<FieldKey> KeysOf(const std::vector<IndexField>& fields) {
  std::vector<FieldKey> keys;
  for (const IndexField& field : fields) {
    keys.push_back({.path = field.path.ToString(), .rank = RankOf(field.mode)});
  }
  return keys;
}

// A row of "fieldOverrides": an override, a TTL policy, or both for the same field.
struct OverrideRow {
  std::string collection_group;
  std::string field_path;
  const FieldOverride* indexes = nullptr;
  const TtlPolicy* ttl = nullptr;
  bool has_ttl = false;

  // firebase-tools applies overrides in this order, and a TTL policy must be disabled for one field
  // before it is enabled for another.
  auto Order() const { return std::tie(collection_group, has_ttl, field_path); }
};

std::string PathText(const FieldOverride& override) {
  return override.field ? override.field->ToString() : "*";
}

std::vector<OverrideRow> OverrideRows(const IndexConfig& config) {
  std::map<std::pair<std::string, std::string>, OverrideRow> by_field;
  const auto row_of = [&](const std::string& collection_group,
                          const std::string& path) -> OverrideRow& {
    OverrideRow& row = by_field[{collection_group, path}];
    row.collection_group = collection_group;
    row.field_path = path;
    return row;
  };
  for (const FieldOverride& override : config.overrides) {
    row_of(override.collection_group, PathText(override)).indexes = &override;
  }
  for (const TtlPolicy& policy : config.ttl_policies) {
    OverrideRow& row = row_of(policy.collection_group, policy.field.ToString());
    row.ttl = &policy;
    row.has_ttl = true;
  }
  std::vector<OverrideRow> rows;
  for (auto& [field, row] : by_field) rows.push_back(std::move(row));
  std::sort(rows.begin(), rows.end(), [](const OverrideRow& left, const OverrideRow& right) {
    return left.Order() < right.Order();
  });
  return rows;
}

bool Before(const SingleFieldIndex& left, const SingleFieldIndex& right) {
  if (left.scope != right.scope) return left.scope == QueryScope::kCollectionGroup;
  return RankOf(left.mode) < RankOf(right.mode);
}

OrderedJson HnswJson(const HnswOptions& options) {
  return {{"m", options.links},
          {"efConstruction", options.construction_candidates},
          {"efSearch", options.search_candidates},
          {"distanceMeasure", DistanceMeasureText(options.distance_measure)}};
}

void AddMode(FieldRank rank, OrderedJson& entry) {
  if (rank == FieldRank::kContains) {
    entry["arrayConfig"] = "CONTAINS";
  } else {
    entry["order"] = rank == FieldRank::kAscending ? "ASCENDING" : "DESCENDING";
  }
}

OrderedJson IndexJson(const IndexKey& key, const VectorIndex* vector) {
  OrderedJson fields = OrderedJson::array();
  for (const FieldKey& field : key.fields) {
    OrderedJson entry = {{"fieldPath", field.path}};
    if (field.rank == FieldRank::kVector) {
      OrderedJson vector_config = {{"dimension", field.dimension}};
      if (vector->hnsw) {
        vector_config["hnsw"] = HnswJson(*vector->hnsw);
      } else {
        vector_config["flat"] = OrderedJson::object();
      }
      entry["vectorConfig"] = std::move(vector_config);
    } else {
      AddMode(field.rank, entry);
    }
    fields.push_back(std::move(entry));
  }
  const QueryScope scope =
      key.single_collection ? QueryScope::kCollection : QueryScope::kCollectionGroup;
  return {{"collectionGroup", key.collection_group},
          {"queryScope", QueryScopeText(scope)},
          {"fields", std::move(fields)}};
}

OrderedJson OverrideJson(const OverrideRow& row) {
  OrderedJson entry = {{"collectionGroup", row.collection_group},
                       {"fieldPath", row.field_path},
                       {"ttl", row.has_ttl}};
  if (row.ttl && row.ttl->offset.count() != 0) entry["ttlOffset"] = TtlOffsetText(row.ttl->offset);
  if (!row.indexes) return entry;
  std::vector<SingleFieldIndex> sorted = row.indexes->indexes;
  std::sort(sorted.begin(), sorted.end(), Before);
  OrderedJson indexes = OrderedJson::array();
  for (const SingleFieldIndex& index : sorted) {
    OrderedJson mode = OrderedJson::object();
    AddMode(RankOf(index.mode), mode);
    mode["queryScope"] = QueryScopeText(index.scope);
    indexes.push_back(std::move(mode));
  }
  entry["indexes"] = std::move(indexes);
  return entry;
}

template <typename Index>
void SortByKey(std::vector<Index>& indexes) {
  std::map<IndexKey, Index> sorted;  // Keys are expensive: each is computed once.
  for (Index& index : indexes) {
    IndexKey key = KeyOf(index);
    sorted.emplace(std::move(key), std::move(index));
  }
  indexes.clear();
  for (auto& [key, index] : sorted) indexes.push_back(std::move(index));
}

}  // namespace

bool ImpliedNameDescending(const std::vector<IndexField>& fields) {
  const auto last = std::find_if(fields.rbegin(), fields.rend(), [](const IndexField& field) {
    return field.mode != FieldMode::kContains;
  });
  return last != fields.rend() && last->mode == FieldMode::kDescending;
}

IndexKey KeyOf(const Definition& definition) {
  IndexKey key = {.collection_group = definition.collection_id,
                  .single_collection = definition.scope == QueryScope::kCollection,
                  .fields = KeysOf(definition.fields)};
  if (definition.name_descending != ImpliedNameDescending(definition.fields)) {
    key.fields.push_back(
        {.path = "__name__",
         .rank = definition.name_descending ? FieldRank::kDescending : FieldRank::kAscending});
  }
  return key;
}

IndexKey KeyOf(const VectorIndex& index) {
  IndexKey key = {.collection_group = index.collection_group,
                  .single_collection = index.scope == QueryScope::kCollection,
                  .fields = KeysOf(index.prefix)};
  key.fields.push_back(
      {.path = index.field.ToString(), .rank = FieldRank::kVector, .dimension = index.dimension});
  return key;
}

void Sort(IndexConfig& config) {
  SortByKey(config.composites);
  SortByKey(config.vectors);
  std::vector<FieldOverride> overrides;
  std::vector<TtlPolicy> ttl_policies;
  for (const OverrideRow& row : OverrideRows(config)) {
    if (row.indexes) {
      overrides.push_back(*row.indexes);
      std::sort(overrides.back().indexes.begin(), overrides.back().indexes.end(), Before);
    }
    if (row.ttl) ttl_policies.push_back(*row.ttl);
  }
  config.overrides = std::move(overrides);
  config.ttl_policies = std::move(ttl_policies);
}

std::string PrintIndexConfig(const IndexConfig& config) {
  std::vector<std::pair<IndexKey, const VectorIndex*>> rows;
  for (const Definition& definition : config.composites) {
    rows.emplace_back(KeyOf(definition), nullptr);
  }
  for (const VectorIndex& vector : config.vectors) rows.emplace_back(KeyOf(vector), &vector);
  std::sort(rows.begin(), rows.end(),
            [](const auto& left, const auto& right) { return left.first < right.first; });

  OrderedJson file = {{"indexes", OrderedJson::array()}, {"fieldOverrides", OrderedJson::array()}};
  for (const auto& [key, vector] : rows) file["indexes"].push_back(IndexJson(key, vector));
  for (const OverrideRow& row : OverrideRows(config)) {
    file["fieldOverrides"].push_back(OverrideJson(row));
  }
  const bool ensure_ascii = false;
  return file.dump(2, ' ', ensure_ascii, OrderedJson::error_handler_t::replace) + "\n";
}

std::string TtlOffsetText(std::chrono::seconds offset) {
  constexpr std::pair<int64_t, char> kUnits[] = {{86'400, 'd'}, {3'600, 'h'}, {60, 'm'}};
  if (offset.count() == 0) return "0s";
  for (const auto& [seconds, unit] : kUnits) {
    if (offset.count() % seconds == 0) return std::to_string(offset.count() / seconds) + unit;
  }
  return std::to_string(offset.count()) + "s";
}

std::string_view DistanceMeasureText(DistanceMeasure measure) {
  switch (measure) {
    case DistanceMeasure::kEuclidean:
      return "EUCLIDEAN";
    case DistanceMeasure::kCosine:
      return "COSINE";
    case DistanceMeasure::kDotProduct:
      break;
  }
  return "DOT_PRODUCT";
}

std::string_view QueryScopeText(QueryScope scope) {
  return scope == QueryScope::kCollection ? "COLLECTION" : "COLLECTION_GROUP";
}

}  // namespace hearth::index
