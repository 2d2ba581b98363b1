#include "execution/sorter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/testing/test_seed.h"
#include "execution/merge.h"

namespace hearth::execution {
namespace {

std::vector<Item> Items(const std::vector<std::string>& keys) {
  std::vector<Item> items;
  for (const std::string& key : keys) items.push_back({{key, 0}, nullptr, 0, false});
  return items;
}

std::vector<std::string> Drain(Stream* stream) {
  std::vector<std::string> keys;
  Item item;
  while (true) {
    const Result<bool> found = stream->Next(&item);
    EXPECT_TRUE(found.ok());
    if (!found.ok() || !*found) return keys;
    keys.push_back(item.key.bytes);
  }
}

TEST(SorterTest, SortsInAsManyPassesAsItsMemoryAsksFor) {
  Dice dice(TestSeed());
  for (int round = 0; round < 500; ++round) {
    std::set<std::string> distinct;
    for (size_t count = dice.Below(40); count > 0; --count) {
      distinct.insert(std::to_string(dice.Below(1'000)));
    }
    std::vector<std::string> keys(distinct.begin(), distinct.end());
    for (size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[dice.Below(i)]);
    Layout layout;
    layout.backward = dice.OneIn(2);
    const size_t results_max = dice.Below(50);
    const size_t bytes_max = 1 + dice.Below(1'000);
    size_t passes = 0;
    const auto input = [&](Pass pass) {
      EXPECT_EQ(pass == Pass::kFirst, passes == 0);
      ++passes;
      return NewListStream(Items(keys));
    };
    const auto sorter = NewSorter(input, layout, {results_max, bytes_max});

    std::vector<std::string> expected(distinct.begin(), distinct.end());
    if (layout.backward) std::ranges::reverse(expected);
    expected.resize(std::min(expected.size(), results_max));
    ASSERT_EQ(Drain(sorter.get()), expected)
        << results_max << " results, " << bytes_max << " bytes";
    ASSERT_LE(passes, expected.size() + 1);
  }
}

TEST(SorterTest, TakesMorePassesWhenMemoryIsScarce) {
  constexpr size_t kKeys = 20'000;
  std::vector<std::string> keys;
  for (size_t i = 0; i < kKeys; ++i) keys.push_back(std::to_string(kKeys + i));
  std::vector<std::string> shuffled = keys;
  std::ranges::reverse(shuffled);
  size_t passes = 0;
  const auto input = [&](Pass) {
    ++passes;
    return NewListStream(Items(shuffled));
  };
  const Layout layout;
  MemoryBudget plenty(size_t{64} * 1024 * 1024);
  const auto unhindered = NewSorter(input, layout, {kKeys, kSortBytesMax, &plenty});
  EXPECT_EQ(Drain(unhindered.get()), keys);
  EXPECT_EQ(passes, 1u);
  EXPECT_GT(plenty.used_bytes(), kKeys * sizeof(SortKey));
  passes = 0;
  MemoryBudget none(0);
  auto hindered = NewSorter(input, layout, {kKeys, kSortBytesMax, &none});
  EXPECT_EQ(Drain(hindered.get()), keys);
  EXPECT_GT(passes, 2u);
  EXPECT_GT(none.refusals(), 0u);
  hindered.reset();
  EXPECT_EQ(none.used_bytes(), 0u);
}

}  // namespace
}  // namespace hearth::execution
