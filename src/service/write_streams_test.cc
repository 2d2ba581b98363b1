#include "service/write_streams.h"

#include <gtest/gtest.h>

#include <string>

#include "base/testing/fake_clock.h"

namespace hearth::service {
namespace {

class WriteStreamsTest : public testing::Test {
 protected:
  FakeClock clock_{1'000'000};
  RandomSource random_;
  MemoryBudget memory_{1024 * 1024};
  WriteStreams streams_{clock_, random_, &memory_};
};

TEST_F(WriteStreamsTest, AnswersAreKeptUntilTheyAreAcknowledged) {
  const auto stream = streams_.Open("d");
  stream->AddAnswer("one");
  stream->AddAnswer("two");
  EXPECT_EQ(**stream->AnswerAfter(0), "one");
  EXPECT_EQ(**stream->AnswerAfter(1), "two");
  EXPECT_EQ(*stream->AnswerAfter(2), std::nullopt);
  EXPECT_EQ(stream->Acknowledge(3).code(), Code::kInvalidArgument);
  EXPECT_EQ(stream->Acknowledge(1), Status());
  EXPECT_EQ(stream->AnswerAfter(0).status().code(), Code::kAborted);
  EXPECT_EQ(**stream->AnswerAfter(1), "two");
}

TEST_F(WriteStreamsTest, BoundsTheAnswers) {
  const auto stream = streams_.Open("d");
  for (size_t i = 0; i < WriteStreamState::kUnacknowledgedMax; ++i) stream->AddAnswer("x");
  EXPECT_EQ(**stream->AnswerAfter(0), "x");
  stream->AddAnswer("x");
  EXPECT_EQ(stream->AnswerAfter(0).status().code(), Code::kAborted);
  EXPECT_EQ(**stream->AnswerAfter(1), "x");
}

TEST_F(WriteStreamsTest, AnswersAreClaimed) {
  auto stream = streams_.Open("d");
  stream->AddAnswer(std::string(1'000, 'a'));
  stream->AddAnswer(std::string(2'000, 'b'));
  EXPECT_EQ(memory_.used_bytes(), 3'000u);
  EXPECT_EQ(stream->Acknowledge(1), Status());
  EXPECT_EQ(memory_.used_bytes(), 2'000u);
  stream.reset();
  clock_.Advance(WriteStreams::kIdleMax + std::chrono::minutes(1));
  streams_.Open("d");
  EXPECT_EQ(memory_.used_bytes(), 0u);
}

TEST_F(WriteStreamsTest, WithoutMemoryAnswersAreDroppedAndTheStreamGoesOn) {
  const auto stream = streams_.Open("d");
  stream->AddAnswer(std::string(1'000, 'a'));
  memory_.Take(1024 * 1024 - 2'000);
  stream->AddAnswer(std::string(1'500, 'b'));  // In the place of the first one.
  EXPECT_EQ(stream->AnswerAfter(0).status().code(), Code::kAborted);
  EXPECT_EQ((*stream->AnswerAfter(1))->size(), 1'500u);
  stream->AddAnswer(std::string(2'500, 'c'));  // There is no place for it.
  EXPECT_EQ(stream->AnswerAfter(2).status().code(), Code::kAborted);
  EXPECT_EQ(*stream->AnswerAfter(3), std::nullopt);
  stream->AddAnswer("d");
  EXPECT_EQ(**stream->AnswerAfter(3), "d");
  EXPECT_EQ(stream->Acknowledge(4), Status());
  memory_.Return(1024 * 1024 - 2'000);
}

TEST_F(WriteStreamsTest, ManySmallAnswersAreALargeClaim) {
  constexpr size_t kTakenBytes = size_t{900} * 1024;
  constexpr size_t kAnswerBytes = 4'000;
  const auto stream = streams_.Open("d");
  memory_.Take(kTakenBytes);
  ASSERT_TRUE(memory_.is_scarce());
  for (int i = 0; i < 20; ++i) stream->AddAnswer(std::string(kAnswerBytes, 'a'));
  EXPECT_LE(memory_.used_bytes() - kTakenBytes, MemoryBudget::kSmallBytesMax);
  EXPECT_EQ(stream->AnswerAfter(0).status().code(), Code::kAborted);
  EXPECT_EQ((*stream->AnswerAfter(19))->size(), kAnswerBytes);
  EXPECT_EQ(stream->Acknowledge(20), Status());
  memory_.Return(kTakenBytes);
}

}  // namespace
}  // namespace hearth::service
