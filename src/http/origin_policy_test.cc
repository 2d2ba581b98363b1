#include "http/origin_policy.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace hearth::http {
namespace {

using Fields = std::initializer_list<std::pair<const char*, const char*>>;

RequestHead RequestTo(std::string_view authority, Fields fields = {}) {
  RequestHead head;
  head.set_method("GET");
  head.set_target("/v1/x");
  head.set_authority(authority);
  for (const auto& [name, value] : fields) head.AddHeader(name, value);
  return head;
}

Status CheckPage(const OriginPolicy& policy, const char* origin) {
  return policy.Check(RequestTo("127.0.0.1:8080", {{"Origin", origin}}));
}

TEST(ParseAuthority, ReadsWhatBrowsersSend) {
  const std::pair<const char*, Authority> cases[] = {
      {"localhost", {"localhost"}},
      {"LocalHost:8080", {"localhost", 8080}},
      {"localhost.", {"localhost"}},
      {"app.localhost.:1", {"app.localhost", 1}},
      {"127.0.0.1:65535", {"127.0.0.1", 65'535}},
      {"[::1]", {"::1"}},
      {"[0:0::0:1]:80", {"::1", 80}},
      {"[::FFFF:127.0.0.1]:80", {"::ffff:127.0.0.1", 80}},
      {"xn--bcher-kva.example", {"xn--bcher-kva.example"}},
      {"my_host-1:443", {"my_host-1", 443}},
      {"1.example", {"1.example"}},
  };
  for (const auto& [text, expected] : cases) {
    const std::optional<Authority> parsed = ParseAuthority(text);
    ASSERT_TRUE(parsed.has_value()) << text;
    EXPECT_EQ(*parsed, expected) << text;
  }
}

TEST(ParseAuthority, RefusesWhatNoBrowserSends) {
  for (const char* text : {"",
                           ".",
                           "..",
                           ":80",
                           "localhost:",
                           "localhost:x",
                           "localhost:65536",
                           "localhost:80:80",
                           "localhost:-1",
                           "localhost: 80",
                           "user@localhost",
                           "localhost@evil.example",
                           "localhost:80@evil.example",
                           "localhost/",
                           "localhost\\evil",
                           "localhost#",
                           "localhost?",
                           "local host",
                           " localhost",
                           "localhost\t",
                           "localhost..",
                           ".localhost",
                           "a..localhost",
                           "[::1",
                           "::1",
                           "[::1]x",
                           "[::1]:",
                           "[]",
                           "[::1%lo]",
                           "[127.0.0.1]",
                           "0x7f.1",
                           "0x7f000001",
                           "2130706433",
                           "127.1",
                           "0177.0.0.1",
                           "127.0.0.01",
                           "127.0.0.256",
                           "127.0.0.1.1",
                           "b\xC3\xBC"
                           "cher.example",
                           "localhost%00",
                           "localhost,evil.example"}) {
    EXPECT_FALSE(ParseAuthority(text).has_value()) << text;
  }
  EXPECT_FALSE(ParseAuthority(std::string("localhost\0", 10)).has_value());
  EXPECT_TRUE(ParseAuthority(std::string(253, 'a')).has_value());
  EXPECT_FALSE(ParseAuthority(std::string(254, 'a')).has_value());
}

TEST(OriginPolicyTest, AnswersUnderTheNamesOfThisMachine) {
  const OriginPolicy policy;
  for (const char* authority : {"localhost", "localhost:8080", "LOCALHOST:80", "localhost.:80",
                                "app.localhost:8080", "127.0.0.1:8080", "127.1.2.3",
                                "127.0.0.1.:80", "[::1]:8080", "[::1]", "[::ffff:127.0.0.1]:80"}) {
    EXPECT_TRUE(policy.Check(RequestTo(authority)).ok()) << authority;
  }
}

TEST(OriginPolicyTest, RefusesNamesThatMerelyLeadHere) {
  const OriginPolicy policy;
  for (const char* authority : {"",
                                "evil.example",
                                "evil.example:8080",
                                "127.evil.example",
                                "127.0.0.1.evil.example:80",
                                "localhost.evil.example",
                                "localhostevil",
                                "evillocalhost",
                                "evil.example.localhost.x",
                                "[::2]:80",
                                "192.168.0.1",
                                "0.0.0.0:80",
                                "128.0.0.1",
                                "[::ffff:10.0.0.1]",
                                "firestore.googleapis.com",
                                "localhost@evil.example",
                                "evil.example#.localhost",
                                "xn--localhost-abc",
                                "127.0.0.1:8080x",
                                "localhost:8080:x"}) {
    const Status status = policy.Check(RequestTo(authority));
    EXPECT_EQ(status.code(), Code::kPermissionDenied) << authority;
    EXPECT_NE(status.message().find("--allow-host"), std::string::npos) << status.message();
  }
}

TEST(OriginPolicyTest, ChecksEveryHostThatARequestNames) {
  const OriginPolicy policy;
  EXPECT_TRUE(policy.Check(RequestTo("localhost", {{"Host", "127.0.0.1"}})).ok());
  EXPECT_FALSE(policy.Check(RequestTo("localhost", {{"Host", "evil.example"}})).ok());
  EXPECT_FALSE(
      policy.Check(RequestTo("localhost", {{"Host", "localhost"}, {"Host", "evil.example"}})).ok());
}

TEST(OriginPolicyTest, LetsPagesOfThisMachineIn) {
  const OriginPolicy policy;
  for (const char* origin :
       {"http://localhost:5173", "http://localhost", "https://localhost:8443", "HTTP://LOCALHOST:1",
        "http://127.0.0.1:3000", "http://[::1]:3000", "http://app.localhost:3000"}) {
    EXPECT_TRUE(CheckPage(policy, origin).ok()) << origin;
  }
}

TEST(OriginPolicyTest, RefusesPagesOfOtherOrigins) {
  const OriginPolicy policy;
  for (const char* origin : {"https://evil.example",
                             "null",
                             "",
                             "*",
                             "http://",
                             "localhost",
                             "http:/localhost",
                             "file://",
                             "data://localhost",
                             "chrome-extension://abcdef",
                             "capacitor://localhost",
                             "http://localhost.evil.example",
                             "http://localhost@evil.example",
                             "http://localhost/",
                             "http://localhost http://evil.example",
                             "http://127.0.0.1.evil.example",
                             "http://0x7f.1",
                             "://localhost",
                             "1://localhost",
                             "http://evil.example:80"}) {
    const Status status = CheckPage(policy, origin);
    EXPECT_EQ(status.code(), Code::kPermissionDenied) << origin;
    EXPECT_NE(status.message().find("--allow-origin"), std::string::npos) << status.message();
  }
  const Fields both = {{"Origin", "http://localhost"}, {"Origin", "https://evil.example"}};
  EXPECT_FALSE(policy.Check(RequestTo("localhost", both)).ok());
}

TEST(OriginPolicyTest, AllowsTheGivenHostsAndTheirOwnPages) {
  OriginPolicy policy;
  ASSERT_TRUE(policy.AllowHost("DB.example").ok());
  ASSERT_TRUE(policy.AllowHost("proxy.example:8443").ok());
  ASSERT_TRUE(policy.AllowHost("[2001:db8::1]").ok());
  for (const char* authority : {"db.example", "db.example.:99", "proxy.example:8443",
                                "[2001:DB8:0::1]:8080", "localhost"}) {
    EXPECT_TRUE(policy.Check(RequestTo(authority)).ok()) << authority;
  }
  for (const char* authority : {"a.db.example", "proxy.example", "proxy.example:80", "example"}) {
    EXPECT_FALSE(policy.Check(RequestTo(authority)).ok()) << authority;
  }
  const auto is_allowed = [&](const char* authority, const char* origin) {
    return policy.Check(RequestTo(authority, {{"Origin", origin}})).ok();
  };
  EXPECT_TRUE(is_allowed("db.example", "http://db.example"));
  EXPECT_TRUE(is_allowed("db.example", "https://db.example"));
  EXPECT_TRUE(is_allowed("db.example:443", "https://db.example"));
  EXPECT_TRUE(is_allowed("db.example:8080", "http://db.example:8080"));
  EXPECT_FALSE(is_allowed("db.example:8080", "http://db.example:8081"));
  EXPECT_FALSE(is_allowed("db.example:8080", "http://db.example"));
  EXPECT_FALSE(is_allowed("db.example", "ftp://db.example"));
  EXPECT_FALSE(is_allowed("localhost", "http://db.example"));
}

TEST(OriginPolicyTest, AllowsTheGivenOrigins) {
  OriginPolicy policy;
  ASSERT_TRUE(policy.AllowOrigin("https://App.example:443").ok());
  ASSERT_TRUE(policy.AllowOrigin("http://app.example:8080").ok());
  ASSERT_TRUE(policy.AllowOrigin("capacitor://localhost").ok());
  for (const char* origin :
       {"https://app.example", "http://app.example:8080", "capacitor://localhost"}) {
    EXPECT_TRUE(CheckPage(policy, origin).ok()) << origin;
  }
  for (const char* origin : {"http://app.example", "https://app.example:8080",
                             "https://evil.app.example", "ionic://localhost", "null"}) {
    EXPECT_FALSE(CheckPage(policy, origin).ok()) << origin;
  }
  EXPECT_FALSE(policy.Check(RequestTo("app.example")).ok());
}

TEST(OriginPolicyTest, RefusesInvalidOptions) {
  OriginPolicy policy;
  for (const char* text :
       {"", "*", "*.example", "http://db.example", "db.example/", "a b", "null@"}) {
    EXPECT_EQ(policy.AllowHost(text).code(), Code::kInvalidArgument) << text;
  }
  for (const char* text : {"", "*", "null", "app.example", "https://app.example/",
                           "https://*.example", "https://", "https://user@app.example"}) {
    EXPECT_EQ(policy.AllowOrigin(text).code(), Code::kInvalidArgument) << text;
  }
}

// Browsers send no origin with what a page cannot read: images, scripts, frames and links.
TEST(OriginPolicyTest, OnlyALinkToAPageMayComeFromAnotherSite) {
  OriginPolicy policy;
  policy.AddPage("/");
  policy.AddPages("/apps/");
  struct Case {
    const char* method;
    const char* target;
    const char* site;
    const char* mode;
    const char* destination;
    bool allowed;
  };
  const Case cases[] = {
      {"GET", "/", "cross-site", "navigate", "document", true},
      {"HEAD", "/?a=b", "cross-site", "navigate", "document", true},
      {"GET", "/apps/feed/", "same-site", "navigate", "document", true},
      {"GET", "/v1/x", "none", "navigate", "document", true},
      {"GET", "/v1/x", "same-origin", "cors", "empty", true},
      {"GET", "/v1/x", "cross-site", "navigate", "document", false},
      {"GET", "/metrics", "cross-site", "navigate", "document", false},
      {"GET", "/hearth/v1/databases", "same-site", "navigate", "document", false},
      {"GET", "/apps", "cross-site", "navigate", "document", false},
      {"GET", "/", "cross-site", "navigate", "iframe", false},
      {"GET", "/", "cross-site", "no-cors", "image", false},
      {"GET", "/apps/feed/main.js", "cross-site", "no-cors", "script", false},
      {"GET", "/v1/x", "cross-site", "no-cors", "image", false},
      {"GET", "/v1/x", "same-site", "no-cors", "script", false},
      {"GET", "/v1/x", "unheard-of", "cors", "empty", false},
      {"POST", "/", "cross-site", "navigate", "document", false},
  };
  for (const Case& each : cases) {
    RequestHead head;
    head.set_method(each.method);
    head.set_target(each.target);
    head.set_authority("localhost:8080");
    head.AddHeader("Sec-Fetch-Site", each.site);
    head.AddHeader("Sec-Fetch-Mode", each.mode);
    head.AddHeader("Sec-Fetch-Dest", each.destination);
    EXPECT_EQ(policy.Check(head).ok(), each.allowed)
        << each.method << " " << each.target << " " << each.site << " " << each.destination;
  }
  // A page under development asks with its origin.
  EXPECT_TRUE(policy
                  .Check(RequestTo("127.0.0.1:8080", {{"Origin", "http://localhost:5173"},
                                                      {"Sec-Fetch-Site", "cross-site"}}))
                  .ok());
}

}  // namespace
}  // namespace hearth::http
