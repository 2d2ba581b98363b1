#include "wire/json_writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "google/firestore/v1/document.pb.h"
#include "google/firestore/v1/firestore.pb.h"
#include "google/firestore/v1/query_profile.pb.h"
#include "wire/parse_memory.h"

namespace hearth::wire {
namespace {

namespace proto = ::google::firestore::v1;

std::string Json(const google::protobuf::Message& message, const JsonForm& form = {}) {
  std::string json;
  const Status status = WriteJson(message, form, &json);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return json;
}

TEST(JsonWriterTest, WritesEveryKindOfValue) {
  proto::Value value;
  value.set_null_value(google::protobuf::NULL_VALUE);
  EXPECT_EQ(Json(value), R"({"nullValue":null})");
  value.set_boolean_value(false);
  EXPECT_EQ(Json(value), R"({"booleanValue":false})");
  value.set_integer_value(-12);
  EXPECT_EQ(Json(value), R"({"integerValue":"-12"})");
  value.set_bytes_value("\xfb\xff");
  EXPECT_EQ(Json(value), R"({"bytesValue":"+/8="})");
  value.mutable_timestamp_value()->set_seconds(1704067200);
  EXPECT_EQ(Json(value), R"({"timestampValue":"2024-01-01T00:00:00Z"})");
  value.mutable_timestamp_value()->set_nanos(123'456'000);
  EXPECT_EQ(Json(value), R"({"timestampValue":"2024-01-01T00:00:00.123456Z"})");
  value.mutable_geo_point_value()->set_longitude(1.5);
  EXPECT_EQ(Json(value), R"({"geoPointValue":{"longitude":1.5}})");
  value.mutable_array_value();
  EXPECT_EQ(Json(value), R"({"arrayValue":{}})");
  value.mutable_map_value();
  EXPECT_EQ(Json(value), R"({"mapValue":{}})");
}

TEST(JsonWriterTest, WritesDoublesThatReadBackTheSame) {
  proto::Value value;
  const std::pair<double, const char*> cases[] = {
      {0, "0"},
      {-0.0, "-0.0"},
      {2, "2"},
      {0.1, "0.1"},
      {1e300, "1e+300"},
      {5e-324, "5e-324"},
      {std::numeric_limits<double>::quiet_NaN(), "\"NaN\""},
      {std::numeric_limits<double>::infinity(), "\"Infinity\""},
      {-std::numeric_limits<double>::infinity(), "\"-Infinity\""}};
  for (const auto& [number, text] : cases) {
    value.set_double_value(number);
    EXPECT_EQ(Json(value), std::string(R"({"doubleValue":)") + text + "}");
  }
}

TEST(JsonWriterTest, EscapesText) {
  proto::Value value;
  value.set_string_value("a\"b\\c\n\r\t\x01\x7f é\u2028");
  EXPECT_EQ(Json(value), "{\"stringValue\":\"a\\\"b\\\\c\\n\\r\\t\\u0001\x7f é\u2028\"}");
  value.set_string_value(std::string("\0", 1));
  EXPECT_EQ(Json(value), R"({"stringValue":"\u0000"})");
}

TEST(JsonWriterTest, SortsKeys) {
  proto::Document document;
  document.set_name("n");
  for (const char* key : {"c", "a", "b"}) (*document.mutable_fields())[key].set_boolean_value(true);
  EXPECT_EQ(Json(document),
            R"({"name":"n","fields":{"a":{"booleanValue":true},"b":{"booleanValue":true},)"
            R"("c":{"booleanValue":true}}})");
}

TEST(JsonWriterTest, Indents) {
  proto::ListCollectionIdsResponse ids;
  EXPECT_EQ(Json(ids, {.layout = JsonLayout::kIndented}), "{}");
  ids.add_collection_ids("a");
  ids.add_collection_ids("b");
  EXPECT_EQ(Json(ids, {.layout = JsonLayout::kIndented}),
            "{\n  \"collectionIds\": [\n    \"a\",\n    \"b\"\n  ]\n}");
}

TEST(JsonWriterTest, WritesEnumsAsAsked) {
  proto::StructuredQuery query;
  query.add_order_by()->set_direction(proto::StructuredQuery::DESCENDING);
  query.mutable_limit()->set_value(0);
  EXPECT_EQ(Json(query), R"({"orderBy":[{"direction":"DESCENDING"}],"limit":0})");
  EXPECT_EQ(Json(query, {.enums = JsonEnums::kNumbers}),
            R"({"orderBy":[{"direction":2}],"limit":0})");
}

TEST(JsonWriterTest, WritesStructsAndDurations) {
  proto::ExplainMetrics metrics;
  auto* fields = metrics.mutable_plan_summary()->add_indexes_used()->mutable_fields();
  (*fields)["scope"].set_string_value("Collection");
  (*fields)["n"].set_number_value(1);
  (*fields)["list"].mutable_list_value()->add_values()->set_bool_value(true);
  (*fields)["nothing"].set_null_value(google::protobuf::NULL_VALUE);
  metrics.mutable_execution_stats()->mutable_execution_duration()->set_nanos(1'500'000);
  EXPECT_EQ(Json(metrics),
            R"({"planSummary":{"indexesUsed":[{"list":[true],"n":1,"nothing":null,)"
            R"("scope":"Collection"}]},"executionStats":{"executionDuration":"0.001500s"}})");
}

TEST(JsonWriterTest, LongTextsHaveNoWhiteSpace) {
  const JsonForm indented{.layout = JsonLayout::kIndented};
  const auto text_of = [](size_t bytes) {
    proto::Value value;
    value.set_string_value(std::string(bytes, 'x'));
    return value;
  };
  EXPECT_EQ(Json(text_of(kIndentedBytesMax / 2), indented).substr(0, 5), "{\n  \"");
  EXPECT_EQ(Json(text_of(kIndentedBytesMax), indented).substr(0, 5), "{\"str");
  // Each of these would be on lines of its own, with 160 spaces in front.
  proto::Value deep;
  proto::Value* inner = &deep;
  for (int i = 0; i < 20; ++i) inner = inner->mutable_array_value()->add_values();
  for (int i = 0; i < 100'000; ++i) inner->mutable_array_value()->add_values()->set_null_value({});
  EXPECT_EQ(Json(deep, indented), Json(deep));
  // What was there before stays.
  std::string json = "[";
  ASSERT_TRUE(WriteJson(deep, indented, &json).ok());
  EXPECT_EQ(json, "[" + Json(deep));
}

TEST(JsonWriterTest, WhiteSpaceEndsAtTheLimit) {
  // Room for the first text, doubled, is more than the limit.
  constexpr size_t kFirstBytes = kIndentedBytesMax / 2 + 10'000;
  constexpr size_t kBytes = 1'000;
  proto::Value value;
  value.mutable_array_value()->add_values()->set_string_value(std::string(kFirstBytes, 'x'));
  size_t indented = 0;
  size_t compact = 0;
  for (size_t bytes = kFirstBytes; bytes < 2 * kFirstBytes; bytes += kBytes) {
    value.mutable_array_value()->add_values()->set_string_value(std::string(kBytes, 'x'));
    const std::string json = Json(value, {.layout = JsonLayout::kIndented});
    if (json.find('\n') == std::string::npos) {
      ++compact;
    } else {
      ++indented;
      EXPECT_LE(json.size(), kIndentedBytesMax);
    }
  }
  EXPECT_GT(indented, 0u);
  EXPECT_GT(compact, 0u);
}

TEST(JsonWriterTest, EscapesAreClaimed) {
  constexpr size_t kBytes = 1'000'000;
  constexpr size_t kJsonBytes = 6 * kBytes;
  proto::Value value;
  value.set_string_value(std::string(kBytes, '\x01'));
  MemoryBudget memory(4 * kJsonBytes);
  MemoryClaim claim(&memory);
  std::string json;
  EXPECT_TRUE(WriteJson(value, {}, &json, &claim).ok());
  EXPECT_GT(json.size(), kJsonBytes);
  EXPECT_GE(claim.bytes() + kUnclaimedBytesMax, json.size());
  MemoryBudget small(2 * kBytes);
  MemoryClaim refused(&small);
  json.clear();
  EXPECT_EQ(WriteJson(value, {}, &json, &refused).code(), Code::kResourceExhausted);
  EXPECT_LE(json.size(), small.bytes_max() + kUnclaimedBytesMax);
}

TEST(JsonWriterTest, StopsWhenThereIsNoMemory) {
  proto::Value value;
  for (int i = 0; i < 100'000; ++i) value.mutable_array_value()->add_values()->set_null_value({});
  const size_t bytes = Json(value).size();
  MemoryBudget memory(4 * bytes);
  MemoryClaim claim(&memory);
  std::string json;
  EXPECT_TRUE(WriteJson(value, {}, &json, &claim).ok());
  EXPECT_EQ(json.size(), bytes);
  claim.Reset();
  MemoryBudget small(bytes / 2);
  MemoryClaim refused(&small);
  json.clear();
  EXPECT_EQ(WriteJson(value, {}, &json, &refused).code(), Code::kResourceExhausted);
  EXPECT_LE(json.size(), bytes / 2 + 100'000);
}

TEST(JsonWriterTest, RefusesTimesThatHaveNoForm) {
  proto::Value value;
  value.mutable_timestamp_value()->set_seconds(std::numeric_limits<int64_t>::max());
  std::string json;
  EXPECT_EQ(WriteJson(value, {}, &json).code(), Code::kInternal);
}

}  // namespace
}  // namespace hearth::wire
