#include "index/index_config.h"

#include <gtest/gtest.h>

#include <utility>

#include "base/testing/test_rounds.h"
#include "base/testing/test_seed.h"
#include "index/index_config_order.h"
#include "index/testing/definitions.h"

namespace hearth::index {
namespace {

using std::chrono::seconds;

model::FieldPath Path(std::string_view path) { return *model::FieldPath::Parse(path); }

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Test files are easier to read with single quotes.
std::string File(std::string_view text) { return Replaced(std::string(text), "'", "\""); }
// A file with one index that has these fields.
std::string WithFields(std::string_view fields) {
  return File("{'indexes': [{'collectionGroup': 'c', 'fields': [" + std::string(fields) + "]}]}");
}
std::string WithOverride(std::string_view members) {
  return File("{'fieldOverrides': [{'collectionGroup': 'c', " + std::string(members) + "}]}");
}

IndexConfig Parsed(const std::string& text) {
  Result<IndexConfig> config = ParseIndexConfig(text);
  EXPECT_TRUE(config.ok()) << config.status().ToString() << " in " << text;
  return config.ok() ? *config : IndexConfig();
}

// The error message, with single quotes.
std::string Problem(const std::string& text) {
  const Result<IndexConfig> config = ParseIndexConfig(text);
  EXPECT_EQ(config.status().code(), Code::kInvalidArgument) << text;
  return Replaced(config.status().message(), "\"", "'");
}

constexpr std::string_view kEverything = R"({
  "indexes": [
    {
      "collectionGroup": "docs",
      "queryScope": "COLLECTION",
      "fields": [
        {
          "fieldPath": "embedding",
          "vectorConfig": {
            "dimension": 768,
            "flat": {}
          }
        }
      ]
    },
    {
      "collectionGroup": "docs",
      "queryScope": "COLLECTION",
      "fields": [
        {
          "fieldPath": "lang",
          "order": "ASCENDING"
        },
        {
          "fieldPath": "embedding",
          "vectorConfig": {
            "dimension": 2048,
            "hnsw": {
              "m": 32,
              "efConstruction": 400,
              "efSearch": 64,
              "distanceMeasure": "DOT_PRODUCT"
            }
          }
        }
      ]
    },
    {
      "collectionGroup": "posts",
      "queryScope": "COLLECTION_GROUP",
      "fields": [
        {
          "fieldPath": "a.`b-c`",
          "order": "ASCENDING"
        },
        {
          "fieldPath": "time",
          "order": "DESCENDING"
        },
        {
          "fieldPath": "__name__",
          "order": "ASCENDING"
        }
      ]
    },
    {
      "collectionGroup": "posts",
      "queryScope": "COLLECTION",
      "fields": [
        {
          "fieldPath": "author",
          "arrayConfig": "CONTAINS"
        },
        {
          "fieldPath": "time",
          "order": "DESCENDING"
        }
      ]
    }
  ],
  "fieldOverrides": [
    {
      "collectionGroup": "posts",
      "fieldPath": "*",
      "ttl": false,
      "indexes": []
    },
    {
      "collectionGroup": "posts",
      "fieldPath": "tags",
      "ttl": false,
      "indexes": [
        {
          "order": "ASCENDING",
          "queryScope": "COLLECTION_GROUP"
        },
        {
          "order": "DESCENDING",
          "queryScope": "COLLECTION"
        },
        {
          "arrayConfig": "CONTAINS",
          "queryScope": "COLLECTION"
        }
      ]
    },
    {
      "collectionGroup": "posts",
      "fieldPath": "created",
      "ttl": true,
      "ttlOffset": "2d",
      "indexes": []
    },
    {
      "collectionGroup": "sessions",
      "fieldPath": "expires",
      "ttl": true
    }
  ]
}
)";

