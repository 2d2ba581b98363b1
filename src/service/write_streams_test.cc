#include "service/write_streams.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/testing/fake_clock.h"

namespace hearth::service {
namespace {

constexpr ClientKey kClient{1};
constexpr ClientKey kOtherClient{2};

class WriteStreamsTest : public testing::Test {
 protected:
  FakeClock clock_{1'000'000};
  RandomSource random_;
  MemoryBudget memory_{1024 * 1024};
  WriteStreams streams_{clock_, random_, &memory_};
};

TEST_F(WriteStreamsTest, AnswersAreKeptUntilTheyAreAcknowledged) {
  const auto stream = streams_.Open("d", kClient);
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
  const auto stream = streams_.Open("d", kClient);
  for (size_t i = 0; i < WriteStreamState::kUnacknowledgedMax; ++i) stream->AddAnswer("x");
  EXPECT_EQ(**stream->AnswerAfter(0), "x");
  stream->AddAnswer("x");
  EXPECT_EQ(stream->AnswerAfter(0).status().code(), Code::kAborted);
  EXPECT_EQ(**stream->AnswerAfter(1), "x");
}

TEST_F(WriteStreamsTest, AnswersAreClaimed) {
  auto stream = streams_.Open("d", kClient);
  stream->AddAnswer(std::string(1'000, 'a'));
  stream->AddAnswer(std::string(2'000, 'b'));
  EXPECT_EQ(memory_.used_bytes(), 3'000u);
  EXPECT_EQ(stream->Acknowledge(1), Status());
  EXPECT_EQ(memory_.used_bytes(), 2'000u);
  stream.reset();
  clock_.Advance(WriteStreams::kIdleMax + std::chrono::minutes(1));
  streams_.Open("d", kClient);
  EXPECT_EQ(memory_.used_bytes(), 0u);
}

TEST_F(WriteStreamsTest, WithoutMemoryAnswersAreDroppedAndTheStreamGoesOn) {
  const auto stream = streams_.Open("d", kClient);
  stream->AddAnswer(std::string(1'000, 'a'));
  const size_t taken_bytes = memory_.bytes_max() / 16 * 15 - 2'000;
  memory_.Take(taken_bytes);
  stream->AddAnswer(std::string(1'500, 'b'));  // In the place of the first one.
  EXPECT_EQ(stream->AnswerAfter(0).status().code(), Code::kAborted);
  EXPECT_EQ((*stream->AnswerAfter(1))->size(), 1'500u);
  stream->AddAnswer(std::string(2'500, 'c'));  // There is no place for it.
  EXPECT_EQ(stream->AnswerAfter(2).status().code(), Code::kAborted);
  EXPECT_EQ(*stream->AnswerAfter(3), std::nullopt);
  stream->AddAnswer("d");
  EXPECT_EQ(**stream->AnswerAfter(3), "d");
  EXPECT_EQ(stream->Acknowledge(4), Status());
  memory_.Return(taken_bytes);
}

TEST_F(WriteStreamsTest, ManySmallAnswersAreALargeClaim) {
  constexpr size_t kTakenBytes = size_t{900} * 1024;
  constexpr size_t kAnswerBytes = 4'000;
  const auto stream = streams_.Open("d", kClient);
  memory_.Take(kTakenBytes);
  ASSERT_TRUE(memory_.is_scarce());
  for (int i = 0; i < 20; ++i) stream->AddAnswer(std::string(kAnswerBytes, 'a'));
  EXPECT_LE(memory_.used_bytes() - kTakenBytes, MemoryBudget::kSmallBytesMax);
  EXPECT_EQ(stream->AnswerAfter(0).status().code(), Code::kAborted);
  EXPECT_EQ((*stream->AnswerAfter(19))->size(), kAnswerBytes);
  EXPECT_EQ(stream->Acknowledge(20), Status());
  memory_.Return(kTakenBytes);
}

TEST_F(WriteStreamsTest, AnswersLastForTheOpener) {
  const auto stream = streams_.Open("d", kClient);
  stream->AddAnswer(std::string(1'000, 'a'));
  EXPECT_EQ(memory_.lasting_bytes(), 1'000u);
}

TEST_F(WriteStreamsTest, AClientThatHasHadItsShareLosesItsOwnOldest) {
  const std::string others = streams_.Open("d", kOtherClient)->id();
  std::vector<std::string> ids;
  for (size_t i = 0; i < WriteStreams::kStreamsMax; ++i) {
    ids.push_back(streams_.Open("d", kClient)->id());
  }
  EXPECT_NE(streams_.Find(others), nullptr);
  EXPECT_NE(streams_.Find(ids.back()), nullptr);
  EXPECT_EQ(streams_.Find(ids.front()), nullptr);
  constexpr size_t kShare = WriteStreams::kStreamsMax / 2 - 1;
  EXPECT_EQ(streams_.Find(ids[ids.size() - kShare - 1]), nullptr);
  EXPECT_NE(streams_.Find(ids[ids.size() - kShare]), nullptr);  // From now on the newest.
  streams_.Open("d", kClient);
  EXPECT_NE(streams_.Find(ids[ids.size() - kShare]), nullptr);
  EXPECT_EQ(streams_.Find(ids[ids.size() - kShare + 1]), nullptr);
  // There is room for others.
  EXPECT_NE(streams_.Find(streams_.Open("d", kOtherClient)->id()), nullptr);
}

TEST_F(WriteStreamsTest, StreamsInUseAreKept) {
  std::vector<std::shared_ptr<WriteStreamState>> in_use;
  for (size_t i = 0; i < WriteStreams::kStreamsMax / 2; ++i) {
    in_use.push_back(streams_.Open("d", kClient));
  }
  const auto beyond = streams_.Open("d", kClient);  // It works, but cannot be resumed.
  EXPECT_TRUE(beyond->TakeOver());
  EXPECT_EQ(streams_.Find(beyond->id()), nullptr);
  clock_.Advance(WriteStreams::kIdleMax + std::chrono::minutes(1));
  for (const auto& stream : in_use) EXPECT_EQ(streams_.Find(stream->id()), stream);
}

TEST_F(WriteStreamsTest, IdleStreamsMakeRoom) {
  const std::string first = streams_.Open("d", kClient)->id();
  clock_.Advance(WriteStreams::kIdleMax / 2);
  const std::string second = streams_.Open("d", kClient)->id();
  clock_.Advance(WriteStreams::kIdleMax / 2);
  EXPECT_EQ(streams_.Find(first), nullptr);
  EXPECT_NE(streams_.Find(second), nullptr);
}

}  // namespace
}  // namespace hearth::service
