#include "base/http_status.h"

#include <gtest/gtest.h>

namespace hearth {
namespace {

TEST(HttpStatusTest, EveryCodeHasOne) {
  EXPECT_EQ(HttpStatusOf(Code::kOk), 200);
  EXPECT_EQ(HttpStatusOf(Code::kInvalidArgument), 400);
  EXPECT_EQ(HttpStatusOf(Code::kUnauthenticated), 401);
  EXPECT_EQ(HttpStatusOf(Code::kPermissionDenied), 403);
  EXPECT_EQ(HttpStatusOf(Code::kNotFound), 404);
  EXPECT_EQ(HttpStatusOf(Code::kAborted), 409);
  EXPECT_EQ(HttpStatusOf(Code::kResourceExhausted), 429);
  EXPECT_EQ(HttpStatusOf(Code::kUnavailable), 503);
  EXPECT_EQ(HttpStatusOf(Code::kDeadlineExceeded), 504);
  EXPECT_EQ(HttpStatusOf(Code::kDataLoss), 500);
}

}  // namespace
}  // namespace hearth