IndexConfig Everything() {
  const HnswOptions hnsw = {.links = 32,
                            .construction_candidates = 400,
                            .search_candidates = 64,
                            .distance_measure = DistanceMeasure::kDotProduct};
  IndexConfig config;
  config.composites = {CollectionIndex("posts", {Up("a.`b-c`"), Down("time")}, false),
                       CollectionIndex("posts", {In("author"), Down("time")}, true)};
  config.composites[0].scope = QueryScope::kCollectionGroup;
  config.vectors = {{"docs", QueryScope::kCollection, {}, Path("embedding"), 768, std::nullopt},
                    {"docs", QueryScope::kCollection, {Up("lang")}, Path("embedding"), 2048, hnsw}};
  config.overrides = {{"posts", std::nullopt, {}},
                      {"posts",
                       Path("tags"),
                       {{FieldMode::kAscending, QueryScope::kCollectionGroup},
                        {FieldMode::kDescending, QueryScope::kCollection},
                        {FieldMode::kContains, QueryScope::kCollection}}},
                      {"posts", Path("created"), {}}};
  config.ttl_policies = {{"posts", Path("created"), seconds(172'800)},
                         {"sessions", Path("expires"), seconds(0)}};
  return config;
}

TEST(IndexConfigTest, ReadsAndPrintsEverything) {
  EXPECT_EQ(Parsed(std::string(kEverything)), Everything());
  EXPECT_EQ(PrintIndexConfig(Everything()), kEverything);
}

TEST(IndexConfigTest, EmptyFile) {
  constexpr std::string_view kEmpty = "{\n  \"indexes\": [],\n  \"fieldOverrides\": []\n}\n";
  EXPECT_EQ(PrintIndexConfig({}), kEmpty);
  EXPECT_EQ(Parsed(std::string(kEmpty)), IndexConfig());
  EXPECT_EQ(Parsed("// Nothing yet.\n{}"), IndexConfig());
}

TEST(IndexConfigTest, ReadsTheOldSpelling) {
  const IndexConfig config = Parsed(
      File("{'indexes': [{'collectionId': 'c', 'fields': ["
           "{'fieldPath': 'a', 'mode': 'ASCENDING'}, {'fieldPath': 't', 'mode': 'ARRAY_CONTAINS'}, "
           "{'fieldPath': 'b', 'mode': 'DESCENDING'}, "
           "{'fieldPath': '__name__', 'mode': 'ASCENDING'}]}]}"));
  ASSERT_EQ(config.composites.size(), 1u);
  EXPECT_EQ(config.composites[0], CollectionIndex("c", {Up("a"), In("t"), Down("b")}, false));
}

TEST(IndexConfigTest, IgnoresWhatOtherEditionsOfFirestoreSay) {
  const IndexConfig config = Parsed(
      File("{'indexes': [{'collectionGroup': 'c', 'apiScope': 'ANY_API', 'density': 'SPARSE_ALL', "
           "'multikey': true, 'multiKey': 1, 'unique': false, 'fields': ["
           "{'fieldPath': 'a', 'order': 'ASCENDING'}, {'fieldPath': 'b', 'order': 'ASCENDING'}]}], "
           "'fieldOverrides': [{'collectionGroup': 'c', 'fieldPath': 'f', 'indexes': ["
           "{'order': 'ASCENDING', 'density': 'DENSE', 'apiScope': 'ANY_API', 'unique': false, "
           "'multikey': false, 'multiKey': false}]}]}"));
  EXPECT_EQ(config.composites.size(), 1u);
  EXPECT_EQ(config.overrides.size(), 1u);
}

TEST(IndexConfigTest, NameTakesTheDirectionOfTheLastOrderedField) {
  const std::string a = "{'fieldPath': 'a', 'order': 'ASCENDING'}";
  const std::string b = ", {'fieldPath': 'b', 'order': 'DESCENDING'}";
  const std::string t = ", {'fieldPath': 't', 'arrayConfig': 'CONTAINS'}";
  const std::string up = ", {'fieldPath': '__name__', 'order': 'ASCENDING'}";
  const std::string down = ", {'fieldPath': '__name__', 'order': 'DESCENDING'}";
  EXPECT_EQ(Parsed(WithFields(a + b)).composites[0].name_descending, true);
  EXPECT_EQ(Parsed(WithFields(a + b + t)).composites[0].name_descending, true);
  EXPECT_EQ(Parsed(WithFields(a + t)).composites[0].name_descending, false);
  EXPECT_EQ(Parsed(WithFields(a + b + up)).composites[0].name_descending, false);
  EXPECT_EQ(Parsed(WithFields(a + b + down)), Parsed(WithFields(a + b)));
  // One field is enough if the name has the other direction; even none.
  EXPECT_EQ(Parsed(WithFields(a + down)).composites[0], CollectionIndex("c", {Up("a")}, true));
  EXPECT_EQ(Parsed(WithFields(down.substr(2))).composites[0], CollectionIndex("c", {}, true));
}

TEST(IndexConfigTest, NameBeforeAVectorIsWhatTheCloudLists) {
  const IndexConfig config =
      Parsed(WithFields("{'fieldPath': '__name__', 'order': 'ASCENDING'}, "
                        "{'fieldPath': 'v', 'vectorConfig': {'dimension': 3, 'hnsw': {}}}"));
  ASSERT_EQ(config.vectors.size(), 1u);
  EXPECT_TRUE(config.vectors[0].prefix.empty());
  EXPECT_EQ(config.vectors[0].hnsw, HnswOptions());
}

TEST(IndexConfigTest, AFieldMayBeThereForItsElementsAndItsOrder) {
  const IndexConfig config =
      Parsed(WithFields("{'fieldPath': 't', 'arrayConfig': 'CONTAINS'}, "
                        "{'fieldPath': 't', 'order': 'DESCENDING'}"));
  EXPECT_EQ(config.composites[0], CollectionIndex("c", {In("t"), Down("t")}, true));
}

TEST(IndexConfigTest, StarIsEveryFieldUnlessQuoted) {
  EXPECT_EQ(Parsed(WithOverride("'fieldPath': '*', 'indexes': []")).overrides[0].field,
            std::nullopt);
  EXPECT_EQ(Parsed(WithOverride("'fieldPath': '`*`', 'indexes': []")).overrides[0].field,
            Path("`*`"));
}

TEST(IndexConfigTest, OffsetsAsText) {
  for (const char* text : {"0s", "1s", "61s", "1m", "90m", "23h", "1d", "2147483647s"}) {
    EXPECT_EQ(TtlOffsetText(*ParseTtlOffset(text)), text);
  }
  EXPECT_EQ(TtlOffsetText(*ParseTtlOffset("48h")), "2d");
  EXPECT_EQ(ParseTtlOffset("2 d").status().code(), Code::kInvalidArgument);
}

TEST(IndexConfigTest, Durations) {
  const std::pair<std::string_view, int64_t> cases[] = {
      {"0s", 0},       {"90s", 90},          {"15m", 900},      {"12h", 43'200},
      {"2d", 172'800}, {"172800s", 172'800}, {"0024h", 86'400}, {"2147483647s", 2'147'483'647}};
  for (const auto& [text, count] : cases) {
    const IndexConfig config = Parsed(
        WithOverride("'fieldPath': 'f', 'ttl': true, 'ttlOffset': '" + std::string(text) + "'"));
    ASSERT_EQ(config.ttl_policies.size(), 1u) << text;
    EXPECT_EQ(config.ttl_policies[0].offset, seconds(count)) << text;
    EXPECT_EQ(Parsed(PrintIndexConfig(config)), config) << text;
  }
}

TEST(IndexConfigErrorTest, File) {
  EXPECT_EQ(Problem("{\n\"indexes\": [}"), "not valid JSON at line 2, column 13");
  EXPECT_EQ(Problem(File("{'indexes': [], 'indexes': []}")),
            "the key 'indexes' occurs twice in one object");
  EXPECT_EQ(Problem(std::string(33, '[') + std::string(33, ']')), "nested more than 32 deep");
  EXPECT_EQ(Problem("[]"), "the file: must be of type object, not array");
  EXPECT_EQ(Problem(File("{'indices': []}")),
            "the file: unknown key 'indices'; known keys: indexes, fieldOverrides");
  EXPECT_EQ(Problem(File("{'indexes': {}}")), "indexes: must be of type array, not object");
  EXPECT_EQ(Problem(File("{'fieldOverrides': 1}")),
            "fieldOverrides: must be of type array, not number");
}

TEST(IndexConfigErrorTest, FileSize) {
  const std::string file = "{}";
  EXPECT_EQ(Parsed(file + std::string(kIndexConfigBytesMax - file.size(), ' ')), IndexConfig());
  EXPECT_EQ(Problem(file + std::string(kIndexConfigBytesMax - file.size() + 1, ' ')),
            "the file has 4194305 bytes, at most 4194304 are allowed");
}

TEST(IndexConfigErrorTest, Index) {
  const auto problem = [](std::string_view index) {
    return Problem(File("{'indexes': [" + std::string(index) + "]}"));
  };
  EXPECT_EQ(problem("7"), "indexes[0]: must be of type object, not number");
  EXPECT_EQ(problem("{}"), "indexes[0]: collectionGroup is missing");
  EXPECT_EQ(problem("{'collectionGroup': 'c', 'size': 1}"),
            "indexes[0]: unknown key 'size'; known keys: collectionGroup, queryScope, fields");
  EXPECT_EQ(problem("{'collectionGroup': null}"),
            "indexes[0].collectionGroup: must be of type string, not null");
  EXPECT_EQ(problem("{'collectionGroup': 'a/b'}"),
            "indexes[0].collectionGroup: Collection id 'a/b' is invalid because it contains '/'.");
  EXPECT_EQ(problem("{'collectionGroup': 'a', 'collectionId': 'a'}"),
            "indexes[0]: needs exactly one of collectionGroup, collectionId");
  EXPECT_EQ(problem("{'collectionGroup': 'c', 'queryScope': 'COLLECTION_RECURSIVE'}"),
            "indexes[0].queryScope: 'COLLECTION_RECURSIVE' is neither COLLECTION nor "
            "COLLECTION_GROUP");
  EXPECT_EQ(problem("{'collectionGroup': 'c', 'queryScope': 1}"),
            "indexes[0].queryScope: must be of type string, not number");
  EXPECT_EQ(problem("{'collectionGroup': 'c'}"), "indexes[0]: fields is missing");
  EXPECT_EQ(problem("{'collectionGroup': 'c', 'fields': 'a'}"),
            "indexes[0].fields: must be of type array, not string");
}

TEST(IndexConfigErrorTest, IndexThatExistsAnyway) {
  const std::string unnecessary =
      "indexes[0].fields: this index is not necessary, configure using single field index controls "
      "(fieldOverrides); a composite index has at least two fields";
  EXPECT_EQ(Problem(WithFields("")), unnecessary);
  EXPECT_EQ(Problem(WithFields("{'fieldPath': 'a', 'order': 'DESCENDING'}")), unnecessary);
  EXPECT_EQ(Problem(WithFields("{'fieldPath': 'a', 'order': 'DESCENDING'}, "
                               "{'fieldPath': '__name__', 'order': 'DESCENDING'}")),
            unnecessary);
  EXPECT_EQ(Problem(WithFields("{'fieldPath': '__name__', 'order': 'ASCENDING'}")), unnecessary);
}

TEST(IndexConfigErrorTest, NumberOfFields) {
  std::string fields;
  for (size_t i = 0; i < kIndexFieldsMax; ++i) {
    fields += "{'fieldPath': 'f" + std::to_string(i) + "', 'order': 'ASCENDING'}, ";
  }
  EXPECT_EQ(Parsed(WithFields(fields + "{'fieldPath': '__name__', 'order': 'DESCENDING'}"))
                .composites[0]
                .fields.size(),
            kIndexFieldsMax);
  const std::string problem = "indexes[0].fields: 101 fields, at most 100 are allowed";
  EXPECT_EQ(Problem(WithFields(fields + "{'fieldPath': 'g', 'order': 'DESCENDING'}")), problem);
  EXPECT_EQ(Problem(WithFields(fields +
                               "{'fieldPath': 'v', 'vectorConfig': {'dimension': 1, 'flat': {}}}")),
            problem);
}

TEST(IndexConfigErrorTest, Field) {
  const auto problem = [](std::string_view field) {
    return Problem(
        WithFields("{'fieldPath': 'first', 'order': 'ASCENDING'}, " + std::string(field)));
  };
  EXPECT_EQ(problem("[]"), "indexes[0].fields[1]: must be of type object, not array");
  EXPECT_EQ(problem("{}"), "indexes[0].fields[1]: fieldPath is missing");
  EXPECT_EQ(problem("{'field': 'a'}"),
            "indexes[0].fields[1]: unknown key 'field'; known keys: fieldPath, order, arrayConfig, "
            "vectorConfig");
  EXPECT_EQ(problem("{'fieldPath': 1}"),
            "indexes[0].fields[1].fieldPath: must be of type string, not number");
  EXPECT_EQ(problem("{'fieldPath': 'a..b'}"),
            "indexes[0].fields[1].fieldPath: " +
                Replaced(model::FieldPath::Parse("a..b").status().message(), "\"", "'"));
  EXPECT_EQ(problem("{'fieldPath': 'a'}"),
            "indexes[0].fields[1]: needs exactly one of order, arrayConfig, vectorConfig");
  EXPECT_EQ(problem("{'fieldPath': 'a', 'order': 'ASCENDING', 'mode': 'ASCENDING'}"),
            "indexes[0].fields[1]: needs exactly one of order, arrayConfig, vectorConfig, mode");
  EXPECT_EQ(problem("{'fieldPath': 'a', 'order': 'UP'}"),
            "indexes[0].fields[1].order: 'UP' is neither ASCENDING nor DESCENDING");
  EXPECT_EQ(problem("{'fieldPath': 'a', 'order': '" + std::string(200, 'x') + "'}"),
            "indexes[0].fields[1].order: a value of 202 bytes is neither ASCENDING nor DESCENDING");
  EXPECT_EQ(problem("{'fieldPath': 'a', 'order': 1}"),
            "indexes[0].fields[1].order: must be of type string, not number");
  EXPECT_EQ(problem("{'fieldPath': 'a', 'arrayConfig': 'ANY'}"),
            "indexes[0].fields[1].arrayConfig: 'ANY' is not CONTAINS");
  EXPECT_EQ(problem("{'fieldPath': 'a', 'arrayConfig': false}"),
            "indexes[0].fields[1].arrayConfig: must be of type string, not boolean");
  EXPECT_EQ(problem("{'fieldPath': 'a', 'mode': 'CONTAINS'}"),
            "indexes[0].fields[1].mode: 'CONTAINS' is not one of ASCENDING, DESCENDING, "
            "ARRAY_CONTAINS");
}

TEST(IndexConfigErrorTest, FieldsThatDoNotGoTogether) {
  const std::string a = "{'fieldPath': 'a', 'order': 'ASCENDING'}";
  const std::string t = "{'fieldPath': 't', 'arrayConfig': 'CONTAINS'}";
  const std::string v = "{'fieldPath': 'v', 'vectorConfig': {'dimension': 1, 'flat': {}}}";
  const std::string name = "{'fieldPath': '__name__', 'order': 'DESCENDING'}";
  const std::string comma = ", ";
  EXPECT_EQ(Problem(WithFields(a + comma + a)), "indexes[0].fields[1]: a is already in this index");
  EXPECT_EQ(Problem(WithFields(t + comma + a + comma + t)),
            "indexes[0].fields[2]: an index can have only one field with arrayConfig");
  EXPECT_EQ(Problem(WithFields(name + comma + a)),
            "indexes[0].fields[1]: only a vector field may follow __name__");
  EXPECT_EQ(Problem(WithFields(name + comma + name)),
            "indexes[0].fields[1]: __name__ is already in this index");
  EXPECT_EQ(Problem(WithFields("{'fieldPath': '__name__', 'arrayConfig': 'CONTAINS'}")),
            "indexes[0].fields[0]: __name__ needs an order");
  EXPECT_EQ(Problem(WithFields("{'fieldPath': '__name__', 'mode': 'ARRAY_CONTAINS'}")),
            "indexes[0].fields[0]: __name__ needs an order");
  EXPECT_EQ(Problem(WithFields(v + comma + a)),
            "indexes[0].fields[1]: the vector field must be the last one");
  EXPECT_EQ(Problem(WithFields(name + comma + v)),
            "indexes[0]: __name__ cannot be DESCENDING here");
}

TEST(IndexConfigErrorTest, VectorConfig) {
  const auto problem = [](std::string_view config) {
    const std::string text =
        Problem(WithFields("{'fieldPath': 'v', 'vectorConfig': " + std::string(config) + "}"));
    constexpr std::string_view kPlace = "indexes[0].fields[0].vectorConfig";
    EXPECT_TRUE(text.starts_with(kPlace)) << text;
    return text.substr(kPlace.size());
  };
  EXPECT_EQ(problem("3"), ": must be of type object, not number");
  EXPECT_EQ(problem("{'size': 3}"), ": unknown key 'size'; known keys: dimension, flat, hnsw");
  EXPECT_EQ(problem("{'flat': {}}"), ": dimension is missing");
  for (const std::string value : {"0", "2049", "-1", "1.5", "'3'", "18446744073709551615"}) {
    EXPECT_EQ(problem("{'dimension': " + value + ", 'flat': {}}"),
              ".dimension: " + value + " is not a whole number from 1 to 2048");
  }
  EXPECT_EQ(problem("{'dimension': 3}"), ": needs exactly one of flat, hnsw");
  EXPECT_EQ(problem("{'dimension': 3, 'flat': {}, 'hnsw': {}}"),
            ": needs exactly one of flat, hnsw");
  EXPECT_EQ(problem("{'dimension': 3, 'flat': true}"),
            ".flat: must be of type object, not boolean");
  EXPECT_EQ(problem("{'dimension': 3, 'flat': {'m': 1}}"), ".flat: unknown key 'm'");
  EXPECT_EQ(problem("{'dimension': 3, 'hnsw': []}"), ".hnsw: must be of type object, not array");
  EXPECT_EQ(problem("{'dimension': 3, 'hnsw': {'M': 16}}"),
            ".hnsw: unknown key 'M'; known keys: m, efConstruction, efSearch, distanceMeasure");
  EXPECT_EQ(problem("{'dimension': 3, 'hnsw': {'m': 1}}"),
            ".hnsw.m: 1 is not a whole number from 2 to 128");
  EXPECT_EQ(problem("{'dimension': 3, 'hnsw': {'m': 129}}"),
            ".hnsw.m: 129 is not a whole number from 2 to 128");
  EXPECT_EQ(problem("{'dimension': 3, 'hnsw': {'efConstruction': 0}}"),
            ".hnsw.efConstruction: 0 is not a whole number from 1 to 10000");
  EXPECT_EQ(problem("{'dimension': 3, 'hnsw': {'efSearch': 10001}}"),
            ".hnsw.efSearch: 10001 is not a whole number from 1 to 10000");
  EXPECT_EQ(problem("{'dimension': 3, 'hnsw': {'distanceMeasure': 'L2'}}"),
            ".hnsw.distanceMeasure: 'L2' is not one of EUCLIDEAN, COSINE, DOT_PRODUCT");
}

TEST(IndexConfigErrorTest, SameIndexTwice) {
  const std::string composite =
      "{'collectionGroup': 'c', 'fields': [{'fieldPath': 'a', 'order': 'ASCENDING'}, "
      "{'fieldPath': 'b', 'order': 'ASCENDING'}";
  const std::string vector =
      "{'collectionGroup': 'c', 'fields': [{'fieldPath': 'v', 'vectorConfig': {'dimension': 3, ";
  EXPECT_EQ(Problem(File("{'indexes': [" + composite + "]}, " + composite +
                         ", {'fieldPath': '__name__', 'order': 'ASCENDING'}]}]}")),
            "indexes[1]: the same index as indexes[0]");
  EXPECT_EQ(Problem(File("{'indexes': [" + composite + "]}, " + vector + "'flat': {}}}]}, " +
                         vector + "'hnsw': {}}}]}]}")),
            "indexes[2]: the same index as indexes[1]");
}

TEST(IndexConfigErrorTest, Override) {
  EXPECT_EQ(Problem(File("{'fieldOverrides': ['a']}")),
            "fieldOverrides[0]: must be of type object, not string");
  EXPECT_EQ(Problem(File("{'fieldOverrides': [{}]}")),
            "fieldOverrides[0]: collectionGroup is missing");
  EXPECT_EQ(Problem(WithOverride("'index': []")),
            "fieldOverrides[0]: unknown key 'index'; known keys: collectionGroup, fieldPath, ttl, "
            "ttlOffset, indexes");
  EXPECT_EQ(Problem(WithOverride("'indexes': []")), "fieldOverrides[0]: fieldPath is missing");
  EXPECT_EQ(Problem(WithOverride("'fieldPath': 'f'")), "fieldOverrides[0]: indexes is missing");
  EXPECT_EQ(Problem(WithOverride("'fieldPath': 'f', 'ttl': false")),
            "fieldOverrides[0]: indexes is missing");
  EXPECT_EQ(Problem(WithOverride("'fieldPath': [], 'indexes': []")),
            "fieldOverrides[0].fieldPath: must be of type string, not array");
  EXPECT_EQ(Problem(WithOverride("'fieldPath': '__name__', 'indexes': []")),
            "fieldOverrides[0].fieldPath: __name__ has no index of its own");
  EXPECT_EQ(Problem(WithOverride("'fieldPath': '`f`', 'indexes': []}, "
                                 "{'collectionGroup': 'c', 'fieldPath': 'f', 'indexes': []")),
            "fieldOverrides[1]: the same collection group and field as fieldOverrides[0]");
}

TEST(IndexConfigErrorTest, OverrideIndexes) {
  const auto problem = [](std::string_view indexes) {
    return Problem(WithOverride("'fieldPath': 'f', 'indexes': " + std::string(indexes)));
  };
  EXPECT_EQ(problem("{}"), "fieldOverrides[0].indexes: must be of type array, not object");
  EXPECT_EQ(problem("[1]"), "fieldOverrides[0].indexes[0]: must be of type object, not number");
  EXPECT_EQ(
      problem("[{'fieldPath': 'f'}]"),
      "fieldOverrides[0].indexes[0]: unknown key 'fieldPath'; known keys: order, arrayConfig, "
      "queryScope");
  EXPECT_EQ(problem("[{}]"),
            "fieldOverrides[0].indexes[0]: needs exactly one of order, arrayConfig");
  EXPECT_EQ(problem("[{'order': 'UP'}]"),
            "fieldOverrides[0].indexes[0].order: 'UP' is neither ASCENDING nor DESCENDING");
  EXPECT_EQ(problem("[{'order': 'ASCENDING', 'queryScope': 'ALL'}]"),
            "fieldOverrides[0].indexes[0].queryScope: 'ALL' is neither COLLECTION nor "
            "COLLECTION_GROUP");
  EXPECT_EQ(problem("[{'arrayConfig': 'CONTAINS'}, {'order': 'ASCENDING'}, "
                    "{'order': 'ASCENDING', 'queryScope': 'COLLECTION'}]"),
            "fieldOverrides[0].indexes[2]: the same index as fieldOverrides[0].indexes[1]");
}

TEST(IndexConfigErrorTest, Ttl) {
  EXPECT_EQ(Problem(WithOverride("'fieldPath': 'f', 'ttl': 'yes'")),
            "fieldOverrides[0].ttl: must be of type boolean, not string");
  EXPECT_EQ(Problem(WithOverride("'fieldPath': '*', 'ttl': true")),
            "fieldOverrides[0].ttl: a TTL policy is for one field, not for *");
  EXPECT_EQ(Problem(WithOverride("'fieldPath': 'f', 'ttl': true}, "
                                 "{'collectionGroup': 'c', 'fieldPath': 'g', 'ttl': true")),
            "fieldOverrides[1].ttl: the collection group already has a TTL policy, in "
            "fieldOverrides[0]");
  EXPECT_EQ(Problem(WithOverride("'fieldPath': 'f', 'ttlOffset': '1s', 'indexes': []")),
            "fieldOverrides[0].ttlOffset: has no meaning without 'ttl': true");
  const auto offset = [](std::string_view text) {
    return Problem(
        WithOverride("'fieldPath': 'f', 'ttl': true, 'ttlOffset': " + std::string(text)));
  };
  EXPECT_EQ(offset("60"), "fieldOverrides[0].ttlOffset: must be of type string, not number");
  for (const std::string text :
       {"''", "'s'", "'60'", "'-1s'", "'+1s'", "'1.5h'", "'2w'", "'1 d'"}) {
    EXPECT_EQ(offset(text), "fieldOverrides[0].ttlOffset: " + text +
                                " is not a duration such as '90s', '15m', '12h' or '2d'");
  }
  for (const std::string text : {"'2147483648s'", "'24856d'", "'99999999999999999999d'"}) {
    EXPECT_EQ(offset(text),
              "fieldOverrides[0].ttlOffset: " + text + " is longer than 2147483647 seconds");
  }
}

// The text with a few characters changed, removed or copied from elsewhere in the file.
std::string Mutated(std::string text, Dice& dice) {
  for (size_t changes = 1 + dice.Below(4); changes > 0 && !text.empty(); --changes) {
    const size_t at = dice.Below(text.size());
    const size_t length = 1 + dice.Below(dice.OneIn(2) ? 3 : 60);
    switch (dice.Below(4)) {
      case 0:
        text[at] = static_cast<char>(dice.Below(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(dice.Below(text.size()), length));
        break;
      default:
        text[at] = "{}[]\",:0-9*`_"[dice.Below(13)];
    }
  }
  return text;
}

TEST(IndexConfigFuzzTest, DamagedFilesAreReadOrRefused) {
  Dice dice(TestSeed());
  size_t accepted = 0;
  for (size_t round = 0; round < TestRounds(20'000); ++round) {
    const std::string text = Mutated(std::string(kEverything), dice);
    const Result<IndexConfig> config = ParseIndexConfig(text);
    if (!config.ok()) {
      ASSERT_EQ(config.status().code(), Code::kInvalidArgument) << text;
      continue;
    }
    ++accepted;
    const std::string printed = PrintIndexConfig(*config);
    ASSERT_EQ(Parsed(printed), *config) << text;
    ASSERT_EQ(PrintIndexConfig(Parsed(printed)), printed);
  }
  EXPECT_GT(accepted, 0u);
}

template <typename T>
T PickFrom(const std::vector<T>& choices, Dice& dice) {
  return choices[dice.Below(choices.size())];
}

TEST(IndexConfigFuzzTest, WhateverIsPrintedIsReadBack) {
  Dice dice(TestSeed());
  const std::vector<std::string> groups = {"a", "B", "käse", "long name", "quote\"d"};
  const std::vector<std::string> paths = {"x", "y.z", "`*`", "`1`.b", "`é\\`\"`"};
  for (int round = 0; round < 300; ++round) {
    IndexConfig config;
    for (const std::string& group : groups) {
      Definition definition =
          CollectionIndex(group, {Up("first"), Down(PickFrom(paths, dice))}, dice.OneIn(2));
      if (dice.OneIn(2)) definition.scope = QueryScope::kCollectionGroup;
      if (dice.OneIn(2)) definition.fields.push_back(In(PickFrom(paths, dice)));
      config.composites.push_back(definition);
      config.vectors.push_back({group, definition.scope, definition.fields, Path("v"),
                                static_cast<uint32_t>(1 + dice.Below(2'048)),
                                dice.OneIn(2) ? std::optional(HnswOptions()) : std::nullopt});
      const model::FieldPath field = Path(PickFrom(paths, dice));
      if (dice.OneIn(2)) config.overrides.push_back({group, field, {}});
      if (dice.OneIn(2)) config.overrides.push_back({group, std::nullopt, {}});
      if (dice.OneIn(2)) {
        config.ttl_policies.push_back({group, field, seconds(60 * dice.Below(3'000))});
      }
    }
    Sort(config);
    ASSERT_EQ(Parsed(PrintIndexConfig(config)), config);
  }
}

TEST(IndexConfigTest, TheNumberOfIndexesIsLimited) {
  IndexConfig config;
  for (size_t i = 0; i < kDeclaredIndexesMax; ++i) {
    config.composites.push_back(CollectionIndex("c" + std::to_string(i), {Up("a"), Up("b")}));
  }
  EXPECT_TRUE(ParseIndexConfig(PrintIndexConfig(config)).ok());
  config.ttl_policies.push_back({"c", Path("until"), std::chrono::seconds(0)});
  const Status refused = ParseIndexConfig(PrintIndexConfig(config)).status();
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_EQ(refused.message(), "there are 1001 indexes and TTL policies, at most 1000 are allowed");
}

}  // namespace
}  // namespace hearth::index
