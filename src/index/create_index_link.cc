#include "index/create_index_link.h"

#include <string_view>

#include "base/base64.h"
#include "index/index_config_order.h"
#include "model/wire_format.h"

namespace hearth::index {
namespace {

using model::AppendBytes;
using model::AppendVarint;
using model::WireTag;
using model::WireType;

// Fields of google.firestore.admin.v1.Index.
constexpr uint32_t kName = WireTag(1, WireType::kBytes);
constexpr uint32_t kQueryScope = WireTag(2, WireType::kVarint);
constexpr uint32_t kFields = WireTag(3, WireType::kBytes);
// Fields of google.firestore.admin.v1.Index.IndexField.
constexpr uint32_t kFieldPath = WireTag(1, WireType::kBytes);
constexpr uint32_t kOrder = WireTag(2, WireType::kVarint);
constexpr uint32_t kArrayConfig = WireTag(3, WireType::kVarint);

void AppendEnum(uint32_t tag, uint64_t value, std::string* out) {
  AppendVarint(tag, out);
  AppendVarint(value, out);
}

void AppendField(std::string_view path, FieldMode mode, std::string* out) {
  std::string field;
  AppendBytes(kFieldPath, path, &field);
  switch (mode) {
    case FieldMode::kAscending:
      AppendEnum(kOrder, 1, &field);
      break;
    case FieldMode::kDescending:
      AppendEnum(kOrder, 2, &field);
      break;
    case FieldMode::kContains:
      AppendEnum(kArrayConfig, 1, &field);
      break;
    case FieldMode::kMapEntries:
      break;  // Never required by the cloud.
  }
  AppendBytes(kFields, field, out);
}

// The beginning of an Index message: its name below the collection group, and its scope.
std::string IndexStart(const model::DatabaseName& database, const Definition& definition,
                       std::string_view name_end) {
  std::string name = database.text() + "/collectionGroups/" + definition.collection_id;
  name += name_end;
  std::string index;
  AppendBytes(kName, name, &index);
  AppendEnum(kQueryScope, definition.scope == QueryScope::kCollection ? 1 : 2, &index);
  return index;
}

std::string Link(const model::DatabaseName& database, std::string_view action,
                 std::string_view index) {
  std::string link = "https://console.firebase.google.com/v1/r/project/";
  link += database.project();
  link += "/firestore/";
  if (database.database() != "(default)") {
    link += "databases/";
    link += database.database();
    link += '/';
  }
  link += "indexes?";
  link += action;
  return link + "=" + EncodeBase64Url(index);
}

std::string CompositeLink(const model::DatabaseName& database, const Definition& definition) {
  std::string index = IndexStart(database, definition, "/indexes/_");
  for (const IndexField& field : definition.fields) {
    AppendField(field.path.ToString(), field.mode, &index);
  }
  AppendField("__name__",
              definition.name_descending ? FieldMode::kDescending : FieldMode::kAscending, &index);
  return Link(database, "create_composite", index);
}

std::string SingleFieldMessage(const model::DatabaseName& database, const Definition& definition) {
  const IndexField& field = definition.fields.front();
  const std::string path = field.path.ToString();
  std::string message = "The query requires a ";
  message += QueryScopeText(definition.scope);
  switch (field.mode) {
    case FieldMode::kAscending:
      message += "_ASC";
      break;
    case FieldMode::kDescending:
      message += "_DESC";
      break;
    case FieldMode::kContains:
      message += "_CONTAINS";
      break;
    case FieldMode::kMapEntries:
      break;
  }
  message += " index for collection " + definition.collection_id + " and field " + path +
             ". You can create it here: ";
  std::string index = IndexStart(database, definition, "/fields/" + path);
  AppendField(path, field.mode, &index);
  return message + Link(database, "create_exemption", index);
}

std::string FieldFlag(const IndexField& field) {
  std::string_view config = "array-config=CONTAINS";
  if (field.mode == FieldMode::kAscending) config = "order=ASCENDING";
  if (field.mode == FieldMode::kDescending) config = "order=DESCENDING";
  return " --field-config=" + std::string(config) + ",field-path=" + field.path.ToString();
}

}  // namespace

std::string MissingIndexMessage(const model::DatabaseName& database, const Definition& definition,
                                RangeFilters range_filters) {
  if (definition.fields.size() == 1 &&
      definition.name_descending == ImpliedNameDescending(definition.fields)) {
    return SingleFieldMessage(database, definition);
  }
  std::string message = "The query requires an index. You can create it here: ";
  message += CompositeLink(database, definition);
  if (range_filters == RangeFilters::kOnSeveralFields) {
    message +=
        " .\nThe query contains range and inequality filters on multiple fields, please refer to "
        "the documentation for index selection best practices: "
        "https://cloud.google.com/firestore/docs/query-data/multiple-range-fields.";
  }
  return message;
}

std::string MissingVectorIndexMessage(const model::DatabaseName& database,
                                      const VectorIndex& index) {
  std::string message =
      "Missing vector index configuration. Please create the required index with the following "
      "gcloud command: gcloud firestore indexes composite create --project=";
  message += database.project();
  if (database.database() != "(default)") {
    message += " --database=";
    message += database.database();
  }
  message += " --collection-group=" + index.collection_group + " --query-scope=";
  message += QueryScopeText(index.scope);
  for (const IndexField& field : index.prefix) message += FieldFlag(field);
  message += R"( --field-config=vector-config='{"dimension":")" + std::to_string(index.dimension);
  message += R"(","flat": "{}"}',field-path=)" + index.field.ToString();
  return message;
}

}  // namespace hearth::index
