// The reader on an embedded database.
#include "client/embedded/embedded.h"

#include <gtest/gtest.h>

#include <memory>

#include "apps/hackernews/hidden_stories.h"
#include "apps/hackernews/testing/reader_test.h"
#include "base/check.h"
#include "client/embedded/testing/embedded_database.h"

namespace hearth::hackernews {
namespace {

INSTANTIATE_TEST_SUITE_P(Embedded, ReaderTest,
                         testing::Values(client::ContractBackend{
                             .name = "Embedded", .fresh = client::FreshTestDatabase}),
                         client::BackendName);

// The application on its own database, with everything that it borrows.
struct TestApplication {
  Result<std::unique_ptr<kit::Application>> Make(const std::string& sandbox_url,
                                                 const nlohmann::json& settings) {
    return MakeApplication({.database = client::FreshTestDatabase(),
                            .clock = clock,
                            .random = random,
                            .metrics = metrics,
                            .data_path = folder.path(),
                            .environment = "ci",
                            .settings = settings,
                            .sandbox_url = sandbox_url});
  }

  storage::TemporaryFolder folder;
  SystemClock clock;
  RandomSource random;
  Metrics metrics;
};

// The response to a GET from an application with these settings.
kit::Response Ask(const std::string& sandbox_url, const nlohmann::json& settings,
                  const std::string& path) {
  TestApplication test;
  Result<std::unique_ptr<kit::Application>> app = test.Make(sandbox_url, settings);
  CHECK(app.ok());
  http::RequestHead head;
  head.set_method("GET");
  head.set_target(path);
  return (*app)->routes().Answer(kit::Request(std::move(head), "", path, "127.0.0.1"));
}

TEST(SiteTest, TheSandboxsStoriesLeadToItsPagesAndItsAccountIsShown) {
  const std::string sandbox = "http://127.0.0.1:4711";
  const nlohmann::json expected = {{"itemUrl", "sandbox/item?id="},
                                   {"articleUrl", "sandbox/article?id="},
                                   {"madeUp", true},
                                   {"demoAccount", {{"username", "demo"}, {"password", "hearth"}}}};
  EXPECT_EQ(nlohmann::json::parse(Ask(sandbox, nlohmann::json::object(), "/api/v1/site").body),
            expected);
}

// The sandbox's URL has a secret path, and the page above its services shows it.
TEST(SiteTest, OnlyThePagesOfStoriesAreFetchedFromTheSandbox) {
  const FakeHn hn;
  const auto ask = [&](const std::string& path) {
    return Ask(hn.url(), nlohmann::json::object(), path);
  };
  for (const char* path :
       {"/sandbox/%2e%2e", "/sandbox/..", "/sandbox/.", "/sandbox/%2e%2e%2f", "/sandbox/login",
        "/sandbox/item%2f..%2f..", "/sandbox/%69tem", "/sandbox/", "/sandbox/../item"}) {
    const kit::Response response = ask(path);
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_NE(response.body.find("unknown endpoint"), std::string::npos) << response.body;
  }
  // What the site answers.
  for (const char* path : {"/sandbox/item", "/sandbox/article", "/sandbox/style.css"}) {
    EXPECT_EQ(ask(path).body, "no such thing") << path;
  }
}

TEST(SiteTest, RealStoriesLeadToTheRealSite) {
  const auto site = [](const std::string& url) {
    return nlohmann::json{{"itemUrl", url + "/item?id="},
                          {"articleUrl", nullptr},
                          {"madeUp", false},
                          {"demoAccount", nullptr}};
  };
  const auto ask = [](const std::string& sandbox_url, const nlohmann::json& settings) {
    EXPECT_EQ(Ask(sandbox_url, settings, "/sandbox/item").status, 404);
    return nlohmann::json::parse(Ask(sandbox_url, settings, "/api/v1/site").body);
  };
  EXPECT_EQ(ask("", nlohmann::json::object()), site("https://news.ycombinator.com"));
  EXPECT_EQ(ask("", {{"site_url", "https://hn.example"}}), site("https://hn.example"));
  // Another API, or another site, than the sandbox's.
  const std::string sandbox = "http://127.0.0.1:4711";
  EXPECT_EQ(ask(sandbox, {{"api_url", "https://api.example"}}), site(sandbox + "/hn-site"));
  EXPECT_EQ(ask(sandbox, {{"site_url", "https://hn.example"}}), site("https://hn.example"));
}

// Settings may name other services than the sandbox's, but must not let the reader probe the
// network in which it runs.
TEST(SettingsTest, OtherServicesAreAskedButNoneOfThisMachine) {
  const FakeHn hn;
  TestApplication test;
  Result<std::unique_ptr<kit::Application>> app =
      test.Make("", {{"api_url", hn.url() + "/hn"}, {"worker_secret", "secret"}});
  ASSERT_TRUE(app.ok()) << app.status().ToString();
  http::RequestHead head;
  head.set_method("POST");
  head.set_target("/api/v1/worker");
  head.AddHeader("x-worker-secret", "secret");
  const kit::Response response =
      (*app)->routes().Answer(kit::Request(std::move(head), "", "/api/v1/worker", "127.0.0.1"));
  EXPECT_EQ(response.status, 403) << response.body;
  EXPECT_NE(response.body.find("127.0.0.1"), std::string::npos) << response.body;
}

// The case for which the specification gave up arrays.
TEST(HiddenStoriesTest, OneUserHides117000Stories) {
  constexpr int64_t kStories = 117'000;
  const storage::TemporaryFolder folder;
  const Result<client::Firestore> database = client::OpenEmbedded({.data_path = folder.path()});
  ASSERT_TRUE(database.ok()) << database.status().ToString();
  const auto counts = std::make_shared<client::CountingTransport>(database->transport());
  const Collections collections(client::Firestore(counts), "ci");
  const FakeClock clock(kStartMs * 1'000);
  {
    client::BulkWriter writer = collections.database().Bulk();
    for (int64_t id = 0; id < kStories; ++id) {
      writer.Set(collections.hidden("alice").Doc(std::to_string(id * 3)),
                 {{"addedAt", kStartMs - kDayMs}});
    }
    ASSERT_TRUE(writer.Flush().ok());
  }
  HiddenStories hidden(clock, collections);
  counts->Reset();
  const auto ids = hidden.Get("alice");
  ASSERT_TRUE(ids.ok()) << ids.status().ToString();
  EXPECT_EQ((*ids)->size(), static_cast<size_t>(kStories));
  EXPECT_EQ(counts->reads(), static_cast<uint64_t>(kStories));

  // From now on only new documents are read.
  counts->Reset();
  ASSERT_TRUE(hidden.Hide("alice", 1).ok());
  const auto again = hidden.Get("alice");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->size(), static_cast<size_t>(kStories) + 1);
  EXPECT_EQ(counts->reads(), 1u);
}

}  // namespace
}  // namespace hearth::hackernews
