#include "documents/document_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/testing/test_seed.h"

namespace hearth::documents {
namespace {

model::Record MakeRecord(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

void Fill(DocumentCache& cache, const std::string& key, std::string text) {
  cache.Insert(key, MakeRecord(std::move(text)), cache.BeginFill(key));
}

size_t CountCached(DocumentCache& cache, size_t keys) {
  size_t found = 0;
  for (size_t i = 0; i < keys; ++i) found += cache.Find("key" + std::to_string(i)) ? 1u : 0u;
  return found;
}

TEST(DocumentCacheTest, FindsWhatWasInserted) {
  DocumentCache cache(1 << 20);
  EXPECT_EQ(cache.Find("k"), nullptr);
  Fill(cache, "k", "one");
  ASSERT_NE(cache.Find("k"), nullptr);
  EXPECT_EQ(*cache.Find("k"), "one");
  EXPECT_EQ(cache.Find("other"), nullptr);
}

TEST(DocumentCacheTest, AbsenceIsNotCached) {
  DocumentCache cache(1 << 20);
  cache.Insert("k", nullptr, cache.BeginFill("k"));
  EXPECT_EQ(cache.Find("k"), nullptr);
}

TEST(DocumentCacheTest, UpdatesReplace) {
  DocumentCache cache(1 << 20);
  Fill(cache, "k", "one");
  const model::Record held = cache.Find("k");
  cache.Update("k", MakeRecord("two"));
  EXPECT_EQ(*cache.Find("k"), "two");
  EXPECT_EQ(*held, "one");  // Readers keep their record.
  cache.Update("k", nullptr);
  EXPECT_EQ(cache.Find("k"), nullptr);
}

TEST(DocumentCacheTest, UpdatesBringNothingIn) {
  DocumentCache cache(1 << 20);
  cache.Update("k", MakeRecord("one"));
  EXPECT_EQ(cache.Find("k"), nullptr);
}

TEST(DocumentCacheTest, RefusesWhatWasReadBeforeACommit) {
  DocumentCache cache(1 << 20);
  const DocumentCache::Ticket ticket = cache.BeginFill("k");
  cache.Update("k", MakeRecord("new"));
  cache.Insert("k", MakeRecord("old"), ticket);
  EXPECT_EQ(cache.Find("k"), nullptr);
  // The same if the commit deleted the document.
  const DocumentCache::Ticket second = cache.BeginFill("k");
  cache.Update("k", nullptr);
  cache.Insert("k", MakeRecord("old"), second);
  EXPECT_EQ(cache.Find("k"), nullptr);
  Fill(cache, "k", "newer");
  EXPECT_EQ(*cache.Find("k"), "newer");
}

TEST(DocumentCacheTest, TheFirstOfTwoFillsStays) {
  DocumentCache cache(1 << 20);
  const DocumentCache::Ticket first = cache.BeginFill("k");
  const DocumentCache::Ticket second = cache.BeginFill("k");
  cache.Insert("k", MakeRecord("same"), first);
  const model::Record cached = cache.Find("k");
  cache.Insert("k", MakeRecord("same"), second);
  EXPECT_EQ(cache.Find("k"), cached);
}

TEST(DocumentCacheTest, StaysWithinItsBytes) {
  constexpr size_t kBytesMax = 1 << 20;
  constexpr size_t kRecordBytes = 1'000;
  constexpr size_t kKeys = 5'000;
  DocumentCache cache(kBytesMax);
  for (size_t i = 0; i < kKeys; ++i) {
    Fill(cache, "key" + std::to_string(i), std::string(kRecordBytes, 'x'));
  }
  const size_t kept = CountCached(cache, kKeys);
  EXPECT_LE(kept * kRecordBytes, kBytesMax);
  EXPECT_GE(kept * kRecordBytes, kBytesMax / 2);  // But it uses its budget.
}

TEST(DocumentCacheTest, GrowingRecordsPushOthersOut) {
  constexpr size_t kBytesMax = 1 << 20;
  constexpr size_t kKeys = 1'000;
  DocumentCache cache(kBytesMax);
  for (size_t i = 0; i < kKeys; ++i) Fill(cache, "key" + std::to_string(i), "small");
  EXPECT_EQ(CountCached(cache, kKeys), kKeys);
  for (size_t i = 0; i < kKeys; ++i) {
    cache.Update("key" + std::to_string(i), MakeRecord(std::string(10'000, 'x')));
  }
  EXPECT_LE(CountCached(cache, kKeys) * 10'000, kBytesMax);
  for (size_t i = 0; i < kKeys; ++i) cache.Update("key" + std::to_string(i), nullptr);
  EXPECT_EQ(CountCached(cache, kKeys), 0u);
}

TEST(DocumentCacheTest, KeepsWhatIsUsed) {
  DocumentCache cache(1 << 20);
  Fill(cache, "hot", "x");
  for (size_t i = 0; i < 5'000; ++i) {
    Fill(cache, "key" + std::to_string(i), std::string(1'000, 'x'));
    ASSERT_NE(cache.Find("hot"), nullptr);
  }
}

TEST(DocumentCacheTest, ARecordBeyondAllBoundsIsNotKept) {
  DocumentCache cache(16 * 1'000);
  Fill(cache, "small", "x");
  Fill(cache, "large", std::string(10'000, 'x'));
  EXPECT_EQ(cache.Find("large"), nullptr);
  cache.Update("small", MakeRecord(std::string(10'000, 'x')));
  EXPECT_EQ(cache.Find("small"), nullptr);
}

TEST(DocumentCacheTest, ARecordBeyondAllBoundsPushesNothingOut) {
  DocumentCache cache(16 * 1'000);
  for (size_t i = 0; i < 16; ++i) Fill(cache, "key" + std::to_string(i), "x");
  const size_t kept = CountCached(cache, 16);
  for (size_t i = 0; i < 100; ++i)
    Fill(cache, "large" + std::to_string(i), std::string(2'000, 'x'));
  EXPECT_EQ(CountCached(cache, 16), kept);
}

TEST(DocumentCacheTest, WithoutBytesItKeepsNothing) {
  DocumentCache cache(0);
  Fill(cache, "k", "x");
  EXPECT_EQ(cache.Find("k"), nullptr);
}

// A store of one number with many readers and one writer: a read that starts after a write was
// acknowledged must not see an older number.
TEST(DocumentCacheTest, NeverServesWhatIsOlderThanAnAcknowledgedUpdate) {
  DocumentCache cache(1 << 20);
  std::atomic<int> stored = 0;
  std::atomic<int> acknowledged = 0;
  constexpr int kWrites = 20'000;
  const auto read = [&]() -> int {
    if (const model::Record cached = cache.Find("k")) return std::stoi(*cached);
    const DocumentCache::Ticket ticket = cache.BeginFill("k");
    const int value = stored;
    cache.Insert("k", MakeRecord(std::to_string(value)), ticket);
    return value;
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      while (acknowledged < kWrites) {
        const int least = acknowledged;
        ASSERT_GE(read(), least);
      }
    });
  }
  for (int i = 1; i <= kWrites; ++i) {
    stored = i;
    cache.Update("k", i % 3 == 0 ? nullptr : MakeRecord(std::to_string(i)));
    acknowledged = i;
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(read(), kWrites);
}

}  // namespace
}  // namespace hearth::documents
