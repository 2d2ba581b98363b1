#include "server/index_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/testing/test_engine.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::server {
namespace {

using testing::HasSubstr;

constexpr const char* kOneIndex = R"({"indexes": [{"collectionGroup": "rooms", "fields": [
    {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "b", "order": "DESCENDING"}]}]})";

constexpr const char* kOtherIndex = R"({"indexes": [{"collectionGroup": "rooms", "fields": [
    {"fieldPath": "b", "order": "ASCENDING"}, {"fieldPath": "a", "order": "ASCENDING"}]}]})";

constexpr AppEntry kNews = {.name = "news", .make = nullptr, .index_config_json = [] {
                              return std::string_view(kOneIndex);
                            }};
constexpr AppEntry kPrices = {.name = "prices", .make = nullptr, .index_config_json = [] {
                                return std::string_view(R"({
    "indexes": [{"collectionGroup": "rooms", "fields": [
      {"fieldPath": "b", "order": "ASCENDING"}, {"fieldPath": "a", "order": "ASCENDING"}]}],
    "fieldOverrides": [
      {"collectionGroup": "rooms", "fieldPath": "until", "ttl": true, "ttlOffset": "2d"}]})");
                              }};

class IndexFilesTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  static Result<IndexFiles> Load(const std::vector<std::string>& flags,
                                 const std::vector<AppEntry>& apps = {}) {
    return IndexFiles::Load(flags, apps, NameDatabase());
  }
  static std::string Problem(const std::vector<std::string>& flags,
                             const std::vector<AppEntry>& apps = {}) {
    const Result<IndexFiles> files = Load(flags, apps);
    EXPECT_EQ(files.status().code(), Code::kInvalidArgument);
    return files.status().message();
  }
  // The number of indexes of the test's database.
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

TEST_F(IndexFilesTest, EachIsForADatabase) {
  const std::string file = Write("a=b.json", kOneIndex);
  EXPECT_TRUE(Load({file, "other=" + file}).ok());
  EXPECT_THAT(Problem({"no database=" + file}), HasSubstr("has no valid database id"));
}

TEST_F(IndexFilesTest, SeveralForADatabaseAreMerged) {
  engine_.MustCommit(SetNumber("rooms/r1", 1));
  const std::string one = Write("one.json", kOneIndex);
  const std::string other = Write("other.json", kOtherIndex);
  Load({one, "(default)=" + other, one})->Apply(&engine_.engine());
  EXPECT_EQ(Indexes(), 2u);
}

TEST_F(IndexFilesTest, ApplicationsBringTheirOwn) {
  engine_.MustCommit(SetNumber("rooms/r1", 1));
  Load({}, {kNews, kPrices})->Apply(&engine_.engine());
  EXPECT_EQ(Indexes(), 2u);
  const std::string one = Write("one.json", kOneIndex);
  IndexFiles files = *Load({one}, {kPrices});
  files.Apply(&engine_.engine());
  EXPECT_EQ(Indexes(), 2u);
  Write("one.json", "{}");
  files.Reload(&engine_.engine());
  EXPECT_EQ(Indexes(), 1u);
}

TEST_F(IndexFilesTest, WhatApplicationsBringIsForTheirDatabaseAlone) {
  engine_.MustCommit(SetNumber("rooms/r1", 1));
  const auto elsewhere = model::DatabaseName::Parse("projects/elsewhere/databases/(default)");
  const std::string one = Write("one.json", kOneIndex);
  const std::vector<AppEntry> apps = {kPrices};
  IndexFiles::Load({one}, apps, *elsewhere)->Apply(&engine_.engine());
  EXPECT_EQ(Indexes(), 1u);
}

TEST_F(IndexFilesTest, AContradictionNamesBothSides) {
  const std::string file = Write("mine.json", R"({"fieldOverrides": [
      {"collectionGroup": "rooms", "fieldPath": "gone", "ttl": true}]})");
  EXPECT_EQ(Problem({file}, {kPrices}),
            "the index configurations of the database 'projects/p1/databases/(default)' contradict "
            "each other: the collection group rooms has two TTL policies: until + 2d in the "
            "application prices and gone in '" +
                file + "'");
  const std::string other = Write("other.json", R"({"fieldOverrides": [
      {"collectionGroup": "rooms", "fieldPath": "gone", "indexes": []}]})");
  const std::string third = Write("third.json", R"({"fieldOverrides": [
      {"collectionGroup": "rooms", "fieldPath": "gone", "indexes": [{"order": "ASCENDING"}]}]})");
  EXPECT_EQ(
      Problem({"second=" + other, "second=" + third}),
      "the index configurations of the database 'second' contradict each other: the field gone "
      "of rooms is exempt from indexing in '" +
          other + "' but has indexes in '" + third + "'");
}

TEST_F(IndexFilesTest, AContradictionThatComesLaterChangesNothing) {
  engine_.MustCommit(SetNumber("rooms/r1", 1));
  const std::string file = Write("mine.json", kOneIndex);
  IndexFiles files = *Load({file}, {kPrices});
  files.Apply(&engine_.engine());
  EXPECT_EQ(Indexes(), 2u);
  Write("mine.json", R"({"fieldOverrides": [
      {"collectionGroup": "rooms", "fieldPath": "gone", "ttl": true}]})");
  files.Reload(&engine_.engine());
  EXPECT_EQ(Indexes(), 2u);
}

// The built-in configurations must parse and be compatible.
TEST_F(IndexFilesTest, AllApplicationsTogether) {
  const std::vector<AppEntry> all(AllApps().begin(), AllApps().end());
  const Status status = Load({}, all).status();
  EXPECT_TRUE(status.ok()) << status.ToString();
}

TEST_F(IndexFilesTest, ReloadsWhatIsValid) {
  engine_.MustCommit(SetNumber("rooms/r1", 1));
  const std::string file = Write("indexes.json", "{}");
  IndexFiles files = *Load({file});
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
