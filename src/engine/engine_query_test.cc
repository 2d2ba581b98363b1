#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "engine/query_run.h"
#include "engine/read_view.h"
#include "engine/testing/test_engine.h"

namespace hearth::engine {
namespace {

using model::FieldPath;
using query::FieldFilter;
using query::Filter;
using query::Operator;
using testing::ElementsAre;
using testing::IsEmpty;

// A caller that leaves in the middle of a scan. Counts the steps of all cursors from LeaveAfter on.
class Departure {
 public:
  explicit Departure(TestEngine& test) : test_(test) {}
  ~Departure() { test_.store().BeforeSteps(nullptr); }

  Caller caller() const { return {.left = left_.get_token()}; }
  void Leave() { left_.request_stop(); }
  void LeaveAfter(size_t steps) {
    leaves_after_ = steps;
    test_.store().BeforeSteps([this] {
      if (++steps_ == leaves_after_) Leave();
    });
  }
  size_t steps_afterwards() const { return steps_ - std::min(leaves_after_, steps_.load()); }

 private:
  TestEngine& test_;
  std::stop_source left_;
  size_t leaves_after_ = 0;
  std::atomic<size_t> steps_ = 0;
};

class EngineQueryTest : public testing::Test {
 protected:
  explicit EngineQueryTest(const EngineOptions& options = Options()) : test_(options) {}

  static EngineOptions Options() {
    EngineOptions options;
    options.reads_without_index_max = 20;
    options.indexes.step_documents_max = 7;
    return options;
  }
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

  // Asks for all documents of "c" at an earlier time, and takes the first one.
  Status StartAndTakeOne(model::Timestamp read_time, Caller caller) {
    const auto run = test_
                         .StartQuery(*query::Normalize(Collection("c")), read_time,
                                     QueryAnswer::kDocuments, std::move(caller))
                         .Take();
    return run.ok() ? (*run)->Next().status() : run.status();
  }

  TestEngine test_;
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
  Departure departure(test_);
  departure.Leave();
  EXPECT_EQ(test_
                .StartQuery(*query::Normalize(Collection("c")), request::Now{},
                            QueryAnswer::kDocuments, departure.caller())
                .Take()
                .status()
                .code(),
            Code::kCancelled);
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
      if (std::string_view(GetParam()) == "subtree") {
        test_.MustCommit(SetNumber("c/d" + std::to_string(1000 + n) + "/s/x", n));
      }
    }
  }

