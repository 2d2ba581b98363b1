#include "doors/control/control_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/testing/test_engine.h"
#include "index/index_config.h"

namespace hearth::doors::control {
namespace {

using engine::TestEngine;
using nlohmann::json;
using testing::HasSubstr;

constexpr std::string_view kBase = "/hearth/v1/projects/p1/databases/(default)/";

class ControlServiceTest : public testing::Test {
 protected:
  void MakeDatabase() { engine_.MustCommit(SetNumber("rooms/r1", 1)); }

  http::PlainAnswer Ask(std::string_view method, std::string_view target,
                        std::string_view body = "",
                        std::string_view authorization = "Bearer secret") {
    http::RequestHead head;
    head.set_method(method);
    head.set_target(target);
    head.set_authority("localhost:8080");
    head.AddHeader("content-type", "application/json");
    head.AddHeader("authorization", authorization);
    return service_.Answer(head, body);
  }
  http::PlainAnswer AskDatabase(std::string_view method, std::string_view rest,
                                std::string_view body = "") {
    return Ask(method, std::string(kBase) + std::string(rest), body);
  }
  // Fails unless the answer is an error in Google's form. Returns its message.
  std::string ExpectError(const http::PlainAnswer& answer, int code, std::string_view status) {
    EXPECT_EQ(answer.status, code) << answer.body;
    const json error = json::parse(answer.body)["error"];
    EXPECT_EQ(error["code"], code);
    EXPECT_EQ(error["status"], status);
    return error["message"];
  }

  static engine::EngineOptions OptionsWith(Metrics& metrics) {
    engine::EngineOptions options;
    options.metrics = &metrics;
    return options;
  }

  Metrics metrics_;
  TestEngine engine_{OptionsWith(metrics_)};
  const access::AccessPolicy policy_{"secret", {}};
  ControlService service_{engine_.engine(), policy_, metrics_};
};

TEST_F(ControlServiceTest, TellsStrangersNothing) {
  MakeDatabase();
  const std::string policies = std::string(kBase) + "ttlPolicies";
  for (const std::string_view stranger : {"", "Bearer owner", "Basic secret"}) {
    for (const std::string& target :
         {std::string("/metrics"), std::string("/hearth/v1/databases"),
          std::string(kBase) + "indexes", std::string(kBase) + "indexes:needed", policies,
          std::string("/hearth/nonsense")}) {
      const std::string message =
          ExpectError(Ask("GET", target, "", stranger), 403, "PERMISSION_DENIED");
      EXPECT_THAT(message, HasSubstr("admin.token"));
    }
    ExpectError(Ask("PUT", policies + "/rooms", R"({"field": "at"})", stranger), 403,
                "PERMISSION_DENIED");
    ExpectError(Ask("DELETE", policies + "/rooms", "", stranger), 403, "PERMISSION_DENIED");
  }
  EXPECT_EQ(json::parse(AskDatabase("GET", "ttlPolicies").body)["ttlPolicies"], json::array());
}

TEST_F(ControlServiceTest, ListsDatabasesThatCameIntoBeing) {
  EXPECT_EQ(json::parse(Ask("GET", "/hearth/v1/databases").body),
            (json{{"databases", json::array()}, {"removals", json::array()}}));
  MakeDatabase();
  const http::PlainAnswer answer = Ask("GET", "/hearth/v1/databases");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.content_type, "application/json; charset=utf-8");
  EXPECT_EQ(json::parse(answer.body)["databases"][0]["name"], "projects/p1/databases/(default)");
}

TEST_F(ControlServiceTest, DescribesOneDatabase) {
  const std::string path(kBase.substr(0, kBase.size() - 1));
  ExpectError(Ask("GET", path), 404, "NOT_FOUND");
  MakeDatabase();
  json database = json::parse(Ask("GET", path).body);
  EXPECT_TRUE(database["sizeBytes"].is_number_unsigned());
  database.erase("sizeBytes");
  EXPECT_EQ(database, (json{{"name", "projects/p1/databases/(default)"},
                            {"createTime", "2023-11-14T22:13:20Z"}}));
  EXPECT_EQ(Ask("PUT", path, "{}").status, 405);
}

TEST_F(ControlServiceTest, DeletesADatabase) {
  const std::string path(kBase.substr(0, kBase.size() - 1));
  EXPECT_EQ(ExpectError(Ask("DELETE", path), 404, "NOT_FOUND"),
            "there is no database 'projects/p1/databases/(default)'");
  MakeDatabase();
  EXPECT_EQ(Ask("DELETE", path).body, "{}\n");
  ExpectError(Ask("DELETE", path), 404, "NOT_FOUND");
  engine_.engine().AwaitRemovals();
  EXPECT_EQ(json::parse(Ask("GET", "/hearth/v1/databases").body),
            (json{{"databases", json::array()}, {"removals", json::array()}}));
}

TEST_F(ControlServiceTest, ListsIndexes) {
  MakeDatabase();
  index::IndexConfig config = *index::ParseIndexConfig(R"({"indexes": [{"collectionGroup": "rooms",
      "queryScope": "COLLECTION_GROUP", "fields": [{"fieldPath": "tags", "arrayConfig": "CONTAINS"},
      {"fieldPath": "n", "order": "ASCENDING"},
      {"fieldPath": "__name__", "order": "DESCENDING"}]}]})");
  engine_.engine().SetIndexConfig("(default)", std::move(config));
  engine_.engine().AwaitIndexes();
  const http::PlainAnswer answer = AskDatabase("GET", "indexes");
  ASSERT_EQ(answer.status, 200) << answer.body;
  json list = json::parse(answer.body)["indexes"];
  ASSERT_EQ(list.size(), 1u);
  EXPECT_TRUE(list[0]["sizeBytes"].is_number_unsigned());
  list[0].erase("sizeBytes");
  EXPECT_EQ(list[0], json::parse(R"({"collectionGroup": "rooms", "queryScope": "COLLECTION_GROUP",
      "fields": [{"fieldPath": "tags", "arrayConfig": "CONTAINS"},
                 {"fieldPath": "n", "order": "ASCENDING"},
                 {"fieldPath": "__name__", "order": "DESCENDING"}],
      "state": "READY", "origin": "DECLARED", "documentsIndexed": 1,
      "entriesWritten": 0, "documentWrites": 0, "uses": 0, "readsSaved": 0,
      "lastUseTime": "2023-11-14T22:13:20Z"})"));
}

