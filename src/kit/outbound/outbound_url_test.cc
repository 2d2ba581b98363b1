#include "kit/outbound/outbound_url.h"

#include <gtest/gtest.h>

namespace hearth::kit {
namespace {

TEST(OutboundUrlTest, TellsHostPortAndScheme) {
  const struct {
    const char* text;
    const char* host_port;
    const char* scheme;
  } cases[] = {
      {"http://a.example", "a.example:80", "http"},
      {"https://a.example/x?y=1", "a.example:443", "https"},
      {"HTTPS://A.Example:8443/", "a.example:8443", "https"},
      {"http://127.0.0.1:4711/x", "127.0.0.1:4711", "http"},
      {"http://0x7f.1/", "127.0.0.1:80", "http"},
      {"http://2130706433/", "127.0.0.1:80", "http"},
      {"http://[::1]:80/", "[::1]:80", "http"},
      {"http://a.example:80/", "a.example:80", "http"},
  };
  for (const auto& each : cases) {
    const Result<OutboundUrl> url = ParseOutboundUrl(each.text);
    ASSERT_TRUE(url.ok()) << each.text << ": " << url.status().ToString();
    EXPECT_EQ(url->host_port, each.host_port) << each.text;
    EXPECT_EQ(url->scheme, each.scheme) << each.text;
  }
}

TEST(OutboundUrlTest, RefusesWhatMustNotBeAskedFor) {
  for (const std::string text : {"",
                                 "a.example",
                                 "/path",
                                 "//a.example/",
                                 "ftp://a.example/",
                                 "file:///etc/hostname",
                                 "gopher://a.example/",
                                 "dict://a.example/",
                                 "javascript:alert(1)",
                                 "http://",

                                 "http://user@a.example/",
                                 "http://user:secret@a.example/",
                                 "http://user:secret@a.example:99999/",
                                 "http://:secret@a.example/",
                                 "http://@a.example/",
                                 "http://a.example:99999/",
                                 "http://a.example:x/",
                                 "http://a b/",
                                 "http://a.example/a b",
                                 "http://a.example/\r\nX: y",
                                 "http://a.example/\x01",
                                 "http://[::1/",
                                 "http://a.example\\@b.example/"}) {
    const Result<OutboundUrl> url = ParseOutboundUrl(text);
    EXPECT_EQ(url.status().code(), Code::kInvalidArgument) << text;
    EXPECT_EQ(url.status().message().find("secret"), std::string::npos) << text;
  }
}

TEST(OutboundUrlTest, KeepsTheLimitOnItsLength) {
  const std::string start = "http://a.example/";
  EXPECT_TRUE(ParseOutboundUrl(start + std::string(kUrlBytesMax - start.size(), 'x')).ok());
  EXPECT_FALSE(ParseOutboundUrl(start + std::string(kUrlBytesMax - start.size() + 1, 'x')).ok());
}

TEST(OutboundUrlTest, ResolvesRedirects) {
  const OutboundUrl base = *ParseOutboundUrl("http://a.example:8080/x/y?q=1");
  const struct {
    const char* location;
    const char* text;
  } cases[] = {
      {"z", "http://a.example:8080/x/z"},        {"/z?b=2#part", "http://a.example:8080/z?b=2"},
      {"//b.example/z", "http://b.example/z"},   {"https://b.example/", "https://b.example/"},
      {"?r=2", "http://a.example:8080/x/y?r=2"}, {"../z", "http://a.example:8080/z"},
  };
  for (const auto& each : cases) {
    const Result<OutboundUrl> url = ResolveOutboundUrl(base, each.location);
    ASSERT_TRUE(url.ok()) << each.location << ": " << url.status().ToString();
    EXPECT_EQ(url->text, each.text);
  }
  for (const char* location :
       {"file:///etc/hostname", "ftp://b.example/", "http://u:p@b.example/", "", "x y"}) {
    EXPECT_EQ(ResolveOutboundUrl(base, location).status().code(), Code::kInvalidArgument)
        << location;
  }
}

TEST(OutboundUrlTest, OriginIsSchemeHostAndPort) {
  const OutboundUrl base = *ParseOutboundUrl("http://a.example/x");
  EXPECT_TRUE(base.SameOrigin(*ParseOutboundUrl("http://A.example:80/y")));
  EXPECT_FALSE(base.SameOrigin(*ParseOutboundUrl("http://a.example:81/x")));
  EXPECT_FALSE(base.SameOrigin(*ParseOutboundUrl("https://a.example:80/x")));
  EXPECT_FALSE(base.SameOrigin(*ParseOutboundUrl("http://b.example/x")));
}

}  // namespace
}  // namespace hearth::kit
