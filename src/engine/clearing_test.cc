#include "engine/clearing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/testing/test_engine.h"
#include "engine/testing/test_watch.h"

namespace hearth::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

model::CollectionPath Collection(std::string_view path) {
  return *model::CollectionPath::Parse(path);
}

class ClearingTest : public testing::Test {
 protected:
  explicit ClearingTest(const EngineOptions& options = {}) : test_(options) {}

  Outcome<Status> Start(const ClearScope& scope = AllDocuments()) {
    Outcome<Status> outcome;
    Clear(test_.engine(), test_.database(), scope, InlineExecutor::Get(), outcome.Callback());
    return outcome;
  }
  Status Run(const ClearScope& scope = AllDocuments()) { return Start(scope).Take(); }

  void Put(const std::vector<std::string>& paths) {
    std::vector<request::Write> writes;
    for (const std::string& path : paths) writes.push_back(SetNumber(path, 1));
    test_.MustCommit(std::move(writes));
  }
  void PutMany(const std::string& collection, size_t count) {
    std::vector<request::Write> writes;
    for (size_t i = 0; i < count; ++i) {
      writes.push_back(SetNumber(collection + "/d" + std::to_string(i), 1));
    }
    test_.MustCommit(std::move(writes));
  }
  // The paths of all documents of the database.
  std::vector<std::string> Left(std::string_view database = "(default)") {
    const documents::DatabaseHandle opened = test_.engine().OpenDatabase(NameDatabase(database));
    Outcome<Result<std::unique_ptr<ReadView>>> view;
    test_.engine().Read(*opened, request::Now{}, TestEngine::Everything(), InlineExecutor::Get(),
                        view.Callback());
    const std::map<std::string, std::string> documents = *ScanAll(**view.Take());
    std::vector<std::string> paths;
    for (const auto& [path, record] : documents) paths.push_back(path);
    return paths;
  }
  // Counts the commits that reach the store from now on.
  void CountCommits() {
    test_.store().AfterCommits([this] { ++commits_; });
  }

  TestEngine test_;
  std::atomic<size_t> commits_ = 0;
};