TEST_F(ControlServiceTest, NeededIndexesAreAConfiguration) {
  MakeDatabase();
  const http::PlainAnswer answer = AskDatabase("GET", "indexes:needed");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(*index::ParseIndexConfig(answer.body), index::IndexConfig());
}

TEST_F(ControlServiceTest, SetsListsAndClearsTtlPolicies) {
  const http::PlainAnswer set =
      AskDatabase("PUT", "ttlPolicies/a%20b", R"({"field": "meta.until", "offset": "48h"})");
  ASSERT_EQ(set.status, 200) << set.body;
  engine_.engine().AwaitIndexes();
  EXPECT_EQ(json::parse(AskDatabase("GET", "ttlPolicies").body), json::parse(R"({"ttlPolicies": [
      {"collectionGroup": "a b", "field": "meta.until", "offset": "2d", "state": "ACTIVE",
       "deleted": 0, "lateSeconds": 0.0}]})"));
  EXPECT_THAT(Ask("GET", "/metrics").body,
              HasSubstr("hearth_ttl_deleted_total{project=\"p1\",database=\"(default)\","
                        "collection_group=\"a b\"} 0\n"));
  EXPECT_EQ(AskDatabase("DELETE", "ttlPolicies/a%20b").body, "{}\n");
  EXPECT_EQ(json::parse(AskDatabase("GET", "ttlPolicies").body)["ttlPolicies"], json::array());
  EXPECT_EQ(ExpectError(AskDatabase("DELETE", "ttlPolicies/a%20b"), 404, "NOT_FOUND"),
            "the collection group 'a b' has no TTL policy");
}

TEST_F(ControlServiceTest, APolicyOfTheConfigurationIsNotCleared) {
  MakeDatabase();
  engine_.engine().SetIndexConfig("(default)", *index::ParseIndexConfig(R"({"fieldOverrides": [
      {"collectionGroup": "rooms", "fieldPath": "until", "ttl": true}]})"));
  EXPECT_THAT(ExpectError(AskDatabase("DELETE", "ttlPolicies/rooms"), 400, "FAILED_PRECONDITION"),
              HasSubstr("comes from the index configuration"));
}

