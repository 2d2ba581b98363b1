#include "index/json_check.h"

#include <gtest/gtest.h>

#include <string>

namespace hearth::index {
namespace {

constexpr size_t kDepthMax = 4;

std::string JsonProblem(std::string_view text) {
  const Status status = CheckJson(text, kDepthMax);
  EXPECT_EQ(status.code(), status.ok() ? Code::kOk : Code::kInvalidArgument);
  return status.message();
}

TEST(JsonCheckTest, AcceptsEveryKindOfValue) {
  for (const char* text : {"null", "true", "-1", "1", "1.5", "\"x\"", "[]", "{}",
                           R"({"a": [1, {"b": null}], "c": {"b": 2}})"}) {
    EXPECT_EQ(JsonProblem(text), "") << text;
  }
}

TEST(JsonCheckTest, AcceptsCommentsAndAByteOrderMark) {
  EXPECT_EQ(JsonProblem("// why\n{ /* and how */ }"), "");
  EXPECT_EQ(JsonProblem("\xEF\xBB\xBF{}"), "");
}

TEST(JsonCheckTest, SaysWhereTheSyntaxIsWrong) {
  EXPECT_EQ(JsonProblem(""), "not valid JSON at line 1, column 1");
  EXPECT_EQ(JsonProblem("{\"a\": 1,\n \"b\" 2}"), "not valid JSON at line 2, column 6");
  EXPECT_EQ(JsonProblem("[1, 2"), "not valid JSON at line 1, column 6");
  EXPECT_EQ(JsonProblem("[1,]"), "not valid JSON at line 1, column 4");
  EXPECT_EQ(JsonProblem("{} {}"), "not valid JSON at line 1, column 4");
  EXPECT_EQ(JsonProblem("[1e999]"), "not valid JSON at line 1, column 6");
  EXPECT_EQ(JsonProblem("[\"\xFF\"]"), "not valid JSON at line 1, column 3");
}

TEST(JsonCheckTest, RefusesAKeyThatOccursTwice) {
  EXPECT_EQ(JsonProblem(R"({"a": 1, "b": 2, "a": 3})"), "the key \"a\" occurs twice in one object");
  EXPECT_EQ(JsonProblem(R"({"a": {"a": [{"a": 1}, {"a": 1}]}})"), "");
}

TEST(JsonCheckTest, RefusesDeepNesting) {
  EXPECT_EQ(JsonProblem("[[[[]]]]"), "");
  EXPECT_EQ(JsonProblem("[[[{\"a\": []}]]]"), "nested more than 4 deep");
  EXPECT_EQ(JsonProblem(std::string(1'000'000, '[')), "nested more than 4 deep");
}

}  // namespace
}  // namespace hearth::index
