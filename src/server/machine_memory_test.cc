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

TEST(MachineMemoryTest, TheControlGroupCounts) {
  const std::filesystem::path root =
      std::filesystem::path(testing::TempDir()) / ("machine-" + std::to_string(getpid()));
  const size_t machine = MachineMemoryBytes(root);
  EXPECT_GT(machine, size_t{64} << 20);
  std::filesystem::create_directories(root / "sys/fs/cgroup/memory");
  std::ofstream(root / "sys/fs/cgroup/memory.max") << "max\n";
  EXPECT_EQ(MachineMemoryBytes(root), machine);
  std::ofstream(root / "sys/fs/cgroup/memory.max") << "50000000\n";
  EXPECT_EQ(MachineMemoryBytes(root), 50'000'000u);
  std::ofstream(root / "sys/fs/cgroup/memory/memory.limit_in_bytes") << "40000000\n";
  EXPECT_EQ(MachineMemoryBytes(root), 40'000'000u);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace hearth::server
