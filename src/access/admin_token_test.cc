#include "access/admin_token.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "storage/testing/temporary_folder.h"

namespace hearth::access {
namespace {

class AdminTokenTest : public testing::Test {
 protected:
  std::string Path() const { return folder() + "/admin.token"; }
  std::string folder() const { return temporary_.path() + "/new/data"; }
  void Write(const std::string& text) const {
    std::filesystem::create_directories(folder());
    std::ofstream(Path()) << text;
    ASSERT_EQ(chmod(Path().c_str(), 0600), 0);
  }

  storage::TemporaryFolder temporary_;
};

TEST_F(AdminTokenTest, IsCreatedOnceForItsOwnerOnly) {
  EXPECT_EQ(ReadAdminToken(folder()).status().code(), Code::kNotFound);
  const Result<std::string> token = LoadOrCreateAdminToken(folder());
  ASSERT_TRUE(token.ok()) << token.status().ToString();
  EXPECT_EQ(token->size(), 2 * kAdminTokenBytes);
  EXPECT_EQ(*LoadOrCreateAdminToken(folder()), *token);
  EXPECT_EQ(*ReadAdminToken(folder()), *token);
  struct stat properties = {};
  ASSERT_EQ(stat(Path().c_str(), &properties), 0);
  EXPECT_EQ(properties.st_mode & 07777, 0600u);
  const auto files = std::filesystem::directory_iterator(folder());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);  // Nothing unfinished.
}

TEST_F(AdminTokenTest, IsAnotherOneInEachFolder) {
  EXPECT_NE(*LoadOrCreateAdminToken(folder()), *LoadOrCreateAdminToken(folder() + "/b"));
}

TEST_F(AdminTokenTest, SurvivesAnUnfinishedStart) {
  std::filesystem::create_directories(folder());
  std::ofstream(Path() + ".new") << "0123";
  EXPECT_TRUE(LoadOrCreateAdminToken(folder()).ok());
}

TEST_F(AdminTokenTest, RefusesATokenThatOthersMayRead) {
  ASSERT_TRUE(LoadOrCreateAdminToken(folder()).ok());
  for (const mode_t mode : {0640u, 0604u, 0620u}) {
    ASSERT_EQ(chmod(Path().c_str(), mode), 0);
    const Status status = LoadOrCreateAdminToken(folder()).status();
    EXPECT_EQ(status.code(), Code::kFailedPrecondition);
    EXPECT_NE(status.message().find(Path()), std::string::npos) << status.message();
  }
}

TEST_F(AdminTokenTest, RefusesAnythingElse) {
  const std::string digits(2 * kAdminTokenBytes, 'a');
  Write(digits);
  EXPECT_EQ(*LoadOrCreateAdminToken(folder()), digits);
  for (const std::string& text :
       {std::string(), std::string("\n"), digits.substr(1), digits + "a", digits + "\n\n",
        digits.substr(1) + "g", digits.substr(1) + " "}) {
    Write(text);
    EXPECT_EQ(LoadOrCreateAdminToken(folder()).status().code(), Code::kFailedPrecondition) << text;
  }
}

}  // namespace
}  // namespace hearth::access
