// Lists of stories: their contents and caching.
#include <algorithm>

#include "apps/hackernews/testing/reader_test.h"
#include "apps/hackernews/timespan.h"

namespace hearth::hackernews {
namespace {

using client::Map;
using client::Value;
using Ids = std::vector<int64_t>;

// Newest first: ids and scores descend from `count` to 1, an hour apart.
std::vector<Story> HourlyStories(int64_t count) {
  std::vector<Story> stories;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t id = count - i;
    stories.push_back({.id = id,
                       .by = "author",
                       .descendants = 0,
                       .score = id,
                       .time_ms = kStartMs - 1 - i * kHourMs,
                       .title = "Story " + std::to_string(id),
                       .url = std::nullopt});
  }
  return stories;
}

TEST_P(ReaderTest, StoriesAreListedByScore) {
  PutStory(1, NowMs() - kHourMs, 10, NowMs());
  PutStory(2, NowMs() - kHourMs, 30, NowMs());
  PutStory(3, NowMs() - kHourMs, 20, NowMs());
  EXPECT_EQ(ListedIds("timespan=Day"), (Ids{2, 3, 1}));
  EXPECT_EQ(ListedIds("timespan=All"), (Ids{2, 3, 1}));
}

TEST_P(ReaderTest, AListedStoryHasTheDocumentedFields) {
  PutStory(42, NowMs() - kHourMs, 10, NowMs());
  const nlohmann::json expected = {{"by", "author"},
                                   {"descendants", 1},
                                   {"id", 42},
                                   {"score", 10},
                                   {"time", "2026-11-15T11:00:00.000Z"},
                                   {"title", "Story 42"},
                                   {"url", "https://site.example/"}};
  EXPECT_EQ(Get("/api/v1/stories?timespan=Day"), nlohmann::json::array({expected}));
}

TEST_P(ReaderTest, EachTimespanReachesAsFarAsItSays) {
  const std::vector<std::pair<std::string, int64_t>> spans = {
      {"Day", kDayMs}, {"Week", 7 * kDayMs}, {"Month", 28 * kDayMs}, {"Year", 365 * kDayMs}};
  int64_t id = 1;
  for (const auto& span : spans) {
    PutStory(id++, NowMs() - span.second + 1, 1, NowMs());
    PutStory(id++, NowMs() - span.second, 1, NowMs());  // Just too old.
  }
  EXPECT_EQ(ListedIds("timespan=Day"), (Ids{1}));
  EXPECT_EQ(ListedIds("timespan=Week"), (Ids{3, 2, 1}));
  EXPECT_EQ(ListedIds("timespan=Month"), (Ids{5, 4, 3, 2, 1}));
  EXPECT_EQ(ListedIds("timespan=Year"), (Ids{7, 6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(ListedIds("timespan=All").size(), 8u);
}

TEST_P(ReaderTest, AnUnknownTimespanMeansAll) {
  PutStory(1, NowMs() - 500 * kDayMs, 10, NowMs());
  EXPECT_EQ(ListedIds("timespan=Decade"), (Ids{1}));
  EXPECT_EQ(ListedIds("timespan=day"), (Ids{1}));
  EXPECT_EQ(ListedIds(""), (Ids{1}));
}

TEST_P(ReaderTest, LimitAndSkipPickAPartOfTheList) {
  PutStories(HourlyStories(510));
  EXPECT_EQ(ListedIds("timespan=All&limit=2"), (Ids{510, 509}));
  EXPECT_EQ(ListedIds("timespan=All&limit=2&skip=3"), (Ids{507, 506}));
  EXPECT_EQ(ListedIds("timespan=All&skip=509"), (Ids{1}));
  EXPECT_EQ(ListedIds("timespan=All&skip=510"), Ids{});
  EXPECT_EQ(ListedIds("timespan=All&limit=500").size(), 500u);
  for (const char* limit : {"0", "-1", "501", "ten", "", "1.5", "99999999999999999999"}) {
    EXPECT_EQ(ListedIds(std::string("timespan=All&limit=") + limit).size(), 500u) << limit;
  }
  for (const char* skip : {"-1", "x", ""}) {
    EXPECT_EQ(ListedIds(std::string("timespan=All&limit=1&skip=") + skip), (Ids{510})) << skip;
  }
}

TEST_P(ReaderTest, ListsHaveTheBestTwoThousandHoweverOldTheyAre) {
  std::vector<Story> stories = HourlyStories(2'100);
  std::reverse(stories.begin(), stories.end());
  for (size_t i = 0; i < stories.size(); ++i) {  // The oldest has the highest score.
    stories[i].score = static_cast<int64_t>(stories.size() - i);
  }
  PutStories(stories);
  for (const char* timespan : {"Year", "All"}) {
    const std::string query = std::string("timespan=") + timespan;
    EXPECT_EQ(ListedIds(query + "&limit=1"), (Ids{1})) << timespan;
    EXPECT_EQ(ListedIds(query + "&skip=1950").size(), 50u) << timespan;
  }
}

TEST_P(ReaderTest, TheFirstTierReadsNothing) {
  PutStories(HourlyStories(20));
  ListedIds("timespan=Day");
  counts_->Reset();
  EXPECT_EQ(ListedIds("timespan=Day").size(), 20u);
  EXPECT_EQ(counts_->reads(), 0u);
}

TEST_P(ReaderTest, TheSecondTierReadsOneDocumentAList) {
  PutStories(HourlyStories(100));
  const Ids before = ListedIds("timespan=Year");
  Restart();
  counts_->Reset();
  EXPECT_EQ(ListedIds("timespan=Year"), before);
  EXPECT_EQ(counts_->reads(), 2u);  // The year's list, and the day's to merge in.
}

TEST_P(ReaderTest, TheCacheDocumentIsAsDocumented) {
  PutStory(42, NowMs() - kHourMs, 10, NowMs());
  ListedIds("timespan=Day");
  const Map document = Document(collections_.cache().Doc("Day"));
  const Value story = Map{{"by", "author"},
                          {"descendants", 1},
                          {"id", 42},
                          {"score", 10},
                          {"time", kStartMs - kHourMs},
                          {"title", "Story 42"},
                          {"url", "https://site.example/"}};
  const Map expected = {{"stories", client::Array{story}}, {"cachedAt", kStartMs}};
  EXPECT_EQ(Value(document), Value(expected)) << ToString(Value(document));
}

TEST_P(ReaderTest, EachListIsComputedAgainAfterItsTime) {
  const std::vector<std::pair<std::string, int64_t>> lives = {{"Day", kHourMs / 2},
                                                              {"Week", 2 * kDayMs},
                                                              {"Month", 7 * kDayMs},
                                                              {"Year", 28 * kDayMs},
                                                              {"All", 28 * kDayMs}};
  PutStory(1, NowMs() - kHourMs, 1, NowMs());
  int64_t id = 2;
  for (const auto& life : lives) {
    const std::string query = "timespan=" + life.first;
    ListedIds(query);
    // Older than a day, so that the day's list does not have it; newer than a week.
    const int64_t old_ms = life.first == "Day" ? NowMs() - kHourMs : NowMs() - 2 * kDayMs;
    PutStory(id, old_ms, 1, NowMs());
    Advance(life.second - 1);
    const Ids before = ListedIds(query);
    EXPECT_EQ(std::count(before.begin(), before.end(), id), 0) << life.first;
    Advance(1);
    const Ids after = ListedIds(query);
    EXPECT_EQ(std::count(after.begin(), after.end(), id), 1) << life.first;
    EXPECT_EQ(Document(collections_.cache().Doc(life.first)).at("cachedAt").integer(), NowMs());
    ++id;
  }
}

TEST_P(ReaderTest, AListFromTheSecondTierKeepsItsAge) {
  PutStory(1, NowMs() - kHourMs, 1, NowMs());
  ListedIds("timespan=Day");
  PutStory(2, NowMs() - kHourMs, 2, NowMs());
  Advance(kHourMs / 2 - 1);
  Restart();
  EXPECT_EQ(ListedIds("timespan=Day"), (Ids{1}));  // Promoted shortly before it expires.
  Advance(1);
  EXPECT_EQ(ListedIds("timespan=Day"), (Ids{2, 1}));
}

TEST_P(ReaderTest, LongerListsHaveTheDaysStoriesMergedIn) {
  PutStory(1, NowMs() - kHourMs, 5, NowMs());
  for (const char* timespan : {"Week", "Month", "Year", "All"}) {
    ListedIds(std::string("timespan=") + timespan);
  }
  PutStory(2, NowMs() - kHourMs, 9, NowMs());
  PutStory(1, NowMs() - kHourMs, 50, NowMs());  // The day's list has a newer score.
  Advance(kHourMs / 2);
  for (const char* timespan : {"Week", "Month", "Year", "All"}) {
    const nlohmann::json stories = Get(std::string("/api/v1/stories?timespan=") + timespan);
    ASSERT_EQ(stories.size(), 2u) << timespan;
    EXPECT_EQ(stories[0].at("id"), 1) << timespan;
    EXPECT_EQ(stories[0].at("score"), 50) << timespan;
    EXPECT_EQ(stories[1].at("id"), 2) << timespan;
  }
}

TEST_P(ReaderTest, ClearingTheCacheClearsBothTiers) {
  PutStory(1, NowMs() - kHourMs, 5, NowMs());
  for (const Timespan timespan : kTimespans) {
    ListedIds("timespan=" + std::string(NameOf(timespan)));
  }
  PutStory(2, NowMs() - kHourMs, 9, NowMs());
  EXPECT_EQ(SendWithSecret("wrong", "DELETE", "/api/v1/cache").status, 403);
  EXPECT_EQ(ListedIds("timespan=Day"), (Ids{1}));

  EXPECT_EQ(SendWithSecret("open sesame", "DELETE", "/api/v1/cache").status, 200);
  const auto cached = collections_.cache().Count();
  ASSERT_TRUE(cached.ok());
  EXPECT_EQ(*cached, 0);
  for (const Timespan timespan : kTimespans) {
    EXPECT_EQ(ListedIds("timespan=" + std::string(NameOf(timespan))), (Ids{2, 1}));
  }
}

TEST_P(ReaderTest, AStrangeCacheDocumentIsComputedAnew) {
  PutStory(1, NowMs() - kHourMs, 5, NowMs());
  const std::vector<Map> strange = {{},
                                    {{"stories", "none"}, {"cachedAt", NowMs()}},
                                    {{"stories", client::Array{}}, {"cachedAt", "today"}}};
  for (const Map& document : strange) {
    ASSERT_TRUE(collections_.cache().Doc("Day").Set(document).ok());
    Restart();
    EXPECT_EQ(ListedIds("timespan=Day"), (Ids{1}));
  }
}

TEST_P(ReaderTest, StoriesWithLongAddressesStillFitIntoTheCache) {
  std::vector<Story> stories = HourlyStories(1'000);
  for (Story& story : stories) story.url = "https://site.example/" + std::string(1'900, 'x');
  PutStories(stories);
  EXPECT_EQ(ListedIds("timespan=All&skip=990").size(), 10u);
  const Map document = Document(collections_.cache().Doc("All"));
  const size_t kept = document.at("stories").array()->size();
  EXPECT_GT(kept, 400u);
  EXPECT_LT(kept, 600u);
  Restart();
  EXPECT_EQ(ListedIds("timespan=All&limit=1"), (Ids{1'000}));
}

}  // namespace
}  // namespace hearth::hackernews
