#include "index/create_index_link.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "base/base64.h"
#include "index/testing/definitions.h"

namespace hearth::index {
namespace {

// The payloads below come from links that Firestore made. The names of projects and databases are
// replaced with others of the same length, so every other byte is Firestore's own.
constexpr std::string_view kScopeCollection = "\x10\x01";
constexpr std::string_view kScopeCollectionGroup = "\x10\x02";

constexpr std::string_view kConsole = "https://console.firebase.google.com/v1/r/project/";

std::string Message(std::string_view database, const Definition& definition) {
  return MissingIndexMessage(*model::DatabaseName::Parse(database), definition,
                             RangeFilters::kOnOneFieldAtMost);
}

std::string Joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

// The text before the payload, and the decoded payload.
std::pair<std::string, std::string> Split(const std::string& message) {
  const size_t equals = message.rfind('=');
  EXPECT_NE(equals, std::string::npos);
  return {message.substr(0, equals + 1),
          DecodeBase64Url(std::string_view(message).substr(equals + 1)).value_or("not base64url")};
}

TEST(CreateIndexLinkTest, CompositeIndexInFull) {
  EXPECT_EQ(Message("projects/sample-project-app-0000/databases/(default)",
                    CollectionIndex("bookings", {Up("userId"), Down("createdAt")}, true)),
            Joined({"The query requires an index. You can create it here: ", kConsole,
                    "sample-project-app-0000/firestore/indexes?create_composite="
                    "Clhwcm9qZWN0cy9zYW1wbGUtcHJvamVjdC1hcHAtMDAwMC9kYXRhYmFzZXMvKGRlZmF1bHQpL2Nv"
                    "bGxlY3Rpb25Hcm91cHMvYm9va2luZ3MvaW5kZXhlcy9fEAEaCgoGdXNlcklkEAEaDQoJY3JlYXRl"
                    "ZEF0EAIaDAoIX19uYW1lX18QAg"}));
}

TEST(CreateIndexLinkTest, CompositeIndexWithMembership) {
  const auto [text, payload] =
      Split(Message("projects/sample-dashboard-000001/databases/(default)",
                    CollectionIndex("projects", {In("access.admin"), Down("updatedOn")}, true)));
  EXPECT_EQ(payload,
            Joined({"\nXprojects/sample-dashboard-000001/databases/(default)/collectionGroups/"
                    "projects/indexes/_",
                    kScopeCollection, "\x1a\x10\n\x0c", "access.admin\x18\x01", "\x1a\r\n\t",
                    "updatedOn\x10\x02", "\x1a\x0c\n\x08", "__name__\x10\x02"}));
}

TEST(CreateIndexLinkTest, NamedDatabaseIsInThePath) {
  const auto [text, payload] =
      Split(Message("projects/sample-1234567890-fc16f/databases/exampledb1",
                    CollectionIndex("links", {Up("active"), Up("user_id"), Up("order")}, false)));
  EXPECT_EQ(
      text,
      Joined({"The query requires an index. You can create it here: ", kConsole,
              "sample-1234567890-fc16f/firestore/databases/exampledb1/indexes?create_composite="}));
  EXPECT_EQ(payload, Joined({"\nVprojects/sample-1234567890-fc16f/databases/exampledb1/"
                             "collectionGroups/links/indexes/_",
                             kScopeCollection, "\x1a\n\n\x06", "active\x10\x01", "\x1a\x0b\n\x07",
                             "user_id\x10\x01", "\x1a\t\n\x05", "order\x10\x01", "\x1a\x0c\n\x08",
                             "__name__\x10\x01"}));
}

TEST(CreateIndexLinkTest, RangeFiltersOnSeveralFieldsAddAdvice) {
  const model::DatabaseName database =
      *model::DatabaseName::Parse("projects/p/databases/(default)");
  const Definition definition = CollectionIndex("c", {Up("a"), Up("b")}, false);
  EXPECT_EQ(MissingIndexMessage(database, definition, RangeFilters::kOnSeveralFields),
            MissingIndexMessage(database, definition, RangeFilters::kOnOneFieldAtMost) +
                " .\nThe query contains range and inequality filters on multiple fields, please "
                "refer to the documentation for index selection best practices: "
                "https://cloud.google.com/firestore/docs/query-data/multiple-range-fields.");
}

TEST(CreateIndexLinkTest, OneFieldOfACollectionGroupIsAnExemption) {
  const std::string_view database = "projects/sample-test-app-000001/databases/(default)";
  const auto [text, payload] =
      Split(Message(database, GroupIndex("posts", {Down("createdAt")}, true)));
  EXPECT_EQ(text,
            Joined({"The query requires a COLLECTION_GROUP_DESC index for collection posts and "
                    "field createdAt. You can create it here: ",
                    kConsole, "sample-test-app-000001/firestore/indexes?create_exemption="}));
  EXPECT_EQ(payload,
            Joined({"\n[projects/sample-test-app-000001/databases/(default)/collectionGroups/posts/"
                    "fields/createdAt",
                    kScopeCollectionGroup, "\x1a\r\n\t", "createdAt\x10\x02"}));
}

TEST(CreateIndexLinkTest, ExemptionsNameScopeAndMode) {
  const std::string_view database = "projects/p/databases/(default)";
  const std::pair<Definition, std::string_view> cases[] = {
      {GroupIndex("c", {Up("f")}, false), "a COLLECTION_GROUP_ASC index for"},
      {GroupIndex("c", {Down("f")}, true), "a COLLECTION_GROUP_DESC index for"},
      {GroupIndex("c", {In("f")}, false), "a COLLECTION_GROUP_CONTAINS index for"},
      {CollectionIndex("c", {Up("f")}, false), "a COLLECTION_ASC index for"},
      {CollectionIndex("c", {Down("f")}, true), "a COLLECTION_DESC index for"},
      {CollectionIndex("c", {In("f")}, false), "a COLLECTION_CONTAINS index for"},
  };
  for (const auto& [definition, kind] : cases) {
    const auto [text, payload] = Split(Message(database, definition));
    EXPECT_EQ(text, Joined({"The query requires ", kind,
                            " collection c and field f. You can create it here: ", kConsole,
                            "p/firestore/indexes?create_exemption="}));
  }
}

TEST(CreateIndexLinkTest, OneFieldWithTheNameTheOtherWayIsComposite) {
  const std::string_view database = "projects/p/databases/(default)";
  for (const Definition& definition :
       {CollectionIndex("c", {Up("f")}, true), CollectionIndex("c", {Down("f")}, false),
        CollectionIndex("c", {}, true)}) {
    EXPECT_TRUE(Message(database, definition).starts_with("The query requires an index. "));
  }
}

TEST(CreateIndexLinkTest, VectorIndexNamesACommand) {
  VectorIndex index = {.collection_group = "programmes",
                       .scope = QueryScope::kCollection,
                       .prefix = {},
                       .field = *model::FieldPath::Parse("embedding"),
                       .dimension = 768,
                       .hnsw = {}};
  EXPECT_EQ(MissingVectorIndexMessage(
                *model::DatabaseName::Parse("projects/sample/databases/(default)"), index),
            "Missing vector index configuration. Please create the required index with the "
            "following gcloud command: gcloud firestore indexes composite create --project=sample "
            "--collection-group=programmes --query-scope=COLLECTION "
            R"(--field-config=vector-config='{"dimension":"768","flat": "{}"}',)"
            "field-path=embedding");
  index.scope = QueryScope::kCollectionGroup;
  index.prefix = {Up("a"), Down("b"), In("c")};
  EXPECT_EQ(MissingVectorIndexMessage(
                *model::DatabaseName::Parse("projects/sample/databases/other"), index),
            "Missing vector index configuration. Please create the required index with the "
            "following gcloud command: gcloud firestore indexes composite create --project=sample "
            "--database=other --collection-group=programmes --query-scope=COLLECTION_GROUP "
            "--field-config=order=ASCENDING,field-path=a "
            "--field-config=order=DESCENDING,field-path=b "
            "--field-config=array-config=CONTAINS,field-path=c "
            R"(--field-config=vector-config='{"dimension":"768","flat": "{}"}',)"
            "field-path=embedding");
}

}  // namespace
}  // namespace hearth::index
