#include "indexing/needed_indexes.h"

#include <gtest/gtest.h>

#include "execution/required_index.h"
#include "model/testing/documents.h"
#include "query/testing/query_builder.h"

namespace hearth::indexing {
namespace {

using query::QueryBuilder;

constexpr model::DatabaseNumber kOther{2};

TEST(NeededIndexRecorder, PrintsAConfigurationThatAnswersAllQueries) {
  const std::vector<query::NormalizedQuery> queries = {
      QueryBuilder("c").Equal("a").Ascending("b").Build(),
      QueryBuilder("c").Equal("a").Descending("b").Build(),
      QueryBuilder("c").Ascending("a").Descending("__name__").Build(),
      QueryBuilder("c").Contains("tags").Above("b").Build(),
      QueryBuilder("c").Descending("__name__").Build(),
      QueryBuilder("c").Group().Equal("a").Equal("b").Build(),
      QueryBuilder("c").Group().Descending("a").Build(),
      QueryBuilder("c").Group().Contains("tags").Build(),
      QueryBuilder("c").Group().Ascending("a").Descending("__name__").Build(),
      QueryBuilder("c").Equal("a").Nearest("v", {1, 2, 3}).Build(),
      QueryBuilder("c").Nearest("v", {1, 2, 3}).Build(),
      // These still need the automatic indexes.
      QueryBuilder("c").Equal("a").Build(),
      QueryBuilder("c").Descending("tags").Build(),
      QueryBuilder("c").Contains("a").Build(),
  };
  NeededIndexRecorder recorder;
  for (int round = 0; round < 2; ++round) {
    for (const query::NormalizedQuery& query : queries) recorder.Note(kDatabase, query);
  }
  const index::IndexConfig config = recorder.Of(kDatabase);
  const std::string text = index::PrintIndexConfig(config);
  const Result<index::IndexConfig> parsed = index::ParseIndexConfig(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString() << "\n" << text;
  EXPECT_EQ(*parsed, config) << text;
  for (const query::NormalizedQuery& query : queries) {
    const Status status = execution::CheckIndexes(query, *parsed);
    EXPECT_TRUE(status.ok()) << status.ToString() << "\n" << text;
  }
  EXPECT_EQ(config.composites.size(), 6u) << text;
  EXPECT_EQ(config.vectors.size(), 2u) << text;
  EXPECT_EQ(config.overrides.size(), 3u) << text;
}

TEST(NeededIndexRecorder, KeepsDatabasesApart) {
  NeededIndexRecorder recorder;
  recorder.Note(kDatabase, QueryBuilder("c").Equal("a").Ascending("b").Build());
  EXPECT_EQ(recorder.Of(kOther), index::IndexConfig());
  recorder.Note(kOther, QueryBuilder("c").Equal("a").Build());
  EXPECT_EQ(recorder.Of(kOther), index::IndexConfig());
}

TEST(NeededIndexRecorder, IsBounded) {
  NeededIndexRecorder recorder;
  constexpr size_t kOfDatabase = NeededIndexRecorder::kIndexesOfDatabaseMax;
  size_t in_all = 0;
  for (uint32_t database = 1; database <= NeededIndexRecorder::kIndexesMax / kOfDatabase + 1;
       ++database) {
    for (size_t i = 0; i < kOfDatabase + 10; ++i) {
      recorder.Note(model::DatabaseNumber{database},
                    QueryBuilder("c").Equal("f" + std::to_string(i)).Ascending("b").Build());
    }
    const size_t recorded = recorder.Of(model::DatabaseNumber{database}).composites.size();
    EXPECT_LE(recorded, kOfDatabase);
    in_all += recorded;
  }
  EXPECT_EQ(recorder.Of(kDatabase).composites.size(), kOfDatabase);
  EXPECT_EQ(in_all, NeededIndexRecorder::kIndexesMax);
}

}  // namespace
}  // namespace hearth::indexing
