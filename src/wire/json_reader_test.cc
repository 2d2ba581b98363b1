#include "wire/json_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "google/firestore/v1/document.pb.h"
#include "google/firestore/v1/firestore.pb.h"
#include "wire/json_scalar.h"

namespace hearth::wire {
namespace {

namespace proto = ::google::firestore::v1;

proto::Value ReadValue(std::string_view json) {
  proto::Value value;
  const Status status = ReadJson(json, &value);
  EXPECT_TRUE(status.ok()) << json << ": " << status.ToString();
  return value;
}

template <typename T = proto::Value>
std::string Error(std::string_view json) {
  T message;
  const Status status = ReadJson(json, &message);
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << json;
  return status.message();
}

TEST(JsonReaderTest, ReadsNumbersHoweverTheyAreWritten) {
  for (const char* json :
       {R"({"integerValue": 1000})", R"({"integerValue": "1000"})", R"({"integerValue": 1e3})",
        R"({"integerValue": "1e3"})", R"({"integer_value": 1000.0})"}) {
    EXPECT_EQ(ReadValue(json).integer_value(), 1000) << json;
  }
  EXPECT_EQ(ReadValue(R"({"integerValue": 9007199254740993})").integer_value(), 9007199254740993);
  EXPECT_EQ(ReadValue(R"({"integerValue": "-9223372036854775808"})").integer_value(), INT64_MIN);
  EXPECT_EQ(ReadValue(R"({"doubleValue": "1.5"})").double_value(), 1.5);
  EXPECT_EQ(ReadValue(R"({"doubleValue": 2})").double_value(), 2);
  EXPECT_TRUE(std::isnan(ReadValue(R"({"doubleValue": "NaN"})").double_value()));
  EXPECT_TRUE(std::isinf(ReadValue(R"({"doubleValue": "-Infinity"})").double_value()));
  EXPECT_TRUE(std::signbit(ReadValue(R"({"doubleValue": -0.0})").double_value()));
  EXPECT_TRUE(std::signbit(ReadValue(R"({"doubleValue": -0})").double_value()));
  EXPECT_FALSE(std::signbit(ReadValue(R"({"doubleValue": 0})").double_value()));
  EXPECT_EQ(ReadValue(R"({"integerValue": -0})").integer_value(), 0);
  for (const char* json :
       {R"({"integerValue": 1.5})", R"({"integerValue": ""})", R"({"integerValue": " 1"})",
        R"({"integerValue": 9223372036854775808})", R"({"integerValue": "9223372036854775808"})",
        R"({"integerValue": true})", R"({"doubleValue": "nan"})", R"({"doubleValue": "inf"})",
        R"({"doubleValue": 1e999})", R"({"doubleValue": ""})"}) {
    Error(json);
  }
}

TEST(JsonReaderTest, ReadsNull) {
  for (const char* json :
       {R"({"nullValue": null})", R"({"nullValue": "NULL_VALUE"})", R"({"nullValue": 0})"}) {
    EXPECT_TRUE(ReadValue(json).has_null_value()) << json;
  }
  // Elsewhere null means that there is no value, which an element must have.
  EXPECT_EQ(ReadValue(R"({"stringValue": null})").value_type_case(),
            proto::Value::VALUE_TYPE_NOT_SET);
  Error(R"({"arrayValue": {"values": [null]}})");
  Error(R"({"mapValue": {"fields": {"a": null}}})");
}

TEST(JsonReaderTest, ReadsBytesAndTimes) {
  for (const char* json : {R"({"bytesValue": "+/8="})", R"({"bytesValue": "-_8="})",
                           R"({"bytesValue": "+/8"})", R"({"bytesValue": "-_8"})"}) {
    EXPECT_EQ(ReadValue(json).bytes_value(), "\xfb\xff") << json;
  }
  for (const char* json : {R"({"timestampValue": "2024-01-01T00:00:00.25Z"})",
                           R"({"timestampValue": "2024-01-01T02:00:00.25+02:00"})",
                           R"({"timestampValue": "2023-12-31T23:30:00.250000000-00:30"})"}) {
    EXPECT_EQ(ReadValue(json).timestamp_value().seconds(), 1704067200) << json;
    EXPECT_EQ(ReadValue(json).timestamp_value().nanos(), 250'000'000) << json;
  }
  for (const char* json : {R"({"bytesValue": "?"})", R"({"timestampValue": "2024-01-01T00:00:00"})",
                           R"({"timestampValue": 1})", R"({"timestampValue": {"seconds": 1}})"}) {
    Error(json);
  }
}

TEST(JsonReaderTest, ReadsWhatNests) {
  proto::RunQueryRequest request;
  const Status status = ReadJson(R"({"structuredQuery": {
      "from": [{"collectionId": "c", "allDescendants": true}], "limit": 3,
      "where": {"compositeFilter": {"op": "AND", "filters": [
        {"fieldFilter": {"field": {"fieldPath": "a"}, "op": 5, "value": {"stringValue": "é😀"}}}]}}}})",
                                 &request);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const auto& query = request.structured_query();
  EXPECT_TRUE(query.from(0).all_descendants());
  EXPECT_EQ(query.limit().value(), 3);
  const auto& filter = query.where().composite_filter().filters(0).field_filter();
  EXPECT_EQ(filter.op(), proto::StructuredQuery::FieldFilter::EQUAL);
  EXPECT_EQ(filter.value().string_value(), "é😀");
}

