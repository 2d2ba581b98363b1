#include "watch/bloom_filter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hearth::watch {
namespace {

const char kRoomA[] = "projects/p1/databases/(default)/documents/rooms/a";
const char kRoomE[] = "projects/p1/databases/(default)/documents/rooms/\xc3\xa9";

// Computed without this code. MD5 of the first name is f5983efcfa8402e4 f50af466e2e8a8ea, two
// little-endian numbers h and g; (h + i * g) mod 2^64 mod 24 for i = 0 … 6 is 21, 2, 7, 12, 17, 22,
// 3. The second name: MD5 04638b687a9a17c2 1e20734b0eb31d7c, bits 20, 2, 0, 6, 4, 10, 8.
TEST(BloomFilterTest, SetsTheBitsThatTheProtocolNames) {
  BloomFilter filter(2);
  ASSERT_EQ(filter.bits().bitmap.size(), 3u);
  EXPECT_EQ(filter.bits().hash_count, 7);
  EXPECT_EQ(filter.bits().padding, 0);
  filter.Add(kRoomA);
  std::string only_first(3, '\0');
  for (const int bit : {21, 2, 7, 12, 17, 22, 3}) {
    char& byte = only_first[static_cast<size_t>(bit / 8)];
    byte = static_cast<char>(byte | 1 << bit % 8);
  }
  EXPECT_EQ(filter.bits().bitmap, only_first);
  filter.Add(kRoomE);
  EXPECT_EQ(filter.bits().bitmap, "\xdd\x15\x72");
}

TEST(BloomFilterTest, ContainsWhatWasAdded) {
  BloomFilter filter(1'000);
  for (int i = 0; i < 1'000; ++i) filter.Add("in" + std::to_string(i));
  for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(filter.MayContain("in" + std::to_string(i)));
}

TEST(BloomFilterTest, TakesAboutOneInAHundredOthersForItsOwn) {
  BloomFilter filter(1'000);
  for (int i = 0; i < 1'000; ++i) filter.Add("in" + std::to_string(i));
  int mistaken = 0;
  for (int i = 0; i < 10'000; ++i) mistaken += filter.MayContain("out" + std::to_string(i)) ? 1 : 0;
  EXPECT_GT(mistaken, 0);
  EXPECT_LT(mistaken, 250);
}

TEST(BloomFilterTest, OfNoNamesHasNoBits) {
  const BloomFilter filter(0);
  EXPECT_EQ(filter.bits().bitmap, "");
  EXPECT_EQ(filter.bits().hash_count, 0);
  EXPECT_EQ(filter.bits().padding, 0);
  EXPECT_FALSE(filter.MayContain(kRoomA));
}

}  // namespace
}  // namespace hearth::watch
