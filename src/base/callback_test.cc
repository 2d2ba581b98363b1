#include "base/callback.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

namespace hearth {
namespace {

TEST(CallbackTest, OwnsWhatCannotBeCopied) {
  Callback<int(int)> add = [base = std::make_unique<int>(40)](int more) { return *base + more; };
  Callback<int(int)> moved = std::move(add);
  EXPECT_FALSE(static_cast<bool>(add));  // NOLINT(bugprone-use-after-move): that is the point.
  EXPECT_EQ(moved(2), 42);
}

TEST(CallbackTest, TakesWhatDoesNotFitInline) {
  const std::array<std::string, 20> words = {"a", "b"};
  Callback<std::string()> join = [words] { return words[0] + words[1]; };
  Callback<std::string()> moved;
  moved = std::move(join);
  EXPECT_EQ(moved(), "ab");
}

TEST(CallbackTest, LetsGoOfWhatItOwnsOnce) {
  for (const bool is_large : {false, true}) {
    const auto shared = std::make_shared<int>(1);
    {
      Task task;
      if (is_large) {
        task = [shared, padding = std::array<char, 200>{}] { (void)padding; };
      } else {
        task = [shared] {};
      }
      EXPECT_EQ(shared.use_count(), 2);
      Task other = std::move(task);
      EXPECT_EQ(shared.use_count(), 2);
      other();
      other = nullptr;
      EXPECT_EQ(shared.use_count(), 1);
      other = [shared] {};
    }
    EXPECT_EQ(shared.use_count(), 1);
  }
}

TEST(CallbackTest, PassesMoveOnlyArguments) {
  Callback<std::unique_ptr<int>(std::unique_ptr<int>)> pass = [](std::unique_ptr<int> number) {
    ++*number;
    return number;
  };
  EXPECT_EQ(*pass(std::make_unique<int>(6)), 7);
}

}  // namespace
}  // namespace hearth
