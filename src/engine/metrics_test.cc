// Every metric of the engine exists from the start and changes when it should.
#include "base/metrics.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "base/testing/metric_value.h"
#include "engine/testing/test_engine.h"
#include "engine/testing/test_watch.h"
#include "index/index_config.h"
#include "query/testing/query_builder.h"

namespace hearth::engine {
namespace {

using namespace std::chrono_literals;

constexpr char kPolicyLabels[] =
    "{project=\"p1\",database=\"(default)\",collection_group=\"rooms\"}";

class EngineMetricsTest : public testing::Test {
 protected:
  static EngineOptions OptionsWith(Metrics& metrics) {
    EngineOptions options;
    options.metrics = &metrics;
    options.readers.threads = 1;
    return options;
  }
  // -1 if there is no such series.
  double Value(const std::string& series) { return MetricValue(metrics_, series).value_or(-1); }

  Metrics metrics_;
  TestEngine test_{OptionsWith(metrics_)};
};

TEST_F(EngineMetricsTest, AllAreThereFromTheStartAndGoWithTheEngine) {
  for (const char* series :
       {"hearth_commits_total", "hearth_commit_errors_total", "hearth_commit_groups_total",
        "hearth_commit_group_errors_total", "hearth_document_reads_total{source=\"disk\"}",
        "hearth_document_reads_total{source=\"memory\"}", "hearth_queries_total",
        "hearth_queued_reads", "hearth_open_transactions", "hearth_lock_waits_total",
        "hearth_lock_waiting_requests", "hearth_live_targets", "hearth_indexes{state=\"building\"}",
        "hearth_indexes{state=\"ready\"}", "hearth_index_bytes"}) {
    EXPECT_EQ(Value(series), 0) << series;
  }
  test_.Close();
  EXPECT_EQ(Value("hearth_live_targets"), -1);
  EXPECT_EQ(Value("hearth_commits_total"), 0) << "what has happened is not forgotten";
}

TEST_F(EngineMetricsTest, Commits) {
  test_.MustCommit(SetNumber("c/a", 1));
  test_.MustCommit(SetNumber("c/a", 2));
  EXPECT_EQ(Value("hearth_commits_total"), 2);
  EXPECT_EQ(Value("hearth_commit_groups_total"), 2);
  EXPECT_FALSE(test_.Commit(IfMissing(SetNumber("c/a", 3))).ok());
  EXPECT_EQ(Value("hearth_commit_errors_total"), 1);
  EXPECT_EQ(Value("hearth_commit_group_errors_total"), 0);
  test_.store().FailCommit(1, Status(Code::kUnavailable, "broken"));
  EXPECT_FALSE(test_.Commit(SetNumber("c/a", 4)).ok());
  EXPECT_EQ(Value("hearth_commit_errors_total"), 2);
  EXPECT_EQ(Value("hearth_commit_group_errors_total"), 1);
  EXPECT_EQ(Value("hearth_commits_total"), 2);
}

TEST_F(EngineMetricsTest, AGroupIsCountedOnce) {
  Gate gate;
  gate.Close();
  test_.store().BeforeCommits([&gate] { gate.Pass(); });
  const auto first = test_.StartCommit({SetNumber("c/a", 1)});
  gate.AwaitArrivals(1);
  const auto second = test_.StartCommit({SetNumber("c/b", 1)});
  const auto third = test_.StartCommit({SetNumber("c/c", 1)});
  gate.Open();
  for (const auto& commit : {first, second, third}) EXPECT_TRUE(commit.Take().ok());
  EXPECT_EQ(Value("hearth_commits_total"), 3);
  EXPECT_EQ(Value("hearth_commit_groups_total"), 2);
}

TEST_F(EngineMetricsTest, ReadsByTheirSource) {
  const std::string memory = "hearth_document_reads_total{source=\"memory\"}";
  const std::string disk = "hearth_document_reads_total{source=\"disk\"}";
  const model::Timestamp first = test_.MustCommit(SetNumber("c/a", 1));
  test_.clock().Advance(1s);
  test_.MustCommit(SetNumber("c/a", 2));
  test_.Restart();  // Empties the cache.
  ASSERT_TRUE(test_.GetNewest("c/a").ok());
  EXPECT_EQ(Value(disk), 1);
  EXPECT_EQ(Value(memory), 0);
  ASSERT_TRUE(test_.GetNewest("c/a").ok());
  ASSERT_TRUE(test_.engine().GetNewestIfInMemory(test_.database(), Path("c/a")).has_value());
  ASSERT_TRUE(test_.Get(request::Now{}, "c/a").ok());
  EXPECT_EQ(Value(disk), 1);
  EXPECT_EQ(Value(memory), 3);
  ASSERT_TRUE(test_.Get(first, "c/a").ok());  // From the history.
  EXPECT_EQ(Value(disk), 2);
  EXPECT_EQ(Value(memory), 3);
}

// The read is repeated on a thread that may wait.
TEST(EngineDiskMetricsTest, AReadThatMustWaitIsCountedOnce) {
  Metrics metrics;
  EngineOptions options;
  options.metrics = &metrics;
  TestEngine test(options, storage::FaultyStore::Values::kOnDisk);
  test.MustCommit(SetNumber("c/a", 1));
  test.Restart();
  EXPECT_FALSE(test.engine().GetNewestIfInMemory(test.database(), Path("c/a")).has_value());
  ASSERT_TRUE(test.GetNewest("c/a").ok());
  EXPECT_EQ(MetricValue(metrics, "hearth_document_reads_total{source=\"disk\"}"), 1);
  EXPECT_EQ(MetricValue(metrics, "hearth_document_reads_total{source=\"memory\"}"), 0);
}

TEST_F(EngineMetricsTest, QueriesAndQueuedReads) {
  ASSERT_TRUE(test_.StartQuery(kAll.Build()).Take().ok());
  EXPECT_EQ(Value("hearth_queries_total"), 1);
  Gate busy;
  busy.Close();
  ASSERT_EQ(test_.engine().RunOnReaders(ClientKey::kInternal, [&busy] { busy.Pass(); }), Status());
  busy.AwaitArrivals(1);
  const auto run = test_.StartQuery(kAll.Build());
  EXPECT_EQ(Value("hearth_queued_reads"), 1);
  busy.Open();
  ASSERT_TRUE(run.Take().ok());
  EXPECT_EQ(Value("hearth_queued_reads"), 0);
  EXPECT_EQ(Value("hearth_queries_total"), 2);
}

TEST_F(EngineMetricsTest, TransactionsAndLocks) {
  const std::string transaction = test_.Begin();
  ASSERT_TRUE(test_.Get(request::InTransaction{transaction}, "c/a").ok());
  EXPECT_EQ(Value("hearth_open_transactions"), 1);
  EXPECT_EQ(Value("hearth_lock_waits_total"), 0);
  const auto commit = test_.StartCommit({SetNumber("c/a", 1)});
  EXPECT_EQ(Value("hearth_lock_waits_total"), 1);
  EXPECT_EQ(Value("hearth_lock_waiting_requests"), 1);
  EXPECT_EQ(test_.Rollback(transaction), Status());
  EXPECT_TRUE(commit.Take().ok());
  EXPECT_EQ(Value("hearth_open_transactions"), 0);
  EXPECT_EQ(Value("hearth_lock_waits_total"), 1);
  EXPECT_EQ(Value("hearth_lock_waiting_requests"), 0);
}

TEST_F(EngineMetricsTest, LiveTargets) {
  TestWatch watch(test_);
  watch.Start(1, kAll);
  EXPECT_EQ(Value("hearth_live_targets"), 1);
  EXPECT_EQ(Value("hearth_queries_total"), 1);
  watch.Close();
  EXPECT_EQ(Value("hearth_live_targets"), 0);
}

TEST_F(EngineMetricsTest, ExpiryAndIndexes) {
  const auto expiring_in = [this](std::chrono::microseconds time) {
    const auto until = model::Timestamp::FromMicros(test_.now() + time.count());
    return Set("rooms/r1", MakeFields({{"until", model::EncodeTimestamp(until)}}));
  };
  const std::string late = std::string("hearth_ttl_late_seconds") + kPolicyLabels;
  const std::string deleted = std::string("hearth_ttl_deleted_total") + kPolicyLabels;
  EXPECT_EQ(Value(late), -1);
  test_.MustCommit(expiring_in(5s));
  ASSERT_TRUE(test_.engine().SetTtlPolicy(test_.database(), {"rooms", FieldAt("until"), 0s}).ok());
  test_.engine().AwaitIndexes();
  EXPECT_EQ(Value("hearth_indexes{state=\"ready\"}"), 1);
  EXPECT_GT(Value("hearth_index_bytes"), 0);
  EXPECT_EQ(Value(late), 0);
  EXPECT_EQ(Value(deleted), 0);

  // The transaction's lock keeps the document from being deleted.
  const std::string transaction = test_.Begin();
  ASSERT_TRUE(test_.Get(request::InTransaction{transaction}, "rooms/r1").ok());
  test_.clock().Advance(7'500ms);
  std::jthread sweep([this] { test_.engine().SweepExpired(); });
  while (Value(late) == 0) std::this_thread::yield();
  EXPECT_EQ(Value(late), 2.5);
  EXPECT_EQ(test_.Rollback(transaction), Status());
  sweep.join();
  test_.engine().SweepExpired();
  EXPECT_EQ(Value(late), 0);
  EXPECT_EQ(Value(deleted), 1);
}

TEST(EngineMetricsAloneTest, AnEngineNeedsNoRegistry) {
  TestEngine test;
  test.MustCommit(SetNumber("c/a", 1));
  EXPECT_TRUE(test.GetNewest("c/a").ok());
}

}  // namespace
}  // namespace hearth::engine
