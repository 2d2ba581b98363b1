// Commits through the whole engine: groups, failures of the store, restarts, limits.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <set>
#include <thread>

#include "commit/commits_under_way.h"
#include "commit/committer.h"
#include "engine/listing.h"
#include "engine/testing/test_engine.h"

namespace hearth::engine {
namespace {

using namespace std::chrono_literals;
using model::EncodeInteger;
using model::Timestamp;

const Status kUnavailable(Code::kUnavailable, "disk");
const Status kAlreadyThere(
    Code::kAlreadyExists, "Document already exists: projects/p1/databases/(default)/documents/c/a");

class EngineTest : public testing::Test {
 protected:
  using Commits = TestEngine::Commits;

  EngineTest() {
    test_.store().BeforeCommits([this] { gate_.Pass(); });
  }
  ~EngineTest() override { gate_.Open(); }

  // A separate commit that keeps the committer busy, so that later ones gather in a group.
  Commits StartBusyCommit() {
    gate_.Close();
    const size_t before = gate_.arrivals();
    Commits busy = test_.StartCommit({SetNumber("busy/busy", ++busy_)});
    gate_.AwaitArrivals(before + 1);
    return busy;
  }
  // Gathers all of `writes`, one commit each, in one group, and returns their results.
  std::vector<Result<request::CommitResult>> CommitInOneGroup(
      const std::vector<request::Write>& writes) {
    const Commits busy = StartBusyCommit();
    std::vector<Commits> outcomes;
    for (const request::Write& write : writes) outcomes.push_back(test_.StartCommit({write}));
    gate_.Open();
    EXPECT_TRUE(busy.Take().ok());
    std::vector<Result<request::CommitResult>> results;
    for (const Commits& outcome : outcomes) results.push_back(outcome.Take());
    return results;
  }

  // The number in a document; nullopt if the document does not exist.
  std::optional<int64_t> Number(std::string_view path) {
    const Result<model::Record> record = test_.GetNewest(path);
    EXPECT_TRUE(record.ok()) << record.status().ToString();
    if (!record.ok() || !*record) return std::nullopt;
    return NumberOf(**record);
  }

  Gate gate_;
  int64_t busy_ = 0;
  TestEngine test_;
};

TEST_F(EngineTest, WhatIsCommittedIsThere) {
  const Result<request::CommitResult> result =
      test_.Commit({SetNumber("c/a", 1), SetNumber("c/b", 2)});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->commit_time, Timestamp::FromMicros(kTestStartMicros));
  ASSERT_EQ(result->write_results.size(), 2u);
  const std::string record = RecordOf(kTestStartMicros, kTestStartMicros, NumberFields(1));
  EXPECT_EQ(*result->write_results[0].document, record);
  EXPECT_EQ(**test_.GetNewest("c/a"), record);
  EXPECT_EQ(**test_.Get(request::Now{}, "c/a"), record);
  EXPECT_EQ(Number("c/b"), 2);
  EXPECT_EQ(Number("c/c"), std::nullopt);
}

TEST_F(EngineTest, CommitTimesIncreaseThoughTheClockStands) {
  EXPECT_EQ(test_.MustCommit(SetNumber("c/a", 1)).micros(), kTestStartMicros);
  EXPECT_EQ(test_.MustCommit(SetNumber("c/a", 2)).micros(), kTestStartMicros + 1);
  test_.clock().SetWall(kTestStartMicros - 1'000'000);
  EXPECT_EQ(test_.MustCommit(SetNumber("c/a", 3)).micros(), kTestStartMicros + 2);
}

TEST_F(EngineTest, ACommitWithoutWritesHasATime) {
  const Result<request::CommitResult> result = test_.Commit(std::vector<request::Write>{});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->commit_time.micros(), kTestStartMicros);
  EXPECT_TRUE(result->write_results.empty());
  EXPECT_EQ(gate_.arrivals(), 0u);  // Nothing to store.
}

TEST_F(EngineTest, WhatChangesNothingKeepsItsTimeAndIsNotStored) {
  const Timestamp first = test_.MustCommit(SetNumber("c/a", 1));
  test_.clock().Advance(1s);
  const Result<request::CommitResult> result =
      test_.Commit({SetNumber("c/a", 1), Delete("c/missing")});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->commit_time.micros(), kTestStartMicros + 1'000'000);
  EXPECT_EQ(model::RecordUpdateTime(*result->write_results[0].document), first);
  EXPECT_EQ(gate_.arrivals(), 1u);
}

