#include "server/index_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/testing/test_engine.h"
#include "storage/temporary_folder.h"

namespace hearth::server {
namespace {

using testing::HasSubstr;

constexpr const char* kOneIndex = R"({"indexes": [{"collectionGroup": "rooms", "fields": [
    {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "b", "order": "DESCENDING"}]}]})";

class IndexFilesTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  static std::string Problem(const std::vector<std::string>& flags) {
    const Result<IndexFiles> files = IndexFiles::Load(flags);
    EXPECT_EQ(files.status().code(), Code::kInvalidArgument);
    return files.status().message();
  }
  // How many indexes the test's database has.
  size_t Indexes() {
    engine_.engine().AwaitIndexes();
    size_t declared = 0;
    for (const index::Index& index : engine_.engine().Indexes(engine_.database())) {
      declared += index.origin == index::Origin::kDeclared;
    }
    return declared;
  }

  const storage::TemporaryFolder folder_;
  engine::TestEngine engine_;
};

TEST_F(IndexFilesTest, NamesFileAndPlaceOfWhatIsWrong) {
  EXPECT_EQ(Problem({folder_ / "none.json"}), "the index configuration '" + folder_ / "none.json" +
                                                  "' cannot be read: No such file or directory");
  EXPECT_THAT(Problem({folder_.path()}), HasSubstr("cannot be read"));
  const std::string bad = Write("bad.json", R"({"indexes": [{"collectionGroup": 7}]})");
  EXPECT_EQ(Problem({bad}), "the index configuration '" + bad +
                                "' is not valid: indexes[0].collectionGroup: must be of type "
                                "string, not number");
  const std::string huge = Write("huge.json", std::string(index::kIndexConfigBytesMax + 1, ' '));
  EXPECT_THAT(Problem({huge}), HasSubstr("at most"));
}

TEST_F(IndexFilesTest, OneFileForADatabase) {
  const std::string file = Write("a=b.json", kOneIndex);
  EXPECT_TRUE(IndexFiles::Load({file, "other=" + file}).ok());
  EXPECT_THAT(Problem({file, "(default)=" + file}), HasSubstr("has two index configurations"));
  EXPECT_THAT(Problem({"no database=" + file}), HasSubstr("names no database"));
}

TEST_F(IndexFilesTest, ReloadsWhatIsValid) {
  engine_.MustCommit(engine::SetNumber("rooms/r1", 1));
  const std::string file = Write("indexes.json", "{}");
  IndexFiles files = *IndexFiles::Load({file});
  files.Apply(&engine_.engine());
  EXPECT_EQ(Indexes(), 0u);
  Write("indexes.json", kOneIndex);
  files.Reload(&engine_.engine());
  EXPECT_EQ(Indexes(), 1u);
  Write("indexes.json", "{");
  files.Reload(&engine_.engine());
  EXPECT_EQ(Indexes(), 1u);
  std::filesystem::remove(file);
  files.Reload(&engine_.engine());
  EXPECT_EQ(Indexes(), 1u);
  Write("indexes.json", "{}");
  files.Reload(&engine_.engine());
  EXPECT_EQ(Indexes(), 0u);
}

TEST(DescribeChanges, SaysWhatCameAndWhatWent) {
  const index::IndexConfig before = *index::ParseIndexConfig(R"({"indexes": [
      {"collectionGroup": "rooms", "fields": [{"fieldPath": "a", "order": "ASCENDING"},
          {"fieldPath": "b", "order": "DESCENDING"}]}],
      "fieldOverrides": [{"collectionGroup": "rooms", "fieldPath": "text", "indexes": []}]})");
  const index::IndexConfig after = *index::ParseIndexConfig(R"({"indexes": [
      {"collectionGroup": "rooms", "queryScope": "COLLECTION_GROUP", "fields": [
          {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "b", "order": "DESCENDING"}]}],
      "fieldOverrides": [{"collectionGroup": "rooms", "fieldPath": "text", "ttl": true,
          "ttlOffset": "2d", "indexes": [
              {"order": "ASCENDING", "queryScope": "COLLECTION_GROUP"}]}]})");
  EXPECT_EQ(DescribeChanges(before, after),
            "+ TTL of rooms: text + 2d, "
            "+ index collection group rooms (a ASC, b DESC, __name__ DESC), "
            "+ indexes of field text of rooms: COLLECTION_GROUP_ASC, "
            "- index rooms (a ASC, b DESC, __name__ DESC), "
            "- indexes of field text of rooms: none");
  EXPECT_EQ(DescribeChanges(before, before), "");
}

}  // namespace
}  // namespace hearth::server
