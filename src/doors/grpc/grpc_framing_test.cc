#include "doors/grpc/grpc_framing.h"

#include <gtest/gtest.h>

#include <string>

#include "http/gzip.h"
#include "rpc/message_batch.h"

namespace hearth::doors::grpc {
namespace {

using namespace http;

using namespace std::chrono_literals;

std::string Frame(std::string_view message) {
  return rpc::FrameHead(message.size()).append(message);
}

TEST(GrpcTimeoutTest, ReadsEveryUnit) {
  EXPECT_EQ(ParseGrpcTimeout("2H"), 2h);
  EXPECT_EQ(ParseGrpcTimeout("3M"), 3min);
  EXPECT_EQ(ParseGrpcTimeout("10S"), 10s);
  EXPECT_EQ(ParseGrpcTimeout("5m"), 5ms);
  EXPECT_EQ(ParseGrpcTimeout("7u"), 7us);
  EXPECT_EQ(ParseGrpcTimeout("99999999n"), 99'999'999ns);
}

TEST(GrpcTimeoutTest, CutsWhatWouldOverflow) {
  EXPECT_EQ(ParseGrpcTimeout("99999999H"), std::chrono::nanoseconds(365 * 24h));
}

TEST(GrpcTimeoutTest, RefusesOtherForms) {
  for (const char* text : {"", "1", "S", "-1S", "1X", "1.5S", " 1S", "999999999S"}) {
    EXPECT_EQ(ParseGrpcTimeout(text), std::nullopt) << text;
  }
}

TEST(MessageBatchTest, HoldsTheFramesOfItsMessages) {
  rpc::MessageBatch batch;
  EXPECT_TRUE(batch.empty());
  batch.Add("one");
  batch.Add("");
  EXPECT_EQ(batch.bytes(), 2 * rpc::kFrameHeadBytes + 3);
  std::string messages;
  batch.ForEach([&](std::string_view message) { messages.append(message).append(";"); });
  EXPECT_EQ(messages, "one;;");
  EXPECT_EQ(batch.TakeFrames(), Frame("one") + Frame(""));
  EXPECT_TRUE(batch.empty());
}

TEST(PercentEncodeTest, KeepsPrintableAsciiOnly) {
  EXPECT_EQ(PercentEncode("no document a/b"), "no document a/b");
  EXPECT_EQ(PercentEncode("100%\n\xc3\xa9~\x7f"), "100%25%0A%C3%A9~%7F");
}

TEST(GrpcMessageReaderTest, CutsBytesHoweverTheyArrive) {
  const std::string bytes = Frame("one") + Frame("") + Frame("three");
  for (size_t step = 1; step <= bytes.size(); ++step) {
    http::BufferBudget budget(1'000);
    GrpcMessageReader reader(100, budget);
    std::vector<std::string> messages;
    for (size_t at = 0; at < bytes.size(); at += step) {
      ASSERT_TRUE(reader.Append(std::string_view(bytes).substr(at, step)).ok());
      for (auto next = reader.Next(); *next; next = reader.Next())
        messages.emplace_back((*next)->payload);
    }
    EXPECT_EQ(messages, (std::vector<std::string>{"one", "", "three"})) << step;
    EXPECT_EQ(reader.waiting_bytes(), 0u);
    reader.Clear();
    EXPECT_EQ(budget.used_bytes(), 0u);
  }
}

TEST(GrpcMessageReaderTest, BothSidesOfTheMessageLimit) {
  http::BufferBudget budget(1'000);
  GrpcMessageReader fits(10, budget);
  ASSERT_TRUE(fits.Append(Frame(std::string(10, 'x'))).ok());
  EXPECT_EQ((*fits.Next())->payload.size(), 10u);
  fits.Clear();

  GrpcMessageReader exceeds(10, budget);
  // The head alone is enough to reject it.
  ASSERT_TRUE(exceeds.Append(rpc::FrameHead(11)).ok());
  EXPECT_EQ(exceeds.Next().status().code(), Code::kResourceExhausted);
  exceeds.Clear();
}

TEST(GrpcMessageReaderTest, TellsWhetherTheRestOfAMessageIsMissing) {
  http::BufferBudget budget(1'000);
  GrpcMessageReader reader(100, budget);
  EXPECT_FALSE(reader.is_inside_frame());
  const std::string frame = Frame("abc");
  ASSERT_TRUE(reader.Append(frame.substr(0, 2)).ok());
  EXPECT_TRUE(reader.is_inside_frame());
  ASSERT_TRUE(reader.Append(frame.substr(2, 5)).ok());
  EXPECT_TRUE(reader.is_inside_frame());
  ASSERT_TRUE(reader.Append(frame.substr(7)).ok());
  EXPECT_FALSE(reader.is_inside_frame());
  EXPECT_EQ((*reader.Next())->payload, "abc");
  EXPECT_FALSE(reader.is_inside_frame());
  reader.Clear();
}

TEST(GrpcMessageReaderTest, BothSidesOfTheBudget) {
  http::BufferBudget budget(20);
  GrpcMessageReader first(100, budget);
  GrpcMessageReader second(100, budget);
  ASSERT_TRUE(first.Append(std::string(15, '\0')).ok());
  ASSERT_TRUE(second.Append(std::string(5, '\0')).ok());
  EXPECT_EQ(second.Append("x").code(), Code::kResourceExhausted);
  first.Clear();
  EXPECT_TRUE(second.Append("x").ok());
  second.Clear();
  EXPECT_EQ(budget.used_bytes(), 0u);
}

TEST(GrpcMessageReaderTest, TellsWhichMessagesAreCompressed) {
  http::BufferBudget budget(1'000);
  GrpcMessageReader reader(100, budget);
  reader.set_encoding(GrpcEncoding::kGzip);
  std::string frame = Frame("packed");
  frame[0] = 1;
  ASSERT_TRUE(reader.Append(frame + Frame("plain")).ok());
  const GrpcFrame first = **reader.Next();
  EXPECT_EQ(first.payload, "packed");
  EXPECT_TRUE(first.is_compressed);
  const GrpcFrame second = **reader.Next();  // Each frame has its own flag.
  EXPECT_EQ(second.payload, "plain");
  EXPECT_FALSE(second.is_compressed);
  reader.Clear();
}

TEST(GrpcMessageReaderTest, RefusesFlagsItDoesNotKnow) {
  http::BufferBudget budget(1'000);
  GrpcMessageReader reader(100, budget);
  ASSERT_TRUE(reader.Append(std::string("\2\0\0\0\0", 5)).ok());
  EXPECT_EQ(reader.Next().status().code(), Code::kInternal);
  reader.Clear();

  GrpcMessageReader unnamed(100, budget);  // Compressed, but without a named encoding.
  ASSERT_TRUE(unnamed.Append(std::string("\1\0\0\0\0", 5)).ok());
  EXPECT_EQ(unnamed.Next().status().code(), Code::kInternal);
  unnamed.Clear();
}

}  // namespace
}  // namespace hearth::doors::grpc
