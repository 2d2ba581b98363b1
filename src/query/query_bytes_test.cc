#include "query/query_bytes.h"

#include <gtest/gtest.h>

#include <string>

#include "query/testing/query_builder.h"

namespace hearth::query {
namespace {

constexpr size_t kLarge = 100'000;

TEST(QueryBytesTest, ASmallQueryIsSmall) {
  EXPECT_GT(BytesOf(QueryBuilder("c").Build()), 0u);
  EXPECT_LT(BytesOf(QueryBuilder("c").Equal("a").Ascending("b").Limit(5).Build()), 4'000u);
}

TEST(QueryBytesTest, CursorsCountInFull) {
  const std::string large = model::EncodeString(std::string(kLarge, 'x'));
  const QueryBuilder ordered = QueryBuilder("c").Ascending("a").Ascending("b");
  EXPECT_GT(BytesOf(QueryBuilder(ordered).Start({large}, true).Build()), kLarge);
  EXPECT_GT(BytesOf(QueryBuilder(ordered).Start({large, large}, true).End({large}, true).Build()),
            3 * kLarge);
}

TEST(QueryBytesTest, EachExpandedFilterCounts) {
  const size_t one = BytesOf(QueryBuilder("c").Equal("a").Build());
  EXPECT_GT(BytesOf(QueryBuilder("c").In("a", {1, 2, 3, 4, 5, 6, 7, 8, 9}).Build()), 2 * one);
}

TEST(QueryBytesTest, PathsCount) {
  const auto path = *model::FieldPath::Parse("a." + std::string(1'000, 'b'));
  EXPECT_GT(BytesOf(std::vector<model::FieldPath>(100, path)), 100'000u);
  EXPECT_EQ(BytesOf(std::vector<model::FieldPath>()), 0u);
}

}  // namespace
}  // namespace hearth::query
