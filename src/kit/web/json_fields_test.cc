#include "kit/web/json_fields.h"

#include <gtest/gtest.h>

namespace hearth::kit {
namespace {

// The error for reading the integer "n" of at least 0 from `body`.
std::string IntegerError(std::string_view body, JsonFields::IntegerRange range = {.min = 0}) {
  JsonFields fields = JsonFields::Parse(body);
  EXPECT_EQ(fields.Integer("n", range), 0);
  EXPECT_EQ(fields.status().code(), Code::kInvalidArgument);
  return fields.status().message();
}

TEST(JsonFieldsTest, ReadsWhatIsThere) {
  JsonFields fields = JsonFields::Parse(
      R"({"n": 5, "m": null, "d": 1.5, "b": true, "t": "x", "list": [1, {"a": 2}]})");
  EXPECT_EQ(fields.Integer("n", {.min = 5, .max = 5}), 5);
  EXPECT_EQ(fields.OptionalInteger("m", {}), std::nullopt);
  EXPECT_EQ(fields.OptionalInteger("nothing", {}), std::nullopt);
  EXPECT_EQ(fields.Number("d"), 1.5);
  EXPECT_EQ(fields.Number("n"), 5);
  EXPECT_TRUE(fields.Boolean("b"));
  EXPECT_EQ(fields.Text("t", {}), "x");
  EXPECT_EQ(fields.OptionalText("nothing", {}), std::nullopt);
  EXPECT_EQ(fields.Raw("list").size(), 2u);
  EXPECT_TRUE(fields.Raw("nothing").is_null());
  fields.RefuseOthers();
  EXPECT_TRUE(fields.status().ok()) << fields.status().message();
}

TEST(JsonFieldsTest, SaysWhatIsWrongWithIntegers) {
  EXPECT_EQ(IntegerError(R"({"n": "x"})"), "n must be an integer of at least 0, not \"x\"");
  EXPECT_EQ(IntegerError(R"({"n": -1})"), "n must be an integer of at least 0, not -1");
  EXPECT_EQ(IntegerError(R"({"n": 1.0})"), "n must be an integer of at least 0, not 1.0");
  EXPECT_EQ(IntegerError(R"({"n": []})"), "n must be an integer of at least 0, not an array");
  EXPECT_EQ(IntegerError(R"({"n": {}})"), "n must be an integer of at least 0, not an object");
  EXPECT_EQ(IntegerError(R"({"n": null})"), "n is missing");
  EXPECT_EQ(IntegerError("{}"), "n is missing");
  EXPECT_EQ(IntegerError(R"({"n": 4})", {.min = 1, .max = 3}),
            "n must be an integer from 1 to 3, not 4");
  EXPECT_EQ(IntegerError(R"({"n": 4})", {.max = 3}), "n must be an integer of at most 3, not 4");
  EXPECT_EQ(IntegerError(R"({"n": 9223372036854775808})", {}),
            "n must be an integer of 64 bits, not 9223372036854775808");
  EXPECT_EQ(IntegerError(R"({"n": ")" + std::string(100, 'x') + "\"}"),
            "n must be an integer of at least 0, not \"" + std::string(39, 'x') + "…");
}

TEST(JsonFieldsTest, ALongValueIsCutBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "ü";
  EXPECT_EQ(IntegerError("{\"n\": \"" + text + "\"}"),
            "n must be an integer of at least 0, not \"" + text.substr(0, 38) + "…");
}

TEST(JsonFieldsTest, TextIsCountedInCharacters) {
  JsonFields fields = JsonFields::Parse(R"({"a": "üü", "b": ""})");
  EXPECT_EQ(fields.Text("a", {.characters_min = 2, .characters_max = 2}), "üü");
  ASSERT_TRUE(fields.status().ok());
  fields.Text("a", {.characters_max = 1});
  EXPECT_EQ(fields.status().message(), "a must be text of at most 1 characters, not 2");

  JsonFields empty = JsonFields::Parse(R"({"b": ""})");
  EXPECT_EQ(empty.OptionalText("b", {.characters_min = 1}), "");
  EXPECT_EQ(empty.status().message(), "b must be text of 1 to 10000 characters, not 0");
}

TEST(JsonFieldsTest, TheFirstErrorStays) {
  JsonFields fields = JsonFields::Parse(R"({"b": 1, "t": 2, "d": "x"})");
  fields.Boolean("b");
  fields.Text("t", {});
  fields.Number("d");
  fields.RefuseOthers();
  EXPECT_EQ(fields.status().message(), "b must be true or false, not 1");
}

TEST(JsonFieldsTest, RefusesFieldsThatNobodyAskedFor) {
  JsonFields fields = JsonFields::Parse(R"({"n": 1, "more": 2})");
  fields.Integer("n", {});
  fields.RefuseOthers();
  EXPECT_EQ(fields.status().message(), "unknown field \"more\"");
}

TEST(JsonFieldsTest, BodiesThatAreNoObject) {
  for (const std::string body : {"", "x", "{", "{\"a\":1", "{\"a\":}", "\xff", "{\"a\":\"\xff\"}",
                                 "{\"a\":1}x", "{\"a\":1e999}", "\0"}) {
    SCOPED_TRACE(body);
    EXPECT_EQ(JsonFields::Parse(body).status().code(), Code::kInvalidArgument);
  }
  EXPECT_EQ(JsonFields::Parse("[1]").status().message(), "expected a JSON object, not an array");
  EXPECT_EQ(JsonFields::Parse("null").status().message(), "expected a JSON object, not null");
}

TEST(JsonFieldsTest, DepthIsBounded) {
  const auto nested = [](size_t depth) {
    return "{\"a\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
  };
  EXPECT_TRUE(JsonFields::Parse(nested(kJsonDepthMax)).status().ok());
  EXPECT_FALSE(JsonFields::Parse(nested(kJsonDepthMax + 1)).status().ok());
  EXPECT_FALSE(JsonFields::Parse(std::string(5'000'000, '[')).status().ok());
  EXPECT_FALSE(JsonFields::Parse(nested(2'000'000)).status().ok());
  // Brackets in strings do not count, nor do those after an escaped quote.
  EXPECT_TRUE(JsonFields::Parse("{\"a\":\"\\\"" + std::string(1'000, '[') + "\"}").status().ok());
}

TEST(JsonFieldsTest, LargeBodies) {
  EXPECT_TRUE(JsonFields::Parse("{\"a\":\"" + std::string(5'000'000, 'x') + "\"}").status().ok());
}

}  // namespace
}  // namespace hearth::kit
