#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace hearth {
namespace {

using namespace std::string_literals;

TEST(Utf8Test, AcceptsWellFormedText) {
  for (const std::string& text :
       {""s, "ascii"s, "exactly8"s, "longer than eight"s, "\0"s, "\x7f"s, "é"s, "\u07ff"s,
        "\u0800"s, "\ud7ff"s, "\ue000"s, "\uffff"s, "\U00010000"s, "\U0010ffff"s}) {
    for (const std::string& before : {""s, "1234567"s, "12345678"s}) {
      EXPECT_TRUE(IsValidUtf8(before + text + before)) << testing::PrintToString(text);
    }
  }
}

TEST(Utf8Test, RefusesEverythingElse) {
  for (const std::string& text :
       {"\x80"s, "\xbf"s, "\xc0\x80"s, "\xc1\xbf"s, "\xc3"s, "\xc3\x28"s, "\xe0\x9f\xbf"s,
        "\xe2\x82"s, "\xe2\x28\xa1"s, "\xe2\x82\x28"s, "\xed\xa0\x80"s, "\xed\xbf\xbf"s,
        "\xf0\x8f\xbf\xbf"s, "\xf0\x9f\x98"s, "\xf0\x9f\x98\x28"s, "\xf4\x90\x80\x80"s,
        "\xf5\x80\x80\x80"s, "\xff"s}) {
    for (const std::string& before : {""s, "1234567"s, "12345678"s, "é"s}) {
      EXPECT_FALSE(IsValidUtf8(before + text)) << testing::PrintToString(text);
      EXPECT_FALSE(IsValidUtf8(before + text + before)) << testing::PrintToString(text);
    }
  }
}

TEST(Utf8Test, CountsAsUtf16) {
  EXPECT_EQ(Utf16Length("abc"), 3u);
  EXPECT_EQ(Utf16Length("é"), 1u);
  EXPECT_EQ(Utf16Length("\uffff"), 1u);
  EXPECT_EQ(Utf16Length("a\U0001f600b"), 4u);
}

}  // namespace
}  // namespace hearth
