#include "engine/query_run.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace hearth::engine
