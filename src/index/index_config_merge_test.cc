#include "index/index_config_merge.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "index/testing/definitions.h"

namespace hearth::index {
namespace {

IndexConfig Config(const std::string& json) {
  Result<IndexConfig> config = ParseIndexConfig(json);
  EXPECT_TRUE(config.ok()) << config.status().ToString();
  return config.ok() ? *std::move(config) : IndexConfig();
}

IndexConfig Indexes(const std::string& list) { return Config("{\"indexes\": [" + list + "]}"); }
IndexConfig Overrides(const std::string& list) {
  return Config("{\"fieldOverrides\": [" + list + "]}");
}

Result<IndexConfig> Merge(const IndexConfig& first, const IndexConfig& second) {
  return MergeIndexConfigs({{"one", first}, {"two", second}});
}

std::string Problem(const IndexConfig& first, const IndexConfig& second) {
  const Result<IndexConfig> merged = Merge(first, second);
  EXPECT_EQ(merged.status().code(), Code::kInvalidArgument);
  return merged.status().message();
}

constexpr char kRooms[] = R"({"collectionGroup": "rooms", "fields": [
    {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "b", "order": "DESCENDING"}]})";
constexpr char kHalls[] = R"({"collectionGroup": "halls", "fields": [
    {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "b", "order": "DESCENDING"}]})";
// The name has the direction that it has by default.
constexpr char kRoomsWithName[] = R"({"collectionGroup": "rooms", "fields": [
    {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "b", "order": "DESCENDING"},
    {"fieldPath": "__name__", "order": "DESCENDING"}]})";

std::string VectorJson(const std::string& kind) {
  return R"({"collectionGroup": "rooms", "fields": [
      {"fieldPath": "v", "vectorConfig": {"dimension": 3, )" +
         kind + "}}]}";
}
std::string TtlJson(const std::string& field, const std::string& offset) {
  return R"({"collectionGroup": "rooms", "fieldPath": ")" + field +
         R"(", "ttl": true, "ttlOffset": ")" + offset + "\"}";
}
std::string OverrideJson(const std::string& field, const std::string& indexes) {
  return R"({"collectionGroup": "rooms", "fieldPath": ")" + field + R"(", "indexes": [)" + indexes +
         "]}";
}
constexpr char kUp[] = R"({"order": "ASCENDING", "queryScope": "COLLECTION"})";
constexpr char kDown[] = R"({"order": "DESCENDING", "queryScope": "COLLECTION"})";

TEST(MergeIndexConfigs, NothingAndOneAreThemselves) {
  EXPECT_EQ(*MergeIndexConfigs({}), IndexConfig());
  const IndexConfig one = Config(std::string("{\"indexes\": [") + kRooms + "," +
                                 VectorJson("\"flat\": {}") + "], \"fieldOverrides\": [" +
                                 TtlJson("until", "2d") + "," + OverrideJson("*", "") + "]}");
  EXPECT_EQ(*MergeIndexConfigs({{"one", one}}), one);
  EXPECT_EQ(*Merge(one, IndexConfig()), one);
  EXPECT_EQ(*Merge(one, one), one);
}

TEST(MergeIndexConfigs, EqualIndexesCountOnce) {
  EXPECT_EQ(*Merge(Indexes(kRooms), Indexes(std::string(kRoomsWithName) + "," + kHalls)),
            Indexes(std::string(kHalls) + "," + kRooms));
  EXPECT_EQ(*Merge(Indexes(VectorJson("\"flat\": {}")), Indexes(VectorJson("\"flat\": {}"))),
            Indexes(VectorJson("\"flat\": {}")));
}

TEST(MergeIndexConfigs, AnIndexOfVectorsHasOneKind) {
  EXPECT_EQ(Problem(Indexes(VectorJson("\"flat\": {}")), Indexes(VectorJson("\"hnsw\": {}"))),
            "the vector index of v of rooms has different options in one and in two");
  EXPECT_EQ(
      Problem(Indexes(VectorJson(R"("hnsw": {"m": 8})")), Indexes(VectorJson("\"hnsw\": {}"))),
      "the vector index of v of rooms has different options in one and in two");
}

TEST(MergeIndexConfigs, OverridesOfAFieldAreCombined) {
  EXPECT_EQ(
      *Merge(Overrides(OverrideJson("a", kUp)),
             Overrides(OverrideJson("a", std::string(kDown) + "," + kUp) + "," +
                       OverrideJson("b", ""))),
      Overrides(OverrideJson("a", std::string(kUp) + "," + kDown) + "," + OverrideJson("b", "")));
  EXPECT_EQ(*Merge(Overrides(OverrideJson("a", "")), Overrides(OverrideJson("a", ""))),
            Overrides(OverrideJson("a", "")));
  // The first one applies to all other fields.
  EXPECT_EQ(*Merge(Overrides(OverrideJson("*", "")), Overrides(OverrideJson("a", kUp))),
            Overrides(OverrideJson("*", "") + "," + OverrideJson("a", kUp)));
}

TEST(MergeIndexConfigs, AFieldIsExemptOrNot) {
  EXPECT_EQ(Problem(Overrides(OverrideJson("a", "")), Overrides(OverrideJson("a", kUp))),
            "the field a of rooms is exempt from indexing in one but has indexes in two");
  EXPECT_EQ(Problem(Overrides(OverrideJson("*", kUp)), Overrides(OverrideJson("*", ""))),
            "the field * of rooms is exempt from indexing in two but has indexes in one");
}

TEST(MergeIndexConfigs, ACollectionGroupHasOneTtlPolicy) {
  const IndexConfig until = Overrides(TtlJson("until", "0s"));
  EXPECT_EQ(*Merge(until, until), until);
  EXPECT_EQ(Problem(until, Overrides(TtlJson("until", "2d"))),
            "the collection group rooms has two TTL policies: until in one and until + 2d in two");
  EXPECT_EQ(Problem(until, Overrides(TtlJson("gone", "0s"))),
            "the collection group rooms has two TTL policies: until in one and gone in two");
  // A TTL policy does not affect the indexes of its field.
  EXPECT_EQ(*Merge(until, Overrides(OverrideJson("until", ""))),
            Overrides(R"({"collectionGroup": "rooms", "fieldPath": "until", "ttl": true,
                "indexes": []})"));
}

TEST(MergeIndexConfigs, TheNumberOfIndexesIsLimited) {
  IndexConfig one;
  IndexConfig two = Overrides(TtlJson("until", "0s"));
  for (size_t i = 0; i < kDeclaredIndexesMax; ++i) {
    one.composites.push_back(CollectionIndex("c" + std::to_string(i), {Up("a"), Up("b")}));
  }
  EXPECT_EQ(Problem(one, two), "there are 1001 indexes and TTL policies, at most 1000 are allowed");
}

}  // namespace
}  // namespace hearth::index
