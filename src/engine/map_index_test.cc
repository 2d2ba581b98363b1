// Maps whose keys are data, such as `members.UID`: one index serves all keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "base/testing/test_seed.h"
#include "engine/testing/test_engine.h"
#include "index/index_config.h"
#include "indexing/on_demand_budget.h"
#include "query/testing/query_builder.h"

namespace hearth::engine {
namespace {

using index::FieldMode;
using index::Index;
using indexing::OnDemandBudget;
using query::QueryBuilder;
using testing::Contains;
using testing::ElementsAre;

constexpr size_t kKeys = 12;

std::string Member(size_t key) { return "members.u" + std::to_string(key); }

class MapIndexTest : public testing::Test {
 protected:
  static EngineOptions Options(size_t reads_without_index_max) {
    EngineOptions options;
    options.reads_without_index_max = reads_without_index_max;
    options.indexes.step_documents_max = 11;
    return options;
  }
  // A room with some members, each with a rank.
  request::Write RandomRoom(size_t i) {
    std::vector<std::pair<std::string, std::string>> members;
    for (size_t key = 0; key < kKeys; ++key) {
      if (random_() % 3 == 0) continue;
      members.emplace_back("u" + std::to_string(key), RandomValue());
    }
    std::sort(members.begin(), members.end());
    FieldMap fields = {{"open", model::EncodeInteger(static_cast<int64_t>(random_() % 2))},
                       {"size", model::EncodeInteger(static_cast<int64_t>(random_() % 10))}};
    if (random_() % 10 != 0) fields["members"] = model::EncodeMap(members);
    if (random_() % 20 == 0) fields["members"] = model::EncodeInteger(1);  // Not a map.
    return Set("rooms/r" + std::to_string(i), MakeFields(fields));
  }
  std::string RandomValue() {
    const auto number = static_cast<int64_t>(random_() % 5);
    switch (random_() % 6) {
      case 0:
        return model::EncodeDouble(static_cast<double>(number) + 0.5);
      case 1:
        return model::EncodeString("text" + std::to_string(number));
      case 2:
        return model::EncodeString(std::string(2'000, 'x') + std::to_string(number));  // Cut.
      default:
        return model::EncodeInteger(number);
    }
  }
  QueryBuilder RandomQuery() {
    QueryBuilder query("rooms");
    const std::string member = Member(random_() % kKeys);
    switch (random_() % 6) {
      case 0:
        query.Equal(member, static_cast<int64_t>(random_() % 5));
        break;
      case 1:
        query.Equal(member, 1).Equal("open", 1);
        break;
      case 2:
        query.Equal(member, 2).Descending("size");
        break;
      case 3:
        query.Above(member, static_cast<int64_t>(random_() % 4));
        break;
      case 4:
        query.Equal("open", 0);
        random_() % 2 == 0 ? query.Ascending(member) : query.Descending(member);
        break;
      default:
        query.Equal(member, 1).Equal(Member(random_() % kKeys), 1);
    }
    if (random_() % 3 == 0) query.Limit(1 + random_() % 5);
    return query;
  }
  static std::vector<std::string> Run(TestEngine& test, const QueryBuilder& query,
                                      uint64_t* reads = nullptr) {
    std::vector<std::string> paths;
    const auto run = test.StartQuery(query.Build()).Take();
    EXPECT_TRUE(run.ok()) << run.status().ToString();
    while (true) {
      const Result<std::optional<request::QueryResult>> next = (*run)->Next();
      EXPECT_TRUE(next.ok()) << next.status().ToString();
      if (!next.ok() || !*next) break;
      paths.push_back((*next)->path.path());
    }
    const query::Statistics statistics = (*run)->statistics();
    if (reads) *reads = statistics.documents_scanned + statistics.index_entries_scanned;
    return paths;
  }
  static std::vector<std::string> Described(TestEngine& test) {
    test.engine().AwaitIndexes();
    std::vector<std::string> described;
    for (const Index& index : test.engine().Indexes(test.database())) {
      described.push_back(index::Properties(index.definition));
    }
    return described;
  }

  std::mt19937_64 random_{TestSeed()};
};

TEST_F(MapIndexTest, ResultsAreThoseOfReadingAllDocuments) {
  TestEngine scanning(Options(1'000'000'000));
  TestEngine indexed(Options(0));
  const auto write = [&](size_t i) {
    const request::Write room = RandomRoom(i);
    scanning.MustCommit(room);
    indexed.MustCommit(room);
  };
  for (size_t i = 0; i < 80; ++i) write(i);
  for (size_t round = 0; round < 400; ++round) {
    const QueryBuilder query = RandomQuery();
    ASSERT_EQ(Run(indexed, query), Run(scanning, query)) << "round " << round;
    if (round % 10 == 0) indexed.engine().AwaitIndexes();
    write(random_() % 100);
    if (random_() % 8 == 0) {
      const request::Write gone = Delete("rooms/r" + std::to_string(random_() % 100));
      scanning.MustCommit(gone);
      indexed.MustCommit(gone);
    }
    if (round == 200) indexed.Restart();
  }
  EXPECT_THAT(Described(indexed), Contains("(members MAP, __name__ ASC)"));
}

// As many members as a popular application has users.
TEST_F(MapIndexTest, TwoThousandKeysShareOneIndex) {
  TestEngine test(Options(100));
  constexpr size_t kUsers = 2'000;
  std::vector<request::Write> writes;
  for (size_t i = 0; i < 250; ++i) {
    std::vector<std::pair<std::string, std::string>> members;
    for (size_t user = i; user < kUsers; user += 250) {
      members.emplace_back("u" + std::to_string(user), model::EncodeBoolean(true));
    }
    std::sort(members.begin(), members.end());
    writes.push_back(
        Set("rooms/r" + std::to_string(i), MakeFields({{"members", model::EncodeMap(members)}})));
  }
  test.MustCommit(std::move(writes));
  for (size_t user = 0; user < kUsers; ++user) {
    const QueryBuilder query = QueryBuilder("rooms").Where(Member(user), query::Operator::kEqual,
                                                           model::EncodeBoolean(true));
    uint64_t reads = 0;
    ASSERT_THAT(Run(test, query, &reads), ElementsAre("rooms/r" + std::to_string(user % 250)));
    if (user < 10) test.engine().AwaitIndexes();
    if (user > 10) {
      ASSERT_LE(reads, 2u);
    }
  }
  EXPECT_THAT(Described(test), ElementsAre("(members MAP, __name__ ASC)"));

  // And there is room for indexes that were asked for.
  index::IndexConfig config;
  config.composites = {
      {"rooms",
       index::QueryScope::kCollection,
       {{FieldAt("a"), FieldMode::kAscending}, {FieldAt("b"), FieldMode::kAscending}}}};
  test.engine().SetIndexConfig("(default)", config);
  ASSERT_EQ(test.engine().SetTtlPolicy(test.database(),
                                       {"rooms", FieldAt("until"), std::chrono::seconds(0)}),
            Status());
  const int64_t now = test.now();
  const auto until = model::Timestamp::FromMicros(now - 1);
  test.MustCommit(Set("rooms/r7", MakeFields({{"until", model::EncodeTimestamp(until)}})));
  EXPECT_THAT(Described(test), Contains("(a ASC, b ASC, __name__ ASC)"));
  EXPECT_EQ(test.engine().SweepExpired(), 1u);
  EXPECT_EQ(*test.GetNewest("rooms/r7"), nullptr);
}

TEST_F(MapIndexTest, AFewFieldsOfAMapHaveTheirOwnIndexes) {
  TestEngine test(Options(0));
  for (size_t i = 0; i < 20; ++i) test.MustCommit(RandomRoom(i));
  for (size_t key = 0; key + 1 < OnDemandBudget::kSharedFieldsMin; ++key) {
    Run(test, QueryBuilder("rooms").Equal(Member(key), 9));
  }
  EXPECT_THAT(Described(test),
              ElementsAre("(members.u0 ASC, __name__ ASC)", "(members.u1 ASC, __name__ ASC)",
                          "(members.u2 ASC, __name__ ASC)"));
}

}  // namespace
}  // namespace hearth::engine
