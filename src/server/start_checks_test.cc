#include "server/start_checks.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "storage/testing/temporary_folder.h"

namespace hearth::server {
namespace {

using model::Timestamp;

constexpr int64_t kDayMicros = int64_t{24} * 60 * 60 * 1'000'000;
constexpr int64_t kNow = kReleasedMicros + 100 * kDayMicros;

Timestamp DaysAgo(int64_t days) { return Timestamp::FromMicros(kNow - days * kDayMicros); }

TEST(CheckClock, AnOrdinaryStartIsQuiet) {
  EXPECT_EQ(*CheckClock(kNow, DaysAgo(1), Clocks::kChecked), "");
  EXPECT_EQ(*CheckClock(kNow, Timestamp(), Clocks::kChecked), "");  // No data yet.
}

TEST(CheckClock, AClockYearsAheadIsRefused) {
  const int64_t ahead = kNow + kUnusedMicrosMax + kDayMicros;
  const Status refused = CheckClock(ahead, Timestamp::FromMicros(kNow), Clocks::kChecked).status();
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition);
  EXPECT_NE(refused.message().find("--accept-clock"), std::string::npos) << refused.message();
  EXPECT_FALSE(CheckClock(ahead, Timestamp(), Clocks::kChecked).ok()) << "without data";
  EXPECT_TRUE(CheckClock(ahead, Timestamp(), Clocks::kAccepted).ok());
}

// A version that is used for many years.
TEST(CheckClock, RecentDataShowsThatTheClockIsRight) {
  const int64_t later = kReleasedMicros + 3 * kUnusedMicrosMax;
  EXPECT_EQ(*CheckClock(later, Timestamp::FromMicros(later - kDayMicros), Clocks::kChecked), "");
}

TEST(CheckClock, WarnsOfWhatIsSuspicious) {
  EXPECT_NE(*CheckClock(kNow, DaysAgo(-400), Clocks::kChecked), "");  // Data from the future.
  EXPECT_NE(*CheckClock(kNow, DaysAgo(40), Clocks::kChecked), "");    // A long pause.
  EXPECT_NE(*CheckClock(0, Timestamp(), Clocks::kChecked), "");       // 1970.
  EXPECT_EQ(*CheckClock(kNow, Timestamp::FromMicros(kNow + 1'000), Clocks::kChecked), "");
}

TEST(DivideFiles, LeavesStorageItsShare) {
  const Result<FileShares> common =
      DivideFiles(1'024, {.connections = 10'000, .loops = 2, .has_apps = false});
  ASSERT_TRUE(common.ok());
  EXPECT_EQ(common->tables, 256);
  EXPECT_GT(common->connections, 500u);
  EXPECT_LT(common->connections, 1'024u - 256u);
  const Result<FileShares> plenty =
      DivideFiles(1'000'000, {.connections = 10'000, .loops = 2, .has_apps = true});
  ASSERT_TRUE(plenty.ok());
  EXPECT_EQ(plenty->tables, 512);
  EXPECT_EQ(plenty->connections, 10'000u);
}

TEST(DivideFiles, LeavesTheSandboxItsConnections) {
  const Result<FileShares> alone =
      DivideFiles(1'024, {.connections = 10'000, .loops = 2, .has_apps = true});
  const Result<FileShares> both = DivideFiles(
      1'024, {.connections = 10'000, .loops = 2, .has_apps = true, .sandbox_connections = 64});
  ASSERT_TRUE(alone.ok());
  ASSERT_TRUE(both.ok());
  // Besides the connections that have a place, some are being accepted.
  EXPECT_LE(both->connections + 64 + 64, alone->connections);
  EXPECT_GT(both->connections, 250u);
}

TEST(DivideFiles, RefusesALimitThatIsTooLow) {
  EXPECT_TRUE(DivideFiles(320, {.connections = 10, .loops = 2, .has_apps = false}).ok());
  EXPECT_EQ(DivideFiles(64, {.connections = 10, .loops = 2, .has_apps = false}).status().code(),
            Code::kResourceExhausted);
}

TEST(DefaultReserveBytes, IsThatOfTheParentForANewFolder) {
  const storage::TemporaryFolder folder;
  EXPECT_GT(DefaultReserveBytes(folder.path()), 0u);
  EXPECT_LE(DefaultReserveBytes(folder.path()), uint64_t{128} << 20);
  EXPECT_EQ(DefaultReserveBytes(folder / "new"), DefaultReserveBytes(folder.path()));
}

TEST(WarningAboutAccess, ComesIfOthersCanRead) {
  const storage::TemporaryFolder folder;
  EXPECT_EQ(WarningAboutAccess(folder.path()), std::nullopt);
  for (const mode_t mode : {0750u, 0705u, 0701u}) {
    ASSERT_EQ(chmod(folder.path().c_str(), mode), 0);
    EXPECT_NE(WarningAboutAccess(folder.path()), std::nullopt) << mode;
  }
}

}  // namespace
}  // namespace hearth::server
