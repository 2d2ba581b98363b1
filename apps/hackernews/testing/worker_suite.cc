// The worker: new stories, stale stories, and failures of Hacker News.
#include <algorithm>

#include "apps/hackernews/hn_source.h"
#include "apps/hackernews/story_store.h"
#include "apps/hackernews/testing/reader_test.h"

namespace hearth::hackernews {
namespace {

using client::Map;
using client::Timestamp;
using client::Value;
using Ids = std::vector<int64_t>;

Ids Sorted(Ids ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

TEST_P(ReaderTest, AnEmptyDatabaseTakesAllNewStories) {
  for (int64_t id = 1; id <= 450; ++id) hn_.AddStory(id, NowMs() - kHourMs, id);
  EXPECT_EQ(Sync().at("newStories"), 450);
  EXPECT_EQ(ListedIds("timespan=Day&limit=3"), (Ids{450, 449, 448}));
}

TEST_P(ReaderTest, AStoryIsStoredAsDocumented) {
  hn_.AddStory(42'345'678, NowMs() - kHourMs, 10);
  Sync();
  const Map expected = {{"by", "author"},
                        {"descendants", 3},
                        {"id", 42'345'678},
                        {"kids", client::Array{42'345'679, 42'345'680}},
                        {"score", 10},
                        {"time", Timestamp::FromMicros((kStartMs - kHourMs) * 1'000)},
                        {"title", "Story 42345678"},
                        {"url", "https://site.example/42345678"},
                        {"updated", Timestamp::FromMicros(kStartMs * 1'000)}};
  const Map stored = Document(collections_.stories().Doc("0042345678"));
  EXPECT_EQ(Value(stored), Value(expected)) << ToString(Value(stored));
}

TEST_P(ReaderTest, AStoryWithoutAddressOmitsTheField) {
  hn_.AddStory(1, NowMs() - kHourMs, 10);
  hn_.SetItem(1, {{"id", 1}, {"type", "story"}, {"time", NowMs() / 1'000}, {"title", "Ask"}});
  Sync();
  EXPECT_FALSE(Document(collections_.stories().Doc("0000000001")).contains("url"));
  EXPECT_FALSE(Get("/api/v1/stories?timespan=Day").at(0).contains("url"));
}

TEST_P(ReaderTest, OnlyStoriesAboveTheLatestAreFetched) {
  PutStory(9, NowMs() - kHourMs, 1, NowMs());
  PutStory(10, NowMs() - kHourMs, 1, NowMs());
  for (int64_t id = 8; id <= 12; ++id) hn_.AddStory(id, NowMs() - kHourMs, id);
  EXPECT_EQ(Sync().at("newStories"), 2);
  EXPECT_EQ(Sorted(hn_.asked_items()), (Ids{11, 12}));
}

TEST_P(ReaderTest, WhatIsNoStoryIsPassedOver) {
  for (int64_t id = 1; id <= 6; ++id) hn_.AddStory(id, NowMs() - kHourMs, 1);
  hn_.SetItem(1, nullptr);
  hn_.SetItem(2, {{"id", 2}, {"type", "job"}, {"time", 1}});
  hn_.SetItem(3, {{"id", 3}, {"type", "story"}, {"time", 1}, {"deleted", true}});
  hn_.SetItem(4, {{"id", 4}, {"type", "story"}, {"time", 1}, {"dead", true}});
  hn_.SetItem(5, {{"id", 5}, {"type", "comment"}, {"time", 1}});
  EXPECT_EQ(Sync().at("newStories"), 1);
  EXPECT_EQ(ListedIds("timespan=All"), (Ids{6}));
}

struct Tier {
  int64_t newer_than_ms;
  int64_t stale_after_ms;
};
constexpr Tier kTiers[] = {
    {kDayMs, kHourMs}, {7 * kDayMs, 6 * kHourMs}, {28 * kDayMs, 48 * kHourMs}};

TEST_P(ReaderTest, StaleStoriesOfEachTierAreRefreshed) {
  hn_.SetNewStories(nlohmann::json::array());
  int64_t id = 1;
  Ids stale;
  for (const Tier& tier : kTiers) {
    const int64_t time_ms = NowMs() - tier.newer_than_ms + 1'000;
    PutStory(id, time_ms, 1, NowMs() - tier.stale_after_ms - 1);
    stale.push_back(id++);
    PutStory(id++, time_ms, 1, NowMs() - tier.stale_after_ms);  // Not yet.
  }
  PutStory(id++, NowMs() - 28 * kDayMs, 1, NowMs() - 400 * kDayMs);  // Too old to change.
  for (int64_t i = 1; i < id; ++i) {
    hn_.SetItem(i, {{"id", i}, {"type", "story"}, {"time", NowMs() / 1'000 - 90}, {"score", 77}});
  }
  EXPECT_EQ(Sync().at("refreshedStories"), 3);
  EXPECT_EQ(Sorted(hn_.asked_items()), stale);
  for (const int64_t refreshed : stale) {
    const Map document = Document(collections_.stories().Doc(PaddedId(refreshed)));
    EXPECT_EQ(document.at("score").integer(), 77);
    EXPECT_EQ(document.at("updated").timestamp()->micros(), NowMs() * 1'000);
  }
}

TEST_P(ReaderTest, TheLongestUnseenComeFirstTwoHundredATime) {
  hn_.SetNewStories(nlohmann::json::array());
  std::vector<Story> stories;
  for (int64_t id = 1; id <= 230; ++id) {
    stories.push_back({.id = id,
                       .by = "a",
                       .score = 1,
                       .time_ms = NowMs() - 20 * kDayMs,
                       .title = "t",
                       .url = std::nullopt});
  }
  PutStories(stories);
  Advance(49 * kHourMs);
  // These thirty were checked last, though they are stale too.
  for (int64_t id = 1; id <= 30; ++id) {
    PutStory(id, NowMs() - 20 * kDayMs, 1, NowMs() - 48 * kHourMs - 1);
  }
  EXPECT_EQ(Sync().at("goneStories"), 200);
  const Ids first = hn_.asked_items();
  EXPECT_EQ(first.size(), 200u);
  EXPECT_EQ(*std::min_element(first.begin(), first.end()), 31);
  hn_.ForgetAsked();
  EXPECT_EQ(Sync().at("goneStories"), 30);
  const Ids second = hn_.asked_items();
  EXPECT_EQ(*std::max_element(second.begin(), second.end()), 30);
}

TEST_P(ReaderTest, AnItemThatIsGoneIsNotAskedForAgain) {
  hn_.SetNewStories(nlohmann::json::array());
  PutStory(1, NowMs() - kHourMs * 2, 5, NowMs() - kHourMs * 2);
  EXPECT_EQ(Sync().at("goneStories"), 1);
  const Map document = Document(collections_.stories().Doc("0000000001"));
  EXPECT_EQ(document.at("updated").timestamp()->micros(), NowMs() * 1'000);
  EXPECT_EQ(document.at("score").integer(), 5);
  hn_.ForgetAsked();
  EXPECT_EQ(Sync().at("goneStories"), 0);
  EXPECT_EQ(hn_.asked_items(), Ids{});
}

TEST_P(ReaderTest, NewScoresReachBothTiersOfEveryList) {
  hn_.SetNewStories(nlohmann::json::array());
  PutStory(1, NowMs() - 2 * kHourMs, 5, NowMs() - 2 * kHourMs);
  PutStory(2, NowMs() - 2 * kHourMs, 9, NowMs());
  const std::vector<std::string> timespans = {"Day", "Week", "Month", "Year", "All"};
  for (const std::string& timespan : timespans) {
    EXPECT_EQ(ListedIds("timespan=" + timespan), (Ids{2, 1}));
  }
  hn_.AddStory(1, NowMs() - 2 * kHourMs, 500);
  Sync();
  for (const std::string& timespan : timespans) {
    const nlohmann::json first = Get("/api/v1/stories?timespan=" + timespan).at(0);
    EXPECT_EQ(first.at("id"), 1) << timespan;
    EXPECT_EQ(first.at("score"), 500) << timespan;
    const Map document = Document(collections_.cache().Doc(timespan));
    EXPECT_EQ(document.at("cachedAt").integer(), kStartMs) << timespan;
    EXPECT_EQ(*document.at("stories").array()->front().map()->find("score")->second.integer(), 500)
        << timespan;
  }
  Restart();
  EXPECT_EQ(ListedIds("timespan=Year"), (Ids{1, 2}));
}

TEST_P(ReaderTest, NewStoriesAppearInListsThatWereEmpty) {
  EXPECT_EQ(ListedIds("timespan=Day"), Ids{});
  EXPECT_EQ(ListedIds("timespan=All"), Ids{});
  hn_.AddStory(1, NowMs() - kHourMs, 5);
  Sync();
  EXPECT_EQ(ListedIds("timespan=Day"), (Ids{1}));
  EXPECT_EQ(ListedIds("timespan=All"), (Ids{1}));
}

TEST_P(ReaderTest, OnlyWithItsSecretCanTheWorkerBeRun) {
  for (const char* secret : {"", "open sesam", "open sesame ", "Open sesame"}) {
    EXPECT_EQ(SendWithSecret(secret).status, 403) << secret;
  }
  EXPECT_EQ(SendWithSecret("open sesame").status, 200);
}

TEST_P(ReaderTest, WhenHackerNewsIsDownTheListsStay) {
  hn_.AddStory(1, NowMs() - kHourMs, 5);
  Sync();
  EXPECT_EQ(Get("/api/v1/status").at("source").at("ok"), true);
  hn_.AnswerAllWith(500);
  Advance(2 * kHourMs);
  EXPECT_EQ(SendWithSecret("open sesame").status, 503);
  EXPECT_EQ(ListedIds("timespan=Day"), (Ids{1}));
  const nlohmann::json status = Get("/api/v1/status");
  EXPECT_EQ(status.at("source").at("ok"), false);
  EXPECT_EQ(status.at("source").at("since"), "2026-11-15T14:00:00Z");
  EXPECT_EQ(status.at("worker").at("failed"), true);
  EXPECT_EQ(status.at("hasStories"), true);

  hn_.AnswerAllWith(0);
  Advance(kHourMs);
  Sync();
  EXPECT_EQ(Get("/api/v1/status").at("source").at("ok"), true);
  EXPECT_EQ(Get("/api/v1/status").at("worker").at("failed"), false);
}

TEST_P(ReaderTest, OnlyTheOperatorLearnsWhyAnUpdateFailedAndHowMuchIsStored) {
  hn_.AddStory(1, NowMs() - kHourMs, 5);
  Sync();
  hn_.AnswerAllWith(500);
  EXPECT_EQ(SendWithSecret("open sesame").status, 503);
  const auto status = [this](const std::string& secret) {
    return nlohmann::json::parse(SendWithSecret(secret, "GET", "/api/v1/status").body);
  };
  for (const char* secret : {"", "Open sesame"}) {
    EXPECT_FALSE(status(secret).contains("stories")) << secret;
    EXPECT_FALSE(status(secret).at("worker").contains("lastError")) << secret;
  }
  EXPECT_EQ(status("open sesame").at("stories"), 1);
  EXPECT_NE(std::string(status("open sesame").at("worker").at("lastError")).find("UNAVAILABLE"),
            std::string::npos);
}

TEST_P(ReaderTest, AStoryThatCouldNotBeFetchedIsNotForgotten) {
  for (int64_t id = 1; id <= 5; ++id) hn_.AddStory(id, NowMs() - kHourMs, id);
  hn_.AnswerItemWith(3, 500);
  EXPECT_EQ(SendWithSecret("open sesame").status, 503);
  EXPECT_EQ(ListedIds("timespan=Day"), (Ids{2, 1}));
  hn_.AnswerItemWith(3, 0);
  Advance(kHourMs);
  EXPECT_EQ(Sync().at("newStories"), 3);
  EXPECT_EQ(ListedIds("timespan=Day"), (Ids{5, 4, 3, 2, 1}));
}

TEST_P(ReaderTest, NonsenseAboutOneStoryDoesNotHoldUpOthers) {
  for (int64_t id = 1; id <= 4; ++id) hn_.AddStory(id, NowMs() - kHourMs, id);
  hn_.SetItem(1, {{"id", 99}, {"type", "story"}, {"time", 1}});  // Another item's id.
  hn_.SetItem(2, {{"id", 2}, {"type", "story"}, {"time", "noon"}});
  hn_.SetItem(3, nlohmann::json::array({1, 2}));
  EXPECT_EQ(Sync().at("newStories"), 1);
  EXPECT_EQ(ListedIds("timespan=All"), (Ids{4}));
}

TEST_P(ReaderTest, NonsenseInsteadOfTheListOfStoriesIsAnError) {
  hn_.SetNewStories({{"error", "Permission denied"}});
  EXPECT_NE(SendWithSecret("open sesame").status, 200);
  EXPECT_EQ(Get("/api/v1/status").at("source").at("ok"), false);
  hn_.SetNewStories({"x", -1, 2.5, nullptr, 1});  // Only valid ids count.
  hn_.SetItem(1, {{"id", 1}, {"type", "story"}, {"time", NowMs() / 1'000}, {"title", "t"}});
  EXPECT_EQ(Sync().at("newStories"), 1);
}

}  // namespace
}  // namespace hearth::hackernews
