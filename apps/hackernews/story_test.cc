#include "apps/hackernews/story.h"

#include <gtest/gtest.h>

#include "apps/hackernews/timespan.h"

namespace hearth::hackernews {
namespace {

TEST(StoryTest, IdsArePaddedToTenDigits) {
  EXPECT_EQ(PaddedId(42345678), "0042345678");
  EXPECT_EQ(PaddedId(1), "0000000001");
  EXPECT_EQ(PaddedId(1234567890), "1234567890");
  EXPECT_EQ(PaddedId(12345678901), "12345678901");
}

TEST(StoryTest, ReadsAnItem) {
  const auto item = ParseItem({{"by", "a"},
                               {"descendants", 2},
                               {"id", 7},
                               {"kids", {8, "x", 9}},
                               {"score", 3},
                               {"time", 1'700'000'000},
                               {"title", "T"},
                               {"type", "story"},
                               {"url", ""}});
  ASSERT_TRUE(item.ok() && *item);
  EXPECT_EQ((*item)->story, (Story{.id = 7,
                                   .by = "a",
                                   .descendants = 2,
                                   .score = 3,
                                   .time_ms = 1'700'000'000'000,
                                   .title = "T",
                                   .url = std::nullopt}));
  EXPECT_EQ((*item)->kids, (std::vector<int64_t>{8, 9}));
}

TEST(StoryTest, RefusesWhatHackerNewsNeverSays) {
  const nlohmann::json story = {{"id", 7}, {"type", "story"}, {"time", 1}};
  ASSERT_TRUE(ParseItem(story).ok());
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, nlohmann::json>>{{"id", 0},
                                                           {"id", -7},
                                                           {"id", "7"},
                                                           {"time", -1},
                                                           {"time", "now"},
                                                           {"time", 1e300},
                                                           {"time", 253'402'300'800}}) {
    nlohmann::json broken = story;
    broken[name] = value;
    EXPECT_EQ(ParseItem(broken).status().code(), Code::kDataLoss) << broken;
  }
  EXPECT_EQ(ParseItem("text").status().code(), Code::kDataLoss);
  EXPECT_EQ(ParseItem(nlohmann::json::array()).status().code(), Code::kDataLoss);
}

TEST(StoryTest, SortsByScoreThenByAge) {
  Stories stories(4);
  stories[0] = {.id = 1, .by = "", .score = 5, .title = "", .url = {}};
  stories[1] = {.id = 2, .by = "", .score = 9, .title = "", .url = {}};
  stories[2] = {.id = 3, .by = "", .score = 5, .title = "", .url = {}};
  stories[3] = {.id = 4, .by = "", .score = -1, .title = "", .url = {}};
  SortByScore(stories);
  std::vector<int64_t> ids;
  for (const Story& story : stories) ids.push_back(story.id);
  EXPECT_EQ(ids, (std::vector<int64_t>{2, 3, 1, 4}));
}

TEST(TimespanTest, NamesAreReadAsTheyAreWritten) {
  for (const Timespan timespan : kTimespans) {
    EXPECT_EQ(ParseTimespan(NameOf(timespan)), timespan);
  }
  EXPECT_EQ(ParseTimespan("year"), Timespan::kAll);
}

}  // namespace
}  // namespace hearth::hackernews
