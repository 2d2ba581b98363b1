// For tests: the contract of every FeedCache.
//
// The suite is in the library `feed_cache_contract`. A test program links it and names the caches
// to run it on:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, FeedCacheContract, testing::Values(&MakeMemoryCache));
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/feed/cache/feed_cache.h"

namespace hearth::feed {

// An empty cache with a fake clock.
class FeedCacheFixture {
 public:
  virtual ~FeedCacheFixture() = default;

  virtual FeedCache& cache() = 0;
  virtual void PassTime(std::chrono::seconds time) = 0;
};

inline PostKey Key(int64_t seconds, int64_t id) {
  return {.created_seconds = seconds, .id = PostId{id}};
}

using MakeFeedCache = std::unique_ptr<FeedCacheFixture> (*)();

// Warms a cache as a reader does; fails the test on an error.
void Warm(FeedCache& cache, const std::string& epoch, UserId user, int64_t following_version,
          const std::vector<PostKey>& posts);
// Starts an epoch and returns it.
std::string EpochOf(FeedCache& cache, PostKey newest = {});
// All cached posts, read page by page; fails the test if there is no cache.
std::vector<PostKey> ReadAll(FeedCache& cache, const std::string& epoch, UserId user,
                             size_t page = 10);
bool HasCache(FeedCache& cache, const std::string& epoch, UserId user);

class FeedCacheContract : public testing::TestWithParam<MakeFeedCache> {
 protected:
  FeedCacheContract() : fixture_(GetParam()()), cache_(fixture_->cache()) {}

  void SetUp() override { epoch_ = EpochOf(cache_); }
  // For the user under test; fails the test if there is no cache.
  FeedCache::Slice Read(const std::optional<PostKey>& before, size_t limit);

  std::unique_ptr<FeedCacheFixture> fixture_;
  FeedCache& cache_;
  std::string epoch_;
};

// A cache in this process's memory.
std::unique_ptr<FeedCacheFixture> MakeMemoryFixture();
// A Redis server, and a cluster, shared by all tests of the program.
std::unique_ptr<FeedCacheFixture> MakeRedisFixture();
std::unique_ptr<FeedCacheFixture> MakeClusterFixture();

}  // namespace hearth::feed
