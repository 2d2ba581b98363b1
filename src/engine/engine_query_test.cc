#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/query_run.h"
#include "engine/testing/test_engine.h"

namespace hearth::engine {
namespace {

using model::FieldPath;
using query::FieldFilter;
using query::Filter;
using query::Operator;
using testing::ElementsAre;
using testing::IsEmpty;

class EngineQueryTest : public testing::Test {
 protected:
  static query::Query Collection(const std::string& id) { return {{NameDatabase(), ""}, id}; }
  static query::Query Where(query::Query query, const char* path, Operator op, int64_t value) {
    query.where = Filter{FieldFilter{*FieldPath::Parse(path), op, model::EncodeInteger(value)}};
    return query;
  }

  TestEngine::Runs Start(query::Query query,
                         const request::Consistency& consistency = request::Now{}) {
    return test_.StartQuery(*query::Normalize(std::move(query)), consistency);
  }
  static std::vector<std::string> Paths(QueryRun& run) {
    std::vector<std::string> paths;
    while (true) {
      Result<std::optional<request::QueryResult>> next = run.Next();
      EXPECT_TRUE(next.ok()) << next.status().ToString();
      if (!next.ok() || !*next) return paths;
      paths.push_back((*next)->path.path());
    }
  }
  std::vector<std::string> Find(query::Query query,
                                const request::Consistency& consistency = request::Now{}) {
    Result<std::unique_ptr<QueryRun>> run = Start(std::move(query), consistency).Take();
    EXPECT_TRUE(run.ok()) << run.status().ToString();
    return run.ok() ? Paths(**run) : std::vector<std::string>();
  }
  // Adds documents with consecutive values of n.
  void Fill(const std::string& collection, int64_t count) {
    for (int64_t n = 0; n < count; ++n) {
      test_.MustCommit(SetNumber(collection + "/d" + std::to_string(1000 + n), n));
    }
  }

  TestEngine test_{Options()};

 private:
  static EngineOptions Options() {
    EngineOptions options;
    options.reads_without_index_max = 20;
    options.indexes.step_documents_max = 7;
    return options;
  }
};

TEST_F(EngineQueryTest, AnExpensiveQueryHasItsIndexMadeAndThenReadsOnlyWhatItReturns) {
  Fill("c", 100);
  const query::Query query = Where(Collection("c"), "n", Operator::kGreaterOrEqual, 98);
  EXPECT_THAT(Find(query), ElementsAre("c/d1098", "c/d1099"));
  test_.engine().AwaitIndexes();
  const std::vector<index::Index> indexes = test_.engine().Indexes(test_.database());
  ASSERT_EQ(indexes.size(), 1u);
  EXPECT_EQ(index::Properties(indexes[0].definition), "(n ASC, __name__ ASC)");
  EXPECT_EQ(indexes[0].state, index::State::kReady);

  const auto run = *Start(query).Take();
  EXPECT_THAT(Paths(*run), ElementsAre("c/d1098", "c/d1099"));
  EXPECT_EQ(run->statistics().documents_scanned, 2u);
  EXPECT_EQ(run->statistics().index_entries_scanned, 2u);
}

TEST_F(EngineQueryTest, ACheapQueryMakesNoIndex) {
  Fill("c", 15);
  EXPECT_THAT(Find(Where(Collection("c"), "n", Operator::kEqual, 3)), ElementsAre("c/d1003"));
  test_.engine().AwaitIndexes();
  EXPECT_THAT(test_.engine().Indexes(test_.database()), IsEmpty());
}

TEST_F(EngineQueryTest, IndexesSurviveARestartAndFollowLaterWrites) {
  Fill("c", 50);
  const query::Query query = Where(Collection("c"), "n", Operator::kGreater, 48);
  Find(query);
  test_.engine().AwaitIndexes();
  test_.Restart();
  ASSERT_EQ(test_.engine().Indexes(test_.database()).size(), 1u);
  test_.MustCommit(SetNumber("c/d1049", 0));
  test_.MustCommit(SetNumber("c/new", 60));
  const auto run = *Start(query).Take();
  EXPECT_THAT(Paths(*run), ElementsAre("c/new"));
  EXPECT_EQ(run->statistics().documents_scanned, 1u);
}

TEST_F(EngineQueryTest, AnUnusedIndexIsDroppedWithItsEntries) {
  Fill("c", 50);
  Find(Where(Collection("c"), "n", Operator::kGreater, 48));
  test_.engine().AwaitIndexes();
  test_.Pass(std::chrono::hours(8 * 24));
  test_.engine().AwaitIndexes();
  EXPECT_THAT(test_.engine().Indexes(test_.database()), IsEmpty());
  const auto snapshot = test_.store().NewSnapshot();
  EXPECT_FALSE(
      snapshot->Scan(storage::Space::kIndexes, {"", ""}, storage::Direction::kForward)->Valid());
}

TEST_F(EngineQueryTest, UntilAQueryHasReadAllItsCollectionIsLocked) {
  Fill("c", 6);
  const std::string transaction = test_.Begin();
  auto run = *Start(Where(Collection("c"), "n", Operator::kGreaterOrEqual, 4),
                    request::InTransaction{transaction})
                  .Take();
  ASSERT_TRUE((*run->Next()).has_value());
  auto outside = test_.StartCommit({SetNumber("c/new", 3)});
  EXPECT_FALSE(outside.IsThere());
  EXPECT_EQ(Paths(*run).size(), 1u);
  EXPECT_TRUE(outside.Take().ok());  // Though the transaction is still open.
  run.reset();
  EXPECT_TRUE(test_.Commit(SetNumber("c/own", 4), transaction).ok());
}

TEST_F(EngineQueryTest, ThePastIsExactWithIndexesToo) {
  Fill("c", 60);
  const query::Query query = Where(Collection("c"), "n", Operator::kGreater, 56);
  Find(query);
  test_.engine().AwaitIndexes();
  const model::Timestamp before = test_.MustCommit(SetNumber("c/d1057", 1));
  test_.MustCommit(SetNumber("c/d1000", 100));
  test_.MustCommit({Delete("c/d1058"), SetNumber("c/new", 57)});
  EXPECT_THAT(Find(query, before), ElementsAre("c/d1058", "c/d1059"));
  EXPECT_THAT(Find(query), ElementsAre("c/new", "c/d1059", "c/d1000"));
}

TEST_F(EngineQueryTest, AQueryWhoseClientHasLeftIsNotStarted) {
  TestEngine::Runs outcome;
  test_.engine().Query(
      test_.database(),
      {.query = *query::Normalize(Collection("c")), .is_cancelled = [] { return true; }},
      InlineExecutor::Get(), outcome.Callback());
  EXPECT_EQ(outcome.Take().status().code(), Code::kCancelled);
}

// Queries of 600 documents that have no results, or many to skip, each with its plan.
class CancelledQueryTest : public EngineQueryTest, public testing::WithParamInterface<const char*> {
 protected:
  static query::Query With(query::Query query, std::vector<FieldFilter> filters) {
    query::CompositeFilter all{query::CompositeFilter::Operator::kAnd, {}};
    for (FieldFilter& filter : filters) all.filters.push_back(Filter{std::move(filter)});
    query.where = Filter{std::move(all)};
    return query;
  }
  static FieldFilter Equals(const char* path, int64_t value) {
    return {*FieldPath::Parse(path), Operator::kEqual, model::EncodeInteger(value)};
  }

