#include "apps/feed/ids/post_key.h"

#include <gtest/gtest.h>

namespace hearth::feed {
namespace {

TEST(PostKeyTest, OrdersBySecondsAndThenByNumericId) {
  EXPECT_LT((PostKey{10, 99}), (PostKey{11, 1}));
  EXPECT_LT((PostKey{10, 9}), (PostKey{10, 10}));
  EXPECT_EQ((PostKey{10, 9}), (PostKey{10, 9}));
}

TEST(PostKeyTest, ACursorIsTheIdAndTheSeconds) {
  EXPECT_EQ(FormatCursor({1'732'899'000, 1041}), "1041:1732899000");
  EXPECT_EQ(*ParseCursor("1041:1732899000"), (PostKey{1'732'899'000, 1041}));
  EXPECT_EQ(*ParseCursor("9223372036854775807:0"), (PostKey{0, INT64_MAX}));
}

TEST(PostKeyTest, RefusesWhatIsNoCursor) {
  for (const char* text :
       {"", ":", "1", "1:", ":1", "1:2:3", "-1:2", "1:-2", "+1:2", " 1:2", "1:2 ", "1: 2", "1.5:2",
        "a:2", "1:b", "0x1:2", "01:2", "9223372036854775808:1", "1:99999999999999999999"}) {
    EXPECT_EQ(ParseCursor(text).status().code(), Code::kInvalidArgument) << text;
  }
}

TEST(PostKeyTest, AnIdIsAPositiveNumberWrittenOneWay) {
  EXPECT_EQ(*ParseId("1"), 1);
  EXPECT_EQ(*ParseId("9223372036854775807"), INT64_MAX);
  for (const char* text : {"", "0", "-1", "+1", "01", " 1", "1 ", "1a", "9223372036854775808"}) {
    EXPECT_EQ(ParseId(text).status().code(), Code::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace hearth::feed
