#include "doors/control/control_service.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/status_macros.h"
#include "doors/control/json_answers.h"
#include "doors/control/request_check.h"
#include "index/index_config.h"

namespace hearth::doors::control {
namespace {

using documents::ConstDatabaseHandle;
using documents::Database;
using http::PlainAnswer;
using model::DatabaseName;

Status NoSuchPath() { return Status(Code::kNotFound, "no such path"); }

PlainAnswer MethodNotAllowed(std::string allowed) {
  PlainAnswer answer =
      ErrorAnswer(405, Status(Code::kUnimplemented, "this path only supports " + allowed));
  answer.more_headers.emplace_back("allow", std::move(allowed));
  return answer;
}

bool IsReading(const http::RequestHead& head) {
  return head.method() == "GET" || head.method() == "HEAD";
}

// {"field": "createdAt", "offset": "2d"}; the offset is optional.
Result<index::TtlPolicy> ParsePolicy(const std::string& collection, std::string_view body) {
  RETURN_IF_ERROR(model::ValidateCollectionId(collection));
  const bool allow_exceptions = false;
  const Json json = Json::parse(body, nullptr, allow_exceptions);
  if (!json.is_object()) return InvalidArgument("the body is not a JSON object");
  std::chrono::seconds offset{0};
  std::string field_text;
  for (const auto& [key, value] : json.items()) {
    if (key != "field" && key != "offset") {
      return InvalidArgument("unknown key '" + key + "'; known keys are field and offset");
    }
    if (!value.is_string()) return InvalidArgument(key + " must be a string");
    if (key == "field") {
      field_text = value.get<std::string>();
    } else {
      Result<std::chrono::seconds> parsed = index::ParseTtlOffset(value.get<std::string>());
      if (!parsed.ok()) return InvalidArgument("offset: " + parsed.status().message());
      offset = *parsed;
    }
  }
  Result<model::FieldPath> field = model::FieldPath::Parse(field_text);
  if (!field.ok()) return InvalidArgument("field: " + field.status().message());
  if (field->IsName()) return InvalidArgument("field: a document name is not a timestamp");
  return index::TtlPolicy{collection, *std::move(field), offset};
}

}  // namespace

ControlService::ControlService(engine::Engine& engine, const access::AccessPolicy& policy,
                               Metrics& metrics)
    : engine_(engine),
      policy_(policy),
      metrics_(metrics),
      handler_([this](const std::shared_ptr<http::PlainCall>& call) {
        const Status accepted = engine_.RunOnReaders(call->client()->key(), [this, call] {
          call->Respond(Answer(call->head(), call->body()));
        });
        if (!accepted.ok()) call->Respond(ErrorAnswer(accepted));
      }) {}

std::shared_ptr<http::ExchangeHandler> ControlService::Open(http::Exchange& exchange) {
  return http::OpenPlain(exchange, handler_, {.body_bytes_max = kControlBodyBytesMax});
}

PlainAnswer ControlService::Answer(const http::RequestHead& head, std::string_view body) {
  if (const Status status = policy_.CheckAdministrator(head); !status.ok()) {
    return ErrorAnswer(status);
  }
  if (const Status status = CheckOrigin(head); !status.ok()) return ErrorAnswer(status);
  const std::optional<Parts> parts = SplitPath(head.path());
  if (!parts) return ErrorAnswer(InvalidArgument("the path has a '%' without two hex digits"));
  if (*parts == Parts{"metrics"}) {
    if (!IsReading(head)) return MethodNotAllowed("GET");
    return {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = metrics_.Text()};
  }
  if (*parts == Parts{"hearth", "v1", "databases"}) {
    return IsReading(head) ? AnswerDatabases() : MethodNotAllowed("GET");
  }
  constexpr size_t kNameBegin = 2;
  constexpr size_t kNameEnd = 6;
  if (parts->size() < kNameEnd || (*parts)[0] != "hearth" || (*parts)[1] != "v1") {
    return ErrorAnswer(NoSuchPath());
  }
  std::string text;
  for (size_t i = kNameBegin; i < kNameEnd; ++i) text += (text.empty() ? "" : "/") + (*parts)[i];
  const Result<DatabaseName> name = DatabaseName::Parse(text);
  if (!name.ok()) return ErrorAnswer(name.status());
  Result<PlainAnswer> answer =
      AnswerOfDatabase(head, body, *name, {parts->begin() + kNameEnd, parts->end()});
  return answer.ok() ? *std::move(answer) : ErrorAnswer(answer.status());
}

PlainAnswer ControlService::AnswerDatabases() const {
  Json databases = Json::array();
  for (const ConstDatabaseHandle& database : engine_.Databases()) {
    databases.push_back(DatabaseJson(*database, engine_.DocumentBytes(*database)));
  }
  Json removals = Json::array();
  for (const std::string& name : engine_.DatabasesBeingRemoved()) {
    removals.push_back({{"name", name}});
  }
  return JsonAnswer({{"databases", std::move(databases)}, {"removals", std::move(removals)}});
}

Result<PlainAnswer> ControlService::AnswerOfDatabase(const http::RequestHead& head,
                                                     std::string_view body,
                                                     const DatabaseName& name, const Parts& rest) {
  if (rest.empty()) {
    if (head.method() == "DELETE") return DeleteDatabase(name);
    if (!IsReading(head)) return MethodNotAllowed("GET, DELETE");
    ASSIGN_OR_RETURN(const ConstDatabaseHandle database, Find(name));
    return JsonAnswer(DatabaseJson(*database, engine_.DocumentBytes(*database)));
  }
  const bool is_one_policy = rest.size() == 2 && rest[0] == "ttlPolicies";
  if (is_one_policy) {
    if (head.method() == "PUT") return SetTtlPolicy(name, rest[1], body);
    if (head.method() == "DELETE") return ClearTtlPolicy(name, rest[1]);
    return MethodNotAllowed("PUT, DELETE");
  }
  using Method = Result<PlainAnswer> (ControlService::*)(const DatabaseName&) const;
  constexpr std::pair<std::string_view, Method> kMethods[] = {
      {"indexes", &ControlService::ListIndexes},
      {"indexes:needed", &ControlService::PrintNeededIndexes},
      {"ttlPolicies", &ControlService::ListTtlPolicies}};
  if (rest.size() != 1) return NoSuchPath();
  for (const auto& [path, method] : kMethods) {
    if (rest[0] != path) continue;
    return IsReading(head) ? (this->*method)(name) : MethodNotAllowed("GET");
  }
  return NoSuchPath();
}

Result<ConstDatabaseHandle> ControlService::Find(const DatabaseName& name) const {
  for (const ConstDatabaseHandle& database : engine_.Databases()) {
    if (database->name == name) return database;
  }
  return Status(Code::kNotFound, "there is no database '" + name.text() +
                                     "': the first write to a database creates it");
}

Result<PlainAnswer> ControlService::DeleteDatabase(const DatabaseName& name) {
  RETURN_IF_ERROR(engine_.DeleteDatabase(name));
  return JsonAnswer(Json::object());
}

Result<PlainAnswer> ControlService::ListIndexes(const DatabaseName& name) const {
  ASSIGN_OR_RETURN(const ConstDatabaseHandle database, Find(name));
  std::vector<index::Index> indexes = engine_.Indexes(*database);
  std::sort(indexes.begin(), indexes.end(),
            [](const index::Index& left, const index::Index& right) {
              return left.definition < right.definition;
            });
  Json list = Json::array();
  for (const index::Index& index : indexes) {
    list.push_back(IndexJson(index, engine_.IndexBytes(index)));
  }
  return JsonAnswer({{"indexes", std::move(list)}});
}

Result<PlainAnswer> ControlService::PrintNeededIndexes(const DatabaseName& name) const {
  ASSIGN_OR_RETURN(const ConstDatabaseHandle database, Find(name));
  PlainAnswer answer = JsonAnswer(Json());
  answer.body = index::PrintIndexConfig(engine_.NeededIndexes(*database));
  return answer;
}

Result<PlainAnswer> ControlService::ListTtlPolicies(const DatabaseName& name) const {
  ASSIGN_OR_RETURN(const ConstDatabaseHandle database, Find(name));
  Json list = Json::array();
  for (const expiry::TtlStatus& status : engine_.TtlStatuses(*database)) {
    list.push_back(TtlJson(status));
  }
  return JsonAnswer({{"ttlPolicies", std::move(list)}});
}

Result<PlainAnswer> ControlService::SetTtlPolicy(const DatabaseName& name,
                                                 const std::string& collection,
                                                 std::string_view body) {
  ASSIGN_OR_RETURN(const index::TtlPolicy policy, ParsePolicy(collection, body));
  // Documents may be created after their policy, and so may their database.
  const documents::DatabaseHandle database = engine_.OpenDatabase(name);
  RETURN_IF_ERROR(engine_.SetTtlPolicy(*database, policy));
  return TtlPolicyAnswer(*database, collection);
}

Result<PlainAnswer> ControlService::ClearTtlPolicy(const DatabaseName& name,
                                                   const std::string& collection) {
  RETURN_IF_ERROR(Find(name).status());
  const documents::DatabaseHandle database = engine_.OpenDatabase(name);
  RETURN_IF_ERROR(engine_.ClearTtlPolicy(*database, collection));
  return TtlPolicyAnswer(*database, collection);
}

PlainAnswer ControlService::TtlPolicyAnswer(const Database& database,
                                            const std::string& collection) const {
  for (const expiry::TtlStatus& status : engine_.TtlStatuses(database)) {
    if (status.policy.collection_group == collection) return JsonAnswer(TtlJson(status));
  }
  return JsonAnswer(Json::object());
}

}  // namespace hearth::doors::control
