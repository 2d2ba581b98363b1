#include "storage/wal_mark.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "storage/testing/faulty_file_system.h"

namespace hearth::storage {
namespace {

class WalMarkTest : public testing::Test {
 protected:
  std::unique_ptr<WalMark> Open() {
    Result<std::unique_ptr<WalMark>> opened = WalMark::Open(files_, name_);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return *std::move(opened);
  }
  void Damage(size_t offset) {
    std::fstream bytes(name_, std::ios::binary | std::ios::in | std::ios::out);
    bytes.seekp(static_cast<std::streamoff>(offset));
    bytes.put('x');
  }

  const TemporaryFolder folder_;
  const std::string name_ = folder_ / "MARK";
  FaultyFileSystem files_;
};

TEST_F(WalMarkTest, RemembersTheLogs) {
  {
    const auto mark = Open();
    EXPECT_EQ(mark->found(), WalMark::Found::kNothing);
    mark->Extend(4, 10);
    mark->Extend(4, 20);
    mark->Extend(9, 5);
    mark->Extend(4, 15);  // Less than is known.
  }
  const auto mark = Open();
  EXPECT_EQ(mark->found(), WalMark::Found::kLogs);
  EXPECT_EQ(mark->logs(), (std::vector<WalExtent>{{4, 20}, {9, 5}}));
  ASSERT_TRUE(mark->Remove(4).ok());
  EXPECT_EQ(Open()->logs(), (std::vector<WalExtent>{{9, 5}}));
  ASSERT_TRUE(mark->Reset({}).ok());
  EXPECT_EQ(Open()->found(), WalMark::Found::kLogs);
  EXPECT_TRUE(Open()->logs().empty());
}

TEST_F(WalMarkTest, RemembersTheManifest) {
  {
    const auto mark = Open();
    EXPECT_EQ(mark->manifest(), WalExtent());
    mark->ExtendManifest(5, 100);
    mark->Extend(9, 10);
    mark->ExtendManifest(12, 40);
  }
  const auto mark = Open();
  EXPECT_EQ(mark->manifest(), (WalExtent{12, 40}));
  EXPECT_EQ(mark->logs(), (std::vector<WalExtent>{{9, 10}}));
  ASSERT_TRUE(mark->Reset({}).ok());
  EXPECT_EQ(Open()->manifest(), (WalExtent{12, 40}));
}

TEST_F(WalMarkTest, ATornCopyIsIgnored) {
  const auto mark = Open();
  mark->Extend(4, 10);  // The second copy.
  mark->Extend(4, 20);  // The first one.
  Damage(40);
  EXPECT_EQ(Open()->logs(), (std::vector<WalExtent>{{4, 10}}));
  Damage(4'096 + 40);
  EXPECT_EQ(Open()->found(), WalMark::Found::kDamage);
}

// Neither copy may list a log that was deleted.
TEST_F(WalMarkTest, ARemovedLogDoesNotComeBack) {
  const auto mark = Open();
  mark->Extend(4, 10);
  mark->Extend(9, 10);
  ASSERT_TRUE(mark->Remove(4).ok());
  for (const size_t copy : {size_t{0}, size_t{1}}) {
    SCOPED_TRACE(copy);
    Damage(copy * 4'096 + 40);
    EXPECT_EQ(Open()->logs(), (std::vector<WalExtent>{{9, 10}}));
    ASSERT_TRUE(mark->Reset({{9, 10}}).ok());
  }
}

TEST_F(WalMarkTest, ARemovalThatWasNotSyncedFailsUntilItIs) {
  const auto mark = Open();
  mark->Extend(4, 10);
  files_.Inject({.operation = Fault::Operation::kSync, .name_part = "MARK", .failing = 2});
  EXPECT_FALSE(mark->Remove(4).ok());
  EXPECT_FALSE(mark->Remove(4).ok());
  EXPECT_TRUE(mark->Remove(4).ok());
}

TEST_F(WalMarkTest, AFullListForgetsTheOldest) {
  const auto mark = Open();
  for (uint64_t number = 1; number <= WalMark::kLogsMax + 1; ++number) mark->Extend(number, 7);
  const std::vector<WalExtent> logs = Open()->logs();
  EXPECT_EQ(logs.size(), WalMark::kLogsMax);
  EXPECT_EQ(logs.front(), (WalExtent{2, 7}));
  EXPECT_EQ(logs.back(), (WalExtent{WalMark::kLogsMax + 1, 7}));
}

}  // namespace
}  // namespace hearth::storage
