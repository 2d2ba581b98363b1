// The reader on a database in this process.
#include "client/embedded.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "apps/hackernews/hidden_stories.h"
#include "apps/hackernews/testing/reader_test.h"
#include "base/check.h"

namespace hearth::hackernews {
namespace {

client::Firestore FreshDatabase() {
  // They outlive the tests, whose members have the last handles.
  static std::vector<std::unique_ptr<storage::TemporaryFolder>> folders;
  folders.push_back(std::make_unique<storage::TemporaryFolder>());
  Result<client::Firestore> database =
      client::OpenEmbedded({.data_path = folders.back()->path(), .cache_mib = 8});
  CHECK(database.ok());
  return *std::move(database);
}

INSTANTIATE_TEST_SUITE_P(Embedded, ReaderTest,
                         testing::Values(client::ContractBackend{.name = "Embedded",
                                                                 .fresh = FreshDatabase}),
                         client::BackendName);

// Settings name other services than the sandbox's; whoever writes them cannot make the reader ask
// around in the network it runs in.
TEST(SettingsTest, OtherServicesAreAskedButNoneOfThisMachine) {
  const FakeHn hn;
  const storage::TemporaryFolder folder;
  const SystemClock clock;
  RandomSource random;
  kit::Metrics metrics;
  Result<std::unique_ptr<kit::Application>> app =
      MakeApplication({.database = FreshDatabase(),
                       .clock = clock,
                       .random = random,
                       .metrics = metrics,
                       .data_path = folder.path(),
                       .environment = "ci",
                       .settings = {{"api_url", hn.url() + "/hn"}, {"worker_secret", "secret"}},
                       .sandbox_url = ""});
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

// The one who made the specification give up arrays.
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

  // From now on only what is new is read.
  counts->Reset();
  ASSERT_TRUE(hidden.Hide("alice", 1).ok());
  const auto again = hidden.Get("alice");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->size(), static_cast<size_t>(kStories) + 1);
  EXPECT_EQ(counts->reads(), 1u);
}

}  // namespace
}  // namespace hearth::hackernews
