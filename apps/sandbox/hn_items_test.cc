#include "apps/sandbox/hn_items.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "apps/sandbox/testing/now.h"
#include "base/testing/test_seed.h"

namespace hearth::sandbox {
namespace {

constexpr int64_t kDay = 86'400;

size_t CountSince(const HnItems& items, const std::vector<int64_t>& ids, int64_t since) {
  return static_cast<size_t>(std::ranges::count_if(ids, [&](int64_t id) {
    const nlohmann::json item = items.Item(id, kNow);
    return item.is_object() && item["time"] >= since;
  }));
}

TEST(HnItemsTest, ListsTheFiveHundredNewestInOrder) {
  const HnItems items(1);
  const std::vector<int64_t> ids = items.NewStories(kNow);
  EXPECT_EQ(ids.size(), HnItems::kListedMax);
  EXPECT_TRUE(std::ranges::is_sorted(ids, std::greater()));
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
  EXPECT_LE(ids.front(), items.MaxItem(kNow));
}

TEST(HnItemsTest, DayWeekMonthAndMoreAllHaveStories) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const HnItems items(seed);
    const std::vector<int64_t> ids = items.NewStories(kNow);
    const size_t day = CountSince(items, ids, kNow - kDay);
    const size_t week = CountSince(items, ids, kNow - 7 * kDay);
    const size_t month = CountSince(items, ids, kNow - 28 * kDay);
    const size_t all = CountSince(items, ids, 0);
    EXPECT_GT(day, 140u);
    EXPECT_GT(week, day + 80);
    EXPECT_GT(month, week + 50);
    EXPECT_GT(all, month + 10);
  }
}

