#include "request/page_token.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/testing/test_seed.h"
#include "model/document_key.h"
#include "model/testing/printers.h"

namespace hearth::request {
namespace {

using namespace std::string_literals;
using Parts = std::vector<std::string>;

const Status kInvalidToken = InvalidArgument("invalid page token");

TEST(PageTokenTest, CarriesItsParts) {
  for (const Parts& parts : {Parts{}, Parts{""}, Parts{"a"}, Parts{"a", "", "\x00\xff"s},
                             Parts{std::string(100'000, 'x')}}) {
    const Result<Parts> decoded = DecodePageToken(EncodePageToken("request", parts), "request");
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(*decoded, parts);
  }
}

TEST(PageTokenTest, BelongsToItsRequest) {
  const std::string token = EncodePageToken("request", {"a"});
  EXPECT_EQ(DecodePageToken(token, "another").status(), kInvalidToken);
  EXPECT_EQ(DecodePageToken(token, "").status(), kInvalidToken);
}

TEST(PageTokenTest, RefusesWhatItDidNotMake) {
  EXPECT_EQ(DecodePageToken("garbage!", "request").status(), kInvalidToken);
  EXPECT_EQ(DecodePageToken("", "request").status(), kInvalidToken);
  EXPECT_EQ(DecodePageToken("AAAA", "request").status(), kInvalidToken);
  EXPECT_EQ(DecodePageToken(EncodeBase64Url("\xff\xff\xff"), "request").status(), kInvalidToken);
}

TEST(PageTokenTest, RefusesDamagedTokens) {
  const std::string bytes = *DecodeBase64Url(EncodePageToken("request", {"abc", "de"}));
  const size_t whole_first_part = 4 + 4 + 3;
  for (size_t length = 0; length < bytes.size(); ++length) {
    if (length == 4 || length == whole_first_part) continue;  // Fewer parts, but complete ones.
    EXPECT_EQ(DecodePageToken(EncodeBase64Url(bytes.substr(0, length)), "request").status(),
              kInvalidToken)
        << length;
  }
  // Lengths beyond the end, including ones that would overflow.
  for (const uint32_t length : {6u, 0x7fffffffu, 0xfffffffcu, 0xffffffffu}) {
    const std::string forged = bytes.substr(0, 4) + model::EncodeUint32(length) + "abcde";
    EXPECT_EQ(DecodePageToken(EncodeBase64Url(forged), "request").status(), kInvalidToken)
        << length;
  }
}

TEST(PageTokenTest, RandomBytesAreRefusedOrDecode) {
  Dice dice(TestSeed());
  const std::string fingerprint = DecodeBase64Url(EncodePageToken("request", {}))->substr(0, 4);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = dice.OneIn(2) ? fingerprint : "";
    for (size_t length = dice.Below(20); length > 0; --length) {
      bytes.push_back(static_cast<char>(dice.OneIn(2) ? dice.Below(4) : dice.Below(256)));
    }
    const Result<Parts> parts = DecodePageToken(EncodeBase64Url(bytes), "request");
    if (parts.ok()) {
      EXPECT_EQ(EncodePageToken("request", *parts), EncodeBase64Url(bytes));
    } else {
      EXPECT_EQ(parts.status(), kInvalidToken);
    }
  }
}

}  // namespace
}  // namespace hearth::request
