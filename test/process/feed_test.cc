// The photo feed when processes die: its own, its database's and Redis.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "apps/feed/testing/redis_server.h"
#include "process/feed_crowd.h"
#include "process/process.h"

namespace hearth::process {
namespace {

constexpr int kKills = 5;
// The maximum number of acknowledged requests before something is killed.
constexpr int kRequestsMax = 60;

uint64_t Seed() {
  const char* const text = std::getenv("HEARTH_SEED");
  const uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 10) : 20'261'116;
  std::cout << "HEARTH_SEED=" << seed << std::endl;
  return seed;
}

constexpr char kOperatorSecret[] = "the operator of this test";

// Without demo accounts: only the users of the test post, as often as they can.
std::string SettingsWithoutDemo(const TemporaryFolder& folder) {
  std::ofstream(folder / "apps.json")
      << R"({"feed": {"demo": false, "posts_per_hour": 1000000, "operator_secret": ")"
      << kOperatorSecret << "\"}}";
  return folder / "apps.json";
}

TEST(Feed, KillsOfTheServerLoseNothingAndLeaveNothingHalfDone) {
  const TemporaryFolder folder;
  const std::vector<std::string> flags = {"--apps", "feed", "--app-config",
                                          SettingsWithoutDemo(folder)};
  FeedCrowd crowd(Seed());
  auto server = Serve(folder / "data", flags);
  crowd.Register({server->port(), "/apps/feed"});
  for (int kill = 0; kill < kKills; ++kill) {
    SCOPED_TRACE("kill " + std::to_string(kill));
    crowd.Start({server->port(), "/apps/feed"});
    crowd.WaitForAcknowledged(crowd.Random(kRequestsMax));
    server->Kill();
    crowd.Stop();
    server = Serve(folder / "data", flags);
    crowd.Check({server->port(), "/apps/feed"});
    if (testing::Test::HasFailure()) return;
  }
}

// The application with Redis, on a database in another process.
class FeedAlone : public testing::Test {
 protected:
  void SetUp() override {
    database_ = Serve(folder_ / "data", {"--apps", "none"});
    database_port_ = database_->port();
    StartApp();
    crowd_.Register(door());
  }

  FeedDoor door() const { return {app_->port(), ""}; }
  void StartApp() {
    app_ = RunHearth({"app", "feed", "--firestore", DatabaseAddress(), "--listen", "127.0.0.1:0",
                      "--data", folder_ / "app", "--redis", redis_.address().ToString(),
                      "--app-config", settings_});
    ASSERT_TRUE(app_->WaitUntilListening()) << app_->Stderr();
  }
  // At the same address, since its clients know no other. Another process may hold that port for a
  // moment.
  void RestartDatabase() {
    const auto end = std::chrono::steady_clock::now() + support::kPatience;
    do {
      database_ = RunHearth({"serve", "--data", folder_ / "data", "--listen", DatabaseAddress()});
      if (database_->WaitUntilListening()) return;
    } while (std::chrono::steady_clock::now() < end);
    FAIL() << database_->Stderr();
  }
  std::string DatabaseAddress() const { return "127.0.0.1:" + std::to_string(database_port_); }

  const TemporaryFolder folder_;
  const std::string settings_ = SettingsWithoutDemo(folder_);
  feed::RedisServer redis_;
  FeedCrowd crowd_{Seed()};
  std::unique_ptr<ServerProcess> database_;
  uint16_t database_port_ = 0;
  std::unique_ptr<ServerProcess> app_;
};

TEST_F(FeedAlone, KillsOfTheApplicationWithAnEmptyRedisLoseNothing) {
  for (int kill = 0; kill < kKills; ++kill) {
    SCOPED_TRACE("kill " + std::to_string(kill));
    crowd_.Start(door());
    crowd_.WaitForAcknowledged(crowd_.Random(kRequestsMax));
    redis_.Kill();
    crowd_.WaitForAcknowledged(crowd_.Random(kRequestsMax));
    redis_.Restart();
    crowd_.WaitForAcknowledged(crowd_.Random(kRequestsMax));
    app_->Kill();
    crowd_.Stop();
    StartApp();
    crowd_.Check(door());
    if (HasFailure()) return;
  }
}

TEST_F(FeedAlone, WhileItsDatabaseIsAwayItSaysSoAndNothingIsDoneTwice) {
  for (int kill = 0; kill < kKills; ++kill) {
    SCOPED_TRACE("kill " + std::to_string(kill));
    crowd_.Start(door());
    crowd_.WaitForAcknowledged(crowd_.Random(kRequestsMax));
    database_->Kill();
    RestartDatabase();
    crowd_.WaitForAcknowledged(crowd_.Random(kRequestsMax));
    crowd_.Stop();
    crowd_.Check(door());
    if (HasFailure()) return;
  }
  const FeedDoor::Answer health = door().Send("GET", "/health", kOperatorSecret);
  EXPECT_EQ(health.status, 200) << health.body;
  EXPECT_EQ(health.Json().at("queue").at("dead"), 0) << health.body;
}

}  // namespace
}  // namespace hearth::process
