#include "base/base64.h"

#include <gtest/gtest.h>

namespace hearth {
namespace {

TEST(Base64Url, GoesThereAndBack) {
  EXPECT_EQ(EncodeBase64Url(""), "");
  EXPECT_EQ(EncodeBase64Url("\xfb\xff"), "-_8");
  for (const std::string bytes : {"", "a", "ab", "abc", "abcd"}) {
    EXPECT_EQ(DecodeBase64Url(EncodeBase64Url(bytes)), bytes);
  }
}

TEST(Base64Url, RefusesWhatItDidNotMake) {
  EXPECT_EQ(DecodeBase64Url("a"), std::nullopt);     // Six bits are not a byte.
  EXPECT_EQ(DecodeBase64Url("YQ=="), std::nullopt);  // Padding.
  EXPECT_EQ(DecodeBase64Url("YR"), std::nullopt);    // Stray bits.
  EXPECT_EQ(DecodeBase64Url("Y!"), std::nullopt);
}

TEST(Base64Test, WritesTheStandardForm) {
  EXPECT_EQ(EncodeBase64(""), "");
  EXPECT_EQ(EncodeBase64("a"), "YQ==");
  EXPECT_EQ(EncodeBase64("ab"), "YWI=");
  EXPECT_EQ(EncodeBase64("\xfb\xff\xfe"), "+//+");
}

TEST(Base64Test, ReadsBothAlphabetsPaddedOrNot) {
  for (const char* text : {"+//+YQ==", "-__-YQ==", "+//+YQ", "-__-YQ"}) {
    EXPECT_EQ(DecodeAnyBase64(text),
              "\xfb\xff\xfe"
              "a")
        << text;
  }
  EXPECT_EQ(DecodeAnyBase64(""), "");
  for (const char* text : {"Y", "YQ=", "YQ===", "Y Q=", "=", "YQ==YQ==", "YW=I", "YWI%"}) {
    EXPECT_EQ(DecodeAnyBase64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace hearth
