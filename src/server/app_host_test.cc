#include "server/app_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/fake_clock.h"

namespace hearth::server {
namespace {

using testing::HasSubstr;

// Counts requests in its own metrics; its settings decide whether it starts.
class CountingApp final : public kit::Application {
 public:
  explicit CountingApp(kit::AppContext context) : context_(std::move(context)) {}

  const kit::AppInfo& info() const override { return info_; }
  const kit::Routes& routes() const override { return routes_; }
  Status Start() override {
    Count("starts");
    if (context_.settings.contains("fails")) return Status(Code::kUnavailable, "no luck");
    if (context_.settings.contains("loses")) {
      return Status(Code::kDataLoss, context_.data_path + "/key is too short");
    }
    return Status();
  }
  void Stop() override { Count("stops"); }
  std::vector<kit::Fact> Facts() override {
    Count("facts");
    return {{.label = "data", .value = context_.data_path}};
  }

 private:
  void Count(const std::string& what) { context_.metrics.GetCounter(what, "Calls.").Add(); }

  const kit::AppInfo info_ = {.name = "counting", .title = "Counting", .summary = "Counts."};
  const kit::AppContext context_;
  kit::Routes routes_;
};

constexpr AppEntry kCounting = {
    .name = "counting",
    .make = [](kit::AppContext context) -> Result<std::unique_ptr<kit::Application>> {
      if (context.settings.contains("nonsense")) return InvalidArgument("nonsense is no setting");
      return std::unique_ptr<kit::Application>(std::make_unique<CountingApp>(std::move(context)));
    }};

class AppHostTest : public testing::Test {
 protected:
  AppHost Make(nlohmann::json settings = nlohmann::json::object()) {
    return AppHost(
        {.open_database = [] { return Result<client::Firestore>(client::Firestore(nullptr)); },
         .clock = clock_,
         .random = random_,
         .metrics = metrics_,
         .environment = "ci",
         .settings = std::move(settings),
         .sandbox_url = ""});
  }
  uint64_t Count(const std::string& what) { return metrics_.GetCounter(what, "Calls.").value(); }

  FakeClock clock_{1'000'000};
  RandomSource random_{1};
  Metrics metrics_;
};

TEST_F(AppHostTest, FactsAreAskedForOnceInAWhile) {
  AppHost host = Make();
  ASSERT_TRUE(host.Add(kCounting, "/apps/counting", "folder").ok());
  const std::vector<AppHost::Report> reports = host.Reports();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].info.title, "Counting");
  EXPECT_EQ(reports[0].path, "/apps/counting/");
  ASSERT_EQ(reports[0].facts.size(), 1u);
  EXPECT_EQ(reports[0].facts[0].value, "folder");
  clock_.Advance(AppHost::kFactsAge - std::chrono::microseconds(1));
  EXPECT_EQ(host.Reports()[0].facts.size(), 1u);
  EXPECT_EQ(Count("facts"), 1u);
  clock_.Advance(std::chrono::microseconds(1));
  host.Reports();
  EXPECT_EQ(Count("facts"), 2u);
}

TEST_F(AppHostTest, StopsWhatHasStartedOnce) {
  {
    AppHost host = Make();
    ASSERT_TRUE(host.Add(kCounting, "", "folder").ok());
    host.Stop();
    host.Stop();
  }
  EXPECT_EQ(Count("starts"), 1u);
  EXPECT_EQ(Count("stops"), 1u);
}

TEST_F(AppHostTest, WhatFailsIsReportedAndNotStopped) {
  AppHost host = Make({{"counting", {{"fails", true}}}});
  EXPECT_EQ(host.Add(kCounting, "/apps/counting", "folder").code(), Code::kUnavailable);
  EXPECT_EQ(host.Reports()[0].status.message(), "no luck");
  EXPECT_EQ(host.Reports()[0].info.title, "Counting");
  host.Stop();
  EXPECT_EQ(Count("stops"), 0u);
  EXPECT_EQ(Count("facts"), 0u);
}

TEST_F(AppHostTest, AReportDoesNotTellWhereTheFilesAre) {
  AppHost host = Make({{"counting", {{"loses", true}}}});
  const Status failed = host.Add(kCounting, "/apps/counting", "/srv/data/apps/counting");
  EXPECT_THAT(failed.message(), HasSubstr("/srv/data/apps/counting/key is too short"));
  EXPECT_EQ(host.Reports()[0].status.message(), "(data)/key is too short");
}

TEST_F(AppHostTest, WhatCannotBeMadeIsReported) {
  AppHost host = Make({{"counting", {{"nonsense", true}}}});
  EXPECT_EQ(host.Add(kCounting, "/apps/counting", "folder").code(), Code::kInvalidArgument);
  EXPECT_EQ(host.Reports()[0].info.title, "counting");
  EXPECT_THAT(host.Reports()[0].status.message(), HasSubstr("nonsense"));
}

}  // namespace
}  // namespace hearth::server