TEST_F(ClearingTest, DeletesAllOfADatabaseAndNothingElse) {
  Put({"c/a", "c/a/s/x", "c/a/s/x/t/y", "c/__id7__", "m/missing/s/x", "z/z"});
  const documents::DatabaseHandle other = test_.engine().OpenDatabase(NameDatabase("other"));
  Outcome<Result<request::CommitResult>> committed;
  test_.engine().Commit(*other, {SetNumber("c/a", 1)}, "", InlineExecutor::Get(),
                        committed.Callback());
  ASSERT_TRUE(committed.Take().ok());

  EXPECT_EQ(Run(), Status());
  EXPECT_THAT(Left(), IsEmpty());
  EXPECT_THAT(Left("other"), ElementsAre("c/a"));
  EXPECT_EQ(Run(), Status());  // Nothing left to do.
  test_.Restart();
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(ClearingTest, ACollectionGoesWithAllBelowIt) {
  Put({"a/d", "c/d", "c/d/s/x", "c/missing/s/x", "c2/d", "d/c", "d/x/c/y"});
  EXPECT_EQ(Run(Collection("c")), Status());
  EXPECT_THAT(Left(), UnorderedElementsAre("a/d", "c2/d", "d/c", "d/x/c/y"));
  EXPECT_EQ(Run(Collection("d/x/c")), Status());
  EXPECT_THAT(Left(), UnorderedElementsAre("a/d", "c2/d", "d/c"));
}

TEST_F(ClearingTest, ADocumentGoesWithAllBelowIt) {
  Put({"c/d", "c/d/s/x", "c/d/s/x/t/y", "c/d/u/v", "c/d2", "c/d2/s/x", "c/c", "d/d"});
  EXPECT_EQ(Run(Path("c/d")), Status());
  EXPECT_THAT(Left(), UnorderedElementsAre("c/d2", "c/d2/s/x", "c/c", "d/d"));
  EXPECT_EQ(Run(Path("no/such")), Status());
  EXPECT_EQ(Left().size(), 4u);
  Put({"m/missing/s/x"});
  EXPECT_EQ(Run(Path("m/missing")), Status());
  EXPECT_EQ(Left().size(), 4u);
}

TEST_F(ClearingTest, CommitsHaveABoundedNumberOfDocuments) {
  PutMany("c", kClearBatchDocumentsMax);
  CountCommits();
  EXPECT_EQ(Run(), Status());
  EXPECT_EQ(commits_, 1u);
  EXPECT_THAT(Left(), IsEmpty());

  PutMany("c", 2 * kClearBatchDocumentsMax + 1);
  commits_ = 0;
  EXPECT_EQ(Run(), Status());
  EXPECT_EQ(commits_, 3u);
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(ClearingTest, CommitsHaveABoundedNumberOfBytes) {
  for (const char* path : {"c/a", "c/b", "c/c", "c/d", "c/e"}) {
    const std::string text(kClearBatchBytesMax * 2 / 5, 'x');
    test_.MustCommit(Set(path, MakeFields({{"text", model::EncodeString(text)}})));
  }
  CountCommits();
  EXPECT_EQ(Run(), Status());
  EXPECT_EQ(commits_, 3u);  // Two documents each, and the last one.
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(ClearingTest, ListenersSeeTheDocumentsGo) {
  PutMany("c", kClearBatchDocumentsMax + 10);
  TestWatch watch(test_);
  EXPECT_EQ(watch.Start(1, query::QueryBuilder("c")).documents.size(),
            kClearBatchDocumentsMax + 10);
  EXPECT_EQ(Run(), Status());
  const TargetView view = watch.At(1, test_.MustCommit(SetNumber("c/new", 1)));
  EXPECT_THAT(view.Paths(), ElementsAre("c/new"));
  EXPECT_EQ(view.resets, 0u);
}

TEST_F(ClearingTest, IndexEntriesGoWithTheirDocuments) {
  const index::TtlPolicy policy{"c", FieldAt("n"), std::chrono::seconds(0)};
  ASSERT_EQ(test_.engine().SetTtlPolicy(test_.database(), policy), Status());
  test_.engine().AwaitIndexes();
  PutMany("c", kClearBatchDocumentsMax + 10);
  const auto has_entries = [this] {
    const auto snapshot = test_.store().NewSnapshot();
    return snapshot->Scan(storage::Space::kIndexes, {}, storage::Direction::kForward)->Valid();
  };
  EXPECT_TRUE(has_entries());
  EXPECT_EQ(Run(), Status());
  EXPECT_FALSE(has_entries());
}

TEST_F(ClearingTest, WhatIsCreatedWhileItRunsStays) {
  PutMany("c", 2 * kClearBatchDocumentsMax);
  Gate gate;
  gate.Close();
  test_.store().BeforeCommits([&] { gate.Pass(); });
  const Outcome<Status> cleared = Start();
  gate.AwaitArrivals(1);  // The first batch.
  const TestEngine::Commits created =
      test_.StartCommit({SetNumber("a/before", 1), SetNumber("z/after", 1)});
  gate.Open();
  EXPECT_EQ(cleared.Take(), Status());
  EXPECT_TRUE(created.Take().ok());
  EXPECT_THAT(Left(), UnorderedElementsAre("a/before", "z/after"));
}

TEST_F(ClearingTest, SeveralAtOnce) {
  PutMany("c", 3 * kClearBatchDocumentsMax);
  std::vector<Outcome<Status>> cleared;
  for (int i = 0; i < 8; ++i) cleared.push_back(Start());
  for (const Outcome<Status>& each : cleared) EXPECT_EQ(each.Take(), Status());
  EXPECT_THAT(Left(), IsEmpty());
}

// The clock stands still, so that no transaction expires; waits end with the next maintenance.
class ImpatientClearingTest : public ClearingTest {
 protected:
  ImpatientClearingTest() : ClearingTest(Options()) {}

 private:
  static EngineOptions Options() {
    EngineOptions options;
    options.lock_wait_max = std::chrono::milliseconds(0);
    return options;
  }
};

TEST_F(ImpatientClearingTest, DoesNotWaitForTransactionsForever) {
  Put({"c/a", "c/b"});
  const std::string transaction = test_.Begin();
  ASSERT_TRUE(test_.Get(request::InTransaction{transaction}, "c/a").ok());
  EXPECT_EQ(Run().code(), Code::kAborted);
  EXPECT_THAT(Left(), ElementsAre("c/a", "c/b"));

  ASSERT_EQ(test_.Rollback(transaction), Status());
  EXPECT_EQ(Run(), Status());
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(ClearingTest, EndsWithTheCommitInProgressWhenTheCallerLeaves) {
  PutMany("c", 3 * kClearBatchDocumentsMax);
  CountCommits();
  std::stop_source left;
  Gate gate;
  gate.Close();
  test_.store().BeforeCommits([&] { gate.Pass(); });
  Outcome<Status> cleared;
  Clear(test_.engine(), test_.database(), AllDocuments(), InlineExecutor::Get(), cleared.Callback(),
        {.left = left.get_token()});
  gate.AwaitArrivals(1);
  left.request_stop();
  gate.Open();
  EXPECT_EQ(cleared.Take().code(), Code::kCancelled);
  EXPECT_EQ(commits_, 1u);
  EXPECT_EQ(Left().size(), 2 * kClearBatchDocumentsMax);
}

TEST_F(ClearingTest, ReportsWhatTheStoreCannotDo) {
  PutMany("c", 2 * kClearBatchDocumentsMax);
  const Status broken(Code::kUnavailable, "the disk is gone");
  test_.store().FailCommit(2, broken);
  EXPECT_EQ(Run(), broken);
  EXPECT_EQ(Left().size(), kClearBatchDocumentsMax);
  test_.store().FailScan(3, broken);
  EXPECT_EQ(Run(), broken);
  EXPECT_EQ(Run(), Status());
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(ClearingTest, EndsWithTheEngine) {
  PutMany("c", 20 * kClearBatchDocumentsMax);
  Gate gate;
  gate.Close();
  test_.store().BeforeCommits([&] { gate.Pass(); });
  const Outcome<Status> cleared = Start();
  gate.AwaitArrivals(1);
  gate.Open();
  test_.Close();
  // It completed, or failed because the engine was closing.
  const Status status = cleared.Take();
  EXPECT_TRUE(status.ok() || status.code() == Code::kUnavailable) << status.ToString();
  test_.Restart();
  EXPECT_EQ(Run(), Status());
  EXPECT_THAT(Left(), IsEmpty());
}

// A clear waits in the readers' queue like any other work of its client.
TEST(ClearingTurnTest, TakesItsClientsPlaces) {
  constexpr ClientKey kGreedy{1};
  constexpr ClientKey kOther{2};
  EngineOptions options;
  options.readers.threads = 1;
  options.readers.queued_tasks_max = 8;
  Gate busy;
  TestEngine test(options);
  test.MustCommit(SetNumber("c/a", 1));
  busy.Close();
  ASSERT_EQ(test.engine().RunOnReaders(kGreedy, [&busy] { busy.Pass(); }), Status());
  busy.AwaitArrivals(1);
  while (test.engine().RunOnReaders(kGreedy, [] {}).ok()) {
  }
  const auto clear = [&test](ClientKey client) {
    Outcome<Status> outcome;
    Clear(test.engine(), test.database(), AllDocuments(), InlineExecutor::Get(), outcome.Callback(),
          {client});
    return outcome;
  };
  const Outcome<Status> refused = clear(kGreedy);
  EXPECT_TRUE(refused.IsThere());  // Although the readers are busy.
  const Outcome<Status> done = clear(kOther);
  busy.Open();
  EXPECT_EQ(refused.Take().code(), Code::kResourceExhausted);
  EXPECT_EQ(done.Take(), Status());
}

}  // namespace
}  // namespace hearth::engine
