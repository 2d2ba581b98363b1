// Applications in the server's process and in their own, and the front page.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>

#include "http/testing/test_socket.h"
#include "process/process.h"

namespace hearth::process {
namespace {

using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string Ask(uint16_t port, const std::string& path, const std::string& headers = "") {
  http::TestSocket socket(port);
  socket.Send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers +
              "\r\n");
  return socket.ReadToEnd();
}

// The header of the administrator of a data folder.
std::string Admin(const std::string& folder) {
  std::string token;
  std::ifstream(folder + "/admin.token") >> token;
  EXPECT_FALSE(token.empty()) << folder;
  return "Authorization: Bearer " + token + "\r\n";
}

constexpr char kAcceptHtml[] = "Accept: text/html,*/*;q=0.8\r\n";

TEST(Apps, WhatMakesNoSenseIsRefused) {
  const TemporaryFolder folder;
  const std::string data = folder / "data";
  std::ofstream(folder / "garbage.json") << "{\"hackernews\": ";
  std::ofstream(folder / "list.json") << "[]";
  std::ofstream(folder / "unknown.json") << R"({"nosuch": {}})";
  std::ofstream(folder / "number.json") << R"({"hackernews": 1})";
  const auto serve = [&](const std::string& flag, const std::string& value) {
    return std::vector<std::string>{"serve",       "--data", data, "--listen",
                                    "127.0.0.1:0", flag,     value};
  };
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {serve("--apps", "nosuch"), "there is no application 'nosuch'"},
      {serve("--apps", "hackernews,nosuch"), "'nosuch'"},
      {serve("--apps", ""), "''"},
      {serve("--app-project", "a/b"), "--app-project"},
      {serve("--app-config", folder / "missing.json"), "missing.json"},
      {serve("--app-config", folder / "garbage.json"), "not valid JSON"},
      {serve("--app-config", folder / "list.json"), "JSON object"},
      {serve("--app-config", folder / "unknown.json"), "'nosuch'"},
      {serve("--app-config", folder / "number.json"), "hackernews must be a JSON object"},
      {{"app"}, "NAME"},
      {{"app", "nosuch", "--firestore", "127.0.0.1:1"}, "there is no application 'nosuch'"},
      {{"app", "hackernews", "--firestore", "nonsense"}, "nonsense"},
      {{"app", "hackernews", "--firestore", "127.0.0.1:1", "--listen", "nonsense"}, "nonsense"},
      {{"sandbox", "--listen", "nonsense"}, "nonsense"},
      {{"sandbox", "--listen", "0.0.0.0:0"}, "reachable from other machines"},
  };
  for (const auto& [arguments, text] : cases) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    const auto server = RunHearth(arguments);
    ExpectRefusal(*server, text);
  }
  EXPECT_FALSE(std::filesystem::exists(data));
}

TEST(Apps, NoneLeavesTheDatabaseAlone) {
  const TemporaryFolder folder;
  const auto server = Serve(folder / "data", {"--apps", "none"});
  EXPECT_THAT(Ask(server->port(), "/apps/hackernews/"), StartsWith("HTTP/1.1 404 "));
  const std::string front = Ask(server->port(), "/hearth/front");
  EXPECT_THAT(front, HasSubstr("\"applications\":[]"));
  EXPECT_THAT(front, HasSubstr("\"address\":\"127.0.0.1:" + std::to_string(server->port())));
}

TEST(Apps, StrangersSeeThatTheyRunAndNotWhatTheyHold) {
  const TemporaryFolder folder;
  const auto server = Serve(folder / "data", {"--apps", "feed", "--live"});
  EXPECT_THAT(Ask(server->port(), "/apps/feed/health"), EndsWith("\r\n\r\n{\"status\":\"ok\"}\n"));
  const std::string front = Ask(server->port(), "/hearth/front");
  EXPECT_THAT(front, HasSubstr("\"state\":\"running\""));
  EXPECT_THAT(front, HasSubstr("\"facts\":[]"));
  for (const char* key : {"version", "uptime", "accounts", "posts"}) {
    EXPECT_THAT(front, Not(HasSubstr(std::string("\"") + key))) << key;
  }
}

