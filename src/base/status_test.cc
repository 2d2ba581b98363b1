#include "base/status.h"

#include <gtest/gtest.h>

#include "base/status_macros.h"

namespace hearth {
namespace {

TEST(StatusWhile, KeepsTheCode) {
  const Status status = Status(Code::kDataLoss, "bad block").While("reading rooms/r1");
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_EQ(status.ToString(), "DATA_LOSS: while reading rooms/r1: bad block");
  EXPECT_TRUE(Status().While("reading").ok());
}

Result<int> Half(int number) {
  if (number % 2 != 0) return InvalidArgument("odd");
  return number / 2;
}

Result<int> Quarter(int number) {
  ASSIGN_OR_RETURN(const int half, Half(number));
  return Half(half);
}

Status Both(int number) {
  RETURN_IF_ERROR(Half(number).status());
  return Quarter(number).status();
}

TEST(ResultMacros, PropagateTheFirstFailure) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(Both(3).code(), Code::kInvalidArgument);
  EXPECT_TRUE(Both(4).ok());
}

TEST(ResultDeathTest, AbsentValueEndsTheProcess) { EXPECT_DEATH((void)*Half(1), ""); }

}  // namespace
}  // namespace hearth
