// Random operations on feeds, with the cache in memory and on a Redis that fails now and then.
// HEARTH_SEED repeats a run; HEARTH_SOAK_SECONDS continues with new seeds.
#include "apps/feed/testing/model_test.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/feed/cache/memory_feed_cache.h"
#include "apps/feed/queue/document_feed_queue.h"
#include "apps/feed/redis/redis_client.h"
#include "apps/feed/redis/redis_feed_cache.h"
#include "apps/feed/redis/redis_feed_queue.h"
#include "apps/feed/testing/redis_server.h"
#include "base/testing/test_seed.h"
#include "client/embedded/embedded.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::feed {
namespace {

ModelBackend InProcess() {
  return {.name = "in process",
          .make =
              [](const Clock& clock, RandomSource& random, Metrics& metrics,
                 const Collections& collections) {
                return FeedCore::Parts{
                    .clock = clock,
                    .random = random,
                    .metrics = metrics,
                    .collections = collections,
                    .cache = std::make_unique<MemoryFeedCache>(clock, random),
                    .queue = std::make_unique<DocumentFeedQueue>(clock, collections)};
              },
          .harms = {[](std::mt19937_64& chance, FeedCore& core, const std::vector<UserId>& users) {
            ASSERT_TRUE(core.cache().Drop(users[chance() % users.size()]).ok());
          }}};
}

std::string AnyKey(std::mt19937_64& chance, const std::vector<UserId>& users) {
  return "feed:user:" + ToText(users[chance() % users.size()]);
}

// A Redis and its client, and the faults that can hit them.
class RedisUnderFire {
 public:
  ModelBackend Backend() {
    ModelBackend backend{.name = "on Redis", .make = {}, .harms = Harms()};
    backend.make = [this](const Clock& clock, RandomSource& random, Metrics& metrics,
                          const Collections& collections) {
      client_ = std::make_unique<RedisClient>(
          clock, metrics, std::vector<RedisAddress>{server_.address()},
          RedisTimes{.connect_timeout = std::chrono::milliseconds(100),
                     .command_timeout = std::chrono::milliseconds(100)});
      return FeedCore::Parts{
          .clock = clock,
          .random = random,
          .metrics = metrics,
          .collections = collections,
          .cache = std::make_unique<RedisFeedCache>(*client_, random),
          .queue = std::make_unique<RedisFeedQueue>(*client_, std::chrono::milliseconds(1))};
    };
    backend.break_down = [this] { BreakDown(); };
    backend.come_back = [this] { ComeBack(); };
    return backend;
  }

 private:
  using Harm = std::function<void(std::mt19937_64&, FeedCore&, const std::vector<UserId>&)>;
  std::vector<Harm> Harms() {
    using Users = std::vector<UserId>;
    const auto command = [this](std::vector<std::string> words) { server_.Command(words); };
    return {[=](std::mt19937_64&, FeedCore&, const Users&) { command({"FLUSHALL"}); },
            [=](std::mt19937_64& chance, FeedCore&, const Users& users) {  // It expires.
              command({"DEL", AnyKey(chance, users)});
            },
            [=](std::mt19937_64& chance, FeedCore&, const Users& users) {
              command({"DEL", "{" + AnyKey(chance, users) + "}:meta"});
            },
            [=](std::mt19937_64& chance, FeedCore&, const Users& users) {  // Half of it is lost.
              command({"ZREMRANGEBYRANK", AnyKey(chance, users), "3", "9"});
            },
            [=](std::mt19937_64& chance, FeedCore&, const Users& users) {
              command({"ZADD", AnyKey(chance, users), "5", "999999"});
            },
            [=](std::mt19937_64&, FeedCore&, const Users&) {
              command({"DEL", "{feed:fanout}:mark"});
            },
            [=](std::mt19937_64&, FeedCore&, const Users&) {
              command({"DEL", "stream:feed"});
            },
            [=](std::mt19937_64&, FeedCore&, const Users&) {
              command({"SCRIPT", "FLUSH"});
            }};
  }

  void BreakDown() {
    switch (breaks_++ % 3) {
      case 0:
        return server_.Kill();
      case 1:
        return server_.Pause();
      default:
        server_.Command({"CONFIG", "SET", "maxmemory", "1"});
    }
  }
  void ComeBack() {
    switch ((breaks_ - 1) % 3) {
      case 0:
        return server_.Restart();
      case 1:
        return server_.Resume();
      default:
        server_.Command({"CONFIG", "SET", "maxmemory", "0"});
    }
  }

  RedisServer server_;
  std::unique_ptr<RedisClient> client_;
  int breaks_ = 0;
};

// Runs a number of rounds with consecutive seeds, or as many as fit a soak's time. Over all rounds,
// every way to make a page must have been used.
void RunModel(
    const std::function<void(const std::function<void(const ModelBackend&)>&)>& with_backend,
    const std::vector<std::string>& ways) {
  constexpr uint64_t kRounds = 3;
  const char* soak = std::getenv("HEARTH_SOAK_SECONDS");
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(soak ? std::atoi(soak) : 0);
  std::map<std::string, uint64_t> pages;
  const uint64_t first_seed = TestSeed();
  for (uint64_t round = 0; round < kRounds || std::chrono::steady_clock::now() < end; ++round) {
    if (soak) std::cout << "round HEARTH_SEED=" << first_seed + round << std::endl;
    const storage::TemporaryFolder folder;
    const Result<client::Firestore> database =
        client::OpenEmbedded({.data_path = folder.path(), .cache_mib = 8});
    ASSERT_TRUE(database.ok()) << database.status().ToString();
    with_backend([&](const ModelBackend& backend) {
      FeedModel model({.seed = first_seed + round}, backend, *database);
      model.Run();
      for (const std::string& way : ways) pages[way] += model.PagesBy(way);
    });
    if (testing::Test::HasFailure()) return;
  }
  for (const std::string& way : ways) EXPECT_GT(pages[way], 0u) << way << " was never taken";
}

TEST(FeedModelTest, EveryPageIsWhatThePlainOracleSays) {
  RunModel([](const auto& run) { run(InProcess()); }, {"hit", "exhausted", "cold", "nobody"});
}

TEST(FeedModelTest, EveryPageIsWhatThePlainOracleSaysWhateverHappensToRedis) {
  RunModel(
      [](const auto& run) {
        RedisUnderFire redis;
        run(redis.Backend());
      },
      {"hit", "exhausted", "cold", "nobody", "degraded"});
}

}  // namespace
}  // namespace hearth::feed