TEST(Apps, BrowsersSeeThePageAndOthersOk) {
  const TemporaryFolder folder;
  const auto server = Serve(folder / "data");
  EXPECT_THAT(Ask(server->port(), "/"), EndsWith("\r\n\r\nOk\n"));
  EXPECT_THAT(Ask(server->port(), "/", "Accept: */*\r\n"), EndsWith("\r\n\r\nOk\n"));
  const std::string page = Ask(server->port(), "/", kAcceptHtml);
  EXPECT_THAT(page, HasSubstr("content-type: text/html"));
  EXPECT_THAT(page, HasSubstr("<title>Hearth</title>"));
  EXPECT_THAT(Ask(server->port(), "/main.js"), HasSubstr("content-type: text/javascript"));
}

TEST(Apps, AllRunAndStop) {
  const TemporaryFolder folder;
  const auto server = Serve(folder / "data", {"--apps", "all"});
  EXPECT_THAT(Ask(server->port(), "/apps/hackernews"), StartsWith("HTTP/1.1 307 "));
  EXPECT_THAT(Ask(server->port(), "/apps/hackernews/", kAcceptHtml), HasSubstr("<!doctype html>"));
  EXPECT_THAT(Ask(server->port(), "/apps/hackernews/api/v1/stories"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Ask(server->port(), "/apps/feed/", kAcceptHtml), HasSubstr("<!doctype html>"));
  EXPECT_THAT(Ask(server->port(), "/apps/feed/health"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Ask(server->port(), "/hearth/front"), HasSubstr("\"state\":\"running\""));
  EXPECT_THAT(Ask(server->port(), "/metrics", Admin(folder / "data")),
              HasSubstr("hearth_app_requests_total{"));
  server->Signal(SIGTERM);
  EXPECT_EQ(server->Wait().code, 0) << server->Stderr();
}

// The answer, once `is_there` holds for it.
std::string AskUntil(uint16_t port, const std::string& path,
                     const std::function<bool(const std::string&)>& is_there,
                     const std::string& headers = "") {
  const auto end = std::chrono::steady_clock::now() + support::kPatience;
  std::string answer;
  do {
    answer = Ask(port, path, headers);
  } while (!is_there(answer) && std::chrono::steady_clock::now() < end);
  EXPECT_TRUE(is_there(answer)) << answer;
  return answer;
}

TEST(Apps, AllRunWithTheIndexesThatTheyBring) {
  const TemporaryFolder folder;
  std::ofstream(folder / "mine.json") << R"({"indexes": [{"collectionGroup": "rooms", "fields": [
      {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "b", "order": "ASCENDING"}]}]})";
  const auto server = Serve(folder / "data", {"--apps", "all", "--indexes", "strict",
                                              "--index-config", folder / "mine.json"});
  const std::string synced =
      AskUntil(server->port(), "/apps/hackernews/api/v1/status", [](const std::string& status) {
        return status.find("\"lastRun\":null") == std::string::npos &&
               status.find("\"running\":false") != std::string::npos;
      });
  EXPECT_THAT(synced, HasSubstr("\"failed\":false"));
  // The demo accounts post, which fans out to their followers' pages.
  const std::string admin = Admin(folder / "data");
  AskUntil(
      server->port(), "/metrics",
      [](const std::string& metrics) {
        return metrics.find("feed_events_total{outcome=\"done\"} ") != std::string::npos &&
               metrics.find("feed_events_total{outcome=\"done\"} 0") == std::string::npos;
      },
      admin);
  EXPECT_THAT(Ask(server->port(), "/metrics", admin),
              Not(ContainsRegex("feed_events_total.outcome=\"failed\". [1-9]")));
  // Created once the database is on disk.
  AskUntil(
      server->port(), "/hearth/v1/projects/hearth/databases/(default)/indexes",
      [](const std::string& indexes) {
        return indexes.find("\"rooms\"") != std::string::npos &&
               indexes.find("\"dev-stories\"") != std::string::npos &&
               indexes.find("\"dev-feed-posts\"") != std::string::npos;
      },
      admin);
  EXPECT_THAT(server->Stderr(), Not(HasSubstr("requires an index")));
  server->Signal(SIGTERM);
  EXPECT_EQ(server->Wait().code, 0) << server->Stderr();
}

