#include "apps/feed/cache/memory_feed_cache.h"
#include "apps/feed/redis/redis_feed_cache.h"
#include "apps/feed/testing/feed_cache_contract.h"
#include "apps/feed/testing/redis_server.h"
#include "base/testing/fake_clock.h"

namespace hearth::feed {
namespace {

constexpr int64_t kStartMicros = 1'794'744'000'000'000;

class MemoryFixture final : public FeedCacheFixture {
 public:
  FeedCache& cache() override { return cache_; }
  void PassTime(std::chrono::seconds time) override { clock_.Advance(time); }

 private:
  FakeClock clock_{kStartMicros};
  RandomSource random_{1};
  MemoryFeedCache cache_{clock_, random_};
};

// Simulates the passing of time by shortening the TTL of every key.
void AgeKeys(RedisServer& server, std::chrono::milliseconds time) {
  for (const RedisReply& key : server.Command({"KEYS", "*"}).elements) {
    const int64_t left = server.Command({"PTTL", key.text}).integer;
    if (left < 0) continue;
    server.Command({"PEXPIRE", key.text, std::to_string(left - time.count())});
  }
}

class RedisFixture final : public FeedCacheFixture {
 public:
  RedisFixture(std::vector<RedisServer*> servers, std::vector<RedisAddress> addresses)
      : servers_(std::move(servers)), client_(clock_, metrics_, std::move(addresses), kTimes) {
    for (RedisServer* server : servers_) server->Flush();
  }

  FeedCache& cache() override { return cache_; }
  void PassTime(std::chrono::seconds time) override {
    for (RedisServer* server : servers_) AgeKeys(*server, time);
  }

 private:
  // Generous, so that a busy machine does not look like a failure of Redis.
  static constexpr RedisTimes kTimes{std::chrono::seconds(20), std::chrono::seconds(20), {}};

  FakeClock clock_{kStartMicros};
  RandomSource random_;
  Metrics metrics_;
  const std::vector<RedisServer*> servers_;
  RedisClient client_;
  RedisFeedCache cache_{client_, random_};
};

}  // namespace

std::unique_ptr<FeedCacheFixture> MakeMemoryFixture() { return std::make_unique<MemoryFixture>(); }

std::unique_ptr<FeedCacheFixture> MakeRedisFixture() {
  static RedisServer server;
  return std::make_unique<RedisFixture>(std::vector<RedisServer*>{&server},
                                        std::vector<RedisAddress>{server.address()});
}

std::unique_ptr<FeedCacheFixture> MakeClusterFixture() {
  static RedisCluster cluster;
  std::vector<RedisServer*> servers;
  for (size_t i = 0; i < RedisCluster::kNodes; ++i) servers.push_back(&cluster.node(i));
  return std::make_unique<RedisFixture>(std::move(servers),
                                        std::vector<RedisAddress>{cluster.node(0).address()});
}

}  // namespace hearth::feed
