#include "doors/control/json_answers.h"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "base/http_status.h"
#include "index/index_config_order.h"
#include "model/timestamp.h"
#include "wire/json.h"

namespace hearth::doors::control {
namespace {

using index::FieldMode;
using index::Origin;

constexpr const char* kJsonType = "application/json; charset=utf-8";

std::string_view OriginText(Origin origin) {
  if (origin == Origin::kDeclared) return "DECLARED";
  return origin == Origin::kTtl ? "TTL" : "ON_DEMAND";
}

Json FieldJson(const std::string& path, FieldMode mode) {
  Json field = {{"fieldPath", path}};
  if (mode == FieldMode::kContains) {
    field["arrayConfig"] = "CONTAINS";
  } else if (mode == FieldMode::kMapEntries) {
    field["mapConfig"] = "ENTRIES";
  } else {
    field["order"] = mode == FieldMode::kDescending ? "DESCENDING" : "ASCENDING";
  }
  return field;
}

}  // namespace

http::PlainAnswer JsonAnswer(const Json& json) {
  const bool ensure_ascii = false;
  return {.content_type = kJsonType,
          .body = json.dump(2, ' ', ensure_ascii, Json::error_handler_t::replace) + "\n",
          .more_headers = {{"cache-control", "no-store"}, {"x-content-type-options", "nosniff"}}};
}

http::PlainAnswer ErrorAnswer(int http_status, const Status& status) {
  http::PlainAnswer answer = JsonAnswer({{"error",
                                          {{"code", http_status},
                                           {"message", status.message()},
                                           {"status", CodeName(status.code())}}}});
  answer.status = http_status;
  return answer;
}

http::PlainAnswer ErrorAnswer(const Status& status) {
  return ErrorAnswer(HttpStatusOf(status.code()), status);
}

Json DatabaseJson(const documents::Database& database, uint64_t size_bytes) {
  Json json = {{"name", database.name.text()}, {"sizeBytes", size_bytes}};
  if (const int64_t created = database.created_micros; created != 0) {
    json["createTime"] = model::Timestamp::FromMicros(created).ToString();
  }
  return json;
}

Json IndexJson(const index::Index& index, uint64_t size_bytes) {
  const index::Definition& definition = index.definition;
  Json fields = Json::array();
  for (const index::IndexField& field : definition.fields) {
    fields.push_back(FieldJson(field.path.ToString(), field.mode));
  }
  const bool implied = index::ImpliedNameDescending(definition.fields);
  if (definition.fields.empty() || definition.name_descending != implied) {
    fields.push_back(FieldJson(
        "__name__", definition.name_descending ? FieldMode::kDescending : FieldMode::kAscending));
  }
  const auto used_at = model::Timestamp::FromMicros(index.activity->used_at_micros);
  return {{"collectionGroup", definition.collection_id},
          {"queryScope", index::QueryScopeText(definition.scope)},
          {"fields", std::move(fields)},
          {"state", index.state == index::State::kReady ? "READY" : "BUILDING"},
          {"origin", OriginText(index.origin)},
          {"documentsIndexed", index.activity->documents_indexed.load()},
          {"sizeBytes", size_bytes},
          {"entriesWritten", index.activity->entries_written.load()},
          {"documentWrites", index.activity->document_writes.load()},
          {"uses", index.activity->uses.load()},
          {"readsSaved", index.activity->reads_saved.load()},
          {"lastUseTime", used_at.ToString()}};
}

Json TtlJson(const expiry::TtlStatus& status) {
  return {{"collectionGroup", status.policy.collection_group},
          {"field", status.policy.field.ToString()},
          {"offset", index::TtlOffsetText(status.policy.offset)},
          {"state", status.is_indexed ? "ACTIVE" : "CREATING"},
          {"deleted", status.deleted},
          {"lateSeconds", std::chrono::duration<double>(status.late).count()}};
}

}  // namespace hearth::doors::control
