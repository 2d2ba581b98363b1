// Random doings on feeds, with the cache in this process and on a Redis that dies now and then.
#include "apps/feed/testing/model_test.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "apps/feed/document_feed_queue.h"
#include "apps/feed/memory_feed_cache.h"
#include "apps/feed/redis/redis_client.h"
#include "apps/feed/redis/redis_feed_cache.h"
#include "apps/feed/redis/redis_feed_queue.h"
#include "apps/feed/testing/redis_server.h"
#include "client/embedded.h"
#include "storage/temporary_folder.h"

namespace hearth::feed {
namespace {

ModelBackend InProcess() {
  return {.name = "in process",
          .make =
              [](const Clock& clock, RandomSource& random, kit::Metrics& metrics,
                 const Collections& collections) {
                return FeedCore::Parts{
                    .clock = clock,
                    .random = random,
                    .metrics = metrics,
                    .collections = collections,
                    .cache = std::make_unique<MemoryFeedCache>(clock, random),
                    .queue = std::make_unique<DocumentFeedQueue>(clock, collections)};
              },
          .harms = {[](std::mt19937_64& chance, FeedCore& core, const std::vector<int64_t>& users) {
            ASSERT_TRUE(core.cache().Drop(users[chance() % users.size()]).ok());
          }}};
}

std::string AnyKey(std::mt19937_64& chance, const std::vector<int64_t>& users) {
  return "feed:user:" + std::to_string(users[chance() % users.size()]);
}

// A Redis and its client, and all that can happen to them.
class RedisUnderFire {
 public:
  ModelBackend Backend() {
    ModelBackend backend{.name = "on Redis", .make = {}, .harms = Harms()};
    backend.make = [this](const Clock& clock, RandomSource& random, kit::Metrics& metrics,
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
  using Harm = std::function<void(std::mt19937_64&, FeedCore&, const std::vector<int64_t>&)>;
  std::vector<Harm> Harms() {
    using Users = std::vector<int64_t>;
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

void RunModel(const ModelOptions& options, const ModelBackend& backend,
              const std::vector<std::string>& paths) {
  const storage::TemporaryFolder folder;
  const Result<client::Firestore> database =
      client::OpenEmbedded({.data_path = folder.path(), .cache_mib = 8});
  EXPECT_TRUE(database.ok()) << database.status().ToString();
  FeedModel model(options, backend, *database);
  model.Run();
  for (const std::string& path : paths) {
    EXPECT_GT(model.PagesBy(path), 0u) << path << " was never taken";
  }
}

class FeedModelTest : public testing::TestWithParam<uint64_t> {};

TEST_P(FeedModelTest, EveryPageIsWhatThePlainOracleSays) {
  RunModel({.seed = GetParam()}, InProcess(), {"hit", "exhausted", "cold", "nobody"});
}

TEST_P(FeedModelTest, EveryPageIsWhatThePlainOracleSaysWhateverHappensToRedis) {
  RedisUnderFire redis;
  RunModel({.seed = GetParam()}, redis.Backend(),
           {"hit", "exhausted", "cold", "nobody", "degraded"});
}

INSTANTIATE_TEST_SUITE_P(Seeds, FeedModelTest, testing::Range<uint64_t>(1, 4));

}  // namespace
}  // namespace hearth::feed
