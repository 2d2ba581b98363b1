#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "cases/runner/client_convert.h"
#include "model/field_path.h"
#include "model/names.h"

namespace hearth::cases {
namespace {

using google::protobuf::Map;
using model::FieldPath;

// The value at `path`; null if there is none.
const proto::Value* Find(const Map<std::string, proto::Value>& fields, const FieldPath& path) {
  const Map<std::string, proto::Value>* map = &fields;
  const proto::Value* value = nullptr;
  for (const std::string& segment : path.segments()) {
    const auto found = map->find(segment);
    if (found == map->end()) return nullptr;
    value = &found->second;
    map = &value->map_value().fields();
  }
  return value;
}

// Puts `value` at `path`, and creates the maps in between.
void Insert(const std::vector<std::string>& path, client::Value value, client::Map* data) {
  if (path.size() == 1) {
    data->insert_or_assign(path.front(), std::move(value));
    return;
  }
  const client::Value& inner = (*data)[path.front()];
  client::Map map = inner.map() ? *inner.map() : client::Map();
  Insert({path.begin() + 1, path.end()}, std::move(value), &map);
  data->insert_or_assign(path.front(), client::Value(std::move(map)));
}

Result<client::Array> Elements(const proto::ArrayValue& array) {
  client::Array elements;
  for (const proto::Value& value : array.values()) {
    ASSIGN_OR_RETURN(client::Value converted, ToClient(value));
    elements.push_back(std::move(converted));
  }
  return elements;
}

Result<client::FieldValue> ToFieldValue(const Transform& transform) {
  switch (transform.transform_type_case()) {
    case Transform::kSetToServerValue:
      return client::FieldValue::ServerTimestamp();
    case Transform::kIncrement: {
      ASSIGN_OR_RETURN(client::Value operand, ToClient(transform.increment()));
      return client::FieldValue::Increment(std::move(operand));
    }
    case Transform::kMaximum: {
      ASSIGN_OR_RETURN(client::Value operand, ToClient(transform.maximum()));
      return client::FieldValue::Maximum(std::move(operand));
    }
    case Transform::kMinimum: {
      ASSIGN_OR_RETURN(client::Value operand, ToClient(transform.minimum()));
      return client::FieldValue::Minimum(std::move(operand));
    }
    case Transform::kAppendMissingElements: {
      ASSIGN_OR_RETURN(client::Array items, Elements(transform.append_missing_elements()));
      return client::FieldValue::ArrayUnion(std::move(items));
    }
    case Transform::kRemoveAllFromArray: {
      ASSIGN_OR_RETURN(client::Array items, Elements(transform.remove_all_from_array()));
      return client::FieldValue::ArrayRemove(std::move(items));
    }
    default:
      return InvalidArgument("the client has no transform without a type");
  }
}

// The assignments of a write, by path: values, deletions of fields that are in the mask but have no
// value, transforms.
struct Assignment {
  FieldPath path;
  client::Value value;
};

Result<FieldPath> ToClientFieldPath(const std::string& text) {
  Result<FieldPath> path = FieldPath::Parse(text);
  if (!path.ok() || path->IsName()) return InvalidArgument("the client refuses such a path itself");
  return path;
}

// Whether the mask covers everything in `fields`, down to the last value.
bool IsCovered(const Map<std::string, proto::Value>& fields, const std::string& prefix,
               const std::vector<FieldPath>& mask) {
  for (const auto& [name, value] : fields) {
    const std::string text = prefix + QuoteFieldName(name);
    const Result<FieldPath> path = FieldPath::Parse(text);
    const bool is_named = path.ok() && std::any_of(mask.begin(), mask.end(), [&](const auto& each) {
                            return each.IsPrefixOf(*path);
                          });
    if (is_named) continue;
    if (!value.has_map_value() || value.map_value().fields().empty()) return false;
    if (!IsCovered(value.map_value().fields(), text + ".", mask)) return false;
  }
  return true;
}

Result<std::vector<Assignment>> MaskedAssignments(const proto::Write& write) {
  std::vector<Assignment> assignments;
  std::vector<FieldPath> mask;
  for (const std::string& text : write.update_mask().field_paths()) {
    ASSIGN_OR_RETURN(FieldPath path, ToClientFieldPath(text));
    mask.push_back(path);
    client::Value value = client::FieldValue::Delete();
    if (const proto::Value* set = Find(write.update().fields(), path)) {
      ASSIGN_OR_RETURN(value, ToClient(*set));
    }
    assignments.push_back({std::move(path), std::move(value)});
  }
  if (!IsCovered(write.update().fields(), "", mask)) {
    return InvalidArgument("the client sends only what its mask names");
  }
  return assignments;
}

Status AddTransforms(const proto::Write& write, std::vector<Assignment>* assignments) {
  for (const Transform& transform : write.update_transforms()) {
    ASSIGN_OR_RETURN(FieldPath path, ToClientFieldPath(transform.field_path()));
    ASSIGN_OR_RETURN(client::FieldValue value, ToFieldValue(transform));
    assignments->push_back({std::move(path), client::Value(std::move(value))});
  }
  for (auto a = assignments->begin(); a != assignments->end(); ++a) {
    for (auto b = a + 1; b != assignments->end(); ++b) {
      if (a->path.IsPrefixOf(b->path) || b->path.IsPrefixOf(a->path)) {
        return InvalidArgument("the client cannot name a field twice");
      }
    }
  }
  return Status();
}

// A write without a mask: the whole document, with transforms in place.
Status FillWhole(const proto::Write& write, ClientWrite* result) {
  for (const auto& [name, value] : write.update().fields()) {
    ASSIGN_OR_RETURN(client::Value converted, ToClient(value));
    result->data.emplace(name, std::move(converted));
  }
  std::vector<Assignment> transforms;
  RETURN_IF_ERROR(AddTransforms(write, &transforms));
  for (Assignment& each : transforms) {
    if (Find(write.update().fields(), each.path) != nullptr) {
      return InvalidArgument("the client cannot set and transform a field");
    }
    Insert(each.path.segments(), std::move(each.value), &result->data);
  }
  return Status();
}

Status FillMerge(std::vector<Assignment> assignments, ClientWrite* result) {
  result->options.merge = true;
  for (Assignment& each : assignments) {
    result->options.merge_fields.push_back(each.path.ToString());
    Insert(each.path.segments(), std::move(each.value), &result->data);
  }
  return Status();
}

Status FillUpdate(std::vector<Assignment> assignments, const proto::Precondition& precondition,
                  ClientWrite* result) {
  if (assignments.empty()) return InvalidArgument("the client has no update of nothing");
  result->kind = ClientWrite::Kind::kUpdate;
  if (precondition.has_update_time()) {
    ASSIGN_OR_RETURN(result->precondition.last_update_time, ToClient(precondition.update_time()));
  }
  for (Assignment& each : assignments) {
    result->data.insert_or_assign(each.path.ToString(), std::move(each.value));
  }
  return Status();
}

Result<ClientWrite> ToClientDelete(const proto::Precondition& precondition, std::string path) {
  ClientWrite result{ClientWrite::Kind::kDelete, std::move(path)};
  if (precondition.has_exists()) result.precondition.exists = precondition.exists();
  if (precondition.has_update_time()) {
    ASSIGN_OR_RETURN(result.precondition.last_update_time, ToClient(precondition.update_time()));
  }
  return result;
}

}  // namespace

Result<std::string> ToClientPath(const std::string& database, const std::string& name) {
  const std::string prefix = database + "/documents/";
  const bool is_own = name.starts_with(prefix);
  if (!is_own || !model::DocumentPath::Parse(name.substr(prefix.size())).ok()) {
    return InvalidArgument("the client refuses such a name itself");
  }
  return name.substr(prefix.size());
}

Result<std::string> ToClientCollection(const std::string& database, const std::string& parent,
                                       const std::string& id) {
  std::string path = id;
  if (parent != database + "/documents") {
    ASSIGN_OR_RETURN(const std::string document, ToClientPath(database, parent));
    path = document + "/" + id;
  }
  if (!model::CollectionPath::Parse(path).ok()) {
    return InvalidArgument("the client refuses such a collection itself");
  }
  return path;
}

Result<ClientWrite> ToClient(const std::string& database, const proto::Write& write) {
  const proto::Precondition& precondition = write.current_document();
  if (write.has_delete_()) {
    if (write.has_update_mask() || write.update_transforms_size() > 0) {
      return InvalidArgument("the client has no such kind of write");
    }
    ASSIGN_OR_RETURN(std::string path, ToClientPath(database, write.delete_()));
    return ToClientDelete(precondition, std::move(path));
  }
  if (!write.has_update()) return InvalidArgument("the client has no such kind of write");
  ClientWrite result;
  ASSIGN_OR_RETURN(result.path, ToClientPath(database, write.update().name()));
  const bool has_condition = precondition.has_exists() || precondition.has_update_time();
  if (!write.has_update_mask()) {
    const bool is_create = precondition.has_exists() && !precondition.exists();
    if (has_condition && !is_create) return InvalidArgument("the client's Set has no condition");
    if (is_create) result.kind = ClientWrite::Kind::kCreate;
    RETURN_IF_ERROR(FillWhole(write, &result));
    return result;
  }
  ASSIGN_OR_RETURN(std::vector<Assignment> assignments, MaskedAssignments(write));
  RETURN_IF_ERROR(AddTransforms(write, &assignments));
  if (!has_condition) {
    RETURN_IF_ERROR(FillMerge(std::move(assignments), &result));
    return result;
  }
  if (precondition.has_exists() && !precondition.exists()) {
    return InvalidArgument("the client's merge has no condition");
  }
  RETURN_IF_ERROR(FillUpdate(std::move(assignments), precondition, &result));
  return result;
}

}  // namespace hearth::cases
