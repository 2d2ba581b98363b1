#include "engine/query_run.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/testing/test_engine.h"
#include "model/value.h"

namespace hearth::engine {
namespace {

constexpr size_t kDocuments = 50;

class QueryRunTest : public testing::Test {
 protected:
  QueryRunTest() : test_(FewReads()) {
    std::vector<request::Write> writes;
    for (size_t i = 0; i < kDocuments; ++i) {
      writes.push_back(SetNumber("c/" + std::to_string(i), static_cast<int64_t>(i)));
    }
    test_.MustCommit(std::move(writes));
  }

  static EngineOptions FewReads() {
    EngineOptions options;
    options.reads_without_index_max = kDocuments / 2;
    return options;
  }

  std::unique_ptr<QueryRun> Start(QueryAnswer answer) {
    query::Query query{.parent = Parent(), .collection_id = "c"};
    return *test_.StartQuery(*query::Normalize(std::move(query)), request::Now{}, answer).Take();
  }

  // The cost of counting the collection.
  query::Statistics Count() {
    const std::unique_ptr<QueryRun> run = Start(QueryAnswer::kAggregates);
    const auto values = run->Aggregate({{query::Aggregation::Kind::kCount, "all"}});
    EXPECT_EQ(values->at(0), model::EncodeInteger(kDocuments));
    return run->statistics();
  }

  TestEngine test_;
};

TEST_F(QueryRunTest, CountingALargeCollectionMakesAnIndexOfNames) {
  EXPECT_EQ(Count().documents_scanned, kDocuments);
  test_.engine().AwaitIndexes();
  const query::Statistics again = Count();
  EXPECT_EQ(again.documents_scanned, 0u);
  EXPECT_EQ(again.index_entries_scanned, kDocuments);
}

TEST_F(QueryRunTest, ReadingThatCollectionMakesNone) {
  for (const std::unique_ptr<QueryRun> run = Start(QueryAnswer::kDocuments); *run->Next();) {
  }
  test_.engine().AwaitIndexes();
  EXPECT_EQ(Count().documents_scanned, kDocuments);
}

// A group of commits returns its memory shortly after its commits were answered.
void AwaitCommitterWithout(const MemoryBudget& memory) {
  while (memory.used_bytes() > 0) std::this_thread::yield();
}

TEST_F(QueryRunTest, ASampleForPartitionsNeedsMemory) {
  MemoryBudget memory(8'000);  // For the names of the partitions, but not for every name.
  EngineOptions options = FewReads();
  options.memory = &memory;
  TestEngine small(options);
  for (size_t i = 0; i < 400; ++i) small.MustCommit(SetNumber("c/" + std::to_string(i), 0));
  AwaitCommitterWithout(memory);
  query::Query query{.parent = Parent(), .collection_id = "c", .all_descendants = true};
  const auto partition = [&](size_t points_max) {
    const auto run =
        *small.StartQuery(*query::Normalize(query), request::Now{}, QueryAnswer::kPartitions)
             .Take();
    return run->Partition(points_max).status();
  };
  EXPECT_EQ(partition(1), Status());
  EXPECT_EQ(partition(100).code(), Code::kResourceExhausted);
  EXPECT_EQ(memory.used_bytes(), 0u);
}

TEST_F(QueryRunTest, AQueryOfThePastNeedsMemoryForWhatHasChanged) {
  MemoryBudget memory(20'000);
  EngineOptions options;
  options.memory = &memory;
  TestEngine small(options);
  const model::Timestamp before = small.MustCommit(SetNumber("c/a", 0));
  const auto query = *query::Normalize({.parent = Parent(), .collection_id = "c"});
  const auto change = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) small.MustCommit(SetNumber("c/" + std::to_string(i), 0));
    AwaitCommitterWithout(memory);
  };
  change(10);
  {
    const auto run = small.StartQuery(query, before).Take();
    ASSERT_TRUE(run.ok()) << run.status().ToString();
    EXPECT_GT(memory.used_bytes(), 0u);
  }
  EXPECT_EQ(memory.used_bytes(), 0u);
  change(400);
  EXPECT_EQ(small.StartQuery(query, before).Take().status().code(), Code::kResourceExhausted);
  EXPECT_TRUE(small.StartQuery(query).Take().ok());
}

// However slowly its client reads, a run does not keep a snapshot for longer than the history.
TEST_F(QueryRunTest, ARunEndsWhenItsMomentLeavesTheHistory) {
  const auto run = Start(QueryAnswer::kDocuments);
  ASSERT_TRUE(run->Next()->has_value());
  test_.Pass(std::chrono::minutes(60));
  EXPECT_EQ(run->Pause(), Status());
  test_.Pass(std::chrono::minutes(6));  // The slack.
  EXPECT_EQ(run->Pause().code(), Code::kDeadlineExceeded);
}

}  // namespace
}  // namespace hearth::engine