  void FillPairs() {
    for (int64_t n = 0; n < 600; ++n) {
      // Half of the documents have `even` 1 and the others `odd` 1, but none has both.
      test_.MustCommit(Set("c/d" + std::to_string(1000 + n),
                           MakeFields({{"even", model::EncodeInteger(n % 2 == 0 ? 1 : 0)},
                                       {"n", model::EncodeInteger(n)},
                                       {"odd", model::EncodeInteger(n % 2 == 0 ? 0 : 1)}})));
    }
  }

  query::Query Query() const {
    const std::string plan = GetParam();
    query::Query query = Collection("c");
    if (plan == "scan") return Where(query, "absent", Operator::kGreater, 0);
    if (plan == "join") return With(query, {Equals("even", 1), Equals("odd", 1)});
    query.orders.push_back({*FieldPath::Parse("n"), query::SortDirection::kDescending});
    query.offset = 599;
    return query;
  }
};

TEST_P(CancelledQueryTest, StopsSoon) {
  FillPairs();
  const std::string plan = GetParam();
  if (plan == "index" || plan == "join") {
    for (const char* field : {"n", "even", "odd"}) {
      Find(Where(Collection("c"), field, Operator::kGreater, 10'000));
    }
    test_.engine().AwaitIndexes();
  }
  for (const QueryAnswer answer : {QueryAnswer::kDocuments, QueryAnswer::kAggregates}) {
    size_t asked = 0;
    TestEngine::Runs outcome;
    test_.engine().Query(test_.database(),
                         {.query = *query::Normalize(Query()),
                          .answer = answer,
                          .is_cancelled = [&asked] { return ++asked > 2; }},
                         InlineExecutor::Get(), outcome.Callback());
    const Result<std::unique_ptr<QueryRun>> run = outcome.Take();
    ASSERT_TRUE(run.ok()) << run.status().ToString();
    const Status status =
        answer == QueryAnswer::kDocuments
            ? (*run)->Next().status()
            : (*run)->Aggregate({{query::Aggregation::Kind::kCount, "count"}}).status();
    EXPECT_EQ(status.code(), Code::kCancelled);
    EXPECT_EQ(asked, 3u);
    const query::Statistics read = (*run)->statistics();
    EXPECT_LE(read.documents_scanned + read.index_entries_scanned, 3 * 128u);
  }
}

INSTANTIATE_TEST_SUITE_P(Plans, CancelledQueryTest,
                         testing::Values("scan", "sort", "index", "join"),
                         [](const auto& plan) { return std::string(plan.param); });

}  // namespace
}  // namespace hearth::engine
