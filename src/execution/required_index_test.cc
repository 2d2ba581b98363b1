#include "execution/required_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "index/testing/definitions.h"
#include "query/testing/query_builder.h"

namespace hearth::execution {
namespace {

using index::Definition;
using index::Down;
using index::FieldMode;
using index::In;
using index::IndexConfig;
using index::IndexField;
using index::QueryScope;
using index::Up;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

Definition On(std::vector<IndexField> fields, bool name_descending = false) {
  return index::CollectionIndex("c", std::move(fields), name_descending);
}
Definition OnGroup(std::vector<IndexField> fields, bool name_descending = false) {
  return index::GroupIndex("c", std::move(fields), name_descending);
}

IndexConfig Composites(std::vector<Definition> definitions) {
  IndexConfig config;
  config.composites = std::move(definitions);
  return config;
}

bool Answers(const IndexConfig& config, const query::QueryBuilder& query) {
  const Status status = CheckIndexes(query.Build(), config);
  EXPECT_TRUE(status.ok() || status.code() == Code::kFailedPrecondition) << status.ToString();
  return status.ok();
}
std::vector<Definition> Needed(const query::QueryBuilder& query) {
  std::vector<Definition> definitions = NeededIndexes(query.Build()).definitions;
  EXPECT_TRUE(Answers(Composites(definitions), query)) << "what is needed is not enough";
  EXPECT_EQ(definitions.empty(), Answers(IndexConfig(), query));
  return definitions;
}

TEST(RequiredIndex, AutomaticIndexesAreEnoughForOneField) {
  for (const query::QueryBuilder& query :
       {query::QueryBuilder("c"), query::QueryBuilder("c").Ascending("__name__"),
        query::QueryBuilder("c").Equal("a"), query::QueryBuilder("c").Above("a"),
        query::QueryBuilder("c").Above("a").Descending("a"),
        query::QueryBuilder("c").Ascending("a"), query::QueryBuilder("c").Descending("a"),
        query::QueryBuilder("c").Contains("a"), query::QueryBuilder("c").In("a", {1, 2, 3}),
        query::QueryBuilder("c").Equal("a").Ascending("a"), query::QueryBuilder("c").Group()}) {
    EXPECT_THAT(Needed(query), IsEmpty());
  }
}

TEST(RequiredIndex, EqualitiesAreJoined) {
  EXPECT_THAT(Needed(query::QueryBuilder("c").Equal("a").Equal("b").Equal("d")), IsEmpty());
  EXPECT_THAT(Needed(query::QueryBuilder("c").Equal("a").In("b", {1, 2})), IsEmpty());
}

TEST(RequiredIndex, TwoFieldsOfWhichOneIsOrderedNeedAComposite) {
  EXPECT_THAT(Needed(query::QueryBuilder("c").Equal("a").Above("b")),
              ElementsAre(On({Up("a"), Up("b")})));
  EXPECT_THAT(Needed(query::QueryBuilder("c").Equal("a").Descending("b")),
              ElementsAre(On({Up("a"), Down("b")}, true)));
  EXPECT_THAT(Needed(query::QueryBuilder("c").Equal("z").Equal("a").Ascending("b")),
              ElementsAre(On({Up("a"), Up("z"), Up("b")})));
  EXPECT_THAT(Needed(query::QueryBuilder("c").Contains("tags").Ascending("b")),
              ElementsAre(On({In("tags"), Up("b")})));
  EXPECT_THAT(Needed(query::QueryBuilder("c").Ascending("a").Descending("b")),
              ElementsAre(On({Up("a"), Down("b")}, true)));
  EXPECT_THAT(Needed(query::QueryBuilder("c").Above("a").Above("b")),
              ElementsAre(On({Up("a"), Up("b")})));
  EXPECT_THAT(Needed(query::QueryBuilder("c").Ascending("a").Descending("__name__")),
              ElementsAre(On({Up("a")}, true)));
}

TEST(RequiredIndex, EachAlternativeNeedsTheSameOneOnlyOnce) {
  EXPECT_THAT(Needed(query::QueryBuilder("c").In("a", {1, 2, 3}).Ascending("b")),
              ElementsAre(On({Up("a"), Up("b")})));
}

TEST(RequiredIndex, CollectionGroupsHaveNoAutomaticIndexes) {
  EXPECT_THAT(Needed(query::QueryBuilder("c").Group().Equal("a")), ElementsAre(OnGroup({Up("a")})));
  EXPECT_THAT(Needed(query::QueryBuilder("c").Group().Descending("a")),
              ElementsAre(OnGroup({Down("a")}, true)));
  EXPECT_THAT(Needed(query::QueryBuilder("c").Group().Contains("a")),
              ElementsAre(OnGroup({In("a")})));
  EXPECT_THAT(Needed(query::QueryBuilder("c").Group().Equal("a").Ascending("b")),
              ElementsAre(OnGroup({Up("a"), Up("b")})));
}

// One after the other: after the first index exists, Firestore requires the second.
TEST(RequiredIndex, JoinedEqualitiesOfAGroupNeedAnIndexEach) {
  EXPECT_THAT(Needed(query::QueryBuilder("c").Group().Equal("a").Equal("b").Equal("d")),
              ElementsAre(OnGroup({Up("a")}), OnGroup({Up("b")}), OnGroup({Up("d")})));
}

TEST(RequiredIndex, CompositesAreJoinedToo) {
  const query::QueryBuilder query = query::QueryBuilder("c").Equal("a").Equal("b").Ascending("o");
  EXPECT_TRUE(Answers(Composites({On({Up("a"), Up("b"), Up("o")})}), query));
  EXPECT_TRUE(Answers(Composites({On({Up("b"), Down("a"), Up("o")})}), query));
  EXPECT_TRUE(Answers(Composites({On({Up("a"), Up("o")}), On({Up("b"), Up("o")})}), query));
  EXPECT_FALSE(Answers(Composites({On({Up("a"), Up("o")})}), query));
  EXPECT_FALSE(Answers(Composites({On({Up("a"), Up("b")})}), query));
}

TEST(RequiredIndex, AnIndexIsForItsCollectionAndScope) {
  const query::QueryBuilder query = query::QueryBuilder("c").Equal("a").Ascending("o");
  Definition elsewhere = On({Up("a"), Up("o")});
  elsewhere.collection_id = "d";
  EXPECT_FALSE(Answers(Composites({elsewhere}), query));
  EXPECT_FALSE(Answers(Composites({OnGroup({Up("a"), Up("o")})}), query));
}

TEST(RequiredIndex, NamesThatDescendNeedAnIndex) {
  EXPECT_THAT(Needed(query::QueryBuilder("c").Descending("__name__")), ElementsAre(On({}, true)));
  EXPECT_THAT(Needed(query::QueryBuilder("c").Group().Descending("__name__")),
              ElementsAre(OnGroup({}, true)));
  EXPECT_FALSE(
      Answers(Composites({On({}, true)}), query::QueryBuilder("c").Group().Descending("__name__")));
  const std::string name = model::EncodeReference("projects/p1/databases/(default)/documents/c/d");
  EXPECT_THAT(Needed(query::QueryBuilder("c")
                         .Where("__name__", query::Operator::kGreater, name)
                         .Descending("__name__")),
              ElementsAre(On({}, true)));
  // An automatic index has the names in the direction of the field.
  EXPECT_THAT(Needed(query::QueryBuilder("c").Equal("a").Descending("__name__")), IsEmpty());
}

TEST(RequiredIndex, DescendantsOfADocumentHaveOnlyTheirNames) {
  const query::QueryBuilder below = query::QueryBuilder("c").Below("d/a").Group();
  const auto descending = [&] { return query::QueryBuilder(below).Descending("__name__"); };
  EXPECT_TRUE(Answers(IndexConfig(), below));
  EXPECT_TRUE(Answers(IndexConfig(), query::QueryBuilder(below).Ascending("__name__")));
  EXPECT_FALSE(Answers(IndexConfig(), descending()));
  // No index helps, so none is required.
  EXPECT_FALSE(Answers(Composites({OnGroup({}, true)}), descending()));
  EXPECT_THAT(NeededIndexes(descending().Build()).definitions, IsEmpty());
  // A collection below a document is like any other.
  EXPECT_THAT(Needed(query::QueryBuilder("c").Below("d/a").Descending("__name__")),
              ElementsAre(On({}, true)));
}

TEST(CheckListener, RefusesWhatFirestoreDoesNotListenTo) {
  const auto check = [](const query::QueryBuilder& query) { return CheckListener(query.Build()); };
  EXPECT_EQ(check(query::QueryBuilder("c")), Status());
  EXPECT_EQ(check(query::QueryBuilder("c").Below("d/a")), Status());
  EXPECT_EQ(check(query::QueryBuilder("c").Group()), Status());
  const Status all =
      InvalidArgument("All-collection queries are not supported by real-time queries.");
  EXPECT_EQ(check(query::QueryBuilder("")), all);
  EXPECT_EQ(check(query::QueryBuilder("").Group()), all);
  EXPECT_EQ(check(query::QueryBuilder("").Below("d/a").Group()), all);
  EXPECT_EQ(check(query::QueryBuilder("c").Below("d/a").Group()),
            InvalidArgument("'all_descendants' in CollectionSelector with document parent is not "
                            "supported by real-time queries."));
}

// The SDKs' limitToLast, which reverses all orders, shows that Firestore requires another index.
TEST(RequiredIndex, AnIndexIsNotReadBackwards) {
  const IndexConfig config = Composites({On({Up("a"), Up("o")})});
  EXPECT_TRUE(Answers(config, query::QueryBuilder("c").Equal("a").Ascending("o")));
  EXPECT_FALSE(Answers(config, query::QueryBuilder("c").Equal("a").Descending("o")));
  EXPECT_FALSE(Answers(config, query::QueryBuilder("c").Descending("a").Descending("o")));
  EXPECT_TRUE(Answers(Composites({On({Up("a"), Down("o")}, true)}),
                      query::QueryBuilder("c").Equal("a").Descending("o")));
}

TEST(RequiredIndex, ExemptFieldsAnswerNothing) {
  IndexConfig config;
  config.overrides = {{"c", *model::FieldPath::Parse("a"), {}}};
  EXPECT_FALSE(Answers(config, query::QueryBuilder("c").Equal("a")));
  EXPECT_FALSE(Answers(config, query::QueryBuilder("c").Ascending("a")));
  EXPECT_FALSE(Answers(config, query::QueryBuilder("c").Equal("a").Equal("b")));
  EXPECT_TRUE(Answers(config, query::QueryBuilder("c").Equal("b")));
  EXPECT_TRUE(Answers(config, query::QueryBuilder("d").Equal("a")));
  config.composites = {On({Up("a"), Up("b")})};
  EXPECT_TRUE(Answers(config, query::QueryBuilder("c").Equal("a").Equal("b")));
}

TEST(RequiredIndex, AnOverrideReplacesTheAutomaticOnes) {
  IndexConfig config;
  config.overrides = {{"c",
                       *model::FieldPath::Parse("a"),
                       {{FieldMode::kAscending, QueryScope::kCollectionGroup},
                        {FieldMode::kDescending, QueryScope::kCollection}}},
                      {"c", std::nullopt, {}}};
  EXPECT_TRUE(Answers(config, query::QueryBuilder("c").Group().Equal("a")));
  EXPECT_TRUE(Answers(config, query::QueryBuilder("c").Descending("a")));
  EXPECT_FALSE(Answers(config, query::QueryBuilder("c").Ascending("a")));
  EXPECT_FALSE(Answers(config, query::QueryBuilder("c").Contains("a")));
  EXPECT_FALSE(Answers(config, query::QueryBuilder("c").Equal("b")));
  EXPECT_TRUE(MayBeIndexed("c", *model::FieldPath::Parse("a"), config));
  EXPECT_FALSE(MayBeIndexed("c", *model::FieldPath::Parse("b"), config));
  EXPECT_TRUE(MayBeIndexed("d", *model::FieldPath::Parse("b"), config));
}

TEST(RequiredIndex, MessagesAreFirestores) {
  const auto message = [](const query::QueryBuilder& query) {
    return CheckIndexes(query.Build(), IndexConfig()).message();
  };
  EXPECT_EQ(
      message(query::QueryBuilder("c").Equal("a").Descending("b")),
      "The query requires an index. You can create it here: "
      "https://console.firebase.google.com/v1/r/project/p1/firestore/indexes?create_composite="
      "Cjxwcm9qZWN0cy9wMS9kYXRhYmFzZXMvKGRlZmF1bHQpL2NvbGxlY3Rpb25Hcm91cHMvYy9pbmRleGVz"
      "L18QARoFCgFhEAEaBQoBYhACGgwKCF9fbmFtZV9fEAI");
  EXPECT_EQ(
      message(query::QueryBuilder("c").Below("d/a").Group().Descending("__name__")),
      "The query requires an index. You can create it here: "
      "https://console.firebase.google.com/v1/r/project/p1/firestore/indexes?create_composite="
      "Cjxwcm9qZWN0cy9wMS9kYXRhYmFzZXMvKGRlZmF1bHQpL2NvbGxlY3Rpb25Hcm91cHMvYy9pbmRleGVz"
      "L18QAhoMCghfX25hbWVfXxAC");
  EXPECT_THAT(message(query::QueryBuilder("c").Group().Equal("a")),
              StartsWith("The query requires a COLLECTION_GROUP_ASC index for collection c and "
                         "field a. You can create it here: https://console.firebase.google.com/"
                         "v1/r/project/p1/firestore/indexes?create_exemption="));
  EXPECT_THAT(message(query::QueryBuilder("c").Above("a").Above("b")),
              testing::EndsWith("please refer to the documentation for index selection best "
                                "practices: https://cloud.google.com/firestore/docs/query-data/"
                                "multiple-range-fields."));
  EXPECT_THAT(message(query::QueryBuilder("c").Equal("a").Nearest("v", {1, 2, 3})),
              StartsWith("Missing vector index configuration."));
}

TEST(RequiredIndex, NearestNeighboursNeedAVectorIndexWithAllEqualities) {
  const query::QueryBuilder query = query::QueryBuilder("c").Equal("a").Nearest("v", {1, 2, 3});
  const NeededIndexList needed = NeededIndexes(query.Build());
  EXPECT_THAT(needed.definitions, IsEmpty());
  ASSERT_EQ(needed.vectors.size(), 1u);
  EXPECT_EQ(needed.vectors[0].dimension, 3u);
  EXPECT_EQ(needed.vectors[0].prefix, std::vector<IndexField>{Up("a")});
  IndexConfig config;
  config.vectors = needed.vectors;
  EXPECT_TRUE(Answers(config, query));
  EXPECT_FALSE(Answers(config, query::QueryBuilder("c").Nearest("v", {1, 2, 3})));
  EXPECT_FALSE(Answers(config, query::QueryBuilder("c").Equal("a").Nearest("v", {1, 2})));
  EXPECT_FALSE(Answers(config, query::QueryBuilder("c").Equal("b").Nearest("v", {1, 2, 3})));
}

TEST(RequiredIndex, QueriesThatCannotMatchNeedNothing) {
  EXPECT_THAT(Needed(query::QueryBuilder("c").Equal("a", 1).Equal("a", 2).Ascending("b")),
              IsEmpty());
}

}  // namespace
}  // namespace hearth::execution