TEST_F(EngineTest, DatabasesAreSeparate) {
  const documents::DatabaseHandle handle = test_.engine().OpenDatabase(NameDatabase("other"));
  documents::Database& other = *handle;
  test_.MustCommit(SetNumber("c/a", 1));
  EXPECT_EQ(*test_.engine().GetNewest(other, Path("c/a")), nullptr);
  Outcome<Result<request::CommitResult>> outcome;
  test_.engine().Commit(other, {IfMissing(SetNumber("c/a", 2))}, "", InlineExecutor::Get(),
                        outcome.Callback());
  EXPECT_TRUE(outcome.Take().ok());
  EXPECT_EQ(Number("c/a"), 1);
  test_.Restart();
  documents::Database& again = *test_.engine().OpenDatabase(NameDatabase("other"));
  EXPECT_EQ(NumberOf(**test_.engine().GetNewest(again, Path("c/a"))), 2);
  EXPECT_EQ(Number("c/a"), 1);
}

TEST_F(EngineTest, WaitingCommitsShareOneSync) {
  test_.MustCommit(SetNumber("c/a", 0));
  const size_t before = gate_.arrivals();
  const auto results =
      CommitInOneGroup(std::vector<request::Write>(100, Transform("c/a", {Increment("n", 1)})));
  EXPECT_EQ(gate_.arrivals(), before + 2);  // The busy one and the group.
  Timestamp last;
  for (size_t i = 0; i < results.size(); ++i) {  // In order of arrival, each on the previous.
    ASSERT_TRUE(results[i].ok());
    EXPECT_EQ(results[i]->write_results[0].transform_results[0],
              EncodeInteger(static_cast<int64_t>(i) + 1));
    EXPECT_GT(results[i]->commit_time, last);
    last = results[i]->commit_time;
  }
  EXPECT_EQ(Number("c/a"), 100);
}

TEST_F(EngineTest, AFailureDoesNotDisturbItsGroup) {
  const auto results = CommitInOneGroup(
      {SetNumber("c/a", 1), IfMissing(SetNumber("c/a", 2)), Transform("c/a", {Increment("n", 10)}),
       IfExists(SetNumber("c/b", 1)), Delete("c/a"), IfMissing(SetNumber("c/a", 3))});
  EXPECT_TRUE(results[0].ok());
  EXPECT_EQ(results[1].status(), kAlreadyThere);
  EXPECT_EQ(results[2]->write_results[0].transform_results[0], EncodeInteger(11));
  EXPECT_EQ(results[3].status().code(), Code::kNotFound);
  EXPECT_TRUE(results[4].ok());
  EXPECT_TRUE(results[5].ok());
  EXPECT_EQ(Number("c/a"), 3);
  EXPECT_EQ(model::RecordCreateTime(**test_.GetNewest("c/a")), results[5]->commit_time);
}

TEST_F(EngineTest, EveryStateWithinAGroupIsInTheHistory) {
  const auto results = CommitInOneGroup(
      {SetNumber("c/a", 1), SetNumber("c/a", 2), Delete("c/a"), SetNumber("c/a", 4)});
  const auto number_at = [&](size_t i) -> std::optional<int64_t> {
    const model::Record record = *test_.Get(results[i]->commit_time, "c/a");
    return record ? std::optional(NumberOf(*record)) : std::nullopt;
  };
  EXPECT_EQ(number_at(0), 1);
  EXPECT_EQ(number_at(1), 2);
  EXPECT_EQ(number_at(2), std::nullopt);
  EXPECT_EQ(number_at(3), 4);
}

TEST_F(EngineTest, GroupsAreBounded) {
  const size_t before = gate_.arrivals();
  std::vector<request::Write> many;
  for (size_t i = 0; i < commit::Committer::kGroupCommitsMax + 1; ++i) {
    many.push_back(SetNumber("c/" + std::to_string(i), 1));
  }
  for (const auto& result : CommitInOneGroup(many)) EXPECT_TRUE(result.ok());
  EXPECT_EQ(gate_.arrivals(), before + 3);

  const size_t before_large = gate_.arrivals();
  constexpr size_t kBytes = 1'000'000;
  std::vector<request::Write> large;
  for (size_t i = 0; i < commit::CommitGroup::kStagedBytesMax / kBytes + 2; ++i) {
    large.push_back(Set("c/" + std::to_string(i),
                        MakeFields({{"x", model::EncodeString(std::string(kBytes, 'x'))}})));
  }
  for (const auto& result : CommitInOneGroup(large)) EXPECT_TRUE(result.ok());
  EXPECT_EQ(gate_.arrivals(), before_large + 3);
}

