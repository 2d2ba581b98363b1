#include "doors/webchannel/outbox.h"

#include <gtest/gtest.h>

namespace hearth::doors::webchannel {
namespace {

TEST(MakeChunkTest, CountsUtf16Units) {
  EXPECT_EQ(MakeChunk("[]"), "2\n[]");
  EXPECT_EQ(MakeChunk("\"\xc3\xa9\""), "3\n\"\xc3\xa9\"");                  // é: one unit.
  EXPECT_EQ(MakeChunk("\"\xe2\x82\xac\""), "3\n\"\xe2\x82\xac\"");          // €: one unit.
  EXPECT_EQ(MakeChunk("\"\xf0\x9f\x94\xa5\""), "4\n\"\xf0\x9f\x94\xa5\"");  // A surrogate pair.
}

TEST(OutboxTest, SendsEachArrayOnceInOrder) {
  Outbox outbox;
  EXPECT_EQ(outbox.NextChunk(100), "");
  EXPECT_EQ(outbox.last_sent_id(), 0u);
  outbox.Add("[1]");
  outbox.Add("[2]");
  EXPECT_EQ(outbox.NextChunk(100), "17\n[[1,[1]],[2,[2]]]");
  EXPECT_EQ(outbox.last_sent_id(), 2u);
  EXPECT_EQ(outbox.NextChunk(100), "");
  outbox.Add("[3]");
  EXPECT_EQ(outbox.NextChunk(100), "9\n[[3,[3]]]");
}

TEST(OutboxTest, AChunkHoldsAtLeastOneArray) {
  Outbox outbox;
  outbox.Add("[1]");
  outbox.Add("[2]");
  EXPECT_EQ(outbox.NextChunk(1), "9\n[[1,[1]]]");
  EXPECT_TRUE(outbox.has_unsent());
  EXPECT_EQ(outbox.NextChunk(1), "9\n[[2,[2]]]");
  EXPECT_FALSE(outbox.has_unsent());
}

TEST(OutboxTest, KeepsWhatIsNotAcknowledged) {
  Outbox outbox;
  for (const char* array : {"[1]", "[2]", "[3]"}) outbox.Add(array);
  outbox.NextChunk(100);
  outbox.Acknowledge(1);
  outbox.Rewind();
  EXPECT_EQ(outbox.NextChunk(100), "17\n[[2,[2]],[3,[3]]]");
  outbox.Acknowledge(1);  // An old number has no effect.
  outbox.Rewind();
  EXPECT_EQ(outbox.NextChunk(100), "17\n[[2,[2]],[3,[3]]]");
  outbox.Acknowledge(3);
  EXPECT_TRUE(outbox.empty());
  EXPECT_EQ(outbox.retained_bytes(), 0u);
  EXPECT_EQ(outbox.sent_bytes(), 0u);
}

TEST(OutboxTest, WhatWasNotSentIsNotAcknowledged) {
  Outbox outbox;
  outbox.Add("[1]");
  outbox.NextChunk(100);
  outbox.Add("[2]");
  outbox.Acknowledge(UINT64_MAX);
  EXPECT_EQ(outbox.last_sent_id(), 1u);
  EXPECT_EQ(outbox.NextChunk(100), "9\n[[2,[2]]]");
}

TEST(OutboxTest, CountsBytesSentAndUnsent) {
  Outbox outbox;
  outbox.Add(std::string(1'000, 'x'));
  outbox.Add(std::string(2'000, 'x'));
  EXPECT_GE(outbox.unsent_bytes(), 3'000u);
  outbox.NextChunk(1);
  EXPECT_GE(outbox.sent_bytes(), 1'000u);
  EXPECT_LT(outbox.sent_bytes(), 2'000u);
  EXPECT_EQ(outbox.sent_bytes() + outbox.unsent_bytes(), outbox.retained_bytes());
  outbox.Clear();
  EXPECT_EQ(outbox.retained_bytes(), 0u);
  outbox.Add("[3]");
  EXPECT_EQ(outbox.NextChunk(100), "9\n[[3,[3]]]");
}

}  // namespace
}  // namespace hearth::doors::webchannel
