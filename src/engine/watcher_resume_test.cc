// Targets that resume: after a lost connection, or after the watcher dropped changes for a slow
// client.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "engine/testing/test_engine.h"
#include "engine/testing/test_watch.h"
#include "watch/watcher.h"

namespace hearth::engine {
namespace {

using model::Timestamp;
using query::QueryBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Resume = request::TargetRequest::Resume;
using Speed = WatchClient::Speed;

constexpr watch::ChangesMax kPendingMax = watch::WatcherOptions().pending_max;
constexpr watch::ChangesMax kCatchUpMax = watch::WatcherOptions().catch_up_max;

class WatcherResumeTest : public testing::Test {
 protected:
  Timestamp Put(const std::string& path, int64_t number) {
    return test_.MustCommit(SetNumber(path, number));
  }

  // Listens to the query, then loses the connection.
  TargetView ListenOnce(const QueryBuilder& query) {
    TestWatch watch(test_);
    TargetView view = watch.Start(1, query);
    view.resume_token = watch.client().Now().snapshots.back().resume_token;
    return view;
  }
  // Resumes with the documents kept; `document_events`: how many events it took.
  TargetView GoOn(const QueryBuilder& query, const TargetView& kept, const Resume& resume,
                  size_t* document_events) {
    TestWatch watch(test_);
    watch.client().Keep(1, kept);
    const TargetView view = watch.Start(1, query, resume);
    *document_events = watch.client().Now().document_events;
    EXPECT_THAT(watch.client().Now().faults, IsEmpty());
    return view;
  }
  void PutNumbered(size_t first, size_t count) {
    constexpr size_t kBatch = 500;
    for (size_t next = first; next < first + count;) {
      std::vector<request::Write> writes;
      for (; next < first + count && writes.size() < kBatch; ++next) {
        writes.push_back(SetNumber("c/d" + std::to_string(100'000 + next), 1));
      }
      test_.MustCommit(std::move(writes));
    }
  }
  void PutLarge(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      test_.MustCommit(Set("c/large" + std::to_string(i),
                           MakeFields({{"t", model::EncodeString(std::string(1'000'000, 'x'))}})));
    }
  }
  // Makes a client stop reading, calls `write`, and waits until all changes have reached its
  // watcher.
  TargetView WhileStopped(const QueryBuilder& query, const std::function<void()>& write) {
    TestWatch watch(test_);
    watch.Start(1, query);
    watch.client().SetSpeed(Speed::kStopped);
    Put("c/first", ++number_);  // A different value each time.
    watch.client().Await([](const WatchClient::State& state) { return state.waits_for_reader; });
    write();
    TestWatch other(test_);
    other.AwaitFeed();
    const Timestamp last = Put("c/last", ++number_);
    other.AwaitFeed();
    watch.client().SetSpeed(Speed::kReads);
    const TargetView view = watch.At(1, last);
    EXPECT_THAT(watch.client().Now().faults, IsEmpty());
    return view;
  }

  TestEngine test_;
  int64_t number_ = 0;
};

TEST_F(WatcherResumeTest, OnlyWhatHasChangedIsSent) {
  Put("c/a", 1);
  Put("c/b", 1);
  Put("c/gone", 1);
  const TargetView kept = ListenOnce(kAll);
  Put("c/b", 2);
  Put("c/c", 1);
  test_.MustCommit(Delete("c/gone"));
  Put("c/passing", 1);
  test_.MustCommit(Delete("c/passing"));
  for (const bool after_restart : {false, true}) {
    if (after_restart) test_.Restart();
    size_t events = 0;
    const TargetView view = GoOn(kAll, kept, {kept.resume_token}, &events);
    EXPECT_EQ(view.resets, 0u);
    EXPECT_THAT(view.Paths(), ElementsAre("c/a", "c/b", "c/c"));
    EXPECT_EQ(NumberOf(*view.documents.at("c/b").record), 2);
    EXPECT_EQ(events, 3u);
  }
}

TEST_F(WatcherResumeTest, ATokenThatSaysNothingHasTheTargetReset) {
  Put("c/a", 1);
  const TargetView kept = ListenOnce(kAll);
  std::string of_another_store = kept.resume_token;
  of_another_store[0] = static_cast<char>(of_another_store[0] ^ 1);
  const Timestamp later = Timestamp::FromMicros(test_.now() + 1'000'000'000);
  const std::string of_the_future =
      kept.resume_token.substr(0, kept.resume_token.size() - sizeof(uint64_t)) +
      model::EncodeUint64(static_cast<uint64_t>(later.micros()));
  const std::vector<std::variant<std::string, Timestamp>> froms = {
      of_another_store, "", kept.resume_token + "x", later, Timestamp(), of_the_future};
  for (const std::variant<std::string, Timestamp>& from : froms) {
    size_t events = 0;
    const TargetView view = GoOn(kAll, kept, {from}, &events);
    EXPECT_EQ(view.resets, 1u);
    EXPECT_THAT(view.Paths(), ElementsAre("c/a"));
    EXPECT_EQ(events, 1u);
  }
}

TEST_F(WatcherResumeTest, BeyondTheHistoryTheTargetIsReset) {
  Put("c/a", 1);
  const TargetView kept = ListenOnce(kAll);
  test_.Pass(std::chrono::hours(1));
  size_t events = 0;
  EXPECT_EQ(GoOn(kAll, kept, {kept.read_time}, &events).resets, 0u);
  test_.Pass(std::chrono::microseconds(1));
  EXPECT_EQ(GoOn(kAll, kept, {kept.read_time}, &events).resets, 1u);
}

TEST_F(WatcherResumeTest, TooManyChangesHaveTheTargetReset) {
  const TargetView kept = ListenOnce(kAll);
  PutNumbered(0, kCatchUpMax.count);
  size_t events = 0;
  TargetView view = GoOn(kAll, kept, {kept.read_time}, &events);
  EXPECT_EQ(view.resets, 0u);
  EXPECT_THAT(view.documents, SizeIs(kCatchUpMax.count));
  PutNumbered(kCatchUpMax.count, 1);
  view = GoOn(kAll, kept, {kept.read_time}, &events);
  EXPECT_EQ(view.resets, 1u);
  EXPECT_THAT(view.documents, SizeIs(kCatchUpMax.count + 1));
}

TEST_F(WatcherResumeTest, TheExpectedCountTellsWhetherTheClientHasLostSomething) {
  for (const char* path : {"c/a", "c/changed", "c/c"}) Put(path, 1);
  const TargetView kept = ListenOnce(kAll);
  Put("c/changed", 2);
  Put("c/d", 1);
  size_t events = 0;
  Resume resume{kept.read_time, 3u};
  EXPECT_FALSE(GoOn(kAll, kept, resume, &events).filter.has_value());
  for (const size_t wrong : {0u, 2u, 4u}) {
    resume.expected_count = wrong;
    const TargetView view = GoOn(kAll, kept, resume, &events);
    ASSERT_TRUE(view.filter.has_value());
    EXPECT_EQ(view.filter->count, 4u);
    const std::string root = NameDatabase().text() + "/documents/";
    EXPECT_TRUE(view.filter->names.MayContain(root + "c/a"));
    EXPECT_TRUE(view.filter->names.MayContain(root + "c/c"));
    EXPECT_FALSE(view.filter->names.MayContain(root + "c/changed"));
    EXPECT_FALSE(view.filter->names.MayContain(root + "c/d"));
  }
}

TEST_F(WatcherResumeTest, TheExpectedCountOfAWindowIsThatOfItsResults) {
  for (int64_t n = 1; n <= 4; ++n) Put("c/d" + std::to_string(n), n);
  const QueryBuilder query = QueryBuilder("c").Ascending("n").Offset(1).Limit(2);
  const TargetView kept = ListenOnce(query);
  test_.MustCommit(Delete("c/d2"));
  size_t events = 0;
  EXPECT_FALSE(GoOn(query, kept, {kept.read_time, 2u}, &events).filter.has_value());
  const TargetView view = GoOn(query, kept, {kept.read_time, 1u}, &events);
  ASSERT_TRUE(view.filter.has_value());
  EXPECT_EQ(view.filter->count, 2u);
  const std::string root = NameDatabase().text() + "/documents/";
  EXPECT_TRUE(view.filter->names.MayContain(root + "c/d3"));
  EXPECT_FALSE(view.filter->names.MayContain(root + "c/d4"));
}

TEST_F(WatcherResumeTest, AClientThatStopsReadingGetsTheSumOfWhatHappened) {
  const TargetView view = WhileStopped(kAll, [&] {
    for (int64_t n = 0; n < 20; ++n) Put("c/a", n);
    Put("c/b", 1);
    test_.MustCommit(Delete("c/first"));
  });
  EXPECT_EQ(view.resets, 0u);
  EXPECT_THAT(view.Paths(), ElementsAre("c/a", "c/b", "c/last"));
  EXPECT_EQ(NumberOf(*view.documents.at("c/a").record), 19);
}

TEST_F(WatcherResumeTest, WhatIsTooMuchToWaitIsReadFromTheLog) {
  PutNumbered(0, 20);
  // More items than may be pending, for few documents.
  const TargetView view = WhileStopped(kAll, [&] {
    for (size_t sum = 0; sum <= kPendingMax.count; sum += 20) {
      std::vector<request::Write> writes;
      for (size_t i = 0; i < 20; ++i) {
        writes.push_back(
            SetNumber("c/d" + std::to_string(100'000 + i), static_cast<int64_t>(2 + sum)));
      }
      test_.MustCommit(std::move(writes));
    }
    test_.MustCommit(Delete("c/d100000"));
  });
  EXPECT_EQ(view.resets, 0u);
  EXPECT_THAT(view.documents, SizeIs(19 + 2));
  EXPECT_EQ(NumberOf(*view.documents.at("c/d100001").record),
            static_cast<int64_t>(2 + kPendingMax.count));
}

TEST_F(WatcherResumeTest, TooManyBytesAreReadFromTheLogToo) {
  const QueryBuilder named = QueryBuilder("c").Ascending("__name__").Limit(100);
  for (const QueryBuilder& query : {kAll, named}) {
    const TargetView view = WhileStopped(query, [&] {
      PutLarge(kPendingMax.bytes / 1'000'000 + 1);
      for (size_t i = 0; i < 3; ++i) test_.MustCommit(Delete("c/large" + std::to_string(i)));
    });
    EXPECT_EQ(view.resets, 0u);
    EXPECT_THAT(view.documents, SizeIs(kPendingMax.bytes / 1'000'000 - 2 + 2));
  }
}

TEST_F(WatcherResumeTest, WhatIsTooMuchForTheLogHasTheTargetReset) {
  TargetView view = WhileStopped(kAll, [&] { PutNumbered(0, kCatchUpMax.count + 1); });
  EXPECT_EQ(view.resets, 1u);
  EXPECT_THAT(view.documents, SizeIs(kCatchUpMax.count + 3));
}

TEST_F(WatcherResumeTest, TooManyBytesForTheLogHaveTheTargetReset) {
  const size_t count = kCatchUpMax.bytes / 1'000'000 + 1;
  const TargetView view = WhileStopped(kAll, [&] { PutLarge(count); });
  EXPECT_EQ(view.resets, 1u);
  EXPECT_THAT(view.documents, SizeIs(count + 2));
}

TEST_F(WatcherResumeTest, AClientThatWakesUpBeyondTheHistoryIsReset) {
  const TargetView view = WhileStopped(kAll, [&] {
    PutLarge(kPendingMax.bytes / 1'000'000 + 1);
    test_.MustCommit(Delete("c/large0"));
    test_.Pass(std::chrono::hours(3));
  });
  EXPECT_EQ(view.resets, 1u);
  EXPECT_THAT(view.documents, SizeIs(kPendingMax.bytes / 1'000'000 + 2));
}

TEST_F(WatcherResumeTest, CatchingUpEndsWhenItsClientHasLeft) {
  constexpr size_t kChanged = 100;
  const TargetView kept = ListenOnce(kAll);
  PutNumbered(0, kChanged);
  TestWatch watch(test_);
  Gate begun;
  std::atomic<size_t> snapshots = 0;
  // The first one is for the log; each document of the past takes another one.
  test_.store().BeforeSnapshots([&] {
    if (++snapshots > 1) return;
    watch.client().Disconnect();
    begun.Pass();
  });
  watch.Add(1, kAll, Resume{kept.resume_token});
  begun.AwaitArrivals(1);
  watch.Close();
  test_.Close();
  test_.store().RemoveHooks();
  EXPECT_LE(snapshots, kChanged / 10);
}

}  // namespace
}  // namespace hearth::engine
