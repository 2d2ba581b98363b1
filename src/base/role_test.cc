#include "base/role.h"

#include <gtest/gtest.h>

#include <thread>

namespace hearth {
namespace {

TEST(RoleTest, IsPlayedByTheThreadThatBegan) {
  Role role;
  {
    RolePlay play(role);
    role.Assert();
  }
  // Another thread may play it now.
  std::thread([&role] {
    RolePlay play(role);
    role.Assert();
  }).join();
}

TEST(RoleDeathTest, BuildsWithChecksNoticeTheWrongThread) {
  if (!kRolesAreChecked) GTEST_SKIP() << "roles are not checked in this build";
  Role role;
  EXPECT_DEATH(role.Assert(), "broken invariant");
  EXPECT_DEATH(
      {
        RolePlay play(role);
        std::thread([&role] { RolePlay another(role); }).join();
      },
      "broken invariant");
  const Role of_another([](const void*) { return false; }, nullptr);
  EXPECT_DEATH(of_another.Assert(), "broken invariant");
}

}  // namespace
}  // namespace hearth
