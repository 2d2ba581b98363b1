#include "server/commands.h"

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "access/admin_token.h"
#include "base/status_macros.h"
#include "http/percent.h"
#include "index/index_config.h"
#include "model/names.h"
#include "server/control_client.h"
#include "server/options.h"
#include "server/table.h"

namespace hearth::server {
namespace {

using Json = nlohmann::json;
using model::DatabaseName;
using Rows = std::vector<std::vector<std::string>>;

Result<std::string> CallRaw(const TargetOptions& target, ControlRequest request) {
  ASSIGN_OR_RETURN(const http::ListenAddress address, ParseAddress(target.server));
  std::string folder = target.data_path;
  // Another machine does not get this one's token unless the user says so.
  if (folder.empty() && http::IsLoopbackHost(address.host)) folder = ServeOptions().data_path;
  ASSIGN_OR_RETURN(request.admin_token, FindAdminToken(folder));
  return CallServer(target.server, request);
}

Result<Json> Call(const TargetOptions& target, ControlRequest request) {
  ASSIGN_OR_RETURN(const std::string body, CallRaw(target, std::move(request)));
  const bool allow_exceptions = false;
  Json json = Json::parse(body, nullptr, allow_exceptions);
  if (json.is_object()) return json;
  return Status(Code::kUnknown, target.server + " did not answer with JSON");
}

// The text of a member; empty if missing.
std::string Text(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

uint64_t Number(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

std::vector<Json> List(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array()) return {};
  std::vector<Json> objects;
  for (const Json& each : *found) {
    if (each.is_object()) objects.push_back(each);
  }
  return objects;
}

Status Ambiguous(const std::vector<DatabaseName>& found) {
  std::string message = "choose a database with --project and --database:";
  constexpr size_t kNamedMax = 20;
  for (size_t i = 0; i < found.size() && i < kNamedMax; ++i) {
    message += "\n  --project " + std::string(found[i].project()) + " --database '" +
               std::string(found[i].database()) + "'";
  }
  if (found.size() > kNamedMax) {
    message += "\n  and " + std::to_string(found.size() - kNamedMax) + " more";
  }
  return Status(Code::kNotFound, message);
}

// The database that `target` selects.
Result<DatabaseName> FindDatabase(const TargetOptions& target) {
  const std::string database = target.database.empty() ? "(default)" : target.database;
  if (!target.project.empty()) {
    return DatabaseName::Parse("projects/" + target.project + "/databases/" + database);
  }
  ASSIGN_OR_RETURN(const Json json,
                   Call(target, {.method = "GET", .target = "/hearth/v1/databases"}));
  std::vector<DatabaseName> found;
  std::vector<DatabaseName> of_that_id;
  for (const Json& each : List(json, "databases")) {
    ASSIGN_OR_RETURN(DatabaseName name, DatabaseName::Parse(Text(each, "name")));
    if (name.database() == database) of_that_id.push_back(name);
    found.push_back(std::move(name));
  }
  if (found.empty()) {
    return Status(Code::kNotFound,
                  "the server has no database yet: write a document to create one, or name a new "
                  "one with --project");
  }
  if (of_that_id.size() == 1) return of_that_id[0];
  if (target.database.empty() && found.size() == 1) return found[0];
  return Ambiguous(found);
}

// "/hearth/v1/projects/P/databases/D/" plus the rest.
Result<std::string> TargetPath(const TargetOptions& target, const std::string& rest) {
  ASSIGN_OR_RETURN(const DatabaseName name, FindDatabase(target));
  return "/hearth/v1/projects/" + http::EncodePercent(name.project()) + "/databases/" +
         http::EncodePercent(name.database()) + "/" + rest;
}

std::string FieldsText(const Json& index) {
  std::string text;
  for (const Json& field : List(index, "fields")) {
    const std::string order = Text(field, "order");
    const std::string mode = order == "ASCENDING"          ? "ASC"
                             : order == "DESCENDING"       ? "DESC"
                             : field.contains("mapConfig") ? "MAP"
                                                           : Text(field, "arrayConfig");
    text +=
        (text.empty() ? "" : ", ") + Text(field, "fieldPath") + (mode.empty() ? "" : " ") + mode;
  }
  return text;
}

// "2026-11-15T12:00:00.5Z" to the second, for display.
std::string TimeText(const std::string& time) {
  constexpr size_t kSecondsEnd = 19;
  std::string text = time.substr(0, kSecondsEnd);
  if (const size_t t = text.find('T'); t != std::string::npos) text[t] = ' ';
  return text;
}

std::string SecondsText(const Json& json, const char* key) {
  const auto found = json.find(key);
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f s",
                found != json.end() && found->is_number() ? found->get<double>() : 0.0);
  return text;
}

std::string PolicyText(const Json& policy) {
  return Text(policy, "collectionGroup") + " expire at " + Text(policy, "field") + " + " +
         Text(policy, "offset");
}

}  // namespace

Result<std::string> FindAdminToken(const std::string& folder) {
  const char* const token = std::getenv(access::kAdminTokenVariable);
  if (token != nullptr && *token != '\0') return std::string(token);
  if (folder.empty()) return std::string();
  Result<std::string> found = access::ReadAdminToken(folder);
  if (!found.ok() && found.status().code() == Code::kNotFound) return std::string();
  return found;
}

Result<std::string> ListDatabases(const TargetOptions& target) {
  ASSIGN_OR_RETURN(const Json json,
                   Call(target, {.method = "GET", .target = "/hearth/v1/databases"}));
  Rows rows = {{"PROJECT", "DATABASE", "STATE", "SIZE", "CREATED (UTC)"}};
  const auto add = [&rows](const Json& each, const std::string& state) -> Status {
    ASSIGN_OR_RETURN(const DatabaseName name, DatabaseName::Parse(Text(each, "name")));
    const bool has_size = each.contains("sizeBytes");
    rows.push_back({std::string(name.project()), std::string(name.database()), state,
                    has_size ? FormatBytes(Number(each, "sizeBytes")) : "",
                    TimeText(Text(each, "createTime"))});
    return Status();
  };
  for (const Json& each : List(json, "databases")) RETURN_IF_ERROR(add(each, "READY"));
  for (const Json& each : List(json, "removals")) RETURN_IF_ERROR(add(each, "REMOVING"));
  if (rows.size() == 1) return std::string("no databases: the first write creates one\n");
  return FormatTable(rows);
}

Result<std::string> DeleteDatabase(const TargetOptions& target, const DatabaseOptions& database) {
  ASSIGN_OR_RETURN(const DatabaseName name, DatabaseName::Parse("projects/" + database.project +
                                                                "/databases/" + database.database));
  const std::string path = "/hearth/v1/projects/" + http::EncodePercent(name.project()) +
                           "/databases/" + http::EncodePercent(name.database());
  RETURN_IF_ERROR(Call(target, {.method = "DELETE", .target = path}).status());
  return "deleted the database " + database.database + " of project " + database.project +
         "; its data is removed in the background\n";
}

Result<std::string> ListIndexes(const TargetOptions& target) {
  ASSIGN_OR_RETURN(const std::string path, TargetPath(target, "indexes"));
  ASSIGN_OR_RETURN(const Json json, Call(target, {.method = "GET", .target = path}));
  Rows rows = {{"COLLECTION", "SCOPE", "FIELDS", "STATE", "ORIGIN", "SIZE", "ENTRIES WRITTEN",
                "USES", "READS SAVED", "LAST USE (UTC)"}};
  for (const Json& index : List(json, "indexes")) {
    rows.push_back(
        {Text(index, "collectionGroup"), Text(index, "queryScope"), FieldsText(index),
         Text(index, "state"), Text(index, "origin"), FormatBytes(Number(index, "sizeBytes")),
         std::to_string(Number(index, "entriesWritten")), std::to_string(Number(index, "uses")),
         std::to_string(Number(index, "readsSaved")), TimeText(Text(index, "lastUseTime"))});
  }
  if (rows.size() == 1) return std::string("no indexes: no query has needed one\n");
  return FormatTable(rows);
}

Result<std::string> PrintNeededIndexes(const TargetOptions& target) {
  ASSIGN_OR_RETURN(const std::string path, TargetPath(target, "indexes:needed"));
  return CallRaw(target, {.method = "GET", .target = path});
}

Result<std::string> ListTtlPolicies(const TargetOptions& target) {
  ASSIGN_OR_RETURN(const std::string path, TargetPath(target, "ttlPolicies"));
  ASSIGN_OR_RETURN(const Json json, Call(target, {.method = "GET", .target = path}));
  Rows rows = {{"COLLECTION", "FIELD", "OFFSET", "STATE", "DELETED", "LATE"}};
  for (const Json& policy : List(json, "ttlPolicies")) {
    rows.push_back({Text(policy, "collectionGroup"), Text(policy, "field"), Text(policy, "offset"),
                    Text(policy, "state"), std::to_string(Number(policy, "deleted")),
                    SecondsText(policy, "lateSeconds")});
  }
  if (rows.size() == 1) return std::string("no TTL policies\n");
  return FormatTable(rows);
}

Result<std::string> SetTtlPolicy(const TargetOptions& target, const TtlOptions& policy) {
  // Before the server is called: these are command line errors.
  RETURN_IF_ERROR(model::ValidateCollectionId(policy.collection));
  const Status offset = index::ParseTtlOffset(policy.offset).status();
  if (!offset.ok()) return InvalidArgument("--offset: " + offset.message());
  ASSIGN_OR_RETURN(const std::string path,
                   TargetPath(target, "ttlPolicies/" + http::EncodePercent(policy.collection)));
  const Json body = {{"field", policy.field}, {"offset", policy.offset}};
  const auto replace = Json::error_handler_t::replace;
  ASSIGN_OR_RETURN(
      const Json json,
      Call(target, {.method = "PUT", .target = path, .body = body.dump(-1, ' ', false, replace)}));
  return "documents of " + PolicyText(json) + "\n";
}

Result<std::string> ClearTtlPolicy(const TargetOptions& target, const std::string& collection) {
  ASSIGN_OR_RETURN(const std::string path,
                   TargetPath(target, "ttlPolicies/" + http::EncodePercent(collection)));
  ASSIGN_OR_RETURN(const Json json, Call(target, {.method = "DELETE", .target = path}));
  if (json.empty()) return "documents of " + collection + " no longer expire\n";
  return "the index configuration also has a policy: documents of " + PolicyText(json) + "\n";
}

}  // namespace hearth::server
