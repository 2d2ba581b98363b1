#include "server/apps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "storage/testing/temporary_folder.h"

namespace hearth::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<std::unique_ptr<kit::Application>> MakeNothing(kit::AppContext) {
  return Status(Code::kUnimplemented, "only a name");
}

constexpr AppEntry kApps[] = {{.name = "news", .make = MakeNothing},
                              {.name = "prices", .make = MakeNothing},
                              {.name = "docs", .make = MakeNothing}};

std::vector<std::string> Chosen(std::string_view text) {
  std::vector<std::string> names;
  const Result<std::vector<AppEntry>> chosen = ChooseApps(text, kApps);
  EXPECT_TRUE(chosen.ok()) << chosen.status().message();
  for (const AppEntry& app : *chosen) names.emplace_back(app.name);
  return names;
}

TEST(AppsTest, Choosing) {
  EXPECT_THAT(Chosen("all"), ElementsAre("news", "prices", "docs"));
  EXPECT_THAT(Chosen("none"), ElementsAre());
  EXPECT_THAT(Chosen("docs,news"), ElementsAre("news", "docs"));
  EXPECT_THAT(Chosen("docs,docs"), ElementsAre("docs"));
  for (const char* text : {"", "nosuch", "news,", ",news", "news, docs", "all,news", "News"}) {
    SCOPED_TRACE(text);
    const Status refused = ChooseApps(text, kApps).status();
    EXPECT_EQ(refused.code(), Code::kInvalidArgument);
    EXPECT_THAT(refused.message(), HasSubstr("news, prices, docs"));
  }
}

TEST(AppsTest, Settings) {
  const storage::TemporaryFolder folder;
  const auto load = [&](const std::string& content) {
    std::ofstream(folder / "apps.json") << content;
    return LoadAppSettings(folder / "apps.json", kApps);
  };
  EXPECT_EQ(*LoadAppSettings("", kApps), nlohmann::json::object());
  EXPECT_EQ((*load(R"({"news": {"a": 1}})"))["news"]["a"], 1);
  EXPECT_TRUE(load("{}").ok());
  for (const std::string& content :
       {std::string(), std::string("x"), std::string("[]"), std::string(R"({"nosuch": {}})"),
        std::string(R"({"news": 1})"), std::string(200, '['), std::string(1'100'000, ' ')}) {
    const Status refused = load(content).status();
    EXPECT_EQ(refused.code(), Code::kInvalidArgument) << content.substr(0, 20);
    EXPECT_THAT(refused.message(), HasSubstr("apps.json"));
  }
  EXPECT_EQ(LoadAppSettings(folder / "missing", kApps).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(LoadAppSettings(folder.path(), kApps).status().code(), Code::kInvalidArgument);
}

TEST(AppsTest, TheCommandLineNamesTheRedis) {
  const storage::TemporaryFolder folder;
  std::ofstream(folder / "apps.json")
      << R"({"feed": {"redis": "there:1", "demo": false}, "hackernews": {"a": 1}})";
  const auto read = [](const std::string& config, const std::string& redis) {
    return *ReadAppSettings({.config = config, .redis = redis});
  };
  EXPECT_EQ(read("", ""), nlohmann::json::object());
  EXPECT_EQ(read("", "here:2,here:3"), nlohmann::json({{"feed", {{"redis", "here:2,here:3"}}}}));
  EXPECT_EQ(read(folder / "apps.json", "")["feed"]["redis"], "there:1");
  const nlohmann::json both = read(folder / "apps.json", "here:2");
  EXPECT_EQ(both["feed"], nlohmann::json({{"redis", "here:2"}, {"demo", false}}));
  EXPECT_EQ(both["hackernews"], nlohmann::json({{"a", 1}}));
  EXPECT_EQ(ReadAppSettings({.config = folder / "missing", .redis = "here:2"}).status().code(),
            Code::kInvalidArgument);
}

TEST(AppsTest, Environments) {
  EXPECT_EQ(EnvironmentOf(nullptr, nullptr), "dev");
  EXPECT_EQ(EnvironmentOf("", ""), "dev");
  EXPECT_EQ(EnvironmentOf("production", "ci"), "prod");
  EXPECT_EQ(EnvironmentOf("prod", nullptr), "prod");
  EXPECT_EQ(EnvironmentOf(nullptr, "production"), "prod");
  EXPECT_EQ(EnvironmentOf("", "staging"), "staging");
  EXPECT_EQ(EnvironmentOf("ci", "production"), "ci");
  EXPECT_EQ(EnvironmentOf("anything", "production"), "dev");
}

}  // namespace
}  // namespace hearth::server
