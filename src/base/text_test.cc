#include "base/text.h"

#include <gtest/gtest.h>

#include <string>

namespace hearth {
namespace {

TEST(TextTest, ABeginningEndsBetweenCharacters) {
  EXPECT_EQ(Beginning("abc", 3), "abc");
  EXPECT_EQ(Beginning("abc", 2), "ab");
  EXPECT_EQ(Beginning("a\u00e9", 3), "a\u00e9");
  EXPECT_EQ(Beginning("a\u00e9", 2), "a");
  EXPECT_EQ(Beginning("\U0001F600", 3), "");
  EXPECT_EQ(Beginning("\x80\x80\x80", 2), "");  // Not UTF-8.
}

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

TEST(FreeText, LeavesNothing) {
  std::string text(1'000'000, 'x');
  FreeText(text);
  EXPECT_EQ(text, "");
  EXPECT_LT(text.capacity(), 100u);
}

TEST(Printable, LeavesTextAlone) {
  for (const std::string text : {"", "plain text", "d\xc3\xa9j\xc3\xa0 vu", "\xe2\x82\xac",
                                 "\xf0\x9f\x98\x80 \"quoted\" \\"}) {
    EXPECT_EQ(Printable(text), text);
  }
}

TEST(Printable, EscapesWhatControlsATerminal) {
  EXPECT_EQ(Printable("a\nb\r\t\x1b"), "a\\u000ab\\u000d\\u0009\\u001b");
  EXPECT_EQ(Printable(std::string_view("\0\x7f", 2)), "\\u0000\\u007f");
  EXPECT_EQ(Printable("\xc2\x9b\xc2\xa0"), "\\u009b\xc2\xa0");  // C1, but not what follows it.
  EXPECT_EQ(Printable("\xe2\x80\xa9\xe2\x80\xad\xe2\x81\xa9"), "\\u2029\\u202d\\u2069");
  EXPECT_EQ(Printable("\xef\xbb\xbf"), "\\ufeff");
}

TEST(Printable, ReplacesWhatIsNotText) { EXPECT_EQ(Printable("a\xff\n"), "a\\ufffd\\u000a"); }

}  // namespace
}  // namespace hearth
