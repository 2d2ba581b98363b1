#include "wire/responses.h"

#include <gtest/gtest.h>

#include "base/testing/test_seed.h"
#include "google/firestore/v1/document.pb.h"
#include "google/firestore/v1/firestore.pb.h"
#include "model/testing/random_value.h"
#include "request/testing/writes.h"
#include "wire/testing/messages.h"

namespace hearth::wire {
namespace {

namespace proto = ::google::firestore::v1;
using model::EncodeInteger;
using model::Timestamp;

constexpr char kName[] = "projects/p1/databases/(default)/documents/c/a";
void SetTime(int64_t micros, google::protobuf::Timestamp* time) {
  time->set_seconds(micros / 1'000'000);
  time->set_nanos(static_cast<int32_t>(micros % 1'000'000) * 1'000);
}

proto::Document ExpectedDocument(const std::map<std::string, int64_t>& numbers) {
  proto::Document document;
  document.set_name(kName);
  for (const auto& [name, number] : numbers) {
    (*document.mutable_fields())[name].set_integer_value(number);
  }
  SetTime(kCreated, document.mutable_create_time());
  SetTime(kUpdated, document.mutable_update_time());
  return document;
}

const std::string& RecordOfTwoFields() {
  static const std::string record =
      RecordOf(kCreated, kUpdated, MakeFields({{"a", EncodeInteger(1)}, {"b", EncodeInteger(2)}}));
  return record;
}

request::WriteResult Written(int64_t update_micros) {
  request::WriteResult result;
  result.document = std::make_shared<const std::string>(RecordOf(kCreated, update_micros, {}));
  return result;
}

TEST(ResponsesTest, Documents) {
  ExpectEqual(FromBytes<proto::Document>(EncodeDocument(kName, RecordOfTwoFields(), std::nullopt)),
              ExpectedDocument({{"a", 1}, {"b", 2}}));
  ExpectEqual(FromBytes<proto::Document>(
                  EncodeDocument(kName, RecordOf(kCreated, kUpdated, {}), std::nullopt)),
              ExpectedDocument({}));
}

TEST(ResponsesTest, MaskedDocuments) {
  const auto masked = [](const ReadMask& mask) {
    return FromBytes<proto::Document>(EncodeDocument(kName, RecordOfTwoFields(), mask));
  };
  ExpectEqual(masked({{FieldAt("b"), FieldAt("missing")}}), ExpectedDocument({{"b", 2}}));
  ExpectEqual(masked({{FieldAt("b"), FieldAt("a"), FieldAt("b")}}),
              ExpectedDocument({{"a", 1}, {"b", 2}}));
  ExpectEqual(masked(std::vector<model::FieldPath>()), ExpectedDocument({}));
  ExpectEqual(masked({{FieldAt("__name__")}}), ExpectedDocument({}));
}

TEST(ResponsesTest, TimesOfTheEpochAreThere) {
  const auto document =
      FromBytes<proto::Document>(EncodeDocument(kName, RecordOf(0, 0, {}), std::nullopt));
  EXPECT_TRUE(document.has_create_time() && document.has_update_time());
  EXPECT_EQ(document.create_time().seconds(), 0);
}

TEST(ResponsesTest, StoredFieldsAreWhatProtobufWrites) {
  const uint64_t seed = TestSeed();
  model::RandomTrees random(seed);
  for (int i = 0; i < 2'000; ++i) {
    const std::string encoded = EncodeDocumentFields(random.Fields(3));
    const Result<model::Fields> fields = model::Fields::Validate(encoded);
    ASSERT_TRUE(fields.ok()) << fields.status().ToString();
    proto::Document document = FromBytes<proto::Document>(
        EncodeDocument(kName, RecordOf(kCreated, kUpdated, *fields), std::nullopt));
    ExpectEqual(document, [&] {
      proto::Document expected = FromBytes<proto::Document>(encoded);
      expected.set_name(kName);
      SetTime(kCreated, expected.mutable_create_time());
      SetTime(kUpdated, expected.mutable_update_time());
      return expected;
    }());
  }
}

TEST(ResponsesTest, BatchGet) {
  const Timestamp read_time = Timestamp::FromMicros(kUpdated + 1);
  proto::BatchGetDocumentsResponse expected;
  *expected.mutable_found() = ExpectedDocument({{"a", 1}});
  SetTime(kUpdated + 1, expected.mutable_read_time());
  ExpectEqual(FromBytes<proto::BatchGetDocumentsResponse>(
                  EncodeFound(kName, RecordOfTwoFields(), {{FieldAt("a")}}, read_time)),
              expected);
  expected.set_missing(kName);
  ExpectEqual(FromBytes<proto::BatchGetDocumentsResponse>(EncodeMissing(kName, read_time)),
              expected);
}

TEST(ResponsesTest, Transactions) {
  using namespace std::string_literals;
  const std::string id = "\x00\x01\xff"s;
  proto::BatchGetDocumentsResponse first;
  first.set_transaction(id);
  ExpectEqual(FromBytes<proto::BatchGetDocumentsResponse>(EncodeNewTransaction(id)), first);
  EXPECT_EQ(FromBytes<proto::BeginTransactionResponse>(EncodeBeginTransaction(id)).transaction(),
            id);
}

TEST(ResponsesTest, Commits) {
  request::CommitResult result{Timestamp::FromMicros(kUpdated), {}};
  proto::CommitResponse expected;
  SetTime(kUpdated, expected.mutable_commit_time());
  ExpectEqual(FromBytes<proto::CommitResponse>(EncodeCommit(result)), expected);  // No writes.

  result.write_results = {Written(kUpdated), Written(kCreated), {}};
  result.write_results[1].transform_results = {EncodeInteger(7), model::EncodeNull()};
  SetTime(kUpdated, expected.add_write_results()->mutable_update_time());
  proto::WriteResult* transformed = expected.add_write_results();
  SetTime(kCreated, transformed->mutable_update_time());
  transformed->add_transform_results()->set_integer_value(7);
  transformed->add_transform_results()->set_null_value(google::protobuf::NULL_VALUE);
  expected.add_write_results();  // A delete.
  ExpectEqual(FromBytes<proto::CommitResponse>(EncodeCommit(result)), expected);
}

TEST(ResponsesTest, BatchWrites) {
  EXPECT_EQ(EncodeBatchWrite({}), "");
  const Result<request::CommitResult> written =
      request::CommitResult{Timestamp::FromMicros(kUpdated), {Written(kUpdated)}};
  const Result<request::CommitResult> deleted =
      request::CommitResult{Timestamp::FromMicros(kUpdated), {request::WriteResult()}};
  const Result<request::CommitResult> refused = Status(Code::kAlreadyExists, "it is there: é");
  const Result<request::CommitResult> silent = Status(Code::kAborted, "");
  proto::BatchWriteResponse expected;
  SetTime(kUpdated, expected.add_write_results()->mutable_update_time());
  for (int i = 0; i < 3; ++i) expected.add_write_results();
  expected.add_status();
  expected.add_status()->set_code(6);
  expected.mutable_status(1)->set_message("it is there: é");
  expected.add_status();
  expected.add_status()->set_code(10);
  ExpectEqual(
      FromBytes<proto::BatchWriteResponse>(EncodeBatchWrite({written, refused, deleted, silent})),
      expected);
}

TEST(ResponsesTest, PagesOfDocuments) {
  request::DocumentPage page;
  ExpectEqual(FromBytes<proto::ListDocumentsResponse>(
                  EncodeDocumentPage(NameDatabase(), page, std::nullopt)),
              proto::ListDocumentsResponse());
  page.documents.push_back({Path("c/a"), std::make_shared<const std::string>(RecordOfTwoFields())});
  page.documents.push_back({Path("c/missing"), nullptr});
  page.next_page_token = "token";
  proto::ListDocumentsResponse expected;
  *expected.add_documents() = ExpectedDocument({{"b", 2}});
  expected.add_documents()->set_name("projects/p1/databases/(default)/documents/c/missing");
  expected.set_next_page_token("token");
  ExpectEqual(FromBytes<proto::ListDocumentsResponse>(
                  EncodeDocumentPage(NameDatabase(), page, {{FieldAt("b")}})),
              expected);
}

TEST(ResponsesTest, PagesOfCollectionIds) {
  request::CollectionIdPage page;
  EXPECT_EQ(EncodeCollectionIdPage(page), "");
  page.collection_ids = {"a", "é"};
  page.next_page_token = "token";
  proto::ListCollectionIdsResponse expected;
  expected.add_collection_ids("a");
  expected.add_collection_ids("é");
  expected.set_next_page_token("token");
  ExpectEqual(FromBytes<proto::ListCollectionIdsResponse>(EncodeCollectionIdPage(page)), expected);
}

}  // namespace
}  // namespace hearth::wire