TEST_F(ControlServiceTest, RefusesPoliciesThatHaveNoMeaning) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "not a JSON object"},
      {"[]", "not a JSON object"},
      {"{", "not a JSON object"},
      {"{}", "field"},
      {R"({"field": 7})", "field must be a string"},
      {R"({"field": ""})", "field"},
      {R"({"field": "__name__"})", "not a timestamp"},
      {R"({"field": "f", "offset": "2 days"})", "is not a duration"},
      {R"({"field": "f", "offset": "99999d"})", "is longer than"},
      {R"({"field": "f", "ttl": "1d"})", "unknown key 'ttl'"},
  };
  for (const auto& [body, text] : cases) {
    SCOPED_TRACE(body);
    EXPECT_THAT(ExpectError(AskDatabase("PUT", "ttlPolicies/c", body), 400, "INVALID_ARGUMENT"),
                HasSubstr(text));
  }
  ExpectError(AskDatabase("PUT", "ttlPolicies/__c__", R"({"field": "f"})"), 400,
              "INVALID_ARGUMENT");
}

TEST_F(ControlServiceTest, UnknownPlacesAndMethods) {
  EXPECT_THAT(ExpectError(AskDatabase("GET", "indexes"), 404, "NOT_FOUND"),
              HasSubstr("there is no database"));
  MakeDatabase();
  for (const char* target :
       {"/hearth/", "/hearth/v1", "/hearth/v2/databases", "/metricsx",
        "/hearth/v1/projects/p1/databases", "/hearth/v1/projects/p1/databases/(default)/x",
        "/hearth/v1/projects/p1/databases/(default)/indexes/x",
        "/hearth/v1/projects/p1/databases/(default)/ttlPolicies/a/b"}) {
    SCOPED_TRACE(target);
    ExpectError(Ask("GET", target), 404, "NOT_FOUND");
  }
  ExpectError(Ask("GET", "/hearth/v1/projects/p1/databases/%ZZ/indexes"), 400, "INVALID_ARGUMENT");
  ExpectError(Ask("GET", "/hearth/v1/projects/p1/databases/a%2Fb/indexes"), 400,
              "INVALID_ARGUMENT");
  for (const char* rest : {"indexes", "indexes:needed", "ttlPolicies"}) {
    ExpectError(AskDatabase("POST", rest), 405, "UNIMPLEMENTED");
  }
  ExpectError(AskDatabase("GET", "ttlPolicies/c"), 405, "UNIMPLEMENTED");
  ExpectError(Ask("PUT", "/metrics"), 405, "UNIMPLEMENTED");
}

TEST_F(ControlServiceTest, PagesOfOtherOriginsGetNothing) {
  http::RequestHead head;
  head.set_method("GET");
  head.set_target("/hearth/v1/databases");
  head.set_authority("localhost:8080");
  head.AddHeader("origin", "https://evil.example");
  const http::PlainAnswer answer = service_.Answer(head, "");
  ExpectError(answer, 403, "PERMISSION_DENIED");
  for (const auto& [name, value] : answer.more_headers) {
    EXPECT_FALSE(name.starts_with("access-control-")) << name;
  }
}

TEST_F(ControlServiceTest, MetricsAreOneRegistrys) {
  MakeDatabase();
  metrics_.GetCounter("app_total", "Of an application.").Add();
  const http::PlainAnswer answer = Ask("GET", "/metrics");
  EXPECT_EQ(answer.body, metrics_.Text());
  EXPECT_THAT(answer.body, HasSubstr("\napp_total 1\n"));
  EXPECT_THAT(answer.body, HasSubstr("\nhearth_commits_total 1\n"));
}

TEST_F(ControlServiceTest, MetricsCountIndexes) {
  MakeDatabase();
  const http::PlainAnswer answer = Ask("GET", "/metrics");
  EXPECT_EQ(answer.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(answer.body, HasSubstr("# TYPE hearth_indexes gauge\n"
                                     "hearth_indexes{state=\"building\"} 0\n"
                                     "hearth_indexes{state=\"ready\"} 0\n"));
  EXPECT_THAT(answer.body, HasSubstr("\nhearth_index_bytes 0\n"));
  EXPECT_THAT(answer.body, HasSubstr("# TYPE hearth_ttl_late_seconds gauge\n"));
  EXPECT_THAT(answer.body, HasSubstr("# TYPE hearth_ttl_deleted_total counter\n"));
}

}  // namespace
}  // namespace hearth::doors::control
