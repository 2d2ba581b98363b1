#include "kit/jobs/cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/fake_clock.h"

namespace hearth::kit {
namespace {

using std::chrono::minutes;
using Cache = TwoTierCache<std::string>;
using Source = Cache::Source;

// A second tier in memory that can fail or block on demand.
class FakeTier final : public SecondTier<std::string> {
 public:
  Result<std::optional<Cached<std::string>>> Load(const std::string& key) override {
    MutexLock lock(mutex_);
    ++loads;
    if (fails) return Status(Code::kUnavailable, "down");
    const auto found = entries_.find(key);
    if (found == entries_.end()) return std::optional<Cached<std::string>>();
    return std::optional(found->second);
  }
  Status Store(const std::string& key, const Cached<std::string>& cached) override {
    if (on_store) on_store();
    MutexLock lock(mutex_);
    ++stores;
    if (fails) return Status(Code::kUnavailable, "down");
    entries_[key] = cached;
    return Status();
  }
  Status Clear() override {
    MutexLock lock(mutex_);
    if (fails) return Status(Code::kUnavailable, "down");
    entries_.clear();
    return Status();
  }
  std::optional<std::string> Peek(const std::string& key) {
    MutexLock lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return std::nullopt;
    return *found->second.value;
  }

  std::atomic<bool> fails = false;
  std::atomic<size_t> loads = 0;
  std::atomic<size_t> stores = 0;
  std::function<void()> on_store;

 private:
  Mutex mutex_;
  std::map<std::string, Cached<std::string>> entries_ GUARDED_BY(mutex_);
};

// One thread opens it, others wait for it.
class Gate {
 public:
  void Open() {
    MutexLock lock(mutex_);
    is_open_ = true;
    opened_.NotifyAll();
  }
  void Wait() {
    MutexLock lock(mutex_);
    while (!is_open_) opened_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar opened_;
  bool is_open_ GUARDED_BY(mutex_) = false;
};

class CacheTest : public testing::Test {
 protected:
  Result<Cache::Hit> Get(const std::string& key, const std::string& value) {
    return cache_.Get(key, minutes(10), [this, value]() -> Result<std::string> {
      ++computed_;
      return value;
    });
  }
  void ExpectHit(const Result<Cache::Hit>& hit, const std::string& value, Source source) {
    ASSERT_TRUE(hit.ok()) << hit.status().ToString();
    EXPECT_EQ(*hit->cached.value, value);
    EXPECT_EQ(hit->source, source);
  }
  static Cache::Change Appending(const std::string& text) {
    return [text](const std::string& value) { return std::optional(value + text); };
  }

