#include "transactions/prefix_map.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/testing/test_seed.h"

namespace hearth::transactions {
namespace {

using Prefixes = std::multiset<std::string>;

Prefixes PrefixesOf(const PrefixMap<std::string>& map, const std::string& key) {
  Prefixes found;
  EXPECT_FALSE(map.VisitPrefixesOf(key, [&](const std::string& value) {
    found.insert(value);
    return false;
  }));
  return found;
}

Prefixes DistinctPrefixesOf(const PrefixMap<std::string>& map, const std::string& key) {
  Prefixes found;
  map.VisitDistinctPrefixesOf(key, [&](std::string_view prefix) { found.emplace(prefix); });
  return found;
}

Prefixes Meeting(const PrefixMap<std::string>& map, const std::string& prefix) {
  Prefixes found;
  EXPECT_FALSE(map.VisitMeeting(prefix, [&](const std::string& value) {
    found.insert(value);
    return false;
  }));
  return found;
}

PrefixMap<std::string> MapOf(const std::vector<std::string>& prefixes) {
  PrefixMap<std::string> map;
  for (const std::string& prefix : prefixes) map.Insert(prefix, prefix);
  return map;
}

TEST(PrefixMapTest, FindsThePrefixesOfAKey) {
  const PrefixMap<std::string> map = MapOf({"a", "ab", "ab", "abc", "abd", "aba", "b", "bc"});
  EXPECT_EQ(PrefixesOf(map, "abcd"), (Prefixes{"a", "ab", "ab", "abc"}));
  EXPECT_EQ(PrefixesOf(map, "ab"), (Prefixes{"a", "ab", "ab"}));
  EXPECT_EQ(PrefixesOf(map, "ac"), (Prefixes{"a"}));
  EXPECT_EQ(PrefixesOf(map, ""), Prefixes());
  EXPECT_EQ(PrefixesOf(map, "c"), Prefixes());
}

TEST(PrefixMapTest, FindsEachPrefixOfAKeyOnce) {
  const PrefixMap<std::string> map = MapOf({"a", "a", "ab", "ab", "aba", "b", "b"});
  EXPECT_EQ(DistinctPrefixesOf(map, "abcd"), (Prefixes{"a", "ab"}));
  EXPECT_EQ(DistinctPrefixesOf(map, "c"), Prefixes());
}

TEST(PrefixMapTest, FindsThePrefixesThatMeetAnother) {
  const PrefixMap<std::string> map = MapOf({"a", "ab", "ab", "abc", "abd", "b"});
  EXPECT_EQ(Meeting(map, "ab"), (Prefixes{"a", "ab", "ab", "abc", "abd"}));
  EXPECT_EQ(Meeting(map, "abcd"), (Prefixes{"a", "ab", "ab", "abc"}));
  EXPECT_EQ(Meeting(map, "c"), Prefixes());
}

TEST(PrefixMapTest, StopsWhereItIsTold) {
  const PrefixMap<std::string> map = MapOf({"a", "ab", "abc"});
  int visits = 0;
  const auto second = [&visits](const std::string&) { return ++visits == 2; };
  EXPECT_TRUE(map.VisitPrefixesOf("abc", second));
  EXPECT_EQ(visits, 2);
  visits = 0;
  EXPECT_TRUE(map.VisitMeeting("a", second));
  EXPECT_EQ(visits, 2);
}

TEST(PrefixMapTest, ForgetsWhatIsErased) {
  PrefixMap<std::string> map;
  const auto first = map.Insert("a", "first");
  map.Insert("a", "second");
  map.Erase(first);
  EXPECT_EQ(PrefixesOf(map, "a1"), (Prefixes{"second"}));
}

// Bytes that compare as signed or unsigned, short and long, in every combination.
TEST(PrefixMapTest, FindsWhatALookAtAllOfThemFinds) {
  Dice dice(TestSeed());
  const auto text = [&dice] {
    std::string bytes;
    for (size_t length = dice.Below(6); length > 0; --length)
      bytes += "\x01\x7f\x80\xff"[dice.Below(4)];
    return bytes;
  };
  for (int round = 0; round < 2'000; ++round) {
    std::vector<std::string> prefixes(dice.Below(20));
    for (std::string& prefix : prefixes) prefix = text();
    const PrefixMap<std::string> map = MapOf(prefixes);
    const std::string key = text();
    Prefixes of_key;
    Prefixes meeting;
    for (const std::string& prefix : prefixes) {
      if (key.starts_with(prefix)) of_key.insert(prefix);
      if (key.starts_with(prefix) || prefix.starts_with(key)) meeting.insert(prefix);
    }
    ASSERT_EQ(PrefixesOf(map, key), of_key);
    const std::set<std::string> distinct(of_key.begin(), of_key.end());
    ASSERT_EQ(DistinctPrefixesOf(map, key), Prefixes(distinct.begin(), distinct.end()));
    ASSERT_EQ(Meeting(map, key), meeting);
  }
}

}  // namespace
}  // namespace hearth::transactions
