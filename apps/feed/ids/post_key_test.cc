#include "apps/feed/ids/post_key.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace hearth::feed {
namespace {

TEST(PostKeyTest, OrdersBySecondsAndThenByNumericId) {
  EXPECT_LT((PostKey{10, PostId{99}}), (PostKey{11, PostId{1}}));
  EXPECT_LT((PostKey{10, PostId{9}}), (PostKey{10, PostId{10}}));
  EXPECT_EQ((PostKey{10, PostId{9}}), (PostKey{10, PostId{9}}));
}

TEST(PostKeyTest, ACursorIsTheIdAndTheSeconds) {
  EXPECT_EQ(FormatCursor(PostKey{1'732'899'000, PostId{1041}}), "1041:1732899000");
  EXPECT_EQ(*ParseCursor<PostId>("1041:1732899000"), (PostKey{1'732'899'000, PostId{1041}}));
  EXPECT_EQ(*ParseCursor<PostId>("9223372036854775807:0"), (PostKey{0, PostId{INT64_MAX}}));
}

TEST(PostKeyTest, RefusesWhatIsNoCursor) {
  for (const char* text :
       {"", ":", "1", "1:", ":1", "1:2:3", "-1:2", "1:-2", "+1:2", " 1:2", "1:2 ", "1: 2", "1.5:2",
        "a:2", "1:b", "0x1:2", "01:2", "9223372036854775808:1", "1:99999999999999999999"}) {
    EXPECT_EQ(ParseCursor<PostId>(text).status().code(), Code::kInvalidArgument) << text;
  }
}

TEST(PostKeyTest, AnIdIsAPositiveNumberWrittenOneWay) {
  EXPECT_EQ(*ParseId<PostId>("1"), PostId{1});
  EXPECT_EQ(*ParseId<PostId>("9223372036854775807"), PostId{INT64_MAX});
  for (const char* text : {"", "0", "-1", "+1", "01", " 1", "1 ", "1a", "9223372036854775808"}) {
    EXPECT_EQ(ParseId<PostId>(text).status().code(), Code::kInvalidArgument) << text;
  }
}

TEST(IdTest, IsWrittenAsItsNumber) {
  EXPECT_EQ(ToText(UserId{1041}), "1041");
  EXPECT_EQ(ToNumber(CommentId{INT64_MAX}), INT64_MAX);
  EXPECT_EQ(Next(PostId{}), PostId{1});
  EXPECT_FALSE(IsValid(PostId{}));
  EXPECT_TRUE(IsValid(PostId{1}));
}

// Ids of different kinds convert neither to each other nor to numbers.
static_assert(!std::is_convertible_v<UserId, PostId> && !std::is_convertible_v<int64_t, UserId> &&
              !std::is_convertible_v<UserId, int64_t>);

}  // namespace
}  // namespace hearth::feed
