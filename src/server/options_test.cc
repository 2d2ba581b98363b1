#include "server/options.h"

#include <gtest/gtest.h>

namespace hearth::server {
namespace {

TEST(ParseListenAddress, TakesHostsAndPorts) {
  EXPECT_EQ(ParseListenAddress("127.0.0.1:8080")->host, "127.0.0.1");
  EXPECT_EQ(ParseListenAddress("127.0.0.1:8080")->port, 8080);
  EXPECT_EQ(ParseListenAddress("[::1]:0")->host, "::1");
  EXPECT_EQ(ParseListenAddress("localhost:65535")->port, 65535);
}

TEST(ParseListenAddress, RefusesWhatIsNoAddress) {
  for (const char* text : {"", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",
                           "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80 "}) {
    EXPECT_EQ(ParseListenAddress(text).status().code(), Code::kInvalidArgument) << text;
  }
}

TEST(ParseListenAddress, RefusesAddressesThatOthersCanReach) {
  for (const char* text :
       {"0.0.0.0:8080", "[::]:8080", "192.168.1.5:8080", "example.com:80", "127.evil.example:80"}) {
    EXPECT_NE(ParseListenAddress(text).status().message().find("other machines"), std::string::npos)
        << text;
  }
}

TEST(ParseAddress, LetsAClientGoAnywhere) {
  EXPECT_EQ(ParseAddress("example.com:80")->host, "example.com");
  EXPECT_EQ(ParseAddress("example.com").status().code(), Code::kInvalidArgument);
}

TEST(ParseOriginPolicy, NamesTheFlagOfAnInvalidValue) {
  EXPECT_TRUE(ParseOriginPolicy({{"db.example", "a:80"}, {"https://app.example"}}).ok());
  const Status host = ParseOriginPolicy({{"http://db.example"}, {}}).status();
  EXPECT_EQ(host.code(), Code::kInvalidArgument);
  EXPECT_NE(host.message().find("--allow-host"), std::string::npos) << host.message();
  const Status origin = ParseOriginPolicy({{}, {"app.example"}}).status();
  EXPECT_EQ(origin.code(), Code::kInvalidArgument);
  EXPECT_NE(origin.message().find("--allow-origin"), std::string::npos) << origin.message();
}

TEST(MemoryMaxBytes, IsHalfOfTheMachineUnlessItIsSet) {
  constexpr size_t kMebibyte = 1024 * 1024;
  EXPECT_EQ(*MemoryMaxBytes({.cache_mib = 64}, 1'000 * kMebibyte), 500 * kMebibyte);
  EXPECT_EQ(*MemoryMaxBytes({.max_mib = 700, .cache_mib = 64}, 1'000 * kMebibyte), 700 * kMebibyte);
}

TEST(MemoryMaxBytes, LeavesEnoughForRequestsBesideTheCaches) {
  constexpr size_t kMebibyte = 1024 * 1024;
  EXPECT_TRUE(MemoryMaxBytes({.max_mib = 192, .cache_mib = 64}, 0).ok());
  const Status refused = MemoryMaxBytes({.max_mib = 191, .cache_mib = 64}, 0).status();
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_EQ(refused.message(),
            "--memory-max-mib must be at least 192: --cache-mib is 64, and requests need 128");
  EXPECT_TRUE(MemoryMaxBytes({}, 256 * kMebibyte).ok());
  EXPECT_EQ(MemoryMaxBytes({}, 256 * kMebibyte - 2).status().message(),
            "--memory-max-mib must be at least 128: requests need 128");
}

TEST(ParseIndexMode, NamesTheChoices) {
  EXPECT_EQ(*ParseIndexMode("auto"), indexing::IndexMode::kAuto);
  EXPECT_EQ(*ParseIndexMode("strict"), indexing::IndexMode::kStrict);
  EXPECT_EQ(ParseIndexMode("lax").status().message(), "'lax' is not an index mode: auto or strict");
}

TEST(ParseLogOptions, NameTheChoices) {
  EXPECT_EQ(*ParseLogLevel("warning"), LogLevel::kWarning);
  EXPECT_EQ(*ParseLogFormat("json"), LogFormat::kJson);
  EXPECT_EQ(ParseLogLevel("loud").status().message(),
            "'loud' is not a log level: debug, info, warning or error");
  EXPECT_EQ(ParseLogFormat("xml").status().message(), "'xml' is not a log format: text or json");
}

TEST(AddressText, ReadsAsItIsWritten) {
  for (const char* text : {"127.0.0.1:80", "[::1]:8080", "localhost:0"}) {
    EXPECT_EQ(AddressText(*ParseAddress(text)), text);
  }
}

}  // namespace
}  // namespace hearth::server
