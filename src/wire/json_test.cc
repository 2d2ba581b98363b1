#include "wire/json.h"

#include <gtest/gtest.h>

#include <string>

#include "google/firestore/v1/document.pb.h"

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

}  // namespace
}  // namespace hearth::wire
