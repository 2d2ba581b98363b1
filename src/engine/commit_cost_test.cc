// What commits may make the committer hold and do, however small the requests are.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_budget.h"
#include "commit/commit_group.h"
#include "commit/committer.h"
#include "engine/testing/test_engine.h"
#include "model/limits.h"
#include "query/testing/query_builder.h"

namespace hearth::engine {
namespace {

using commit::CommitGroup;
using model::EncodeInteger;

constexpr size_t kLarge = 1'000'000;

std::string Name(size_t i) { return "large/" + std::to_string(i); }

request::Write SetLarge(size_t i) {
  return Set(Name(i), MakeFields({{"n", EncodeInteger(0)},
                                  {"text", model::EncodeString(std::string(kLarge, 'x'))}}));
}

request::Write SetN(size_t i, int64_t n) {
  return Merge(Name(i), MakeFields({{"n", EncodeInteger(n)}}), {"n"});
}

// An index with an entry for each of a post's labels.
void DeclareLabels(TestEngine& test) {
  index::IndexConfig config;
  config.composites = {{"posts",
                        index::QueryScope::kCollection,
                        {{FieldAt("labels"), index::FieldMode::kContains},
                         {FieldAt("name"), index::FieldMode::kAscending}}}};
  test.engine().SetIndexConfig("(default)", config);
  test.engine().AwaitIndexes();
}

// The entries for its labels are many times as large as the post, and stage more than 1.5 MB.
request::Write Labelled(size_t i) {
  std::vector<std::string> labels;
  for (int64_t label = 0; label < 5'000; ++label) labels.push_back(EncodeInteger(label));
  return Set("posts/labelled" + std::to_string(i),
             MakeFields({{"labels", model::EncodeArray(labels)},
                         {"name", model::EncodeString(std::string(300, 'n'))}}));
}

class CommitCostTest : public testing::Test {
 protected:
  using Commits = TestEngine::Commits;

  static EngineOptions WithMemory(MemoryBudget* memory) {
    EngineOptions options;
    options.memory = memory;
    return options;
  }
  static void AddLarge(TestEngine& test, size_t count) {
    for (size_t i = 0; i < count; ++i) test.MustCommit(SetLarge(i));
  }
  static int64_t NumberAt(TestEngine& test, size_t i) {
    return NumberOf(**test.GetNewest(Name(i)));
  }

  // Starts the commits while another one keeps the committer busy. Returns how many groups they
  // made.
  size_t GroupsOf(TestEngine& test, const std::vector<std::vector<request::Write>>& commits,
                  std::vector<Result<request::CommitResult>>* results) {
    test.store().BeforeCommits([this] { gate_.Pass(); });
    gate_.Close();
    const Commits busy = test.StartCommit({SetNumber("busy/busy", ++busy_)});
    const size_t before = gate_.arrivals();
    gate_.AwaitArrivals(std::max<size_t>(before, 1));
    std::vector<Commits> outcomes;
    for (const auto& writes : commits) outcomes.push_back(test.StartCommit(writes));
    gate_.Open();
    EXPECT_TRUE(busy.Take().ok());
    for (const Commits& outcome : outcomes) results->push_back(outcome.Take());
    const size_t groups = gate_.arrivals() - 1;
    test.store().RemoveHooks();
    return groups;
  }

  Gate gate_;
  int64_t busy_ = 0;
};

TEST_F(CommitCostTest, AGroupEndsWhenItHasStagedEnough) {
  TestEngine test;
  constexpr size_t kDocuments = 40;
  AddLarge(test, kDocuments);
  std::vector<std::vector<request::Write>> commits;
  for (size_t i = 0; i < kDocuments; ++i) commits.push_back({SetN(i, 7)});
  std::vector<Result<request::CommitResult>> results;
  const size_t groups = GroupsOf(test, commits, &results);
  for (const auto& result : results) EXPECT_TRUE(result.ok()) << result.status().ToString();
  for (size_t i = 0; i < kDocuments; ++i) EXPECT_EQ(NumberAt(test, i), 7);
  // Each commit replaces a large document by another one.
  EXPECT_GE(groups, kDocuments * 2 * kLarge / CommitGroup::kStagedBytesMax);
}

TEST_F(CommitCostTest, TheOrderStaysTheSameAcrossGroups) {
  TestEngine test;
  AddLarge(test, 1);
  std::vector<std::vector<request::Write>> commits;
  for (int64_t n = 1; n <= 30; ++n) commits.push_back({SetN(0, n)});
  std::vector<Result<request::CommitResult>> results;
  EXPECT_GT(GroupsOf(test, commits, &results), 1u);
  EXPECT_TRUE(
      std::ranges::is_sorted(results, {}, [](const auto& result) { return result->commit_time; }));
  EXPECT_EQ(NumberAt(test, 0), 30);
}

TEST_F(CommitCostTest, ACommitThatReplacesTooMuchIsRefused) {
  TestEngine test;
  constexpr size_t kDeletable = CommitGroup::kCommitStagedBytesMax / (kLarge + 1'000);
  AddLarge(test, kDeletable + 2);
  std::vector<request::Write> writes;
  for (size_t i = 0; i < kDeletable + 2; ++i) writes.push_back(Delete(Name(i)));
  EXPECT_EQ(test.Commit(writes).status(),
            InvalidArgument("Transaction too big. Decrease transaction size."));
  EXPECT_EQ(NumberAt(test, 0), 0);
  writes.erase(writes.begin() + kDeletable, writes.end());
  EXPECT_TRUE(test.Commit(writes).ok());
  EXPECT_EQ(*test.GetNewest(Name(0)), nullptr);
}

TEST_F(CommitCostTest, WorkIsBoundedToo) {
  TestEngine test;
  // Each write transforms an array of this size.
  std::vector<std::string> items;
  for (int64_t i = 0; i < 30'000; ++i) items.push_back(EncodeInteger(1'000'000'000 + i));
  const model::Fields fields = MakeFields({{"items", model::EncodeArray(items)}});
  const size_t bytes = fields.encoded().size();
  const auto writes = [&](size_t transforms) {
    std::vector<request::Write> result;
    for (size_t i = 0; i < transforms; ++i) {
      const std::string item = model::EncodeArray({EncodeInteger(static_cast<int64_t>(i))});
      const std::string path = "arrays/" + std::to_string(i / model::kTransformsPerDocumentMax);
      result.push_back(
          Transform(path, {{FieldAt("items"), model::TransformKind::kArrayRemove, item}}));
    }
    return result;
  };
  const size_t too_many = CommitGroup::kCommitWorkBytesMax / bytes + 1;
  for (size_t i = 0; i <= too_many / model::kTransformsPerDocumentMax; ++i) {
    test.MustCommit(Set("arrays/" + std::to_string(i), fields));
  }
  EXPECT_EQ(test.Commit(writes(too_many)).status().code(), Code::kInvalidArgument);
  EXPECT_TRUE(test.Commit(writes(too_many / 2)).ok());
}

TEST_F(CommitCostTest, WhatIsStagedIsClaimedAndReturned) {
  MemoryBudget memory(16 * 1024 * 1024);
  TestEngine test(WithMemory(&memory));
  AddLarge(test, 6);
  std::vector<request::Write> writes;
  for (size_t i = 0; i < 6; ++i) writes.push_back(Delete(Name(i)));
  EXPECT_EQ(test.Commit(writes).status().code(), Code::kResourceExhausted);
  writes.erase(writes.begin() + 4, writes.end());
  EXPECT_TRUE(test.Commit(writes).ok());
  test.MustCommit(SetNumber("c/a", 1));  // The group before has ended.
  test.Close();
  EXPECT_EQ(memory.used_bytes(), 0u);
}

TEST_F(CommitCostTest, WithLittleMemoryCommitsWaitForTheNextGroup) {
  MemoryBudget memory(16 * 1024 * 1024);
  TestEngine test(WithMemory(&memory));
  AddLarge(test, 8);
  std::vector<std::vector<request::Write>> commits;
  for (size_t i = 0; i < 8; ++i) commits.push_back({SetN(i, 3)});
  std::vector<Result<request::CommitResult>> results;
  EXPECT_GE(GroupsOf(test, commits, &results), 4u);
  for (const auto& result : results) EXPECT_TRUE(result.ok()) << result.status().ToString();
}

// Their need of memory is known only when their index entries have been computed.
TEST_F(CommitCostTest, WithLittleMemoryForEntriesCommitsWaitForTheNextGroup) {
  MemoryBudget memory(16 * 1024 * 1024);
  TestEngine test(WithMemory(&memory));
  test.MustCommit(SetNumber("posts/first", 0));
  DeclareLabels(test);
  std::vector<std::vector<request::Write>> commits;
  for (size_t i = 0; i < 8; ++i) {
    commits.push_back({Labelled(i), Transform("posts/first", {Increment("n", 1)})});
  }
  std::vector<Result<request::CommitResult>> results;
  EXPECT_GE(GroupsOf(test, commits, &results), 4u);
  for (const auto& result : results) ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(NumberOf(**test.GetNewest("posts/first")), 8);
  EXPECT_EQ(**test.GetNewest("posts/labelled7"), *results[7]->write_results[0].document);
}

TEST_F(CommitCostTest, ManySmallWritesDoNotUseTheReserve) {
  MemoryBudget memory(16 * 1024 * 1024);
  TestEngine test(WithMemory(&memory));
  std::vector<request::Write> writes;
  for (int64_t n = 0; n < 100; ++n) writes.push_back(SetNumber("c/d" + std::to_string(n), n));
  ASSERT_LT(request::ApproximateBytes(writes), MemoryBudget::kSmallBytesMax);
  memory.Take(15 * 1024 * 1024);
  EXPECT_EQ(test.Commit(writes).status().code(), Code::kResourceExhausted);
  EXPECT_TRUE(test.Commit(SetNumber("c/a", 1)).ok());
  memory.Return(15 * 1024 * 1024);
  EXPECT_TRUE(test.Commit(writes).ok());
}

TEST_F(CommitCostTest, AfterAnExpensiveCommitOthersGoFirst) {
  TestEngine test;
  AddLarge(test, 8);
  std::vector<int> order;
  const auto commit = [&](ClientKey client, std::vector<request::Write> writes, int number) {
    test.engine().Commit(
        test.database(), std::move(writes), "", InlineExecutor::Get(),
        [&order, number](const Result<request::CommitResult>& result) {
          EXPECT_TRUE(result.ok());
          order.push_back(number);
        },
        client);
  };
  test.store().BeforeCommits([this] { gate_.Pass(); });
  gate_.Close();
  const Commits busy = test.StartCommit({SetNumber("busy/busy", 1)});
  gate_.AwaitArrivals(1);
  for (size_t i = 0; i < 8; ++i) commit(ClientKey{1}, {SetN(i, 1)}, 1);
  for (int64_t n = 0; n < 10; ++n) commit(ClientKey{2}, {SetNumber("c/a", n)}, 2);
  gate_.Open();
  EXPECT_TRUE(busy.Take().ok());
  test.Close();
  // Every commit of the first client costs about four turns.
  ASSERT_EQ(order.size(), 18u);
  const auto last_small = std::find(order.rbegin(), order.rend(), 2).base();
  EXPECT_LE(std::count(order.begin(), last_small, 1), 5);
}

TEST_F(CommitCostTest, WritesOfOneDocumentSeeEachOther) {
  TestEngine test;
  std::vector<request::Write> writes = {SetLarge(0)};
  for (int64_t n = 1; n <= 5'000; ++n) {
    writes.push_back(SetN(0, n));
    if (n % 1'000 == 0) writes.push_back(Transform(Name(0), {Increment("n", 1'000'000)}));
    if (n == 2'500) writes.push_back(SetLarge(1));
  }
  const Result<request::CommitResult> result = test.Commit(std::move(writes));
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->write_results[1'001].transform_results[0], EncodeInteger(1'001'000));
  EXPECT_EQ(result->write_results[0].document, result->write_results.back().document);
  EXPECT_EQ(NumberAt(test, 0), 1'005'000);
  EXPECT_EQ(NumberAt(test, 1), 0);
}

// ---- Indexes created on demand.

class OversizeEntriesTest : public testing::Test {
 protected:
  EngineOptions Options() {
    EngineOptions options;
    options.reads_without_index_max = 10;
    options.memory = &memory_;
    return options;
  }
  // The first result of a query that needs an index on both fields.
  std::string FirstByText() {
    const auto run =
        test_
            .StartQuery(
                query::QueryBuilder("posts").Contains("tags", 3).Ascending("text").Limit(1).Build())
            .Take();
    EXPECT_TRUE(run.ok()) << run.status().ToString();
    std::string first;
    while (const std::optional<request::QueryResult> next = *(*run)->Next()) {
      first = next->path.path();
    }
    return first;
  }
  void MakeIndex() {
    for (size_t i = 0; i < 40; ++i) test_.MustCommit(Post(i, "m" + std::to_string(10 + i), 5));
    EXPECT_EQ(FirstByText(), "posts/p0");
    test_.engine().AwaitIndexes();
    ASSERT_EQ(Indexes().size(), 1u);
  }
  static request::Write Post(size_t i, std::string text, int64_t tags) {
    std::vector<std::string> encoded;
    for (int64_t tag = 0; tag < tags; ++tag) encoded.push_back(EncodeInteger(tag));
    return Set("posts/p" + std::to_string(i),
               MakeFields({{"text", model::EncodeString(std::move(text))},
                           {"tags", model::EncodeArray(encoded)}}));
  }
  std::vector<index::Index> Indexes() { return test_.engine().Indexes(test_.database()); }
  size_t Entries() {
    const auto snapshot = test_.store().NewSnapshot();
    const auto cursor = snapshot->Scan(storage::Space::kIndexes, {}, storage::Direction::kForward);
    size_t entries = 0;
    for (; cursor->Valid(); cursor->Next()) ++entries;
    return entries;
  }

  MemoryBudget memory_{16 * 1024 * 1024};
  TestEngine test_{Options()};
};

TEST_F(OversizeEntriesTest, AnIndexOfAQueryDoesNotStandInTheWayOfWrites) {
  MakeIndex();
  const auto result = test_.Commit({Post(100, std::string(1'500, 'x'), 6'000), Post(101, "b", 5)});
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_TRUE(Indexes().empty());
  test_.Pass(std::chrono::seconds(1));
  test_.engine().AwaitIndexes();
  EXPECT_EQ(Entries(), 0u);

  // It does not come back, and queries are right without it.
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(FirstByText(), "posts/p101");
    test_.engine().AwaitIndexes();
  }
  EXPECT_TRUE(Indexes().empty());
  test_.Restart();
  EXPECT_TRUE(Indexes().empty());
}

// The entries for the labels fit into the memory, but not twice.
TEST_F(OversizeEntriesTest, WhatWasClaimedBeforeTheDropIsReturned) {
  MakeIndex();
  DeclareLabels(test_);
  ASSERT_EQ(Indexes().size(), 2u);
  const auto result =
      test_.Commit({Labelled(0), Labelled(1), Post(100, std::string(1'500, 'x'), 6'000)});
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(Indexes().size(), 1u);
}

TEST_F(OversizeEntriesTest, IfTheGroupFailsTheIndexStays) {
  MakeIndex();
  test_.store().FailCommit(1, Status(Code::kUnavailable, "disk"));
  EXPECT_EQ(test_.Commit(Post(100, std::string(1'500, 'x'), 6'000)).status().code(),
            Code::kUnavailable);
  EXPECT_EQ(Indexes().size(), 1u);
  test_.MustCommit(Post(101, "b", 5));
  EXPECT_EQ(FirstByText(), "posts/p101");
}

TEST_F(OversizeEntriesTest, ADeclaredIndexStays) {
  index::IndexConfig config;
  config.composites = {{"posts",
                        index::QueryScope::kCollection,
                        {{FieldAt("text"), index::FieldMode::kAscending},
                         {FieldAt("tags"), index::FieldMode::kContains}}}};
  test_.MustCommit(Post(0, "x", 5));
  test_.engine().SetIndexConfig("(default)", config);
  test_.engine().AwaitIndexes();
  ASSERT_EQ(Indexes().size(), 1u);
  EXPECT_EQ(test_.Commit(Post(100, std::string(1'500, 'x'), 6'000)).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(Indexes().size(), 1u);
}

}  // namespace
}  // namespace hearth::engine