TEST(Apps, AnIndexConfigurationThatContradictsThemIsRefused) {
  const TemporaryFolder folder;
  const std::string file = folder / "mine.json";
  std::ofstream(file) << R"({"fieldOverrides": [
      {"collectionGroup": "dev-feed-sessions", "fieldPath": "created_at", "ttl": true}]})";
  const auto server = RunHearth({"serve", "--data", folder / "data", "--listen", "127.0.0.1:0",
                                 "--apps", "all", "--index-config", file});
  ExpectRefusal(*server,
                "the collection group dev-feed-sessions has two TTL policies: expires_at in the "
                "application feed and created_at in '" +
                    file + "'");
  EXPECT_FALSE(std::filesystem::exists(folder / "data"));
}

TEST(Apps, OneThatFailsDoesNotHinderTheDatabase) {
  const TemporaryFolder folder;
  std::ofstream(folder / "apps.json") << R"({"hackernews": {"no_such_setting": 1}})";
  const auto server =
      Serve(folder / "data", {"--apps", "hackernews", "--app-config", folder / "apps.json"});
  FirestoreClient client(server->port());
  EXPECT_TRUE(Put(client, "rooms/r1", "hello").ok());
  EXPECT_THAT(Ask(server->port(), "/apps/hackernews/"), StartsWith("HTTP/1.1 503 "));
  const std::string front = Ask(server->port(), "/hearth/front");
  EXPECT_THAT(front, HasSubstr("\"state\":\"failed\""));
  EXPECT_THAT(front, HasSubstr("no_such_setting"));
  EXPECT_THAT(server->Stderr(), HasSubstr("no_such_setting"));
}

// Each with the part of the error message that names the fault.
const std::pair<std::string, std::string> kWrongRedis[] = {
    {"nonsense", "\\\"nonsense\\\" has no port"},
    {"127.0.0.1:1,there:65536", "\\\"there:65536\\\": the port must be a number"},
    {"127.0.0.1:1,", "\\\"\\\" has no port"},
    {":6379", "\\\":6379\\\" has no host"},
};

TEST(Apps, AWrongRedisStopsOnlyWhoeverNeedsIt) {
  for (const auto& [redis, reason] : kWrongRedis) {
    SCOPED_TRACE(redis);
    const TemporaryFolder folder;
    const auto server = Serve(folder / "data", {"--apps", "hackernews,feed", "--redis", redis});
    FirestoreClient client(server->port());
    EXPECT_TRUE(Put(client, "rooms/r1", "hello").ok());
    EXPECT_THAT(Ask(server->port(), "/apps/hackernews/"), StartsWith("HTTP/1.1 200 "));
    const std::string refused = Ask(server->port(), "/apps/feed/health");
    EXPECT_THAT(refused, StartsWith("HTTP/1.1 503 "));
    EXPECT_THAT(refused, HasSubstr("the setting redis"));
    EXPECT_THAT(Ask(server->port(), "/hearth/front"), HasSubstr(reason));
  }
}

TEST(Apps, OneAloneDoesNotStartWithAWrongRedis) {
  const TemporaryFolder folder;
  const auto app = RunHearth({"app", "feed", "--firestore", "127.0.0.1:1", "--listen",
                              "127.0.0.1:0", "--data", folder / "app", "--redis", "nonsense"});
  EXPECT_EQ(app->Wait().code, 1);
  EXPECT_THAT(Lines(app->Stderr()).back(), StartsWith("hearth: "));
  EXPECT_THAT(Lines(app->Stderr()).back(), HasSubstr("\"nonsense\" has no port: HOST:PORT"));
}

