#include "http/exchange.h"

#include <gtest/gtest.h>

namespace hearth::http {
namespace {

TEST(RequestHeadTest, KeepsWhatWasAdded) {
  RequestHead head;
  head.set_method("POST");
  head.set_target("/a/b?c=d");
  head.AddHeader("Content-Type", "Text/Plain");
  for (int i = 0; i < 200; ++i) head.AddHeader("x-" + std::to_string(i), std::string(50, 'v'));

  EXPECT_EQ(head.method(), "POST");
  EXPECT_EQ(head.path(), "/a/b");
  EXPECT_EQ(head.query(), "c=d");
  EXPECT_EQ(head.Find("content-type"), "Text/Plain");
  EXPECT_EQ(head.Find("x-199"), std::string(50, 'v'));
  EXPECT_EQ(head.Find("x-200"), std::nullopt);
  EXPECT_EQ(head.header_count(), 201u);
  EXPECT_EQ(head.header(0).name, "content-type");
}

TEST(RequestHeadTest, TargetWithoutQuery) {
  RequestHead head;
  head.set_target("/a");
  EXPECT_EQ(head.path(), "/a");
  EXPECT_EQ(head.query(), "");
}

TEST(RequestHeadTest, FindsTheFirstOfSeveral) {
  RequestHead head;
  head.AddHeader("x", "1");
  head.AddHeader("x", "2");
  EXPECT_EQ(head.Find("x"), "1");
}

TEST(BufferBudgetTest, BothSidesOfTheLimit) {
  BufferBudget budget(10);
  EXPECT_TRUE(budget.Take(10));
  EXPECT_FALSE(budget.Take(1));
  budget.Return(4);
  EXPECT_FALSE(budget.Take(5));
  EXPECT_TRUE(budget.Take(4));
  EXPECT_EQ(budget.used_bytes(), 10u);
}

}  // namespace
}  // namespace hearth::http
