#include "model/names.h"

#include <gtest/gtest.h>

namespace hearth::model {
namespace {

const std::string kDatabase = "projects/p1/databases/(default)";
const std::string kRoot = kDatabase + "/documents";

std::string Repeat(std::string_view text, size_t times) {
  std::string repeated;
  for (size_t i = 0; i < times; ++i) repeated += text;
  return repeated;
}

// A path with `depth` collections.
std::string PathOfDepth(size_t depth) {
  std::string path = Repeat("c/d/", depth);
  path.pop_back();
  return path;
}

void ExpectRefused(const std::string& name, const std::string& complaint) {
  const Status refused = InvalidArgument("Document name \"" + name + "\" " + complaint);
  EXPECT_EQ(DocumentName::Parse(name).status(), refused);
}

TEST(DocumentNameTest, TakesTheNameApart) {
  const std::string text = kRoot + "/rooms/r1/messages/m7";
  const Result<DocumentName> name = DocumentName::Parse(text);
  ASSERT_TRUE(name.ok());
  EXPECT_EQ(name->database.text(), kDatabase);
  EXPECT_EQ(name->database.project(), "p1");
  EXPECT_EQ(name->database.database(), "(default)");
  EXPECT_EQ(name->path.path(), "rooms/r1/messages/m7");
  EXPECT_EQ(name->path.id(), "m7");
  EXPECT_EQ(name->path.collection(), "rooms/r1/messages");
  EXPECT_EQ(name->ToString(), text);
}

TEST(DocumentNameTest, SaysWhatIsMissingAndWhere) {
  ExpectRefused("", "lacks \"projects\" at index 0.");
  ExpectRefused("foo", "lacks \"projects\" at index 0.");
  ExpectRefused("/" + kRoot + "/c/d", "lacks \"projects\" at index 0.");
  ExpectRefused("projects", "lacks \"/\" at index 8.");
  ExpectRefused("projectsX/p1", "lacks \"/\" at index 8.");
  ExpectRefused("projects/p1", "lacks \"/\" at index 11.");
  ExpectRefused("projects//databases/d", "lacks a project id at index 9.");
  ExpectRefused("projects/p1/databasez/x", "lacks \"databases\" at index 12.");
  ExpectRefused("projects/p1/databases//documents/c/d", "lacks a database id at index 22.");
  ExpectRefused(kDatabase, "lacks \"/\" at index 31.");
  ExpectRefused(kDatabase + "/docs/c/d", "lacks \"documents\" at index 32.");
  ExpectRefused(kRoot + "X/c/d", "lacks \"/\" at index 41.");
  ExpectRefused(kRoot + "/c", "lacks \"/\" at index 43.");
  ExpectRefused(kRoot + "/c/d/e", "lacks \"/\" at index 47.");
  ExpectRefused(kRoot + "//d", "lacks a collection id at index 42.");
  ExpectRefused(kRoot + "//", "lacks a collection id at index 42.");
  ExpectRefused(kRoot + "/c//d", "lacks a resource id at index 44.");
  ExpectRefused(kRoot + "/c/d//", "lacks a collection id at index 46.");
}

TEST(DocumentNameTest, CountsPositionsAsUtf16) {
  ExpectRefused(kRoot + "/é//d", "lacks a resource id at index 44.");
  ExpectRefused(kRoot + "/c/\U0001f600/é//d", "lacks a resource id at index 49.");
}

TEST(DocumentNameTest, RefusesSlashesAtTheEnd) {
  ExpectRefused("projects/", "has invalid trailing \"/\".");
  ExpectRefused(kDatabase + "/", "has invalid trailing \"/\".");
  ExpectRefused(kRoot + "/c/", "has invalid trailing \"/\".");
  ExpectRefused(kRoot + "/c/d/", "has invalid trailing \"/\".");
  ExpectRefused(kRoot + "/", "is invalid: Omit trailing \"/\".");
  ExpectRefused(kRoot,
                "is invalid: Omit \"/documents\" when referencing a database (except as the parent "
                "of a document).");
}

TEST(DocumentNameTest, RefusesDots) {
  ExpectRefused(kRoot + "/c/.", "contains a resource id \".\" at index 44.");
  ExpectRefused(kRoot + "/c/..", "contains a resource id \"..\" at index 44.");
  ExpectRefused(kRoot + "/./d", "contains a collection id \".\" at index 42.");
  ExpectRefused("projects/./databases/d/documents/c/d", "contains a project id \".\" at index 9.");
  ExpectRefused("projects/p/databases/../documents/c/d",
                "contains a database id \"..\" at index 21.");
  EXPECT_TRUE(DocumentName::Parse(kRoot + "/c/...").ok());
}

TEST(DocumentNameTest, RefusesReservedIds) {
  const auto status = [](const std::string& path) {
    return DocumentName::Parse(kRoot + path).status();
  };
  for (const char* id : {"__foo__", "____", "_____", "__id0__", "__id007__", "__id-0__", "__id+7__",
                         "__id__", "__id-__", "__id7x__"}) {
    EXPECT_EQ(status(std::string("/c/") + id),
              InvalidArgument("Resource id \"" + std::string(id) +
                              "\" is invalid because it is reserved."));
  }
  EXPECT_EQ(status("/__c__/d"),
            InvalidArgument("Collection id \"__c__\" is invalid because it is reserved."));
  EXPECT_EQ(status("/____/d"),
            InvalidArgument("Collection id \"____\" is invalid because it is reserved."));
  EXPECT_EQ(status("/__id7__/d"),
            InvalidArgument("Collection id \"__id7__\" is invalid because it is reserved."));
  for (const char* id : {"__id9223372036854775808__", "__id-9223372036854775809__"}) {
    EXPECT_EQ(status(std::string("/c/") + id),
              InvalidArgument("Resource id \"" + std::string(id) +
                              "\" is invalid because it is not a 64 bit integer."));
  }
  // The first error from the left is reported.
  EXPECT_EQ(status("/__x__/."),
            InvalidArgument("Collection id \"__x__\" is invalid because it is reserved."));
}

TEST(DocumentNameTest, AcceptsUnusualIds) {
  for (const std::string& id :
       {std::string("__"), std::string("___"), std::string("__foo"), std::string("__id7__"),
        std::string("__id-7__"), std::string("__id9223372036854775807__"),
        std::string("__id-9223372036854775808__"), std::string("a\0b", 3), std::string("a b\n"),
        std::string("é\U0001f600"), std::string("a%2Fb")}) {
    EXPECT_TRUE(DocumentName::Parse(kRoot + "/c/" + id).ok()) << id;
  }
}

TEST(DocumentNameTest, LimitsIdsTo1500Bytes) {
  const std::string longest(1500, 'a');
  EXPECT_TRUE(DocumentName::Parse(kRoot + "/c/" + longest).ok());
  EXPECT_TRUE(DocumentName::Parse(kRoot + "/" + longest + "/d").ok());
  EXPECT_EQ(DocumentName::Parse(kRoot + "/c/" + longest + "a").status(),
            InvalidArgument("The key path element name is longer than 1500 bytes."));
  EXPECT_EQ(DocumentName::Parse(kRoot + "/" + longest + "a/d").status(),
            InvalidArgument("The key path element kind is longer than 1500 bytes."));
}

TEST(DocumentNameTest, LimitsDepthAndLength) {
  EXPECT_TRUE(DocumentName::Parse(kRoot + "/" + PathOfDepth(100)).ok());
  EXPECT_EQ(DocumentName::Parse(kRoot + "/" + PathOfDepth(101)).status(),
            InvalidArgument("Key path is too long. Cannot exceed 100 elements."));

  const std::string collection = Repeat(std::string(1499, 'a') + "/", 4);  // 6,000 bytes.
  EXPECT_TRUE(DocumentName::Parse(kRoot + "/" + collection + "c/" + std::string(142, 'd')).ok());
  EXPECT_EQ(DocumentName::Parse(kRoot + "/" + collection + "c/" + std::string(143, 'd')).status(),
            InvalidArgument("Document name is longer than 6144 bytes."));
}

TEST(DocumentNameTest, RefusesBadUtf8) {
  EXPECT_EQ(DocumentName::Parse(kRoot + "/c/\xff").status(),
            InvalidArgument("Document name is not valid UTF-8."));
}

TEST(DatabaseNameTest, AcceptsProjectsAndDatabases) {
  for (const char* project : {"p1", "dom.com:p1", "a_b", "UPPER", "1p"}) {
    EXPECT_TRUE(DatabaseName::Parse(std::string("projects/") + project + "/databases/d").ok());
  }
  for (const std::string& database :
       {std::string("(default)"), std::string("a"), std::string("UPPER"), std::string("my_db"),
        std::string("a.b"), std::string("1abc"), std::string("-abc"), std::string("____"),
        std::string(100, 'a')}) {
    EXPECT_TRUE(DatabaseName::Parse("projects/p1/databases/" + database).ok()) << database;
  }
}

TEST(DatabaseNameTest, RefusesTheRest) {
  const auto refusal = [](const std::string& name) { return DatabaseName::Parse(name).status(); };
  EXPECT_EQ(refusal(""), InvalidArgument("Database name \"\" lacks \"projects\" at index 0."));
  EXPECT_EQ(
      refusal("projects/p1/databases/"),
      InvalidArgument("Database name \"projects/p1/databases/\" has invalid trailing \"/\"."));
  EXPECT_EQ(refusal(kDatabase + "/"),
            InvalidArgument("Database name \"" + kDatabase + "/\" has invalid trailing \"/\"."));
  EXPECT_EQ(refusal(kRoot),
            InvalidArgument("Database name \"" + kRoot + "\" has extra characters at index 31."));
  EXPECT_EQ(refusal("projects/p1/databases/Bad!DB"),
            InvalidArgument("Illegal string \"Bad!DB\" in database."));
  EXPECT_EQ(refusal("projects/p1/databases/(other)"),
            InvalidArgument("Illegal string \"(other)\" in database."));
  EXPECT_EQ(refusal("projects/p1/databases/__x__"),
            InvalidArgument("The database \"__x__\" is reserved."));
  EXPECT_EQ(refusal("projects/p1/databases/" + std::string(101, 'a')),
            InvalidArgument("The database is longer than 100 bytes."));
  EXPECT_EQ(refusal("projects/p 1/databases/d"),
            InvalidArgument("Illegal string \"p 1\" in project."));
  EXPECT_EQ(refusal("projects/" + std::string(101, 'p') + "/databases/d"),
            InvalidArgument("The project is longer than 100 bytes."));
}

TEST(ValidateReferenceTest, FollowsTheSameGrammar) {
  EXPECT_TRUE(ValidateReference(kRoot + "/c/d").ok());
  EXPECT_EQ(ValidateReference(""),
            InvalidArgument("Resource name \"\" lacks \"projects\" at index 0."));
  EXPECT_EQ(ValidateReference(kDatabase),
            InvalidArgument("Non-document resource reference value not supported."));
  EXPECT_EQ(ValidateReference(kRoot + "/"),
            InvalidArgument("Resource name \"" + kRoot + "/\" is invalid: Omit trailing \"/\"."));
  EXPECT_EQ(
      ValidateReference(kRoot),
      InvalidArgument("Resource name \"" + kRoot +
                      "\" is invalid: Omit \"/documents\" when referencing a database (except "
                      "as the parent of a document)."));
  EXPECT_EQ(ValidateReference(kDatabase + "/docs/c/d"),
            InvalidArgument("Resource name \"" + kDatabase +
                            "/docs/c/d\" lacks \"documents\" at index 32."));
  EXPECT_EQ(ValidateReference(kRoot + "/c/d/e"),
            InvalidArgument("Resource name \"" + kRoot + "/c/d/e\" lacks \"/\" at index 47."));
}

TEST(DocumentPathTest, Parses) {
  EXPECT_EQ(DocumentPath::Parse("c/d")->collection(), "c");
  EXPECT_EQ(DocumentPath::Parse("").status(),
            InvalidArgument("Document path \"\" lacks a collection id at index 0."));
  EXPECT_EQ(DocumentPath::Parse("c").status(),
            InvalidArgument("Document path \"c\" lacks \"/\" at index 1."));
  EXPECT_EQ(DocumentPath::Parse("c/\xff").status(),
            InvalidArgument("Document path is not valid UTF-8."));
}

TEST(CollectionPathTest, ParsesAndNamesDocuments) {
  const Result<CollectionPath> messages = CollectionPath::Parse("rooms/r1/messages");
  ASSERT_TRUE(messages.ok());
  EXPECT_EQ(messages->id(), "messages");
  EXPECT_EQ(messages->parent(), "rooms/r1");
  EXPECT_EQ(messages->Document("m7")->path(), "rooms/r1/messages/m7");
  EXPECT_EQ(messages->Document("a/b").status(),
            InvalidArgument("Resource id \"a/b\" is invalid because it contains \"/\"."));

  const Result<CollectionPath> rooms = CollectionPath::Parse("rooms");
  ASSERT_TRUE(rooms.ok());
  EXPECT_EQ(rooms->id(), "rooms");
  EXPECT_EQ(rooms->parent(), "");
  EXPECT_EQ(CollectionPath::Parse("rooms/r1").status(),
            InvalidArgument("Collection path \"rooms/r1\" lacks \"/\" at index 8."));
}

TEST(CollectionPathTest, LimitsDepthAndLength) {
  EXPECT_TRUE(CollectionPath::Parse(PathOfDepth(99) + "/c").ok());
  EXPECT_EQ(CollectionPath::Parse(PathOfDepth(100) + "/c").status(),
            InvalidArgument("Key path is too long. Cannot exceed 100 elements."));

  const Result<CollectionPath> deep =
      CollectionPath::Parse(Repeat(std::string(1499, 'a') + "/", 4) + "c");  // 6,001 bytes.
  ASSERT_TRUE(deep.ok());
  EXPECT_TRUE(deep->Document(std::string(142, 'd')).ok());
  EXPECT_EQ(deep->Document(std::string(143, 'd')).status(),
            InvalidArgument("Document path is longer than 6144 bytes."));
}

TEST(ParentNameTest, IsTheRootOrADocument) {
  const Result<ParentName> root = ParentName::Parse(kRoot);
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(root->database.text(), kDatabase);
  EXPECT_EQ(root->document_path, "");
  EXPECT_EQ(root->Collection("c")->path(), "c");

  const Result<ParentName> room = ParentName::Parse(kRoot + "/rooms/r1");
  ASSERT_TRUE(room.ok());
  EXPECT_EQ(room->document_path, "rooms/r1");
  EXPECT_EQ(room->Collection("messages")->path(), "rooms/r1/messages");
}

TEST(ParentNameTest, RefusesTheRest) {
  const auto refusal = [](const std::string& name) { return ParentName::Parse(name).status(); };
  const auto expected = [](const std::string& name, const std::string& complaint) {
    return InvalidArgument("Document parent name \"" + name + "\" " + complaint);
  };
  EXPECT_EQ(refusal(""), expected("", "lacks \"projects\" at index 0."));
  EXPECT_EQ(refusal(kDatabase), expected(kDatabase, "lacks \"/\" at index 31."));
  EXPECT_EQ(refusal(kRoot + "/"), expected(kRoot + "/", "is invalid: Omit trailing \"/\"."));
  EXPECT_EQ(refusal(kRoot + "/c"), expected(kRoot + "/c", "lacks \"/\" at index 43."));
  const Result<ParentName> root = ParentName::Parse(kRoot);
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(root->Collection("").status(), InvalidArgument("collectionId is the empty string."));
  EXPECT_EQ(root->Collection("__id7__").status(),
            InvalidArgument("Collection id \"__id7__\" is invalid because it is reserved."));
}

TEST(ValidateIdTest, ChecksAnIdOnItsOwn) {
  EXPECT_TRUE(ValidateId("__id7__").ok());
  EXPECT_TRUE(ValidateId(std::string(1500, 'a')).ok());
  EXPECT_EQ(ValidateId(""), InvalidArgument("documentId is the empty string."));
  EXPECT_EQ(ValidateId("."),
            InvalidArgument("Resource id \".\" is invalid because it is reserved."));
  EXPECT_EQ(ValidateId("____"),
            InvalidArgument("Resource id \"____\" is invalid because it is reserved."));
  EXPECT_EQ(ValidateCollectionId("____"),
            InvalidArgument("Collection id \"____\" is invalid because it is reserved."));
  EXPECT_EQ(ValidateId("\xff"), InvalidArgument("Resource id is not valid UTF-8."));
  EXPECT_EQ(ValidateId(std::string(1501, 'a')),
            InvalidArgument("The key path element name is longer than 1500 bytes."));
  EXPECT_EQ(ValidateCollectionId("a/b"),
            InvalidArgument("Collection id \"a/b\" is invalid because it contains \"/\"."));
  EXPECT_EQ(ValidateCollectionId(".."),
            InvalidArgument("Collection id \"..\" is invalid because it is reserved."));
}

}  // namespace
}  // namespace hearth::model