TEST(HnItemsTest, AnIdDenotesTheSameStoryForEver) {
  const HnItems items(7);
  for (const int64_t id : items.NewStories(kNow)) {
    const nlohmann::json now = items.Item(id, kNow);
    for (const int64_t later : {kNow + 3'600, kNow + kDay, kNow + 400 * kDay}) {
      const nlohmann::json then = items.Item(id, later);
      if (!now.contains("title") || !then.contains("title")) continue;  // A late or lost one.
      EXPECT_EQ(now["title"], then["title"]);
      EXPECT_EQ(now["by"], then["by"]);
      EXPECT_EQ(now["time"], then["time"]);
      EXPECT_EQ(now["type"], then["type"]);
      EXPECT_EQ(now.value("url", ""), then.value("url", ""));
    }
  }
}

TEST(HnItemsTest, WhatLeavesTheListNeverComesBackAndNewOnesComeOnTop) {
  const HnItems items(3);
  std::set<int64_t> left;
  std::vector<int64_t> before = items.NewStories(kNow);
  size_t appeared = 0;
  for (int64_t now = kNow; now < kNow + 2 * kDay; now += 1'800) {
    const std::vector<int64_t> ids = items.NewStories(now);
    for (const int64_t id : ids) {
      EXPECT_FALSE(left.contains(id)) << id;
      if (id > before.front()) ++appeared;
    }
    for (const int64_t id : before) {
      // The list ends where it is full; items beyond the end may appear there again.
      if (id > ids.back() && !std::ranges::binary_search(ids, id, std::greater())) left.insert(id);
    }
    before = ids;
  }
  EXPECT_NEAR(static_cast<double>(appeared), 2.0 * kDay / HnItems::kSlotSeconds, 12);
}

TEST(HnItemsTest, ScoresAndCommentsOnlyGrow) {
  const HnItems items(5);
  for (const int64_t id : items.NewStories(kNow)) {
    int64_t score = 0;
    int64_t comments = 0;
    for (int64_t now = kNow; now < kNow + 3 * kDay; now += 7'200) {
      const nlohmann::json item = items.Item(id, now);
      if (!item.contains("descendants")) continue;
      EXPECT_GE(item["score"], std::max<int64_t>(score, 1));
      EXPECT_GE(item["descendants"], comments);
      EXPECT_GE(item["descendants"].get<size_t>(), item.value("kids", nlohmann::json()).size());
      score = item["score"];
      comments = item["descendants"];
    }
  }
}

TEST(HnItemsTest, ScoresHaveAHeavyTail) {
  const HnItems items(1);
  std::vector<int64_t> scores;
  const int64_t newest = items.NewStories(kNow).front();
  for (int64_t slot = 0; slot < 3'000; ++slot) {
    const nlohmann::json item = items.Item(newest - slot * HnItems::kItemsPerSlot, kNow);
    if (item.is_object() && item.contains("score")) scores.push_back(item["score"]);
  }
  std::ranges::sort(scores);
  EXPECT_LT(scores[scores.size() / 2], 10);
  EXPECT_GT(scores[scores.size() - 10], 150);
  EXPECT_GT(scores.back(), 500);
}

TEST(HnItemsTest, OfOldStoriesTheBestAreListed) {
  const HnItems items(1);
  for (const int64_t id : items.NewStories(kNow)) {
    const nlohmann::json item = items.Item(id, kNow);
    if (!item.contains("descendants") || item["time"] > kNow - 14 * kDay) continue;
    EXPECT_GT(item["score"], 50) << item.dump();
  }
}

TEST(HnItemsTest, TheEdgesOfTheRealServiceAreThere) {
  const HnItems items(1);
  std::map<std::string, size_t> seen;
  std::set<std::string> titles;
  const int64_t newest = items.NewStories(kNow).front();
  for (int64_t id = newest; id > newest - 3'000 * HnItems::kItemsPerSlot;
       id -= HnItems::kItemsPerSlot) {
    const nlohmann::json item = items.Item(id, kNow);
    if (item.is_null()) {
      ++seen["null"];
      continue;
    }
    ++seen[item["type"].get<std::string>()];
    EXPECT_EQ(item["id"], id);
    if (item.contains("deleted")) {
      ++seen["deleted"];
      EXPECT_FALSE(item.contains("title"));
      continue;
    }
    if (item.contains("dead")) ++seen["dead"];
    if (!item.contains("url")) ++seen["without url"];
    if (item.contains("url")) {
      EXPECT_NE(item["url"].get<std::string>().find(".example/"), std::string::npos);
    }
    titles.insert(item["title"]);
  }
  for (const char* edge : {"null", "job", "deleted", "dead", "without url"}) {
    EXPECT_GT(seen[edge], 5u) << edge;
    EXPECT_LT(seen[edge], 400u) << edge;
  }
  EXPECT_GT(titles.size(), 1'000u);
}

TEST(HnItemsTest, ALateStoryIsNullForItsFirstTwoMinutes) {
  const HnItems items(1);
  size_t late = 0;
  for (int64_t id = items.NewStories(kNow).front(); late < 3; id -= HnItems::kItemsPerSlot) {
    const nlohmann::json settled = items.Item(id, kNow);
    if (!settled.is_object()) continue;
    const int64_t time = settled["time"];
    if (!items.Item(id, time).is_null()) continue;
    ++late;
    EXPECT_TRUE(items.Item(id, time + 119).is_null());
    EXPECT_TRUE(items.Item(id, time + 120).is_object());
  }
}

TEST(HnItemsTest, CommentsBelongToStoriesThatListThem) {
  const HnItems items(2);
  const int64_t newest = items.MaxItem(kNow);
  for (int64_t id = newest; id > newest - 600; --id) {
    const nlohmann::json item = items.Item(id, kNow);
    if (!item.is_object() || item["type"] != "comment") continue;
    const nlohmann::json story = items.Item(item["parent"], kNow);
    EXPECT_LT(item["parent"], id);
    if (!story.is_object() || !story.contains("descendants")) continue;
    ASSERT_TRUE(story.contains("kids")) << id;
    EXPECT_TRUE(std::ranges::count(story["kids"], nlohmann::json(id)) == 1) << id;
  }
}

TEST(HnItemsTest, PagesTellWhatTheApiTells) {
  const HnItems items(1);
  size_t with_replies = 0;
  for (const int64_t id : items.NewStories(kNow)) {
    const nlohmann::json item = items.Item(id, kNow);
    const std::optional<HnStoryPage> page = items.Page(id, kNow);
    ASSERT_TRUE(page) << id;
    EXPECT_EQ(page->id, id);
    EXPECT_FALSE(page->title.empty());
    EXPECT_EQ(page->article.empty(), page->site.empty());
    if (!item.contains("descendants") || item.contains("dead")) continue;
    EXPECT_EQ(page->title, item["title"]);
    EXPECT_EQ(page->by, item["by"]);
    EXPECT_EQ(page->score, item["score"]);
    EXPECT_EQ(page->text, item.value("text", ""));
    EXPECT_EQ(page->site.empty(), !item.contains("url"));
    EXPECT_EQ(page->comments.size(), item["descendants"].get<size_t>());
    EXPECT_FALSE(page->is_removed);
    for (const HnStoryPage::Comment& comment : page->comments) {
      EXPECT_LE(comment.time, kNow);
      EXPECT_GE(comment.time, page->time);
      with_replies += comment.depth == 1;
    }
  }
  EXPECT_GT(with_replies, 100u);
}

TEST(HnItemsTest, WhatTheApiNoLongerTellsStillHasAPage) {
  const HnItems items(1);
  size_t removed = 0;
  for (int64_t id = items.NewStories(kNow).front(); removed < 20; id -= HnItems::kItemsPerSlot) {
    const nlohmann::json item = items.Item(id, kNow);
    const std::optional<HnStoryPage> page = items.Page(id, kNow);
    ASSERT_TRUE(page) << id;
    EXPECT_EQ(page->is_removed, item.is_null() || item.contains("deleted")) << id;
    if (!page->is_removed) continue;
    ++removed;
    EXPECT_TRUE(page->comments.empty());
    EXPECT_EQ(page->title, items.Page(id, page->time)->title);
  }
}

TEST(HnItemsTest, CommentsStayWhereTheyAreWhenMoreCome) {
  const HnItems items(1);
  const auto describe = [](const HnStoryPage::Comment& comment) {
    return std::to_string(comment.time) + " " + std::to_string(comment.depth) + " " + comment.by +
           ": " + comment.text;
  };
  size_t grown = 0;
  for (const int64_t id : items.NewStories(kNow)) {
    const std::optional<HnStoryPage> now = items.Page(id, kNow);
    const std::optional<HnStoryPage> later = items.Page(id, kNow + kDay);
    if (now->is_removed || later->is_removed) continue;
    grown += later->comments.size() > now->comments.size();
    auto at = later->comments.begin();
    for (const HnStoryPage::Comment& comment : now->comments) {
      at = std::find_if(at, later->comments.end(), [&](const HnStoryPage::Comment& other) {
        return describe(other) == describe(comment);
      });
      ASSERT_NE(at, later->comments.end()) << describe(comment);
      ++at;
    }
  }
  EXPECT_GT(grown, 10u);
}

TEST(HnItemsTest, ACommentHasItsStorysPage) {
  const HnItems items(2);
  const int64_t newest = items.MaxItem(kNow);
  for (int64_t id = newest; id > newest - 60; --id) {
    const nlohmann::json item = items.Item(id, kNow);
    if (!item.is_object() || item["type"] != "comment") continue;
    EXPECT_EQ(items.Page(id, kNow)->id, item["parent"]);
  }
  EXPECT_FALSE(items.Page(newest + 1, kNow));
  EXPECT_FALSE(items.Page(0, kNow));
  EXPECT_FALSE(items.Page(-7, kNow));
}

TEST(HnItemsTest, NothingExistsBeforeItsTimeOrBeyondTheNewest) {
  const HnItems items(1);
  const int64_t newest = items.MaxItem(kNow);
  EXPECT_TRUE(items.Item(newest + 1, kNow).is_null());
  EXPECT_FALSE(items.Item(newest + 1, kNow + 10 * HnItems::kSlotSeconds).is_null() &&
               items.Item(newest + 2, kNow + 10 * HnItems::kSlotSeconds).is_null());
  EXPECT_TRUE(items.Item(0, kNow).is_null());
  EXPECT_TRUE(items.Item(-5, kNow).is_null());
  EXPECT_EQ(items.MaxItem(-1), 0);
  EXPECT_TRUE(items.NewStories(-1).empty());
  EXPECT_TRUE(items.NewStories(0).size() <= 1);
}

TEST(HnItemsTest, TimesGrowWithIds) {
  Dice dice(TestSeed());
  const HnItems items(dice.Below(1'000));
  int64_t time = 0;
  const int64_t newest = items.MaxItem(kNow);
  for (int64_t id = newest - 2'000; id <= newest; ++id) {
    const nlohmann::json item = items.Item(id, kNow);
    if (!item.is_object()) continue;
    EXPECT_GE(item["time"], time);
    EXPECT_LE(item["time"], kNow);
    time = item["time"];
  }
}

TEST(HnItemsTest, TopStoriesAreTheSameStoriesBestFirst) {
  const HnItems items(1);
  std::vector<int64_t> top = items.TopStories(kNow);
  const nlohmann::json best = items.Item(top.front(), kNow);
  EXPECT_LT(kNow - best["time"].get<int64_t>(), 3 * kDay);
  std::ranges::sort(top, std::greater());
  EXPECT_EQ(top, items.NewStories(kNow));
}

TEST(HnItemsTest, SeedsMakeDifferentWorlds) {
  const int64_t id = HnItems(1).NewStories(kNow)[250];
  EXPECT_EQ(HnItems(1).Item(id, kNow), HnItems(1).Item(id, kNow));
  EXPECT_NE(HnItems(1).Item(id, kNow), HnItems(2).Item(id, kNow));
}

}  // namespace
}  // namespace hearth::sandbox