TEST(JsonReaderTest, UsesGooglesWords) {
  EXPECT_EQ(Error(R"({"foo": 1})"),
            "Invalid JSON payload received. Unknown name \"foo\": Cannot find field.");
  EXPECT_EQ(
      Error<proto::CreateDocumentRequest>(R"({"document": {"foo": 1}})"),
      "Invalid JSON payload received. Unknown name \"foo\" at 'document': Cannot find field.");
  EXPECT_EQ(Error<proto::Document>(
                R"({"fields": {"x": {"integerValue": 1}, "a": {"integerValue": "x"}}})"),
            "Invalid value at 'fields[1].value.integer_value' (TYPE_INT64), \"x\"");
  EXPECT_EQ(Error<proto::Document>(R"({"fields": {"a": "x"}})"),
            "Invalid value at 'fields[0].value' (type.googleapis.com/google.firestore.v1.Value), "
            "\"x\"");
  EXPECT_EQ(Error(R"({"arrayValue": {"values": [{}, {"integerValue": "1", "stringValue": ""}]}})"),
            "Invalid value at 'array_value.values[1]' (oneof), oneof field 'value_type' is already "
            "set. Cannot set 'stringValue'");
  EXPECT_EQ(Error(R"({"stringValue": 12})"), "Invalid value at 'string_value' (TYPE_STRING), 12");
  EXPECT_EQ(Error(R"({"stringValue": {}})"),
            "Invalid value at 'string_value' (TYPE_STRING), Starting an object on a scalar field");
  EXPECT_EQ(Error(R"({"stringValue": []})"),
            "Invalid JSON payload received. Unknown name \"stringValue\": Proto field is not "
            "repeating, cannot start list.");
  EXPECT_EQ(Error(R"({"nullValue": "NOPE"})"),
            "Invalid value at 'null_value' (type.googleapis.com/google.protobuf.NullValue), "
            "\"NOPE\"");
  EXPECT_EQ(Error(R"({"mapValue": {"fields": {"a": {}, "a": {}}}})"),
            "Invalid value at 'map_value.fields[1].value' (Map), Repeated map key: 'a' is already "
            "set.");
  for (const char* json : {"[]", "1", "null", "\"x\""}) {
    EXPECT_EQ(Error(json),
              "Invalid JSON payload received. Unknown name \"\": Root element must be a message.")
        << json;
  }
}

TEST(JsonReaderTest, QuotesOnlyTheBeginningOfWhatIsLong) {
  const std::string longer(10'000'000, 'k');
  for (const std::string& json :
       {R"({"mapValue": {"fields": {")" + longer + R"(": {}, ")" + longer + R"(": {}}}})",
        "{\"" + longer + "\": 1}", R"({"integerValue": ")" + longer + "\"}"}) {
    const std::string error = Error(json);
    EXPECT_LE(error.size(), kQuotedBytesMax + 200);
    EXPECT_NE(error.find(std::string(kQuotedBytesMax, 'k')), std::string::npos);
  }
}

TEST(JsonReaderTest, StopsWhenThereIsNoMemory) {
  std::string writes = R"({"writes": [{})";
  for (int i = 0; i < 100'000; ++i) writes += ",{}";
  writes += "]}";
  MemoryBudget memory(64 * 1024 * 1024);
  MemoryClaim claim(&memory);
  proto::CommitRequest request;
  ASSERT_TRUE(ReadJson(writes, &request, "", &claim).ok());
  EXPECT_GE(claim.bytes(), request.SpaceUsedLong());
  MemoryBudget small(request.SpaceUsedLong());
  MemoryClaim refused(&small);
  proto::CommitRequest part;
  EXPECT_EQ(ReadJson(writes, &part, "", &refused).code(), Code::kResourceExhausted);
  EXPECT_LT(part.writes_size(), 100'000);
}

TEST(JsonReaderTest, ShowsWhereTheSyntaxIsWrong) {
  EXPECT_EQ(Error(R"({"integerValue" 1})"),
            "Invalid JSON payload received. Unexpected token.\n"
            "{\"integerValue\" 1}\n"
            "                ^");
  EXPECT_EQ(Error(R"({"integerValue": 1)"),
            "Invalid JSON payload received. Unexpected end of string.\n"
            "{\"integerValue\": 1\n"
            "                  ^");
  for (const char* json : {"", "{", "{]", "{} x", "{\"stringValue\": \"\xff\"}",
                           R"({"stringValue": "\ud800"})", "{\"integerValue\": 1,}"}) {
    Error(json);
  }
}

TEST(JsonReaderTest, BoundsTheDepth) {
  std::string nested = "{}";
  for (int i = 0; i < 30; ++i) nested = R"({"arrayValue": {"values": [)" + nested + "]}}";
  ReadValue(nested);
  for (int i = 0; i < 10; ++i) nested = R"({"arrayValue": {"values": [)" + nested + "]}}";
  EXPECT_NE(Error(nested).find("Message too deep"), std::string::npos);

  std::string endless;
  for (int i = 0; i < 100'000; ++i) endless += R"({"arrayValue": {"values": [)";
  Error(endless);
  Error(std::string(1'000'000, '['));
  Error(R"({"arrayValue": {"values": )" + std::string(1'000'000, '['));
}

}  // namespace
}  // namespace hearth::wire
