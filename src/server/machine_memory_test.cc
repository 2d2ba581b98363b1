#include "server/machine_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace hearth::server {
namespace {

TEST(MachineMemoryTest, ReadsLimits) {
  EXPECT_EQ(ParseMemoryLimit("1073741824\n"), size_t{1} << 30);
  EXPECT_EQ(ParseMemoryLimit("max\n"), std::nullopt);
  EXPECT_EQ(ParseMemoryLimit(""), std::nullopt);
  EXPECT_EQ(ParseMemoryLimit("12 MB"), std::nullopt);
  EXPECT_EQ(ParseMemoryLimit("99999999999999999999999"), std::nullopt);
}

// A made-up tree of control groups.
class ControlGroupTest : public testing::Test {
 protected:
  ~ControlGroupTest() override { std::filesystem::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }
  size_t Bytes() const { return MachineMemoryBytes(root_); }

  const std::filesystem::path root_ =
      std::filesystem::path(testing::TempDir()) / ("machine-" + std::to_string(getpid()));
};

// In a container, the own group is the root of what can be seen.
TEST_F(ControlGroupTest, ThatOfAContainerCounts) {
  const size_t machine = Bytes();
  EXPECT_GT(machine, size_t{64} << 20);
  Write("sys/fs/cgroup/memory.max", "max");
  EXPECT_EQ(Bytes(), machine);
  Write("sys/fs/cgroup/memory.max", "50000000");
  EXPECT_EQ(Bytes(), 50'000'000u);
  Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "40000000");
  EXPECT_EQ(Bytes(), 40'000'000u);
  Write("proc/self/cgroup", "0::/");
  EXPECT_EQ(Bytes(), 40'000'000u);
}

TEST_F(ControlGroupTest, TheLeastLimitFromTheOwnGroupUpwardsCounts) {
  const std::string own = "sys/fs/cgroup/system.slice/hearth.service/";
  Write("proc/self/cgroup", "0::/system.slice/hearth.service");
  const size_t machine = Bytes();
  Write(own + "memory.max", "60000000");
  EXPECT_EQ(Bytes(), 60'000'000u);
  Write("sys/fs/cgroup/system.slice/memory.max", "50000000");
  EXPECT_EQ(Bytes(), 50'000'000u);
  Write(own + "memory.max", "max");
  EXPECT_EQ(Bytes(), 50'000'000u);
  Write("sys/fs/cgroup/system.slice/memory.max", "max");
  Write("sys/fs/cgroup/other.slice/memory.max", "40000000");
  Write(own + "below/memory.max", "40000000");
  Write("memory.max", "40000000");
  EXPECT_EQ(Bytes(), machine);
}

TEST_F(ControlGroupTest, OfVersion1TheMemoryControllerCounts) {
  Write("proc/self/cgroup", "12:memoryless,cpu:/a\n7:cpu,memory:/b/c\n1:name=systemd:/d\n0::/e");
  const std::string folder = "sys/fs/cgroup/memory/";
  for (const char* other : {"a", "d", "e"}) {
    Write(folder + other + "/memory.limit_in_bytes", "10000000");
  }
  // What version 1 has for "no limit".
  Write(folder + "memory.limit_in_bytes", "9223372036854771712");
  const size_t machine = Bytes();
  EXPECT_GT(machine, size_t{10'000'000});
  Write(folder + "b/c/memory.limit_in_bytes", "50000000");
  EXPECT_EQ(Bytes(), 50'000'000u);
  Write(folder + "b/memory.limit_in_bytes", "40000000");
  EXPECT_EQ(Bytes(), 40'000'000u);
  Write("sys/fs/cgroup/e/memory.max", "30000000");
  EXPECT_EQ(Bytes(), 30'000'000u);
}

TEST_F(ControlGroupTest, AGroupOutsideOfTheContainerIsNotLookedFor) {
  Write("sys/fs/cgroup/memory.max", "50000000");
  Write("sys/fs/other/memory.max", "40000000");
  for (const char* group : {"0::/../other", "0::/..", "0::", "nonsense", "0::other"}) {
    Write("proc/self/cgroup", group);
    EXPECT_EQ(Bytes(), 50'000'000u) << group;
  }
}

}  // namespace
}  // namespace hearth::server
