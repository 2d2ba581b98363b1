#include "index/json_check.h"

#include <gtest/gtest.h>

#include <string>

namespace hearth::index {
namespace {

constexpr size_t kDepthMax = 4;

std::string Problem(std::string_view text) {
  const Status status = CheckJson(text, kDepthMax);
  EXPECT_EQ(status.code(), status.ok() ? Code::kOk : Code::kInvalidArgument);
  return status.message();
}

TEST(JsonCheckTest, AcceptsEveryKindOfValue) {
  for (const char* text : {"null", "true", "-1", "1", "1.5", "\"x\"", "[]", "{}",
                           R"({"a": [1, {"b": null}], "c": {"b": 2}})"}) {
    EXPECT_EQ(Problem(text), "") << text;
  }
}

TEST(JsonCheckTest, AcceptsCommentsAndAByteOrderMark) {
  EXPECT_EQ(Problem("// why\n{ /* and how */ }"), "");
  EXPECT_EQ(Problem("\xEF\xBB\xBF{}"), "");
}

TEST(JsonCheckTest, SaysWhereTheSyntaxIsWrong) {
  EXPECT_EQ(Problem(""), "not valid JSON at line 1, column 1");
  EXPECT_EQ(Problem("{\"a\": 1,\n \"b\" 2}"), "not valid JSON at line 2, column 6");
  EXPECT_EQ(Problem("[1, 2"), "not valid JSON at line 1, column 6");
  EXPECT_EQ(Problem("[1,]"), "not valid JSON at line 1, column 4");
  EXPECT_EQ(Problem("{} {}"), "not valid JSON at line 1, column 4");
  EXPECT_EQ(Problem("[1e999]"), "not valid JSON at line 1, column 6");
  EXPECT_EQ(Problem("[\"\xFF\"]"), "not valid JSON at line 1, column 3");
}

TEST(JsonCheckTest, RefusesAKeyThatOccursTwice) {
  EXPECT_EQ(Problem(R"({"a": 1, "b": 2, "a": 3})"), "the key \"a\" occurs twice in one object");
  EXPECT_EQ(Problem(R"({"a": {"a": [{"a": 1}, {"a": 1}]}})"), "");
}

TEST(JsonCheckTest, RefusesDeepNesting) {
  EXPECT_EQ(Problem("[[[[]]]]"), "");
  EXPECT_EQ(Problem("[[[{\"a\": []}]]]"), "nested more than 4 deep");
  EXPECT_EQ(Problem(std::string(1'000'000, '[')), "nested more than 4 deep");
}

}  // namespace
}  // namespace hearth::index
