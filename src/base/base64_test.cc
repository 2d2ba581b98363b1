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
  EXPECT_EQ(DecodeBase64Url("a"), std::nullopt);     // Six bits are no byte.
  EXPECT_EQ(DecodeBase64Url("YQ=="), std::nullopt);  // Padding.
  EXPECT_EQ(DecodeBase64Url("YR"), std::nullopt);    // Stray bits.
  EXPECT_EQ(DecodeBase64Url("Y!"), std::nullopt);
}

}  // namespace
}  // namespace hearth