  query::Query Query() const {
    const std::string plan = GetParam();
    query::Query query = Collection("c");
    if (plan == "scan") return Where(query, "absent", Operator::kGreater, 0);
    if (plan == "subtree") {
      query.collection_id = "none";
      query.all_descendants = true;
      return query;
    }
    if (plan == "nearest") {
      query.nearest = query::FindNearest{
          *FieldPath::Parse("v"), {1.0, 2.0}, query::DistanceMeasure::kEuclidean, 5};
      return query;
    }
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
  test_.store().SetNearlyFull(true);  // No other index is built in the meantime.
  for (const QueryAnswer answer :
       {QueryAnswer::kDocuments, QueryAnswer::kAggregates, QueryAnswer::kPartitions}) {
    if (answer == QueryAnswer::kPartitions && plan != "scan" && plan != "subtree") continue;
    Departure departure(test_);
    const Result<std::unique_ptr<QueryRun>> run =
        test_.StartQuery(*query::Normalize(Query()), request::Now{}, answer, departure.caller())
            .Take();
    ASSERT_TRUE(run.ok()) << run.status().ToString();
    departure.LeaveAfter(150);
    const Status status =
        answer == QueryAnswer::kDocuments ? (*run)->Next().status()
        : answer == QueryAnswer::kPartitions
            ? (*run)->Partition(10).status()
            : (*run)->Aggregate({{query::Aggregation::Kind::kCount, "count"}}).status();
    EXPECT_EQ(status.code(), Code::kCancelled);
    const query::Statistics read = (*run)->statistics();
    EXPECT_LE(read.documents_scanned + read.index_entries_scanned, 150 + 128u);
  }
}

INSTANTIATE_TEST_SUITE_P(Plans, CancelledQueryTest,
                         testing::Values("scan", "sort", "index", "join", "subtree", "nearest"),
                         [](const auto& plan) { return std::string(plan.param); });

TEST_F(EngineQueryTest, ThePastIsLeftAmongLaterDocuments) {
  const model::Timestamp before = test_.MustCommit(SetNumber("c/zzz", 1));
  std::vector<request::Write> later;
  for (int i = 0; i < 500; ++i) later.push_back(SetNumber("c/d" + std::to_string(1000 + i), i));
  test_.MustCommit(std::move(later));  // One entry in the log.
  Departure departure(test_);
  departure.LeaveAfter(50);
  EXPECT_EQ(StartAndTakeOne(before, departure.caller()).code(), Code::kCancelled);
  EXPECT_LE(departure.steps_afterwards(), 128u);
}

TEST_F(EngineQueryTest, ThePastIsLeftAmongManyCommitsToOneDocument) {
  const model::Timestamp before = test_.MustCommit(SetNumber("c/a", 0));
  for (int i = 1; i <= 20; ++i) test_.MustCommit(SetNumber("c/a", i));
  Departure departure(test_);
  departure.LeaveAfter(10);
  EXPECT_EQ(StartAndTakeOne(before, departure.caller()).code(), Code::kCancelled);
  EXPECT_LE(departure.steps_afterwards(), 2u);
}

TEST_F(EngineQueryTest, ClosingEndsAReadOfThePast) {
  const model::Timestamp before = test_.MustCommit(SetNumber("c/zzz", 1));
  std::vector<request::Write> later;
  for (int i = 0; i < 500; ++i) later.push_back(SetNumber("c/d" + std::to_string(1000 + i), i));
  test_.MustCommit(std::move(later));
  Gate passes_over;
  std::atomic<size_t> steps = 0;
  test_.store().BeforeSteps([&, &engine = test_.engine()] {
    if (++steps != 50) return;
    passes_over.Pass();
    while (engine.PauseReader().ok()) {
    }
  });
  Outcome<Status> outcome;
  test_.engine().Query(test_.database(),
                       {.query = *query::Normalize(Collection("c")), .consistency = before},
                       test_.engine().readers(),
                       [told = outcome.Callback()](const Result<std::unique_ptr<QueryRun>>& run) {
                         told(run.ok() ? (*run)->Next().status() : run.status());
                       });
  passes_over.AwaitArrivals(1);
  test_.Close();
  EXPECT_EQ(outcome.Take().code(), Code::kUnavailable);
  EXPECT_LE(steps, 50 + 128u);
}

// Every read on a reader is long and has one turn between two pauses, and so has another task.
class PausingQueryTest : public EngineQueryTest {
 protected:
  PausingQueryTest() : EngineQueryTest(TakingTurns()) {
    EXPECT_EQ(test_.engine().RunOnReaders(ClientKey::kInternal,
                                          [this] {
                                            while (!is_over_ && test_.engine().PauseReader().ok()) {
                                              ++turns_of_other_;
                                            }
                                            ended_.Callback()(Status());
                                          }),
              Status());
  }
  ~PausingQueryTest() override {
    is_over_ = true;
    EXPECT_EQ(ended_.Take(), Status());
  }
  // Reads the whole result, and returns how often the other task had its turn in the meantime.
  size_t PausesOf(query::Query query) {
    Outcome<size_t> outcome;
    test_.engine().Query(
        test_.database(), {.query = *query::Normalize(std::move(query))}, test_.engine().readers(),
        [this, told = outcome.Callback()](const Result<std::unique_ptr<QueryRun>>& run) {
          EXPECT_TRUE(run.ok());
          const size_t before = turns_of_other_;
          Paths(**run);
          told(turns_of_other_ - before);
        });
    return outcome.Take();
  }

 private:
  static EngineOptions TakingTurns() {
    EngineOptions options = Options();
    options.readers.short_cpu_max = std::chrono::microseconds(0);
    options.readers.short_time_max = std::chrono::milliseconds(0);
    options.readers.slice = std::chrono::milliseconds(0);
    options.readers.long_threads = 1;
    return options;
  }