TEST(Apps, ARedisThatIsAwayHindersNobody) {
  const TemporaryFolder folder;
  // Nothing listens on port 1.
  const auto server =
      Serve(folder / "data", {"--apps", "feed", "--redis", "127.0.0.1:1", "--live"});
  const std::string health = Ask(server->port(), "/apps/feed/health");
  EXPECT_THAT(health, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(health, HasSubstr("\"status\":\"degraded\""));
  server->Signal(SIGTERM);
  EXPECT_EQ(server->Wait().code, 0) << server->Stderr();
}

TEST(Apps, OneAloneOnADatabaseElsewhere) {
  const TemporaryFolder folder;
  const auto database = Serve(folder / "data");
  const std::string address = "127.0.0.1:" + std::to_string(database->port());
  const auto app = RunHearth({"app", "hackernews", "--firestore", address, "--listen",
                              "127.0.0.1:0", "--data", folder / "app"});
  ASSERT_TRUE(app->WaitUntilListening()) << app->Stderr();
  EXPECT_THAT(Ask(app->port(), "/"), HasSubstr("<!doctype html>"));
  EXPECT_THAT(Ask(app->port(), "/api/v1/stories"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Ask(app->port(), "/metrics"), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(Ask(app->port(), "/metrics", Admin(folder / "app")),
              HasSubstr("hearth_app_requests_total{"));
  app->Signal(SIGTERM);
  EXPECT_EQ(app->Wait().code, 0) << app->Stderr();
}

TEST(Apps, OneAloneUsesAProtectedDatabaseWithItsToken) {
  const TemporaryFolder folder;
  const auto database = Serve(folder / "data", {"--protect-project", "hearth"});
  const std::string stories = "/v1/projects/hearth/databases/(default)/documents/dev-stories";
  const std::string address = "127.0.0.1:" + std::to_string(database->port());
  const auto app =
      RunHearth({"app", "hackernews", "--firestore", address, "--listen", "127.0.0.1:0", "--data",
                 folder / "app", "--admin-token-folder", folder / "data"});
  ASSERT_TRUE(app->WaitUntilListening()) << app->Stderr();
  AskUntil(app->port(), "/api/v1/status", [](const std::string& status) {
    return status.find("\"hasStories\":true") != std::string::npos &&
           status.find("\"failed\":false") != std::string::npos &&
           status.find("\"lastRun\":null") == std::string::npos;
  });
  const std::string refused = Ask(database->port(), stories, "Authorization: Bearer owner\r\n");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(refused, HasSubstr("admin.token"));
  EXPECT_THAT(Ask(database->port(), stories, Admin(folder / "data")), HasSubstr("\"documents\""));
  app->Signal(SIGTERM);
  EXPECT_EQ(app->Wait().code, 0) << app->Stderr();
}

TEST(Apps, EmbeddedOnesShareTheirDatabaseWithNobody) {
  const TemporaryFolder folder;
  const auto server = Serve(folder / "data", {"--apps", "hackernews", "--app-project", "mine"});
  for (const auto& [project, status] : {std::pair("mine", 403), std::pair("hearth", 200)}) {
    const std::string documents =
        "/v1/projects/" + std::string(project) + "/databases/(default)/documents/dev-stories";
    EXPECT_THAT(Ask(server->port(), documents, "Authorization: Bearer owner\r\n"),
                StartsWith("HTTP/1.1 " + std::to_string(status)))
        << project;
    EXPECT_THAT(Ask(server->port(), documents, Admin(folder / "data")),
                StartsWith("HTTP/1.1 200 "));
  }
}

// Their users' hashes must not become readable as soon as nobody runs them.
TEST(Apps, TheirDatabaseStaysProtectedWithoutThem) {
  const TemporaryFolder folder;
  const auto documents = [](const std::string& project) {
    return "/v1/projects/" + project + "/databases/(default)/documents/dev-feed-users";
  };
  Serve(folder / "data", {"--apps", "feed", "--app-project", "mine"})->Signal(SIGTERM);
  Serve(folder / "data", {"--protect-project", "locked"})->Signal(SIGTERM);
  {
    const auto server = Serve(folder / "data");
    for (const std::string project : {"mine", "locked"}) {
      const std::string refused =
          Ask(server->port(), documents(project), "Authorization: Bearer owner\r\n");
      EXPECT_THAT(refused, StartsWith("HTTP/1.1 403 ")) << project;
      EXPECT_THAT(refused, HasSubstr("admin.token"));
      EXPECT_THAT(Ask(server->port(), documents(project), Admin(folder / "data")),
                  StartsWith("HTTP/1.1 200 "));
    }
    EXPECT_THAT(Ask(server->port(), documents("hearth")), StartsWith("HTTP/1.1 200 "));
  }
  // An owner ends it by deleting the line.
  std::ofstream(folder / "data/protected-projects") << "mine\n";
  {
    const auto server = Serve(folder / "data");
    EXPECT_THAT(Ask(server->port(), documents("mine")), StartsWith("HTTP/1.1 403 "));
    EXPECT_THAT(Ask(server->port(), documents("locked")), StartsWith("HTTP/1.1 200 "));
  }
  std::ofstream(folder / "data/protected-projects") << "mine/x\n";
  ExpectRefusal(*TryToServe(folder / "data"), "'mine/x' is not a project id");
}

TEST(Apps, TheSandboxsTokenIsNotForStrangers) {
  const TemporaryFolder folder;
  const auto server = Serve(folder / "data", {"--apps", "hackernews"});
  for (const char* page : {"%2e%2e", "%2E.", "..", ".", "%2e%2e%2f%2e%2e", "item%2f%2e%2e%2f%2e%2e",
                           "login", "control"}) {
    const std::string answer = Ask(server->port(), std::string("/apps/hackernews/sandbox/") + page);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 404 ")) << page;
    EXPECT_THAT(answer, Not(HasSubstr("/control"))) << page;
  }
  EXPECT_THAT(Ask(server->port(), "/apps/hackernews/sandbox/style.css"),
              StartsWith("HTTP/1.1 200 "));
}

TEST(Apps, TheirMemoryIsBoundedWhereverTheyRun) {
  const TemporaryFolder folder;
  const auto app = RunHearth({"app", "feed", "--firestore", "127.0.0.1:1", "--listen",
                              "127.0.0.1:0", "--data", folder / "app", "--memory-max-mib", "127"});
  ExpectRefusal(*app, "--memory-max-mib must be at least 128");
  const auto sandbox = RunHearth({"sandbox", "--listen", "127.0.0.1:0", "--memory-max-mib", "127"});
  ExpectRefusal(*sandbox, "--memory-max-mib must be at least 128");
}

TEST(Apps, TheSandboxAlone) {
  setenv("HEARTH_SANDBOX_TOKEN", "0123456789abcdef", 1);
  const auto sandbox = RunHearth({"sandbox", "--listen", "127.0.0.1:0"});
  unsetenv("HEARTH_SANDBOX_TOKEN");
  ASSERT_TRUE(sandbox->WaitUntilListening()) << sandbox->Stderr();
  EXPECT_THAT(Ask(sandbox->port(), "/0123456789abcdef/hn/v0/maxitem.json"),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Ask(sandbox->port(), "/hn/v0/maxitem.json"), StartsWith("HTTP/1.1 404 "));
  sandbox->Signal(SIGTERM);
  EXPECT_EQ(sandbox->Wait().code, 0);
}

}  // namespace
}  // namespace hearth::process
