#include "doors/rest/transcoder.h"

#include <gtest/gtest.h>

#include "doors/rest/testing/root.h"
#include "google/firestore/v1/firestore.pb.h"

namespace hearth::doors::rest {
namespace {

namespace proto = ::google::firestore::v1;

class TranscoderTest : public testing::Test {
 protected:
  Result<std::string> Make(std::string_view http_method, const std::string& rest,
                           std::string_view query, std::string_view body = "") {
    const auto match = bindings_.Find(http_method, kRoot + rest);
    EXPECT_TRUE(match.has_value()) << rest;
    const auto parameters = ParseQuery(query);
    EXPECT_TRUE(parameters.has_value()) << query;
    return MakeRequest(*match, *parameters, body);
  }

  template <typename Request>
  Request Must(std::string_view http_method, const std::string& rest, std::string_view query,
               std::string_view body = "") {
    Request request;
    const Result<std::string> bytes = Make(http_method, rest, query, body);
    EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
    EXPECT_TRUE(bytes.ok() && request.ParseFromString(*bytes));
    return request;
  }

  std::string Error(std::string_view http_method, const std::string& rest, std::string_view query,
                    std::string_view body = "") {
    const Result<std::string> bytes = Make(http_method, rest, query, body);
    EXPECT_EQ(bytes.status().code(), Code::kInvalidArgument);
    return bytes.status().message();
  }

