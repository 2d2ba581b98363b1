#include "doors/rest/bindings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "google/firestore/v1/firestore.pb.h"

namespace hearth::doors::rest {
namespace {

const google::protobuf::ServiceDescriptor& Firestore() {
  return *google::firestore::v1::GetDocumentRequest::descriptor()->file()->FindServiceByName(
      "Firestore");
}

class BindingsTest : public testing::Test {
 protected:
  // "GetDocument name=…"; "none" if nothing matches.
  std::string Find(std::string_view http_method, const std::string& rest) {
    const std::string database = "projects/p/databases/d";
    const auto match = bindings_.Find(http_method, "/v1/" + database + rest);
    if (!match) return "none";
    std::string text = match->binding->method->name();
    for (auto [field, value] : match->values) {
      if (value.starts_with(database)) value = value.substr(database.size());
      text += " " + field + "=" + value;
    }
    return text;
  }

  const Bindings bindings_{Firestore()};
};

TEST_F(BindingsTest, TellsDocumentsFromCollections) {
  EXPECT_EQ(Find("GET", "/documents/c"), "ListDocuments parent=/documents collection_id=c");
  EXPECT_EQ(Find("GET", "/documents/c/a"), "GetDocument name=/documents/c/a");
  EXPECT_EQ(Find("GET", "/documents/c/a/e"), "ListDocuments parent=/documents/c/a collection_id=e");
  EXPECT_EQ(Find("GET", "/documents/c/a/e/f"), "GetDocument name=/documents/c/a/e/f");
}

TEST_F(BindingsTest, FindsTheMethodsOfDocuments) {
  EXPECT_EQ(Find("PATCH", "/documents/c/a"), "UpdateDocument document.name=/documents/c/a");
  EXPECT_EQ(Find("DELETE", "/documents/c/a"), "DeleteDocument name=/documents/c/a");
  EXPECT_EQ(Find("POST", "/documents/c"), "CreateDocument parent=/documents collection_id=c");
  EXPECT_EQ(Find("POST", "/documents/c/a/e"),
            "CreateDocument parent=/documents/c/a collection_id=e");
}

TEST_F(BindingsTest, FindsEveryVerb) {
  std::set<std::string> methods;
  for (const char* verb : {"batchGet", "beginTransaction", "commit", "rollback", "runQuery",
                           "executePipeline", "runAggregationQuery", "partitionQuery", "write",
                           "listen", "listCollectionIds", "batchWrite"}) {
    const std::string found = Find("POST", std::string("/documents:") + verb);
    EXPECT_NE(found, "none") << verb;
    methods.insert(found.substr(0, found.find(' ')));
  }
  EXPECT_EQ(methods.size(), 12u);
  EXPECT_EQ(Find("POST", "/documents/c/a:runQuery"), "RunQuery parent=/documents/c/a");
  EXPECT_EQ(Find("POST", "/documents/c/a:listCollectionIds"),
            "ListCollectionIds parent=/documents/c/a");
}

TEST_F(BindingsTest, AColonMayBePartOfAnId) {
  EXPECT_EQ(Find("GET", "/documents/c/a:b"), "GetDocument name=/documents/c/a:b");
  EXPECT_EQ(Find("GET", "/documents/c/a:runQuery"), "GetDocument name=/documents/c/a:runQuery");
  EXPECT_EQ(Find("DELETE", "/documents/c/a:commit"), "DeleteDocument name=/documents/c/a:commit");
}

TEST_F(BindingsTest, FindsNothingElse) {
  EXPECT_EQ(Find("GET", "/documents:commit"), "none");
  EXPECT_EQ(Find("POST", "/documents:nope"), "none");
  EXPECT_EQ(Find("PUT", "/documents/c/a"), "none");
  EXPECT_EQ(Find("GET", "/documents"), "none");
  EXPECT_EQ(Find("GET", "/documents/"), "none");
  EXPECT_EQ(Find("GET", ""), "none");
  EXPECT_EQ(Find("GET", "/nope/c/a"), "none");
}

}  // namespace
}  // namespace hearth::doors::rest
