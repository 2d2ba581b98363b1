#include "model/timestamp.h"

#include <gtest/gtest.h>

namespace hearth::model {
namespace {

TEST(TimestampTest, RoundsDownToMicroseconds) {
  EXPECT_EQ(Timestamp::FromParts(1'000, 123'456'789)->micros(), 1'000'123'456);
  EXPECT_EQ(Timestamp::FromParts(1'000, 999)->micros(), 1'000'000'000);
  EXPECT_EQ(Timestamp::FromParts(-1, 999'999'999)->micros(), -1);
}

TEST(TimestampTest, AcceptsYears1To9999) {
  EXPECT_EQ(Timestamp::FromParts(-62'135'596'800, 0)->ToString(), "0001-01-01T00:00:00Z");
  EXPECT_EQ(Timestamp::FromParts(253'402'300'799, 999'999'999)->ToString(),
            "9999-12-31T23:59:59.999999Z");
  const Status seconds = InvalidArgument("Timestamp seconds exceeds limit for field.");
  EXPECT_EQ(Timestamp::FromParts(-62'135'596'801, 0).status(), seconds);
  EXPECT_EQ(Timestamp::FromParts(253'402'300'800, 0).status(), seconds);
  const Status nanos = InvalidArgument("Timestamp nanos exceeds limit for field.");
  EXPECT_EQ(Timestamp::FromParts(0, -1).status(), nanos);
  EXPECT_EQ(Timestamp::FromParts(0, 1'000'000'000).status(), nanos);
}

TEST(TimestampTest, PartsAreNeverNegativeBelowTheSecond) {
  const Timestamp time = Timestamp::FromMicros(-1'500'000);
  EXPECT_EQ(time.seconds(), -2);
  EXPECT_EQ(time.nanos(), 500'000'000);
  EXPECT_EQ(Timestamp::FromMicros(-2'000'000).seconds(), -2);
  EXPECT_EQ(Timestamp::FromMicros(-2'000'000).nanos(), 0);
}

TEST(TimestampTest, PrintsAsManyDigitsAsNeeded) {
  EXPECT_EQ(Timestamp().ToString(), "1970-01-01T00:00:00Z");
  EXPECT_EQ(Timestamp::FromMicros(500'000).ToString(), "1970-01-01T00:00:00.500Z");
  EXPECT_EQ(Timestamp::FromMicros(1).ToString(), "1970-01-01T00:00:00.000001Z");
  EXPECT_EQ(Timestamp::FromMicros(-1).ToString(), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(Timestamp::FromMicros(951'782'400'120'000).ToString(), "2000-02-29T00:00:00.120Z");
}

}  // namespace
}  // namespace hearth::model
