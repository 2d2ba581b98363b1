#include "access/protected_projects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "storage/testing/temporary_folder.h"

namespace hearth::access {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ProtectedProjectsTest : public testing::Test {
 protected:
  std::string folder() const { return temporary_.path() + "/data"; }
  std::string Path() const { return folder() + "/protected-projects"; }
  std::string Text() const {
    std::stringstream text;
    text << std::ifstream(Path()).rdbuf();
    return text.str();
  }
  void Write(const std::string& text) const {
    std::filesystem::create_directories(folder());
    std::ofstream(Path()) << text;
  }
  Result<std::vector<std::string>> Remember(const std::vector<std::string>& more) const {
    return RememberProtectedProjects(folder(), more);
  }

  storage::TemporaryFolder temporary_;
};

TEST_F(ProtectedProjectsTest, StayProtected) {
  EXPECT_THAT(*Remember({}), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(folder()));
  EXPECT_THAT(*Remember({"hearth"}), ElementsAre("hearth"));
  EXPECT_THAT(*Remember({}), ElementsAre("hearth"));
  EXPECT_THAT(*Remember({"books", "hearth", "books"}), ElementsAre("hearth", "books"));
  EXPECT_EQ(Text(), "hearth\nbooks\n");
  struct stat properties = {};
  ASSERT_EQ(stat(Path().c_str(), &properties), 0);
  EXPECT_EQ(properties.st_mode & 07777, 0600u);
  const auto files = std::filesystem::directory_iterator(folder());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);  // Nothing unfinished.
}

TEST_F(ProtectedProjectsTest, AnOwnerRemovesOneByEditing) {
  ASSERT_TRUE(Remember({"hearth", "books"}).ok());
  Write("\nbooks");
  EXPECT_THAT(*Remember({}), ElementsAre("books"));
  EXPECT_THAT(*Remember({"maps"}), ElementsAre("books", "maps"));
  EXPECT_EQ(Text(), "books\nmaps\n");
}

TEST_F(ProtectedProjectsTest, AnythingElseIsRefused) {
  for (const char* text : {"a/b", "hearth\n\\\\books/x", "hearth\nprojects/a"}) {
    Write(text);
    const Status status = Remember({"books"}).status();
    EXPECT_EQ(status.code(), Code::kFailedPrecondition) << text;
    EXPECT_THAT(status.message(), HasSubstr(Path()));
    EXPECT_EQ(Text(), text);
  }
  EXPECT_EQ(RememberProtectedProjects(folder() + "/b", {"a/b"}).status().code(),
            Code::kInvalidArgument);
}

TEST_F(ProtectedProjectsTest, AFileThatCannotBeReadIsRefused) {
  std::filesystem::create_directories(Path());  // A folder of that name.
  EXPECT_EQ(Remember({}).status().code(), Code::kFailedPrecondition);
}

TEST_F(ProtectedProjectsTest, SurviveAnUnfinishedStart) {
  ASSERT_TRUE(Remember({"hearth"}).ok());
  std::ofstream(Path() + ".new") << "boo";
  EXPECT_THAT(*Remember({"books"}), ElementsAre("hearth", "books"));
}

}  // namespace
}  // namespace hearth::access
