#include "index/index_config.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/status_macros.h"
#include "index/index_config_order.h"
#include "index/json_check.h"
#include "model/limits.h"
#include "model/names.h"

namespace hearth::index {
namespace {

using Json = nlohmann::json;

constexpr size_t kQuotedBytesMax = 200;

// A value in the file and its location, such as "indexes[3].fields[1]". Borrows the value.
struct Node {
  const Json& value;
  std::string place;  // Empty for the whole file.

  Status Error(std::string_view problem) const {
    return InvalidArgument((place.empty() ? "the file" : place) + ": " + std::string(problem));
  }
  bool Has(const char* key) const { return value.contains(key); }
  // Requires Has(key).
  Node Member(const char* key) const {
    return {.value = value.find(key).value(), .place = place.empty() ? key : place + "." + key};
  }
  Node Element(size_t position) const {
    return {.value = value[position], .place = place + "[" + std::to_string(position) + "]"};
  }
};

std::string Quoted(const Json& value) {
  const bool ensure_ascii = false;
  std::string text = value.dump(-1, ' ', ensure_ascii, Json::error_handler_t::replace);
  if (text.size() <= kQuotedBytesMax) return text;
  return "a value of " + std::to_string(text.size()) + " bytes";
}

std::string Join(std::initializer_list<const char*> words) {
  std::string text;
  for (const char* word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

Status Expect(const Node& node, Json::value_t type) {
  if (node.value.type() == type) return {};
  return node.Error(std::string("must be of type ") + Json(type).type_name() + ", not " +
                    node.value.type_name());
}

// Checks for an object that has only keys in `known` and `ignored`. Error messages list only
// `known`.
Status ExpectObject(const Node& node, std::initializer_list<const char*> known,
                    std::initializer_list<const char*> ignored = {}) {
  RETURN_IF_ERROR(Expect(node, Json::value_t::object));
  for (const auto& [key, value] : node.value.items()) {
    const auto is_key = [&key = key](const char* candidate) { return key == candidate; };
    if (std::any_of(known.begin(), known.end(), is_key)) continue;
    if (std::any_of(ignored.begin(), ignored.end(), is_key)) continue;
    return node.Error("unknown key " + Quoted(key) +
                      (known.size() == 0 ? "" : "; known keys: " + Join(known)));
  }
  return {};
}

Result<Node> Required(const Node& node, const char* key) {
  if (!node.Has(key)) return node.Error(std::string(key) + " is missing");
  return node.Member(key);
}

Result<std::string> Text(const Node& node) {
  RETURN_IF_ERROR(Expect(node, Json::value_t::string));
  return *node.value.get_ptr<const std::string*>();
}

Result<uint32_t> Number(const Node& node, uint32_t min, uint32_t max) {
  const auto* number = node.value.get_ptr<const Json::number_unsigned_t*>();
  if (!number || *number < min || *number > max) {
    return node.Error(Quoted(node.value) + " is not a whole number from " + std::to_string(min) +
                      " to " + std::to_string(max));
  }
  return static_cast<uint32_t>(*number);
}

Result<QueryScope> ReadScope(const Node& parent) {
  if (!parent.Has("queryScope")) return QueryScope::kCollection;
  const Node node = parent.Member("queryScope");
  ASSIGN_OR_RETURN(const std::string text, Text(node));
  for (const QueryScope scope : {QueryScope::kCollection, QueryScope::kCollectionGroup}) {
    if (text == QueryScopeText(scope)) return scope;
  }
  return node.Error(Quoted(text) + " is neither COLLECTION nor COLLECTION_GROUP");
}

Result<std::string> ReadCollectionGroup(const Node& parent, const char* key) {
  ASSIGN_OR_RETURN(const Node node, Required(parent, key));
  ASSIGN_OR_RETURN(std::string text, Text(node));
  if (const Status valid = model::ValidateCollectionId(text); !valid.ok()) {
    return node.Error(valid.message());
  }
  return text;
}

Result<model::FieldPath> ReadPath(const Node& node) {
  ASSIGN_OR_RETURN(const std::string text, Text(node));
  Result<model::FieldPath> path = model::FieldPath::Parse(text);
  if (!path.ok()) return node.Error(path.status().message());
  return path;
}

Result<FieldMode> ReadOrder(const Node& node) {
  ASSIGN_OR_RETURN(const std::string text, Text(node));
  if (text == "ASCENDING") return FieldMode::kAscending;
  if (text == "DESCENDING") return FieldMode::kDescending;
  return node.Error(Quoted(text) + " is neither ASCENDING nor DESCENDING");
}

Result<FieldMode> ReadArrayConfig(const Node& node) {
  ASSIGN_OR_RETURN(const std::string text, Text(node));
  if (text == "CONTAINS") return FieldMode::kContains;
  return node.Error(Quoted(text) + " is not CONTAINS");
}

// The spelling in the first version of Firestore's index API.
Result<FieldMode> ReadOldMode(const Node& node) {
  if (node.value == "ARRAY_CONTAINS") return FieldMode::kContains;
  if (node.value == "ASCENDING") return FieldMode::kAscending;
  if (node.value == "DESCENDING") return FieldMode::kDescending;
  return node.Error(Quoted(node.value) + " is not one of ASCENDING, DESCENDING, ARRAY_CONTAINS");
}

Result<FieldMode> ReadMode(const Node& node) {
  if (node.Has("order")) return ReadOrder(node.Member("order"));
  if (node.Has("arrayConfig")) return ReadArrayConfig(node.Member("arrayConfig"));
  return ReadOldMode(node.Member("mode"));
}

Status ExpectOneOf(const Node& node, std::initializer_list<const char*> keys) {
  const auto count =
      std::count_if(keys.begin(), keys.end(), [&](const char* key) { return node.Has(key); });
  if (count == 1) return {};
  return node.Error("needs exactly one of " + Join(keys));
}

Result<DistanceMeasure> ReadDistanceMeasure(const Node& node) {
  for (const DistanceMeasure measure :
       {DistanceMeasure::kEuclidean, DistanceMeasure::kCosine, DistanceMeasure::kDotProduct}) {
    if (node.value == DistanceMeasureText(measure)) return measure;
  }
  return node.Error(Quoted(node.value) + " is not one of EUCLIDEAN, COSINE, DOT_PRODUCT");
}

Result<HnswOptions> ReadHnsw(const Node& node) {
  RETURN_IF_ERROR(ExpectObject(node, {"m", "efConstruction", "efSearch", "distanceMeasure"}));
  HnswOptions options;
  if (node.Has("m")) {
    ASSIGN_OR_RETURN(options.links, Number(node.Member("m"), kHnswLinksMin, kHnswLinksMax));
  }
  if (node.Has("efConstruction")) {
    ASSIGN_OR_RETURN(options.construction_candidates,
                     Number(node.Member("efConstruction"), 1, kHnswCandidatesMax));
  }
  if (node.Has("efSearch")) {
    ASSIGN_OR_RETURN(options.search_candidates,
                     Number(node.Member("efSearch"), 1, kHnswCandidatesMax));
  }
  if (node.Has("distanceMeasure")) {
    ASSIGN_OR_RETURN(options.distance_measure, ReadDistanceMeasure(node.Member("distanceMeasure")));
  }
  return options;
}

struct VectorConfig {
  uint32_t dimension;
  std::optional<HnswOptions> hnsw;
};

Result<VectorConfig> ReadVectorConfig(const Node& node) {
  RETURN_IF_ERROR(ExpectObject(node, {"dimension", "flat", "hnsw"}));
  ASSIGN_OR_RETURN(const Node dimension, Required(node, "dimension"));
  VectorConfig config = {};
  ASSIGN_OR_RETURN(config.dimension, Number(dimension, 1, model::kVectorDimensionsMax));
  RETURN_IF_ERROR(ExpectOneOf(node, {"flat", "hnsw"}));
  if (node.Has("flat")) {
    RETURN_IF_ERROR(ExpectObject(node.Member("flat"), {}));
  } else {
    ASSIGN_OR_RETURN(config.hnsw, ReadHnsw(node.Member("hnsw")));
  }
  return config;
}

// The list "fields" of an index, read from first to last.
class FieldList {
 public:
  Status Add(const Node& node) {
    RETURN_IF_ERROR(
        ExpectObject(node, {"fieldPath", "order", "arrayConfig", "vectorConfig"}, {"mode"}));
    ASSIGN_OR_RETURN(const Node path_node, Required(node, "fieldPath"));
    ASSIGN_OR_RETURN(model::FieldPath path, ReadPath(path_node));
    if (node.Has("mode")) {
      RETURN_IF_ERROR(ExpectOneOf(node, {"order", "arrayConfig", "vectorConfig", "mode"}));
    } else {
      RETURN_IF_ERROR(ExpectOneOf(node, {"order", "arrayConfig", "vectorConfig"}));
    }
    if (vector_field_) return node.Error("the vector field must be the last one");
    if (path.IsName()) return AddName(node);
    if (node.Has("vectorConfig")) {
      ASSIGN_OR_RETURN(vector_config_, ReadVectorConfig(node.Member("vectorConfig")));
      vector_field_ = std::move(path);
      return {};
    }
    if (name_descending_) return node.Error("only a vector field may follow __name__");
    ASSIGN_OR_RETURN(const FieldMode mode, ReadMode(node));
    return AddField(node, {.path = std::move(path), .mode = mode});
  }

  const std::vector<IndexField>& fields() const { return fields_; }
  const std::optional<bool>& name_descending() const { return name_descending_; }
  const std::optional<model::FieldPath>& vector_field() const { return vector_field_; }
  const VectorConfig& vector_config() const { return vector_config_; }

 private:
  Status AddName(const Node& node) {
    if (name_descending_) return node.Error("__name__ is already in this index");
    if (!node.Has("order") && !node.Has("mode")) return node.Error("__name__ needs an order");
    ASSIGN_OR_RETURN(const FieldMode mode, ReadMode(node));
    if (mode == FieldMode::kContains) return node.Error("__name__ needs an order");
    name_descending_ = mode == FieldMode::kDescending;
    return {};
  }

  // A field may occur twice: once for its elements and once for its order.
  Status AddField(const Node& node, IndexField field) {
    const bool contains = field.mode == FieldMode::kContains;
    for (const IndexField& other : fields_) {
      if ((other.mode == FieldMode::kContains) != contains) continue;
      if (contains) return node.Error("an index can have only one field with arrayConfig");
      if (other.path == field.path) {
        return node.Error(field.path.ToString() + " is already in this index");
      }
    }
    fields_.push_back(std::move(field));
    return {};
  }

  std::vector<IndexField> fields_;
  std::optional<bool> name_descending_;
  std::optional<model::FieldPath> vector_field_;
  VectorConfig vector_config_ = {};
};

// The name, which every index has, does not count.
Status CheckNumberOfFields(const Node& list) {
  const auto count = std::count_if(list.value.begin(), list.value.end(), [](const Json& field) {
    return !field.contains("fieldPath") || field["fieldPath"] != "__name__";
  });
  if (static_cast<size_t>(count) <= kIndexFieldsMax) return {};
  return list.Error(std::to_string(count) + " fields, at most " + std::to_string(kIndexFieldsMax) +
                    " are allowed");
}

// Reads one file. Remembers entries with their locations, to report duplicates.
class FileReader {
 public:
  Result<IndexConfig> Read(const Node& file) {
    RETURN_IF_ERROR(ExpectObject(file, {"indexes", "fieldOverrides"}));
    RETURN_IF_ERROR(ReadList(file, "indexes", &FileReader::ReadIndex));
    RETURN_IF_ERROR(ReadList(file, "fieldOverrides", &FileReader::ReadOverride));
    Sort(config_);
    return std::move(config_);
  }

 private:
  Status ReadList(const Node& parent, const char* key, Status (FileReader::*read)(const Node&)) {
    if (!parent.Has(key)) return {};
    const Node list = parent.Member(key);
    RETURN_IF_ERROR(Expect(list, Json::value_t::array));
    for (size_t i = 0; i < list.value.size(); ++i) {
      RETURN_IF_ERROR((this->*read)(list.Element(i)));
    }
    return {};
  }

  Status ReadIndex(const Node& node) {
    RETURN_IF_ERROR(
        ExpectObject(node, {"collectionGroup", "queryScope", "fields"},
                     {"collectionId", "apiScope", "density", "multikey", "multiKey", "unique"}));
    const char* group_key = node.Has("collectionId") ? "collectionId" : "collectionGroup";
    if (node.Has("collectionId")) {
      RETURN_IF_ERROR(ExpectOneOf(node, {"collectionGroup", "collectionId"}));
    }
    ASSIGN_OR_RETURN(std::string collection_group, ReadCollectionGroup(node, group_key));
    ASSIGN_OR_RETURN(const QueryScope scope, ReadScope(node));
    ASSIGN_OR_RETURN(const Node fields_node, Required(node, "fields"));
    RETURN_IF_ERROR(Expect(fields_node, Json::value_t::array));
    RETURN_IF_ERROR(CheckNumberOfFields(fields_node));
    FieldList list;
    for (size_t i = 0; i < fields_node.value.size(); ++i) {
      RETURN_IF_ERROR(list.Add(fields_node.Element(i)));
    }
    if (list.vector_field()) return AddVector(node, std::move(collection_group), scope, list);
    return AddComposite(node, fields_node, std::move(collection_group), scope, list);
  }

  Status AddComposite(const Node& node, const Node& fields_node, std::string collection_group,
                      QueryScope scope, const FieldList& list) {
    const bool implied = ImpliedNameDescending(list.fields());
    Definition definition = {.collection_id = std::move(collection_group),
                             .scope = scope,
                             .fields = list.fields(),
                             .name_descending = list.name_descending().value_or(implied)};
    if (definition.fields.size() < 2 && definition.name_descending == implied) {
      return fields_node.Error(
          "this index is not necessary, configure using single field index controls "
          "(fieldOverrides); a composite index has at least two fields");
    }
    RETURN_IF_ERROR(Remember(node, KeyOf(definition)));
    config_.composites.push_back(std::move(definition));
    return {};
  }

  Status AddVector(const Node& node, std::string collection_group, QueryScope scope,
                   const FieldList& list) {
    if (list.name_descending() == true) return node.Error("__name__ cannot be DESCENDING here");
    VectorIndex index = {.collection_group = std::move(collection_group),
                         .scope = scope,
                         .prefix = list.fields(),
                         .field = *list.vector_field(),
                         .dimension = list.vector_config().dimension,
                         .hnsw = list.vector_config().hnsw};
    RETURN_IF_ERROR(Remember(node, KeyOf(index)));
    config_.vectors.push_back(std::move(index));
    return {};
  }

  Status Remember(const Node& node, const IndexKey& key) {
    const auto [first, is_new] = places_.emplace(key, node.place);
    if (!is_new) return node.Error("the same index as " + first->second);
    return {};
  }

  Status ReadOverride(const Node& node);
  Status ReadOverrideIndexes(const Node& list, std::vector<SingleFieldIndex>* indexes) const;
  // True if the override has a TTL policy.
  Result<bool> ReadTtl(const Node& node, const std::string& collection_group,
                       const std::optional<model::FieldPath>& field);

  IndexConfig config_;
  std::map<IndexKey, std::string> places_;
  std::map<std::pair<std::string, std::string>, std::string> override_places_;
  std::map<std::string, std::string> ttl_places_;  // By collection group.
};

Status FileReader::ReadOverride(const Node& node) {
  RETURN_IF_ERROR(
      ExpectObject(node, {"collectionGroup", "fieldPath", "ttl", "ttlOffset", "indexes"}));
  ASSIGN_OR_RETURN(std::string collection_group, ReadCollectionGroup(node, "collectionGroup"));
  ASSIGN_OR_RETURN(const Node path_node, Required(node, "fieldPath"));
  std::optional<model::FieldPath> field;
  if (path_node.value != "*") {
    ASSIGN_OR_RETURN(field, ReadPath(path_node));
    if (field->IsName()) return path_node.Error("__name__ has no index of its own");
  }
  const std::string path_text = field ? field->ToString() : "*";
  const auto [first, is_new] =
      override_places_.emplace(std::pair(collection_group, path_text), node.place);
  if (!is_new) return node.Error("the same collection group and field as " + first->second);

  ASSIGN_OR_RETURN(const bool has_ttl, ReadTtl(node, collection_group, field));
  if (!node.Has("indexes")) return has_ttl ? Status() : node.Error("indexes is missing");
  FieldOverride override = {
      .collection_group = std::move(collection_group), .field = std::move(field), .indexes = {}};
  RETURN_IF_ERROR(ReadOverrideIndexes(node.Member("indexes"), &override.indexes));
  config_.overrides.push_back(std::move(override));
  return {};
}

Status FileReader::ReadOverrideIndexes(const Node& list,
                                       std::vector<SingleFieldIndex>* indexes) const {
  RETURN_IF_ERROR(Expect(list, Json::value_t::array));
  for (size_t i = 0; i < list.value.size(); ++i) {
    const Node node = list.Element(i);
    RETURN_IF_ERROR(ExpectObject(node, {"order", "arrayConfig", "queryScope"},
                                 {"apiScope", "density", "multikey", "multiKey", "unique"}));
    RETURN_IF_ERROR(ExpectOneOf(node, {"order", "arrayConfig"}));
    ASSIGN_OR_RETURN(const FieldMode mode, ReadMode(node));
    ASSIGN_OR_RETURN(const QueryScope scope, ReadScope(node));
    const SingleFieldIndex index = {.mode = mode, .scope = scope};
    const auto same = std::find(indexes->begin(), indexes->end(), index);
    if (same != indexes->end()) {
      const auto position = static_cast<size_t>(same - indexes->begin());
      return node.Error("the same index as " + list.Element(position).place);
    }
    indexes->push_back(index);
  }
  return {};
}

Result<std::chrono::seconds> ReadDuration(const Node& node) {
  ASSIGN_OR_RETURN(const std::string text, Text(node));
  Result<std::chrono::seconds> offset = ParseTtlOffset(text);
  if (!offset.ok()) return node.Error(offset.status().message());
  return offset;
}

Result<bool> FileReader::ReadTtl(const Node& node, const std::string& collection_group,
                                 const std::optional<model::FieldPath>& field) {
  bool enabled = false;
  if (node.Has("ttl")) {
    RETURN_IF_ERROR(Expect(node.Member("ttl"), Json::value_t::boolean));
    enabled = node.Member("ttl").value.get<bool>();
  }
  if (!enabled) {
    if (!node.Has("ttlOffset")) return false;
    return node.Member("ttlOffset").Error("has no meaning without \"ttl\": true");
  }
  const Node ttl = node.Member("ttl");
  if (!field) return ttl.Error("a TTL policy is for one field, not for *");
  const auto [first, is_new] = ttl_places_.emplace(collection_group, node.place);
  if (!is_new) {
    return ttl.Error("the collection group already has a TTL policy, in " + first->second);
  }
  std::chrono::seconds offset{0};
  if (node.Has("ttlOffset")) {
    ASSIGN_OR_RETURN(offset, ReadDuration(node.Member("ttlOffset")));
  }
  config_.ttl_policies.push_back(
      {.collection_group = collection_group, .field = *field, .offset = offset});
  return true;
}

}  // namespace

Result<std::chrono::seconds> ParseTtlOffset(std::string_view text) {
  static const std::map<char, int64_t> kUnits = {{'s', 1}, {'m', 60}, {'h', 3'600}, {'d', 86'400}};
  const std::string quoted = Quoted(std::string(text));
  const auto unit = text.empty() ? kUnits.end() : kUnits.find(text.back());
  const std::string_view digits = text.substr(0, text.empty() ? 0 : text.size() - 1);
  if (unit == kUnits.end() || digits.empty() ||
      digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return InvalidArgument(quoted + R"( is not a duration such as "90s", "15m", "12h" or "2d")");
  }
  int64_t count = 0;
  for (const char digit : digits) {
    count = count * 10 + (digit - '0');
    if (count * unit->second > kTtlOffsetMax.count()) {
      return InvalidArgument(quoted + " is longer than " + std::to_string(kTtlOffsetMax.count()) +
                             " seconds");
    }
  }
  return std::chrono::seconds(count * unit->second);
}

Definition DefinitionOf(const VectorIndex& index) {
  return Canonical({index.collection_group, index.scope, index.prefix, false,
                    VectorPart{index.field, index.dimension}});
}

Result<IndexConfig> ParseIndexConfig(std::string_view json) {
  if (json.size() > kIndexConfigBytesMax) {
    return InvalidArgument("the file has " + std::to_string(json.size()) + " bytes, at most " +
                           std::to_string(kIndexConfigBytesMax) + " are allowed");
  }
  RETURN_IF_ERROR(CheckJson(json, kIndexConfigDepthMax));
  const bool allow_exceptions = false;
  const bool ignore_comments = true;
  const Json file = Json::parse(json, nullptr, allow_exceptions, ignore_comments);
  ASSIGN_OR_RETURN(IndexConfig config, FileReader().Read({.value = file, .place = ""}));
  RETURN_IF_ERROR(CheckDeclaredIndexes(config));
  return config;
}

Status CheckDeclaredIndexes(const IndexConfig& config) {
  const size_t count =
      config.composites.size() + config.vectors.size() + config.ttl_policies.size();
  if (count <= kDeclaredIndexesMax) return Status();
  return InvalidArgument("there are " + std::to_string(count) +
                         " indexes and TTL policies, at most " +
                         std::to_string(kDeclaredIndexesMax) + " are allowed");
}

}  // namespace hearth::index
