#include "base/text.h"

#include <gtest/gtest.h>

namespace hearth {
namespace {

TEST(TextTest, TrimsTheBlanksAtBothEnds) {
  EXPECT_EQ(Trim(" \ta b\t "), "a b");
  EXPECT_EQ(Trim("a"), "a");
  EXPECT_EQ(Trim(" \t "), "");
  EXPECT_EQ(Trim(""), "");
  EXPECT_EQ(Trim("\r\na\v\f", kWhitespace), "a");
  EXPECT_EQ(Trim("\ta ", " "), "\ta");
}

TEST(TextTest, TakesOnePartAfterAnother) {
  std::string_view text = "a=b;;c";
  EXPECT_EQ(TakeUntil(text, ';'), "a=b");
  EXPECT_EQ(TakeUntil(text, ';'), "");
  EXPECT_EQ(TakeUntil(text, ';'), "c");
  EXPECT_EQ(text, "");
  EXPECT_EQ(TakeUntil(text, ';'), "");
}

TEST(TextTest, IgnoresTheCaseOfAsciiLettersOnly) {
  EXPECT_TRUE(EqualsIgnoringCase("Content-TYPE", "content-type"));
  EXPECT_FALSE(EqualsIgnoringCase("a", "ab"));
  EXPECT_FALSE(EqualsIgnoringCase("[", "{"));
  EXPECT_FALSE(EqualsIgnoringCase("\u00c9", "\u00e9"));
}

}  // namespace
}  // namespace hearth
