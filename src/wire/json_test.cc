#include "wire/json.h"

#include <gtest/gtest.h>

#include <string>

#include "base/memory_budget.h"
#include "google/firestore/v1/document.pb.h"
#include "wire/json_reader.h"
#include "wire/json_writer.h"
#include "wire/parse_memory.h"

namespace hearth::wire {
namespace {

namespace proto = ::google::firestore::v1;

TEST(JsonTest, ReadsAndWritesMessages) {
  const auto& type = *proto::Value::descriptor();
  const Result<std::string> bytes = MessageFromJson(type, R"({"integerValue": "12"})");
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  proto::Value value;
  ASSERT_TRUE(value.ParseFromString(*bytes));
  EXPECT_EQ(value.integer_value(), 12);
  const Result<std::string> json = JsonFromMessage(type, *bytes, JsonEnums::kNames);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(*json, R"({"integerValue":"12"})");
}

TEST(JsonTest, SaysWhatIsWrong) {
  const auto& type = *proto::Value::descriptor();
  for (const char* json : {"", "{", "[]", R"({"integerValue": "x"})", R"({"noSuchField": 1})"}) {
    const Result<std::string> bytes = MessageFromJson(type, json);
    ASSERT_FALSE(bytes.ok()) << json;
    EXPECT_EQ(bytes.status().code(), Code::kInvalidArgument);
  }
  EXPECT_EQ(JsonFromMessage(type, "\xff", JsonEnums::kNames).status().code(), Code::kInternal);
}

TEST(JsonTest, WritesErrorsAsGoogleDoes) {
  EXPECT_EQ(JsonFromError(Status(Code::kNotFound, "no \"x\"")),
            R"({"error":{"code":404,"message":"no \"x\"","status":"NOT_FOUND"}})");
}

TEST(JsonTest, TruncatesErrors) {
  const auto bytes_of = [](size_t message_bytes) {
    return JsonFromError(Status(Code::kNotFound, std::string(message_bytes, 'x'))).size();
  };
  EXPECT_EQ(bytes_of(kStatusMessageBytesMax), bytes_of(kStatusMessageBytesMax - 1) + 1);
  EXPECT_EQ(bytes_of(kStatusMessageBytesMax + 1), bytes_of(kStatusMessageBytesMax));
}

proto::Value Nulls(int count) {
  proto::Value value;
  for (int i = 0; i < count; ++i) value.mutable_array_value()->add_values()->set_null_value({});
  return value;
}

// libprotobuf's own way to look at maps would copy them, and all maps in them again.
TEST(JsonTest, MapsAreNotCopied) {
  proto::Document document;
  proto::Value* value = &(*document.mutable_fields())["m"];
  for (int depth = 0; depth < 15; ++depth) {
    value = &(*value->mutable_map_value()->mutable_fields())["m"];
  }
  value->set_string_value(std::string(1'000, 'x'));
  const size_t used = document.SpaceUsedLong();
  std::string json;
  ASSERT_TRUE(WriteJson(document, {}, &json).ok());
  EXPECT_EQ(document.SpaceUsedLong(), used);
  proto::Document read;
  ASSERT_TRUE(ReadJson(json, &read).ok());
  EXPECT_EQ(read.SerializeAsString(), document.SerializeAsString());
  EXPECT_LE(read.SpaceUsedLong(), used + 1'000);
}

TEST(JsonTest, ClaimsWhatTheConversionTakes) {
  const auto& type = *proto::Value::descriptor();
  const std::string bytes = Nulls(100'000).SerializeAsString();
  MemoryBudget memory(64 * 1024 * 1024);
  MemoryClaim claim(&memory);
  const Result<std::string> json =
      JsonFromMessage(type, bytes, JsonForm{.layout = JsonLayout::kCompact}, &claim);
  ASSERT_TRUE(json.ok());
  EXPECT_GE(claim.bytes() + kUnclaimedBytesMax, json->size());
  EXPECT_LE(claim.bytes(), 2 * json->size());
  claim.Reset();
  const Result<std::string> back = MessageFromJson(type, *json, &claim);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(claim.bytes(), bytes.size());
  claim.Reset();
  // The objects take some megabytes.
  memory.Take(53 * 1024 * 1024);
  EXPECT_EQ(JsonFromMessage(type, bytes, JsonEnums::kNames, &claim).status().code(),
            Code::kResourceExhausted);
  EXPECT_EQ(MessageFromJson(type, *json, &claim).status().code(), Code::kResourceExhausted);
  claim.Reset();
  memory.Return(53 * 1024 * 1024);
}

}  // namespace
}  // namespace hearth::wire