  const Bindings bindings_{
      *proto::GetDocumentRequest::descriptor()->file()->FindServiceByName("Firestore")};
};

TEST_F(TranscoderTest, BindsParametersInBothSpellings) {
  const auto list = Must<proto::ListDocumentsRequest>(
      "GET", "/c",
      "pageSize=3&page_token=t%20+x&mask.fieldPaths=a&mask.field_paths=b&showMissing=true");
  EXPECT_EQ(list.parent(), "projects/p/databases/d/documents");
  EXPECT_EQ(list.collection_id(), "c");
  EXPECT_EQ(list.page_size(), 3);
  EXPECT_EQ(list.page_token(), "t  x");
  EXPECT_TRUE(list.show_missing());
  ASSERT_EQ(list.mask().field_paths_size(), 2);
  EXPECT_EQ(list.mask().field_paths(1), "b");
}

TEST_F(TranscoderTest, BindsTimesAndBytes) {
  const auto get =
      Must<proto::GetDocumentRequest>("GET", "/c/a", "readTime=2024-01-01T02:00:00.5%2B02:00");
  EXPECT_EQ(get.read_time().seconds(), 1704067200);
  EXPECT_EQ(get.read_time().nanos(), 500'000'000);
  EXPECT_EQ(Must<proto::GetDocumentRequest>("GET", "/c/a", "transaction=-_8%3D").transaction(),
            "\xfb\xff");
  EXPECT_EQ(Must<proto::GetDocumentRequest>("GET", "/c/a", "transaction=%2B/8").transaction(),
            "\xfb\xff");
}

TEST_F(TranscoderTest, ThePathHasTheLastWord) {
  const auto update = Must<proto::UpdateDocumentRequest>(
      "PATCH", "/c/a", "updateMask.fieldPaths=n&currentDocument.exists=true",
      R"({"name": "elsewhere", "fields": {"n": {"integerValue": 1}}})");
  EXPECT_EQ(update.document().name(), "projects/p/databases/d/documents/c/a");
  EXPECT_EQ(update.document().fields().at("n").integer_value(), 1);
  EXPECT_TRUE(update.current_document().exists());
  const auto commit =
      Must<proto::CommitRequest>("POST", ":commit", "", R"({"database": "x", "writes": []})");
  EXPECT_EQ(commit.database(), "projects/p/databases/d");
}

TEST_F(TranscoderTest, AnEmptyBodyIsAnEmptyObject) {
  EXPECT_TRUE(Must<proto::CreateDocumentRequest>("POST", "/c", "documentId=x").has_document());
  EXPECT_EQ(Must<proto::CommitRequest>("POST", ":commit", "", " \n").writes_size(), 0);
}

TEST_F(TranscoderTest, LeavesSystemParametersAlone) {
  Must<proto::GetDocumentRequest>(
      "GET", "/c/a",
      "key=k&access_token=t&alt=json&$alt=json&prettyPrint=true&fields=x"
      "&quotaUser=u&uploadType=media&$.xgafv=2&callback=f&upload_protocol=raw");
}

TEST_F(TranscoderTest, SaysWhichParameterIsWrong) {
  EXPECT_EQ(Error("GET", "/c/a", "foo=1"),
            "Invalid JSON payload received. Unknown name \"foo\": Cannot bind query parameter. "
            "Field 'foo' could not be found in request message.");
  EXPECT_EQ(Error("GET", "/c/a", "mask=a"),
            "Invalid JSON payload received. Unknown name \"mask\": Cannot bind query parameter. "
            "'mask' is a message type. Parameters can only be bound to primitive types.");
  EXPECT_EQ(Error("GET", "/c/a", "name.x=1"),
            "Invalid JSON payload received. Unknown name \"name.x\": Cannot bind query parameter. "
            "Field 'name' is not a message type.");
  EXPECT_EQ(Error("GET", "/c", "pageSize=abc"),
            "Invalid value at 'page_size' (TYPE_INT32), \"abc\"");
  EXPECT_EQ(Error("GET", "/c", "showMissing=yes"),
            "Invalid value at 'show_missing' (TYPE_BOOL), \"yes\"");
  EXPECT_EQ(
      Error("GET", "/c", "readTime=now"),
      "Invalid value at 'read_time' (type.googleapis.com/google.protobuf.Timestamp), \"now\"");
  EXPECT_EQ(Error("GET", "/c/%ff", ""), "The path is not valid UTF-8.");
  EXPECT_EQ(Error("GET", "/c/a", "mask.fieldPaths=%ff"), "The query is not valid UTF-8.");
}

TEST_F(TranscoderTest, SaysWhereTheBodyIsWrong) {
  EXPECT_EQ(
      Error("PATCH", "/c/a", "", R"({"foo": 1})"),
      "Invalid JSON payload received. Unknown name \"foo\" at 'document': Cannot find field.");
  EXPECT_EQ(
      Error("POST", ":commit", "", R"({"writes": [{"foo": 1}]})"),
      "Invalid JSON payload received. Unknown name \"foo\" at 'writes[0]': Cannot find field.");
}

TEST_F(TranscoderTest, ReadsTheFormOfTheAnswer) {
  const auto form = [](std::string_view query) { return ReadAnswerForm(*ParseQuery(query)); };
  EXPECT_EQ(form("")->layout, wire::JsonLayout::kIndented);
  EXPECT_EQ(form("prettyPrint=false")->layout, wire::JsonLayout::kCompact);
  EXPECT_EQ(form("$prettyPrint=false")->layout, wire::JsonLayout::kCompact);
  EXPECT_EQ(form("alt=json")->enums, wire::JsonEnums::kNames);
  EXPECT_EQ(form("$alt=json;enum-encoding=int")->enums, wire::JsonEnums::kNumbers);
  EXPECT_EQ(form("%24alt=json%3Benum-encoding%3Dint")->enums, wire::JsonEnums::kNumbers);
  EXPECT_EQ(form("alt=proto").status().code(), Code::kInvalidArgument);
}

TEST_F(TranscoderTest, ReadsQueries) {
  EXPECT_EQ(*ParseQuery("&a=1&&b&c=&=d"),
            (QueryParameters{{"a", "1"}, {"b", ""}, {"c", ""}, {"", "d"}}));
  EXPECT_EQ(ParseQuery("a=%"), std::nullopt);
  EXPECT_EQ(ParseQuery("%zz=1"), std::nullopt);
}

}  // namespace
}  // namespace hearth::doors::rest
