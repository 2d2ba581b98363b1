#include "kit/web/negotiation.h"

#include <gtest/gtest.h>

namespace hearth::kit {
namespace {

TEST(NegotiationTest, Gzip) {
  for (const char* text : {"gzip", "GZIP", "br, gzip", "deflate;q=1, gzip;q=0.5", "*", "x,*;q=0.1",
                           "gzip ; q=1", "*;q=0, gzip"}) {
    EXPECT_TRUE(AcceptsGzip(text)) << text;
  }
  for (const char* text : {"", "br", "gzip;q=0", "gzip;q=0.000", "xgzip", "*, gzip;q=0", "*;q=0",
                           ",,;;=", "identity"}) {
    EXPECT_FALSE(AcceptsGzip(text)) << text;
  }
}

TEST(NegotiationTest, Etags) {
  for (const char* text : {"\"a\"", "W/\"a\"", "\"b\", \"a\"", "*", " \"a\" "}) {
    EXPECT_TRUE(MatchesEtag(text, "\"a\"")) << text;
    EXPECT_TRUE(MatchesEtag(text, "W/\"a\"")) << text;
  }
  for (const char* text : {"", "\"b\"", "a", "\"a", ",", "W/"}) {
    EXPECT_FALSE(MatchesEtag(text, "\"a\"")) << text;
  }
}

TEST(NegotiationTest, Html) {
  EXPECT_TRUE(WantsHtml("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"));
  EXPECT_TRUE(WantsHtml("application/json, Text/HTML;q=0.1"));
  EXPECT_FALSE(WantsHtml("*/*"));
  EXPECT_FALSE(WantsHtml("text/html;q=0"));
  EXPECT_FALSE(WantsHtml("text/htmlx"));
  EXPECT_FALSE(WantsHtml(""));
}

bool CrossSite(const std::vector<std::pair<std::string, std::string>>& headers) {
  http::RequestHead head;
  head.set_authority("localhost:8080");
  for (const auto& [name, value] : headers) head.AddHeader(name, value);
  return IsCrossSite(head);
}

TEST(NegotiationTest, SitesThatMayActForAUser) {
  EXPECT_FALSE(CrossSite({}));
  EXPECT_FALSE(CrossSite({{"origin", "http://localhost:8080"}}));
  EXPECT_FALSE(CrossSite({{"origin", "https://LOCALHOST:8080"}}));
  EXPECT_FALSE(CrossSite({{"sec-fetch-site", "same-origin"}}));
  EXPECT_FALSE(CrossSite({{"sec-fetch-site", "none"}}));
}

TEST(NegotiationTest, SitesThatMayNot) {
  EXPECT_TRUE(CrossSite({{"origin", "http://localhost:8081"}}));
  EXPECT_TRUE(CrossSite({{"origin", "http://evil.example"}}));
  EXPECT_TRUE(CrossSite({{"origin", "http://localhost:8080.evil.example"}}));
  EXPECT_TRUE(CrossSite({{"origin", "null"}}));
  EXPECT_TRUE(CrossSite({{"origin", ""}}));
  EXPECT_TRUE(CrossSite({{"sec-fetch-site", "cross-site"}}));
  EXPECT_TRUE(CrossSite({{"sec-fetch-site", "same-site"}}));
  EXPECT_TRUE(CrossSite({{"sec-fetch-site", "cross-site"}, {"origin", "http://localhost:8080"}}));
}

}  // namespace
}  // namespace hearth::kit