TEST_F(EngineTest, ManyThreadsCommitAtOnce) {
  constexpr size_t kThreads = 8;
  constexpr size_t kCommits = 200;
  std::vector<std::vector<Timestamp>> times(kThreads);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, i, &mine = times[i]] {
      for (size_t number = 0; number < kCommits; ++number) {
        mine.push_back(
            test_.MustCommit({SetNumber("c/" + std::to_string(i) + "-" + std::to_string(number), 1),
                              Transform("total/total", {Increment("n", 1)})}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<Timestamp> all;
  for (const std::vector<Timestamp>& mine : times) {
    EXPECT_TRUE(std::ranges::is_sorted(mine));
    all.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(all.size(), kThreads * kCommits);
  EXPECT_EQ(Number("total/total"), static_cast<int64_t>(kThreads * kCommits));
  EXPECT_EQ(ScanAll(**test_.Read(request::Now{}, TestEngine::Everything()))->size(),
            kThreads * kCommits + 1);
}

TEST_F(EngineTest, CommitsUnderWayAreBounded) {
  const Commits busy = StartBusyCommit();
  std::vector<Commits> queued;
  for (size_t i = 1; i < commit::CommitsUnderWay::kCommitsMax; ++i) {
    queued.push_back(test_.StartCommit({Transform("c/a", {Increment("n", 1)})}));
  }
  EXPECT_EQ(test_.Commit(SetNumber("c/b", 1)).status(),
            Status(Code::kResourceExhausted, "too many commits are waiting"));
  gate_.Open();
  EXPECT_TRUE(busy.Take().ok());
  for (const Commits& outcome : queued) EXPECT_TRUE(outcome.Take().ok());
  EXPECT_EQ(Number("c/a"), static_cast<int64_t>(commit::CommitsUnderWay::kCommitsMax - 1));
  // The rejected commit left no lock behind.
  EXPECT_TRUE(test_.Get(request::InTransaction{test_.Begin()}, "c/b").ok());
  EXPECT_EQ(Number("c/b"), std::nullopt);
}

TEST_F(EngineTest, AClientWithManyCommitsDelaysNobody) {
  const ClientKey greedy{1};
  const ClientKey light{2};
  const auto start = [this](const std::string& path, ClientKey client) {
    Commits outcome;
    test_.engine().Commit(test_.database(), {SetNumber(path, 1)}, "", InlineExecutor::Get(),
                          outcome.Callback(), client);
    return outcome;
  };
  const Commits busy = StartBusyCommit();
  std::vector<Commits> queued;
  for (size_t i = 0; i < 5 * commit::Committer::kGroupCommitsMax; ++i) {
    queued.push_back(start("c/" + std::to_string(i), greedy));
  }
  const Commits lonely = start("c/lonely", light);
  gate_.Open();
  EXPECT_TRUE(busy.Take().ok());
  const Timestamp lonely_time = lonely.Take()->commit_time;
  size_t before = 0;
  for (const Commits& outcome : queued) before += outcome.Take()->commit_time < lonely_time;
  EXPECT_LE(before, 1u);
}

TEST_F(EngineTest, AClientGetsItsShareOfTheCommitsUnderWay) {
  const auto start = [this](ClientKey client) {
    Commits outcome;
    test_.engine().Commit(test_.database(), {Transform("c/a", {Increment("n", 1)})}, "",
                          InlineExecutor::Get(), outcome.Callback(), client);
    return outcome;
  };
  const Commits busy = StartBusyCommit();
  std::vector<Commits> queued;
  constexpr size_t kShare = commit::CommitsUnderWay::kCommitsMax / 2 - 1;  // And the busy one.
  for (size_t i = 0; i < kShare; ++i) queued.push_back(start(ClientKey{1}));
  const Commits refused = start(ClientKey{1});
  queued.push_back(start(ClientKey{2}));
  gate_.Open();
  EXPECT_TRUE(busy.Take().ok());
  EXPECT_EQ(refused.Take().status().code(), Code::kResourceExhausted);
  for (const Commits& outcome : queued) EXPECT_TRUE(outcome.Take().ok());
}

TEST_F(EngineTest, TheMemoryOfCommitsUnderWayIsBounded) {
  constexpr size_t kDocumentBytes = 1'000'000;
  const model::Fields large =
      MakeFields({{"x", model::EncodeString(std::string(kDocumentBytes, 'x'))}});
  // Ten documents per commit: as many as fit into one request.
  const std::vector<request::Write> writes(10, Set("c/a", large));
  const Commits busy = StartBusyCommit();
  std::vector<Commits> queued;
  for (size_t i = 0; i < commit::CommitsUnderWay::kBytesMax / request::ApproximateBytes(writes);
       ++i) {
    queued.push_back(test_.StartCommit(writes));
  }
  EXPECT_EQ(test_.Commit(writes).status().code(), Code::kResourceExhausted);
  gate_.Open();
  EXPECT_TRUE(busy.Take().ok());
  for (const Commits& outcome : queued) EXPECT_TRUE(outcome.Take().ok());
  EXPECT_TRUE(test_.Commit(writes).ok());  // There is room again.
}

TEST_F(EngineTest, AFailedStoreFailsTheWholeGroup) {
  test_.MustCommit(SetNumber("c/a", 1));
  const Timestamp before = test_.MustCommit(SetNumber("c/a", 2));
  test_.store().FailCommit(2, kUnavailable);  // The first is the busy one.
  const auto results = CommitInOneGroup(
      {SetNumber("c/a", 3), SetNumber("c/new", 3), Delete("c/a"), SetNumber("c/a", 2)});
  for (const auto& result : results) EXPECT_EQ(result.status(), kUnavailable);

  // Nothing of it is visible, not in the cache, not in the store, not in the history.
  EXPECT_EQ(Number("c/a"), 2);
  EXPECT_EQ(Number("c/new"), std::nullopt);
  const auto now = test_.Read(request::Now{}, TestEngine::Everything());
  EXPECT_EQ(ScanAll(**now)->size(), 2u);
  EXPECT_EQ(NumberOf(**test_.Get(before, "c/a")), 2);

  // The next one works, at a later time.
  const Result<request::CommitResult> next = test_.Commit(Transform("c/a", {Increment("n", 5)}));
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(next->write_results[0].transform_results[0], EncodeInteger(7));
  EXPECT_GT(next->commit_time, before);
  test_.Restart();
  EXPECT_EQ(Number("c/a"), 7);
  EXPECT_EQ(Number("c/new"), std::nullopt);
}

TEST_F(EngineTest, NobodyIsToldOfWhatAFailedGroupWouldHaveMade) {
  test_.store().FailCommit(2, kUnavailable);
  const auto results = CommitInOneGroup({SetNumber("c/a", 1), IfMissing(SetNumber("c/a", 2))});
  EXPECT_EQ(results[0].status(), kUnavailable);
  EXPECT_EQ(results[1].status(), kUnavailable);  // Not "already exists": it was never stored.
}

TEST_F(EngineTest, AFailedFirstCommitMakesNoDatabase) {
  test_.store().FailCommit(1, kUnavailable);
  EXPECT_EQ(test_.Commit(SetNumber("c/a", 1)).status(), kUnavailable);
  EXPECT_FALSE(test_.database().is_on_disk);
  test_.MustCommit(SetNumber("c/a", 2));
  EXPECT_TRUE(test_.database().is_on_disk);
  test_.Restart();
  EXPECT_TRUE(test_.database().is_on_disk);
  EXPECT_EQ(Number("c/a"), 2);
}

TEST_F(EngineTest, AFailureLeavesNoLocks) {
  test_.store().FailCommit(1, kUnavailable);
  EXPECT_EQ(test_.Commit(SetNumber("c/a", 1)).status(), kUnavailable);
  const std::string transaction = test_.Begin();
  EXPECT_TRUE(test_.StartRead(request::InTransaction{transaction}, TestEngine::Documents({"c/a"}))
                  .IsThere());
  EXPECT_EQ(test_.Rollback(transaction), Status());
}

TEST_F(EngineTest, DamageIsNeverAbsence) {
  test_.MustCommit(SetNumber("c/a", 1));
  test_.Restart();  // So that the cache is empty.
  test_.store().FailGet(1, storage::kDataLoss);
  EXPECT_EQ(test_.GetNewest("c/a").status(), storage::kDataLoss);
  test_.store().FailGet(1, storage::kDataLoss);
  EXPECT_EQ(test_.engine().GetNewestIfInMemory(test_.database(), Path("c/a"))->status(),
            storage::kDataLoss);
  test_.store().FailGet(1, storage::kDataLoss);
  EXPECT_EQ(test_.Get(request::Now{}, "c/a").status(), storage::kDataLoss);
  for (const request::Write& write : {IfMissing(SetNumber("c/a", 2)), IfExists(Delete("c/a")),
                                      Transform("c/a", {Increment("n", 1)})}) {
    test_.store().FailGet(1, storage::kDataLoss);
    EXPECT_EQ(test_.Commit(write).status(), storage::kDataLoss);
  }
  test_.store().FailScan(1, storage::kDataLoss);
  EXPECT_EQ(ScanAll(**test_.Read(request::Now{}, TestEngine::Everything())).status(),
            storage::kDataLoss);
  EXPECT_EQ(Number("c/a"), 1);
}

TEST_F(EngineTest, ADamagedDocumentDoesNotDisturbItsGroup) {
  test_.MustCommit(SetNumber("c/a", 1));
  test_.Restart();
  const Commits busy = StartBusyCommit();
  std::vector<Commits> outcomes;
  for (const request::Write& write : {SetNumber("c/a", 2), SetNumber("c/b", 2)}) {
    outcomes.push_back(test_.StartCommit({write}));
  }
  test_.store().FailGet(1, storage::kDataLoss);
  gate_.Open();
  EXPECT_TRUE(busy.Take().ok());
  EXPECT_EQ(outcomes[0].Take().status(), storage::kDataLoss);
  EXPECT_TRUE(outcomes[1].Take().ok());
  EXPECT_EQ(Number("c/a"), 1);
  EXPECT_EQ(Number("c/b"), 2);
}

TEST_F(EngineTest, ARecordThatIsTooShortIsDamage) {
  storage::Batch batch;
  batch.Put(storage::Space::kDocuments, model::DocumentKey(test_.database().number, Path("c/a")),
            "short");
  ASSERT_EQ(test_.store().Commit(batch), Status());
  EXPECT_EQ(test_.GetNewest("c/a").status().code(), Code::kDataLoss);
  EXPECT_EQ(test_.Commit(SetNumber("c/a", 1)).status().code(), Code::kDataLoss);
}

TEST_F(EngineTest, RestartsKeepEverything) {
  const Timestamp first = test_.MustCommit(SetNumber("c/a", 1));
  const Timestamp second = test_.MustCommit(SetNumber("c/a", 2));
  test_.Restart();
  EXPECT_EQ(Number("c/a"), 2);
  EXPECT_EQ(NumberOf(**test_.Get(first, "c/a")), 1);
  EXPECT_EQ(NumberOf(**test_.Get(second, "c/a")), 2);
}

TEST_F(EngineTest, NoCommitAtAMomentThatWasReadBeforeARestart) {
  test_.MustCommit(SetNumber("c/a", 1));
  test_.clock().Advance(10s);
  const Timestamp by_the_clock =
      (*test_.Read(request::Now{}, TestEngine::Everything()))->read_time();
  test_.Restart();  // The clock stands still.
  EXPECT_GT(test_.MustCommit(SetNumber("c/a", 2)), by_the_clock);

  test_.store().FailCommit(1, kUnavailable);
  EXPECT_EQ(test_.Commit(SetNumber("c/a", 3)).status(), kUnavailable);
  const Timestamp after_a_failure =
      (*test_.Read(request::Now{}, TestEngine::Everything()))->read_time();
  test_.Restart();
  EXPECT_GT(test_.MustCommit(SetNumber("c/a", 4)), after_a_failure);
  EXPECT_EQ(NumberOf(**test_.Get(after_a_failure, "c/a")), 2);
}

TEST_F(EngineTest, CommitTimesIncreaseThoughTheClockWasSetBackWhileClosed) {
  const Timestamp before = test_.MustCommit(SetNumber("c/a", 1));
  test_.Close();
  test_.clock().SetWall(kTestStartMicros - 3'600'000'000);
  test_.Restart();
  const Timestamp after = test_.MustCommit(SetNumber("c/a", 2));
  EXPECT_EQ(after.micros(), before.micros() + 1);
  EXPECT_EQ(NumberOf(**test_.Get(before, "c/a")), 1);
  EXPECT_EQ(NumberOf(**test_.Get(after, "c/a")), 2);
}

TEST_F(EngineTest, OpeningReportsDamageAndFailures) {
  RandomSource random(1);
  const auto open = [&] {
    return Engine::Open(test_.store(), test_.clock(), random, EngineOptions()).status();
  };
  test_.Close();
  test_.store().FailGet(1, kUnavailable);
  EXPECT_EQ(open(), kUnavailable);
  test_.store().FailScan(1, storage::kDataLoss);
  EXPECT_EQ(open(), storage::kDataLoss);
  storage::Batch batch;
  batch.Put(storage::Space::kMeta, std::string(documents::kCommitTimeKey), "abc");
  ASSERT_EQ(test_.store().Commit(batch), Status());
  EXPECT_EQ(open().code(), Code::kDataLoss);
}

TEST_F(EngineTest, ClosingFinishesTheCommitsThatWereTakenIn) {
  const Commits busy = StartBusyCommit();
  std::vector<Commits> queued;
  for (int i = 0; i < 10; ++i) {
    queued.push_back(test_.StartCommit({Transform("c/a", {Increment("n", 1)})}));
  }
  std::thread closer([this] { test_.Close(); });
  gate_.Open();
  closer.join();
  EXPECT_TRUE(busy.Take().ok());
  for (const Commits& outcome : queued) EXPECT_TRUE(outcome.Take().ok());
  test_.Restart();
  EXPECT_EQ(Number("c/a"), 10);
}

TEST_F(EngineTest, ClosingAnswersThoseWhoWaitForLocks) {
  test_.MustCommit(SetNumber("c/a", 1));
  const std::string holder = test_.Begin();
  ASSERT_TRUE(test_.Get(request::InTransaction{holder}, "c/a").ok());
  const Commits commit = test_.StartCommit({SetNumber("c/a", 2)});
  // A transaction that reads behind the waiting commit, and one that started with its read.
  const auto read =
      test_.StartRead(request::InTransaction{test_.Begin()}, TestEngine::Documents({"c/a"}));
  const auto first_read = test_.StartRead(request::NewTransaction{}, TestEngine::Collection("c"));
  EXPECT_FALSE(commit.IsThere() || read.IsThere() || first_read.IsThere());
  test_.Close();
  ASSERT_TRUE(commit.IsThere() && read.IsThere() && first_read.IsThere());
  EXPECT_EQ(commit.Take().status().code(), Code::kUnavailable);
  EXPECT_EQ(read.Take().status().code(), Code::kUnavailable);
  EXPECT_EQ(first_read.Take().status().code(), Code::kUnavailable);
}

TEST_F(EngineTest, ClosingRefusesTheCommitsOfTasksThatStillRun) {
  Gate started;
  Outcome<Status> last;
  const auto commit_until_refused = [&started, &engine = test_.engine(),
                                     &database = test_.database(), done = last.Callback()] {
    started.Pass();
    while (true) {
      Commits outcome;
      engine.Commit(database, {SetNumber("c/a", 1)}, "", InlineExecutor::Get(), outcome.Callback());
      const Result<request::CommitResult> result = outcome.Take();
      if (!result.ok()) return done(result.status());
    }
  };
  ASSERT_EQ(test_.engine().RunOnReaders(ClientKey::kInternal, commit_until_refused), Status());
  started.AwaitArrivals(1);
  test_.Close();
  EXPECT_EQ(last.Take(), Status(Code::kUnavailable, "the database is closing"));
}

TEST_F(EngineTest, BlockingTasksAreBounded) {
  EngineOptions options;
  options.readers.threads = 1;
  options.readers.queued_tasks_max = 1;
  TestEngine small(options);
  Gate gate;
  gate.Close();
  std::atomic<int> runs = 0;
  const auto task = [&] {
    gate.Pass();
    ++runs;
  };
  EXPECT_EQ(small.engine().RunOnReaders(ClientKey::kInternal, task), Status());
  gate.AwaitArrivals(1);
  EXPECT_EQ(small.engine().RunOnReaders(ClientKey::kInternal, task), Status());
  EXPECT_EQ(small.engine().RunOnReaders(ClientKey::kInternal, task),
            Status(Code::kResourceExhausted, "too many reads are waiting for the disk"));
  gate.Open();
  small.Close();
  EXPECT_EQ(runs, 2);
}

TEST_F(EngineTest, NewDocumentIdsLookLikeThoseOfSdks) {
  std::set<std::string> ids;
  for (int i = 0; i < 1'000; ++i) {
    const std::string id = test_.engine().NewDocumentId();
    EXPECT_EQ(id.size(), 20u);
    EXPECT_TRUE(std::ranges::all_of(id, [](unsigned char c) { return std::isalnum(c) != 0; }));
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), 1'000u);
}

}  // namespace
}  // namespace hearth::engine
