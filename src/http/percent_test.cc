#include "http/percent.h"

#include <gtest/gtest.h>

namespace hearth::http {
namespace {

TEST(PercentTest, DecodesBytes) {
  EXPECT_EQ(DecodePercent(""), "");
  EXPECT_EQ(DecodePercent("a%20b%2Fc%c3%A9+"), "a b/c\xc3\xa9+");
}

TEST(PercentTest, KeepsWhatItIsToldTo) {
  EXPECT_EQ(DecodePercent("a%2Fb%2f%41", {.keeps_slashes = true}), "a%2Fb%2fA");
  EXPECT_EQ(DecodePercent("a+b%2B", {.plus_is_space = true}), "a b+");
}

TEST(PercentTest, EncodesAllThatMeansSomethingElsewhere) {
  EXPECT_EQ(EncodePercent("aZ09-._"), "aZ09-._");
  EXPECT_EQ(EncodePercent("(a/b?c&d=e+f %)"), "%28a%2Fb%3Fc%26d%3De%2Bf%20%25%29");
  EXPECT_EQ(EncodePercent("\xc3\xa4"), "%C3%A4");
}

TEST(PercentTest, RefusesWhatIsNoByte) {
  for (const char* text : {"%", "%4", "a%", "%4g", "%g4", "100%"}) {
    EXPECT_EQ(DecodePercent(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace hearth::http