  FakeClock clock_{1'700'000'000'000'000};
  FakeTier tier_;
  Cache cache_{clock_, tier_, 3};
  std::atomic<size_t> computed_ = 0;
};

TEST_F(CacheTest, ComputesOnceThenServesFromMemory) {
  ExpectHit(Get("a", "one"), "one", Source::kComputed);
  ExpectHit(Get("a", "two"), "one", Source::kFirstTier);
  ExpectHit(Get("b", "two"), "two", Source::kComputed);
  EXPECT_EQ(computed_, 2u);
  EXPECT_EQ(tier_.Peek("a"), "one");
}

TEST_F(CacheTest, AnotherProcessFindsItInTheSecondTier) {
  ExpectHit(Get("a", "one"), "one", Source::kComputed);
  Cache other(clock_, tier_, 3);
  const auto never = []() -> Result<std::string> { return Status(Code::kInternal, "computed"); };
  ExpectHit(other.Get("a", minutes(10), never), "one", Source::kSecondTier);
  ExpectHit(other.Get("a", minutes(10), never), "one", Source::kFirstTier);
}

TEST_F(CacheTest, ExpiresOnTime) {
  ExpectHit(Get("a", "one"), "one", Source::kComputed);
  clock_.Advance(minutes(10) - std::chrono::milliseconds(1));
  ExpectHit(Get("a", "two"), "one", Source::kFirstTier);
  clock_.Advance(std::chrono::milliseconds(1));
  ExpectHit(Get("a", "two"), "two", Source::kComputed);
}

TEST_F(CacheTest, PromotionKeepsTheTimeSoNothingLivesForTwoTimeToLives) {
  const int64_t cached_at_ms = Get("a", "one")->cached.cached_at_ms;
  clock_.Advance(minutes(9));
  Cache other(clock_, tier_, 3);
  const auto compute = []() -> Result<std::string> { return std::string("two"); };
  const Result<Cache::Hit> promoted = other.Get("a", minutes(10), compute);
  ExpectHit(promoted, "one", Source::kSecondTier);
  EXPECT_EQ(promoted->cached.cached_at_ms, cached_at_ms);
  clock_.Advance(minutes(1));
  ExpectHit(other.Get("a", minutes(10), compute), "two", Source::kComputed);
}

TEST_F(CacheTest, EveryoneHasATimeToLiveOfTheirOwn) {
  ExpectHit(Get("a", "one"), "one", Source::kComputed);
  clock_.Advance(minutes(5));
  const auto compute = []() -> Result<std::string> { return std::string("two"); };
  ExpectHit(cache_.Get("a", minutes(6), compute), "one", Source::kFirstTier);
  ExpectHit(cache_.Get("a", minutes(5), compute), "two", Source::kComputed);
}

TEST_F(CacheTest, AValueFromTheFutureIsTrustedForAMinuteOnly) {
  ExpectHit(Get("a", "one"), "one", Source::kComputed);
  clock_.SetWall(clock_.WallMicros() - 60'000'000);
  ExpectHit(Get("a", "two"), "one", Source::kFirstTier);
  clock_.SetWall(clock_.WallMicros() - 1'000);
  ExpectHit(Get("a", "two"), "two", Source::kComputed);
}

TEST_F(CacheTest, TheOldestGoesFirst) {
  for (const char* key : {"a", "b", "c", "d"}) {
    ExpectHit(Get(key, key), key, Source::kComputed);
    clock_.Advance(minutes(1));
  }
  ExpectHit(Get("b", ""), "b", Source::kFirstTier);
  ExpectHit(Get("d", ""), "d", Source::kFirstTier);
  // After promotion it is still the oldest, and evicts the next oldest.
  ExpectHit(Get("a", ""), "a", Source::kSecondTier);
  ExpectHit(Get("b", ""), "b", Source::kSecondTier);
}

TEST_F(CacheTest, WithNoRoomAtAllItStillWorks) {
  Cache none(clock_, tier_, 0);
  const auto compute = []() -> Result<std::string> { return std::string("one"); };
  ExpectHit(none.Get("a", minutes(10), compute), "one", Source::kComputed);
  ExpectHit(none.Get("a", minutes(10), compute), "one", Source::kSecondTier);
  EXPECT_TRUE(none.Patch("a", Appending("!")).ok());
  EXPECT_EQ(tier_.Peek("a"), "one!");
}

TEST_F(CacheTest, ASecondTierThatFailsCountsAsEmpty) {
  tier_.fails = true;
  ExpectHit(Get("a", "one"), "one", Source::kComputed);
  ExpectHit(Get("a", "two"), "one", Source::kFirstTier);
  clock_.Advance(minutes(10));
  ExpectHit(Get("a", "two"), "two", Source::kComputed);
}

TEST_F(CacheTest, AFailureIsNotKept) {
  const Result<Cache::Hit> failed = cache_.Get(
      "a", minutes(10), []() -> Result<std::string> { return Status(Code::kAborted, "no"); });
  EXPECT_EQ(failed.status(), Status(Code::kAborted, "no"));
  ExpectHit(Get("a", "one"), "one", Source::kComputed);
}

TEST_F(CacheTest, WhatThrowsDoesNotBlockTheKey) {
  EXPECT_THROW(IgnoreError(cache_
                               .Get("a", minutes(10),
                                    []() -> Result<std::string> { throw std::runtime_error("x"); })
                               .status(),
                           "thrown"),
               std::runtime_error);
  ExpectHit(Get("a", "one"), "one", Source::kComputed);
  EXPECT_THROW(IgnoreError(cache_.Patch("a",
                                        [](const std::string&) -> std::optional<std::string> {
                                          throw std::runtime_error("x");
                                        }),
                           "thrown"),
               std::runtime_error);
  EXPECT_TRUE(cache_.Patch("a", Appending("!")).ok());
}

TEST_F(CacheTest, AColdBurstComputesOnce) {
  Gate gate;
  std::atomic<size_t> arrived = 0;
  std::atomic<size_t> right = 0;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 100; ++i) {
    threads.emplace_back([&] {
      ++arrived;
      const Result<Cache::Hit> hit = cache_.Get("a", minutes(10), [&]() -> Result<std::string> {
        ++computed_;
        gate.Wait();
        return std::string("one");
      });
      if (hit.ok() && *hit->cached.value == "one") ++right;
    });
  }
  while (arrived < 100) std::this_thread::yield();
  gate.Open();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(computed_, 1u);
  EXPECT_EQ(right, 100u);
  EXPECT_EQ(tier_.stores, 1u);
}

TEST_F(CacheTest, OtherKeysDoNotWait) {
  Gate gate;
  std::thread slow([&] {
    ExpectHit(cache_.Get("slow", minutes(10),
                         [&]() -> Result<std::string> {
                           gate.Wait();
                           return std::string("late");
                         }),
              "late", Source::kComputed);
  });
  ExpectHit(Get("quick", "one"), "one", Source::kComputed);
  gate.Open();
  slow.join();
}

TEST_F(CacheTest, AFailureReachesAllWhoWaited) {
  // A caller after the failure computes again, and fails too.
  Gate gate;
  std::atomic<size_t> arrived = 0;
  std::atomic<size_t> failed = 0;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 100; ++i) {
    threads.emplace_back([&] {
      ++arrived;
      const Result<Cache::Hit> hit = cache_.Get("a", minutes(10), [&]() -> Result<std::string> {
        ++computed_;
        gate.Wait();
        return Status(Code::kUnavailable, "down");
      });
      if (hit.status() == Status(Code::kUnavailable, "down")) ++failed;
    });
  }
  while (arrived < 100) std::this_thread::yield();
  gate.Open();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 100u);
  ExpectHit(Get("a", "one"), "one", Source::kComputed);
}

TEST_F(CacheTest, PatchChangesBothTiersAndKeepsTheTime) {
  const int64_t cached_at_ms = Get("a", "one")->cached.cached_at_ms;
  clock_.Advance(minutes(9));
  EXPECT_TRUE(cache_.Patch("a", Appending("!")).ok());
  EXPECT_EQ(tier_.Peek("a"), "one!");
  const Result<Cache::Hit> hit = Get("a", "two");
  ExpectHit(hit, "one!", Source::kFirstTier);
  EXPECT_EQ(hit->cached.cached_at_ms, cached_at_ms);
  clock_.Advance(minutes(1));
  ExpectHit(Get("a", "two"), "two", Source::kComputed);
}

TEST_F(CacheTest, PatchOfWhatIsNotCachedOrNotChangedDoesNothing) {
  EXPECT_TRUE(cache_.Patch("a", Appending("!")).ok());
  ExpectHit(Get("a", "one"), "one", Source::kComputed);
  EXPECT_TRUE(cache_.Patch("a", [](const std::string&) { return std::nullopt; }).ok());
  EXPECT_EQ(tier_.stores, 1u);
  EXPECT_EQ(tier_.Peek("a"), "one");
}

TEST_F(CacheTest, PatchChangesWhatOnlyTheSecondTierHas) {
  ExpectHit(Get("a", "one"), "one", Source::kComputed);
  Cache other(clock_, tier_, 3);
  EXPECT_TRUE(other.Patch("a", Appending("!")).ok());
  EXPECT_EQ(tier_.Peek("a"), "one!");
}

TEST_F(CacheTest, PatchSaysWhenTheSecondTierFails) {
  ExpectHit(Get("a", "one"), "one", Source::kComputed);
  tier_.fails = true;
  EXPECT_EQ(cache_.Patch("a", Appending("!")).code(), Code::kUnavailable);
  ExpectHit(Get("a", "two"), "one!", Source::kFirstTier);
}

TEST_F(CacheTest, PatchDuringAComputeChangesWhatIsComputed) {
  Gate computing;
  Gate patching;
  std::thread getter([&] {
    ExpectHit(cache_.Get("a", minutes(10),
                         [&]() -> Result<std::string> {
                           computing.Open();
                           patching.Wait();
                           return std::string("one");
                         }),
              "one", Source::kComputed);
  });
  computing.Wait();
  std::thread patcher([&] {
    patching.Open();
    EXPECT_TRUE(cache_.Patch("a", Appending("!")).ok());
  });
  getter.join();
  patcher.join();
  ExpectHit(Get("a", "two"), "one!", Source::kFirstTier);
  EXPECT_EQ(tier_.Peek("a"), "one!");
}

TEST_F(CacheTest, ConcurrentPatchesAllCount) {
  ExpectHit(Get("a", ""), "", Source::kComputed);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 20; ++i) {
    threads.emplace_back([&] {
      for (size_t j = 0; j < 10; ++j) EXPECT_TRUE(cache_.Patch("a", Appending("x")).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  ExpectHit(Get("a", "two"), std::string(200, 'x'), Source::kFirstTier);
  EXPECT_EQ(tier_.Peek("a"), std::string(200, 'x'));
}

TEST_F(CacheTest, ClearEmptiesBothTiers) {
  ExpectHit(Get("a", "one"), "one", Source::kComputed);
  EXPECT_TRUE(cache_.Clear().ok());
  EXPECT_EQ(tier_.Peek("a"), std::nullopt);
  ExpectHit(Get("a", "two"), "two", Source::kComputed);
}

TEST_F(CacheTest, ClearSaysWhenTheSecondTierFails) {
  ExpectHit(Get("a", "one"), "one", Source::kComputed);
  tier_.fails = true;
  EXPECT_EQ(cache_.Clear().code(), Code::kUnavailable);
  ExpectHit(Get("a", "two"), "two", Source::kComputed);
}

TEST_F(CacheTest, WhatIsComputedDuringClearIsHandedOutButNotKept) {
  Gate computing;
  Gate cleared;
  std::thread getter([&] {
    ExpectHit(cache_.Get("a", minutes(10),
                         [&]() -> Result<std::string> {
                           computing.Open();
                           cleared.Wait();
                           return std::string("old");
                         }),
              "old", Source::kComputed);
  });
  computing.Wait();
  EXPECT_TRUE(cache_.Clear().ok());
  // Does not wait for computations that began before.
  ExpectHit(Get("a", "new"), "new", Source::kComputed);
  cleared.Open();
  getter.join();
  ExpectHit(Get("a", "newer"), "new", Source::kFirstTier);
  EXPECT_EQ(tier_.Peek("a"), "new");
}

TEST_F(CacheTest, ClearWaitsForAStoreThatHasBegun) {
  Gate storing;
  Gate store;
  tier_.on_store = [&] {
    storing.Open();
    store.Wait();
  };
  std::thread getter([&] { ExpectHit(Get("a", "old"), "old", Source::kComputed); });
  storing.Wait();
  std::thread clearer([&] { EXPECT_TRUE(cache_.Clear().ok()); });
  store.Open();
  clearer.join();
  getter.join();
  EXPECT_EQ(tier_.Peek("a"), std::nullopt);
}

TEST_F(CacheTest, APatchThatClearOvertookKeepsNothing) {
  ExpectHit(Get("a", "one"), "one", Source::kComputed);
  Gate changing;
  Gate cleared;
  std::thread patcher([&] {
    EXPECT_TRUE(cache_
                    .Patch("a",
                           [&](const std::string& value) {
                             changing.Open();
                             cleared.Wait();
                             return std::optional(value + "!");
                           })
                    .ok());
  });
  changing.Wait();
  EXPECT_TRUE(cache_.Clear().ok());
  cleared.Open();
  patcher.join();
  EXPECT_EQ(tier_.Peek("a"), std::nullopt);
  ExpectHit(Get("a", "two"), "two", Source::kComputed);
}

TEST_F(CacheTest, EverythingAtOnceEndsAndAgrees) {
  std::atomic<bool> failed = false;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (size_t j = 0; j < 200; ++j) {
        const std::string key(1, static_cast<char>('a' + (i + j) % 5));
        if (j % 17 == 0) {
          failed = failed || !cache_.Clear().ok();
        } else if (j % 5 == 0) {
          failed = failed || !cache_.Patch(key, Appending("x")).ok();
        } else {
          const Result<Cache::Hit> hit = Get(key, key);
          failed = failed || !hit.ok() || !hit->cached.value->starts_with(key);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(failed);
  for (const std::string key : {"a", "b", "c", "d", "e"}) {
    const Result<Cache::Hit> hit = Get(key, key);
    ASSERT_TRUE(hit.ok());
    // A value may be in the first tier only, but the tiers never differ.
    EXPECT_EQ(tier_.Peek(key).value_or(*hit->cached.value), *hit->cached.value);
  }
}

}  // namespace
}  // namespace hearth::kit
