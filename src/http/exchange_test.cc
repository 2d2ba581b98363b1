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

TEST(RequestHeadTest, KnowsValidTargets) {
  const auto is_valid = [](std::string_view method, std::string_view target) {
    RequestHead head;
    head.set_method(method);
    head.set_target(target);
    return head.has_valid_target();
  };
  EXPECT_TRUE(is_valid("GET", "/"));
  EXPECT_TRUE(is_valid("OPTIONS", "*"));
  EXPECT_FALSE(is_valid("GET", "*"));
  EXPECT_FALSE(is_valid("CONNECT", ""));
  EXPECT_FALSE(is_valid("GET", "?x"));
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

TEST(BufferBudgetTest, TakesEverythingFromTheMemoryOfTheProcess) {
  constexpr size_t kMebibyte = 1024 * 1024;
  MemoryBudget memory(8 * kMebibyte);
  {
    BufferBudget budget(64 * kMebibyte, &memory);
    EXPECT_TRUE(budget.Take(2 * kMebibyte));
    EXPECT_TRUE(budget.TakeAnswer(3 * kMebibyte));
    EXPECT_GE(memory.used_bytes(), 5 * kMebibyte);
    EXPECT_FALSE(budget.Take(4 * kMebibyte));
    EXPECT_FALSE(budget.TakeAnswer(4 * kMebibyte));
    budget.Return(2 * kMebibyte);
    budget.ReturnAnswer(3 * kMebibyte);
    EXPECT_LT(memory.used_bytes(), 64 * 1024u);  // It keeps a little for the next request.
  }
  EXPECT_EQ(memory.used_bytes(), 0u);
}

TEST(BufferBudgetTest, WhileMemoryIsScarceItClaimsOnlyWhatItUses) {
  constexpr size_t kMebibyte = 1024 * 1024;
  MemoryBudget memory(8 * kMebibyte);
  BufferBudget budget(kMebibyte, &memory);
  EXPECT_TRUE(budget.Take(100));
  EXPECT_GT(memory.used_bytes(), 100u);
  const size_t taken_bytes = 7 * kMebibyte + 1;
  memory.Take(taken_bytes);
  EXPECT_TRUE(budget.Take(20'000));
  EXPECT_EQ(memory.used_bytes(), taken_bytes + 20'100);
  budget.Return(20'100);
  EXPECT_EQ(memory.used_bytes(), taken_bytes);
  memory.Return(taken_bytes);
}

TEST(BufferBudgetTest, ManyRequestsOfAConnectionLeaveWhatIsForShortWork) {
  constexpr size_t kMebibyte = 1024 * 1024;
  constexpr size_t kFewBytes = 16 * 1024;
  MemoryBudget memory(8 * kMebibyte);
  BufferBudget budget(kMebibyte, &memory);
  const size_t taken_bytes = 8 * kMebibyte - kMebibyte / 2 + 1;
  memory.Take(taken_bytes);
  EXPECT_TRUE(budget.TakeRequest(kFewBytes - 1));
  EXPECT_FALSE(budget.TakeRequest(2));
  EXPECT_TRUE(budget.TakeRequest(1));
  EXPECT_TRUE(budget.Take(kFewBytes));  // A body.
  EXPECT_TRUE(budget.TakeAnswer(kFewBytes));
  budget.ReturnRequest(kFewBytes);
  EXPECT_TRUE(budget.TakeRequest(kFewBytes));
  memory.Return(taken_bytes);
  EXPECT_TRUE(budget.TakeRequest(kFewBytes));
  budget.ReturnRequest(2 * kFewBytes);
  EXPECT_EQ(budget.used_bytes(), kFewBytes);
  budget.Return(kFewBytes);
  budget.ReturnAnswer(kFewBytes);
}

TEST(BufferBudgetTest, BuffersAreCountedEvenIfThereIsNoRoom) {
  constexpr size_t kMebibyte = 1024 * 1024;
  MemoryBudget memory(8 * kMebibyte);
  {
    BufferBudget budget(10, &memory);
    EXPECT_TRUE(budget.SetBuffers(6 * kMebibyte));
    EXPECT_GE(memory.used_bytes(), 6 * kMebibyte);
    EXPECT_FALSE(budget.SetBuffers(9 * kMebibyte));
    EXPECT_GE(memory.used_bytes(), 9 * kMebibyte);
    EXPECT_FALSE(budget.Take(1));
    EXPECT_TRUE(budget.SetBuffers(0));
    EXPECT_LT(memory.used_bytes(), 64 * 1024u);
    EXPECT_TRUE(budget.Take(1));
  }
  EXPECT_EQ(memory.used_bytes(), 0u);
}

TEST(BufferBudgetTest, AClientIsBehindWithMuchUnread) {
  constexpr size_t kMebibyte = 1024 * 1024;
  MemoryBudget memory(32 * kMebibyte);
  BufferBudget budget(10, &memory);
  EXPECT_TRUE(budget.TakeAnswer(16 * kMebibyte - 1));
  EXPECT_FALSE(budget.is_behind());
  EXPECT_TRUE(budget.TakeAnswer(1));
  EXPECT_TRUE(budget.is_behind());
  budget.ReturnAnswer(16 * kMebibyte - 64 * 1024);
  EXPECT_FALSE(budget.is_behind());
  memory.Take(32 * kMebibyte);  // Now even little is too much.
  EXPECT_TRUE(budget.is_behind());
  budget.ReturnAnswer(1);
  EXPECT_FALSE(budget.is_behind());
  memory.Return(32 * kMebibyte);
  budget.ReturnAnswer(64 * 1024 - 1);
}

}  // namespace
}  // namespace hearth::http