  std::atomic<bool> is_over_ = false;
  std::atomic<size_t> turns_of_other_ = 0;
  Outcome<Status> ended_;
};

TEST_F(PausingQueryTest, SkippedResultsOfASortPauseToo) {
  Fill("c", 640);
  query::Query query = Collection("c");
  query.orders.push_back({*FieldPath::Parse("n"), query::SortDirection::kDescending});
  query.limit = 1;
  const size_t pauses = PausesOf(query);
  query.offset = 639;
  EXPECT_GE(PausesOf(query), pauses + 8);
}

TEST_F(PausingQueryTest, LargeDocumentsPauseMoreOften) {
  for (int i = 0; i < 20; ++i) {
    const std::string number = std::to_string(i);
    test_.MustCommit(SetNumber("small/" + number, i));
    test_.MustCommit(Set("large/" + number,
                         MakeFields({{"n", model::EncodeInteger(i)},
                                     {"t", model::EncodeString(std::string(300'000, 't'))}})));
  }
  EXPECT_GE(PausesOf(Collection("large")), 20u);
  EXPECT_LE(PausesOf(Collection("small")), 3u);
  // Found by an index, read for the result.
  for (const char* collection : {"small", "large"}) {
    Find(Where(Collection(collection), "n", Operator::kGreater, 100));
    Fill(collection, 30);
    Find(Where(Collection(collection), "n", Operator::kGreater, 100));
  }
  test_.engine().AwaitIndexes();
  EXPECT_EQ(test_.engine().Indexes(test_.database()).size(), 2u);
  const auto first = [](const char* collection) {
    return Where(Collection(collection), "n", Operator::kGreaterOrEqual, 0);
  };
  EXPECT_GE(PausesOf(first("large")), 20u);
  EXPECT_LE(PausesOf(first("small")), 6u);
}

TEST_F(EngineQueryTest, TheKeysOfChangedDocumentsAreBounded) {
  // Four segments of nearly 1,500 bytes each.
  const std::string part(1'400, 'p');
  const size_t count_max = kChangedKeysBytesMax / (4 * part.size() + 100);
  const auto path = [&](size_t i) {
    return part + "/" + part + "/" + part + "/" + std::to_string(10'000 + i) + part;
  };
  const model::Timestamp before = test_.MustCommit(SetNumber("c/a", 1));
  const auto change = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end;) {
      std::vector<request::Write> writes;
      for (; writes.size() < 300 && i < end; ++i) writes.push_back(SetNumber(path(i), 1));
      test_.MustCommit(std::move(writes));
    }
  };
  const auto changed = [&] {
    const auto view = *test_.Read(before, TestEngine::Everything());
    return view->ChangedDocuments(kChangedDocumentsMax)->has_value();
  };
  change(0, count_max);
  EXPECT_TRUE(changed());
  change(count_max, count_max + count_max / 20);
  EXPECT_FALSE(changed());
}

// Documents whose values begin with the same 2,000 bytes, so that an index cannot tell their order.
TEST(CutGroupTest, NeedsMemory) {
  constexpr size_t kMebibyte = 1024 * 1024;
  for (const auto& [bytes_max, code] :
       {std::pair(2 * kMebibyte, Code::kOk), std::pair(kMebibyte / 2, Code::kResourceExhausted)}) {
    MemoryBudget memory(bytes_max);
    EngineOptions options;
    options.reads_without_index_max = 20;
    options.memory = &memory;
    TestEngine test(options);
    for (int i = 0; i < 200; ++i) {
      std::string text = std::string(2'000, 't') + std::to_string(1999 - i);
      test.MustCommit(
          Set("c/d" + std::to_string(i), MakeFields({{"t", model::EncodeString(text)}})));
    }
    const auto find = [&test](const std::string& after) {
      query::Query query{{NameDatabase(), ""}, "c"};
      query.where = Filter{
          FieldFilter{*FieldPath::Parse("t"), Operator::kGreater, model::EncodeString(after)}};
      return *test.StartQuery(*query::Normalize(std::move(query))).Take();
    };
    EXPECT_FALSE((*find("z")->Next()).has_value());
    test.engine().AwaitIndexes();
    ASSERT_EQ(test.engine().Indexes(test.database()).size(), 1u);
    {
      const auto run = find("a");
      const auto first = run->Next();
      EXPECT_EQ(first.status().code(), code);
      if (first.ok()) {
        EXPECT_EQ((*first)->path.path(), "c/d199");
        EXPECT_GT(memory.used_bytes(), 200 * 2'000u);
      }
    }
    EXPECT_EQ(memory.used_bytes(), 0u);
  }
}

}  // namespace
}  // namespace hearth::engine
