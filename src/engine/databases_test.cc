// Databases come into existence with their first write, and can be deleted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "documents/keys.h"
#include "engine/testing/test_engine.h"
#include "engine/testing/test_watch.h"
#include "expiry/ttl_sweeper.h"
#include "index/index_config.h"
#include "query/testing/query_builder.h"

namespace hearth::engine {
namespace {

using documents::DatabaseHandle;
using query::QueryBuilder;
using storage::Space;
using testing::ElementsAre;
using testing::IsEmpty;

class DatabasesTest : public testing::Test {
 protected:
  static EngineOptions Limited(size_t databases_max) {
    EngineOptions options;
    options.databases_max = databases_max;
    options.reads_without_index_max = 10;
    return options;
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const documents::ConstDatabaseHandle& each : test_.engine().Databases()) {
      names.emplace_back(each->name.database());
    }
    return names;
  }
  static Result<request::CommitResult> Commit(TestEngine& test, const DatabaseHandle& database,
                                              request::Write write) {
    Outcome<Result<request::CommitResult>> outcome;
    std::vector<request::Write> writes;
    writes.push_back(std::move(write));
    test.engine().Commit(*database, std::move(writes), "", InlineExecutor::Get(),
                         outcome.Callback());
    return outcome.Take();
  }
  // The keys of the database's documents, history and log, and of all index entries.
  size_t KeysLeft(model::DatabaseNumber number) {
    const auto snapshot = test_.store().NewSnapshot();
    size_t keys = 0;
    const auto count = [&](Space space, const std::string& prefix) {
      const auto cursor =
          snapshot->Scan(space, storage::PrefixRange(prefix), storage::Direction::kForward);
      for (; cursor->Valid(); cursor->Next()) ++keys;
    };
    const std::string prefix = model::DatabaseKeyPrefix(number);
    for (const Space space : {Space::kDocuments, Space::kHistory, Space::kLog}) {
      count(space, prefix);
    }
    count(Space::kIndexes, "");
    count(Space::kMeta, std::string(documents::kTtlKeyPrefix) + prefix);
    count(Space::kMeta, std::string(documents::kIndexKeyPrefix));
    count(Space::kMeta, std::string(documents::kDatabaseRemainsKeyPrefix));
    return keys;
  }
  void Fill(int64_t count) {
    for (int64_t n = 0; n < count; ++n) {
      test_.MustCommit(SetNumber("c/d" + std::to_string(n), n));
    }
  }

  TestEngine test_{Limited(3)};
};

TEST_F(DatabasesTest, ReadsCreateNothing) {
  const QueryBuilder query("c");
  for (size_t i = 0; i < 5'000; ++i) {
    const model::DatabaseName name = NameDatabase("d" + std::to_string(i));
    const DatabaseHandle database = test_.engine().OpenDatabase(name);
    EXPECT_EQ(*test_.engine().GetNewest(*database, Path("c/a")), nullptr);
    TestEngine::Runs runs;
    query::NormalizedQuery asked = query.Build();
    asked.query.parent.database = name;
    test_.engine().Query(*database, {std::move(asked)}, InlineExecutor::Get(), runs.Callback());
    const auto run = runs.Take();
    ASSERT_TRUE(run.ok()) << run.status().ToString();
    EXPECT_EQ(*(*run)->Next(), std::nullopt);
    const Result<std::string> transaction = test_.engine().BeginTransaction(*database, {});
    ASSERT_TRUE(transaction.ok());
    EXPECT_EQ(test_.engine().Rollback(*database, *transaction), Status());
  }
  EXPECT_THAT(Names(), IsEmpty());
  test_.MustCommit(SetNumber("c/a", 1));
  EXPECT_THAT(Names(), ElementsAre("(default)"));
}

TEST_F(DatabasesTest, AWriteThatChangesNothingCreatesNothing) {
  EXPECT_TRUE(test_.Commit(Delete("c/a")).ok());
  EXPECT_FALSE(test_.Commit(IfExists(SetNumber("c/a", 1))).ok());
  EXPECT_THAT(Names(), IsEmpty());
}

// A handle alone keeps an unwritten database: what was read and locked under it stays valid.
TEST_F(DatabasesTest, ATransactionOutlivesTheRequestsOnAnUnwrittenDatabase) {
  std::string transaction;
  {
    const DatabaseHandle database = test_.engine().OpenDatabase(NameDatabase("other"));
    transaction = *test_.engine().BeginTransaction(*database, {});
  }
  const DatabaseHandle again = test_.engine().OpenDatabase(NameDatabase("other"));
  Outcome<Result<request::CommitResult>> outcome;
  test_.engine().Commit(*again, {SetNumber("c/a", 1)}, transaction, InlineExecutor::Get(),
                        outcome.Callback());
  EXPECT_TRUE(outcome.Take().ok());
}

TEST_F(DatabasesTest, TheLimitIsOnCreations) {
  std::vector<DatabaseHandle> databases;
  for (const char* name : {"a", "b", "c"}) {
    databases.push_back(test_.engine().OpenDatabase(NameDatabase(name)));
    EXPECT_TRUE(Commit(test_, databases.back(), SetNumber("c/a", 1)).ok());
  }
  EXPECT_EQ(test_.Commit(SetNumber("c/a", 1)).status().code(), Code::kResourceExhausted);
  EXPECT_EQ(test_.engine()
                .SetTtlPolicy(test_.database(), {"c", FieldAt("until"), std::chrono::seconds(0)})
                .code(),
            Code::kResourceExhausted);
  EXPECT_EQ(*test_.GetNewest("c/a"), nullptr);  // Reads as empty.
  EXPECT_TRUE(Commit(test_, databases[0], SetNumber("c/b", 1)).ok());
  ASSERT_EQ(test_.engine().DeleteDatabase(NameDatabase("b")), Status());
  EXPECT_TRUE(test_.Commit(SetNumber("c/a", 1)).ok());
}

TEST_F(DatabasesTest, FirstWritesAtTheSameTimeCreateItOnce) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      for (size_t n = 0; n < 50; ++n) {
        const DatabaseHandle database = test_.engine().OpenDatabase(NameDatabase("new"));
        const std::string path = "c/d" + std::to_string(100 * i + n);
        ASSERT_TRUE(Commit(test_, database, SetNumber(path, 1)).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(Names(), ElementsAre("new"));
  test_.Restart();
  const DatabaseHandle database = test_.engine().OpenDatabase(NameDatabase("new"));
  EXPECT_NE(*test_.engine().GetNewest(*database, Path("c/d349")), nullptr);
  EXPECT_NE(*test_.engine().GetNewest(*database, Path("c/d0")), nullptr);
  EXPECT_GT(database->created_micros, 0);
}

TEST_F(DatabasesTest, ADeletedDatabaseIsGoneAndItsNameIsFree) {
  Fill(50);
  ASSERT_EQ(test_.engine().SetTtlPolicy(test_.database(),
                                        {"c", FieldAt("until"), std::chrono::seconds(0)}),
            Status());
  test_.engine().AwaitIndexes();
  const model::DatabaseNumber number = test_.database().number;
  EXPECT_GT(KeysLeft(number), 50u);
  ASSERT_EQ(test_.engine().DeleteDatabase(NameDatabase()), Status());
  EXPECT_THAT(Names(), IsEmpty());
  EXPECT_EQ(test_.engine().DeleteDatabase(NameDatabase()).code(), Code::kNotFound);

  // At once, before everything is removed.
  test_.ReopenDatabase();
  EXPECT_EQ(*test_.GetNewest("c/d1"), nullptr);
  test_.MustCommit(SetNumber("c/new", 1));
  EXPECT_NE(test_.database().number, number);
  EXPECT_THAT(test_.engine().TtlStatuses(test_.database()), IsEmpty());
  test_.engine().AwaitRemovals();
  EXPECT_EQ(KeysLeft(number), 0u);
  EXPECT_THAT(test_.engine().DatabasesBeingRemoved(), IsEmpty());
  test_.Restart();
  EXPECT_EQ(*test_.GetNewest("c/d1"), nullptr);
  EXPECT_NE(*test_.GetNewest("c/new"), nullptr);
}

TEST_F(DatabasesTest, ARemovalGoesOnAfterARestart) {
  Fill(2'500);
  ASSERT_EQ(
      test_.engine().SetTtlPolicy(test_.database(), {"c", FieldAt("n"), std::chrono::seconds(0)}),
      Status());
  test_.engine().AwaitIndexes();
  const model::DatabaseNumber number = test_.database().number;
  // The store fails after the deletion and a few steps of the removal.
  std::atomic<size_t> commits = 0;
  test_.store().BeforeCommits([&] {
    if (++commits > 4) test_.store().FailCommit(1, Status(Code::kUnavailable, "disk"));
  });
  ASSERT_EQ(test_.engine().DeleteDatabase(NameDatabase()), Status());
  test_.store().RemoveHooks();
  test_.Restart();
  test_.engine().AwaitRemovals();
  test_.engine().AwaitIndexes();
  EXPECT_EQ(KeysLeft(number), 0u);
  EXPECT_EQ(*test_.GetNewest("c/d1"), nullptr);
  test_.MustCommit(SetNumber("c/new", 1));
  EXPECT_THAT(test_.engine().TtlStatuses(test_.database()), IsEmpty());
}

TEST_F(DatabasesTest, ADeletionThatIsNotStoredChangesNothing) {
  Fill(3);
  test_.store().FailCommit(1, Status(Code::kUnavailable, "disk"));
  EXPECT_EQ(test_.engine().DeleteDatabase(NameDatabase()).code(), Code::kUnavailable);
  EXPECT_THAT(Names(), ElementsAre("(default)"));
  EXPECT_NE(*test_.GetNewest("c/d1"), nullptr);
  test_.MustCommit(SetNumber("c/new", 1));
}

TEST_F(DatabasesTest, WhatADeletionOvertakesFails) {
  Fill(20);
  const std::string transaction = test_.Begin();
  ASSERT_TRUE(test_.Get(request::InTransaction{transaction}, "c/d1").ok());
  auto view = test_.Read(request::Now{}, TestEngine::Documents({"c/d1"}));
  ASSERT_TRUE(view.ok());
  auto run = test_.StartQuery(QueryBuilder("c").Build()).Take();
  ASSERT_TRUE(run.ok());
  ASSERT_EQ(test_.engine().DeleteDatabase(NameDatabase()), Status());
  EXPECT_EQ((*view)->Get(Path("c/d1")).status().code(), Code::kAborted);
  EXPECT_EQ(test_.Commit(SetNumber("c/d1", 7)).status().code(), Code::kAborted);
  EXPECT_EQ(test_.Commit(SetNumber("c/d1", 7), transaction).status().code(),
            Code::kInvalidArgument);  // "has expired": clients try again.
  view->reset();
  run->reset();
  // Its locks are free.
  test_.ReopenDatabase();
  test_.MustCommit(SetNumber("c/d1", 8));
}

TEST_F(DatabasesTest, ListenersEndAndFindAnEmptyDatabase) {
  Fill(3);
  const QueryBuilder query("c");
  TargetView kept;
  {
    TestWatch watch(test_);
    kept = watch.Start(1, query);
    kept.resume_token = watch.client().Now().snapshots.back().resume_token;
    EXPECT_EQ(kept.documents.size(), 3u);
    ASSERT_EQ(test_.engine().DeleteDatabase(NameDatabase()), Status());
    EXPECT_EQ(watch.client().AwaitEnd().code(), Code::kUnavailable);
  }
  test_.ReopenDatabase();
  for (const bool is_written : {false, true}) {
    if (is_written) test_.MustCommit(SetNumber("c/new", 1));
    TestWatch watch(test_);
    watch.client().Keep(1, kept);
    const TargetView view = watch.Start(1, query, {{kept.resume_token}});
    EXPECT_EQ(view.resets, 1u);
    EXPECT_EQ(view.documents.size(), is_written ? 1u : 0u);
  }
}

TEST_F(DatabasesTest, OtherDatabasesAreNotAffected) {
  Fill(5);
  const DatabaseHandle other = test_.engine().OpenDatabase(NameDatabase("other"));
  ASSERT_TRUE(Commit(test_, other, SetNumber("c/a", 1)).ok());
  TestWatch watch(test_);
  watch.Start(1, QueryBuilder("c"));
  ASSERT_EQ(test_.engine().DeleteDatabase(NameDatabase("other")), Status());
  test_.engine().AwaitRemovals();
  const model::Timestamp time = test_.MustCommit(SetNumber("c/late", 1));
  EXPECT_EQ(watch.client().AwaitSnapshot(time).targets[1].documents.size(), 6u);
}

}  // namespace
}  // namespace hearth::engine
