#include "client/remote/grpc_answer.h"

#include <gtest/gtest.h>

namespace hearth::client {
namespace {

constexpr size_t kMessageBytesMax = 100;

GrpcAnswer Begun() {
  GrpcAnswer answer(kMessageBytesMax);
  answer.AddHeaderLine("HTTP/2 200 \r\n");
  answer.AddHeaderLine("Content-Type: application/grpc\r\n");
  answer.AddHeaderLine("\r\n");
  return answer;
}

std::string NextText(GrpcAnswer& answer) {
  const auto next = answer.Next();
  if (!next.ok()) return next.status().ToString();
  return *next ? std::string(**next) : "nothing";
}

TEST(GrpcAnswer, CutsMessagesOutOfPieces) {
  GrpcAnswer answer = Begun();
  const std::string bytes = GrpcFrame("one") + GrpcFrame("") + GrpcFrame("three");
  std::string messages;
  for (const char byte : bytes) {
    answer.AddBody(std::string_view(&byte, 1));
    if (const std::string next = NextText(answer); next != "nothing") messages += next + ";";
  }
  EXPECT_EQ(messages, "one;;three;");
  EXPECT_FALSE(answer.has_status());
  answer.AddHeaderLine("grpc-status: 0\r\n");
  EXPECT_TRUE(answer.has_status());
  EXPECT_EQ(answer.Outcome(), Status());
}

TEST(GrpcAnswer, HandsOutAllMessagesOfOnePiece) {
  GrpcAnswer answer = Begun();
  answer.AddBody(GrpcFrame("one") + GrpcFrame("two"));
  EXPECT_EQ(NextText(answer), "one");
  EXPECT_EQ(NextText(answer), "two");
  EXPECT_EQ(NextText(answer), "nothing");
}

TEST(GrpcAnswer, AStatusComesWithItsMessage) {
  GrpcAnswer answer = Begun();
  answer.AddHeaderLine("grpc-status: 5");
  answer.AddHeaderLine("grpc-message: 100%25 caf%C3%A9");
  EXPECT_EQ(answer.Outcome(), Status(Code::kNotFound, "100% café"));
}

TEST(GrpcAnswer, AStatusWithoutGrpcsTypeCounts) {
  GrpcAnswer answer(kMessageBytesMax);
  answer.AddHeaderLine("HTTP/2 403");
  answer.AddHeaderLine("grpc-status: 7");
  EXPECT_EQ(answer.Outcome().code(), Code::kPermissionDenied);
}

TEST(GrpcAnswer, UnknownStatusesAreUnknown) {
  for (const char* status : {"17", "-1", "x", ""}) {
    GrpcAnswer answer = Begun();
    answer.AddHeaderLine(std::string("grpc-status: ") + status);
    EXPECT_EQ(answer.Outcome().code(), Code::kUnknown) << status;
  }
}

TEST(GrpcAnswer, HttpStatusesBecomeCodes) {
  const std::pair<const char*, Code> cases[] = {
      {"400", Code::kInternal},         {"401", Code::kUnauthenticated},
      {"403", Code::kPermissionDenied}, {"404", Code::kUnimplemented},
      {"429", Code::kUnavailable},      {"502", Code::kUnavailable},
      {"503", Code::kUnavailable},      {"504", Code::kUnavailable},
      {"500", Code::kUnknown},          {"200", Code::kUnknown},
  };
  for (const auto& [status, code] : cases) {
    GrpcAnswer answer(kMessageBytesMax);
    answer.AddHeaderLine(std::string("HTTP/2 ") + status);
    answer.AddHeaderLine("content-type: text/html");
    answer.AddBody("<html>");
    EXPECT_EQ(NextText(answer), "nothing");
    EXPECT_EQ(answer.Outcome().code(), code) << status;
  }
}

TEST(GrpcAnswer, InformationalHeadsDoNotCount) {
  GrpcAnswer answer(kMessageBytesMax);
  answer.AddHeaderLine("HTTP/2 103");
  answer.AddHeaderLine("content-type: text/html");
  answer.AddHeaderLine("HTTP/2 200");
  answer.AddHeaderLine("content-type: application/grpc+proto");
  answer.AddHeaderLine("grpc-status: 0");
  EXPECT_EQ(answer.Outcome(), Status());
}

TEST(GrpcAnswer, TheSizeOfMessagesHasALimit) {
  GrpcAnswer answer = Begun();
  answer.AddBody(GrpcFrame(std::string(kMessageBytesMax, 'x')));
  EXPECT_EQ(NextText(answer), std::string(kMessageBytesMax, 'x'));
  answer.AddBody(GrpcFrame(std::string(kMessageBytesMax + 1, 'x')).substr(0, 5));
  EXPECT_EQ(answer.Next().status().code(), Code::kResourceExhausted);
}

TEST(GrpcAnswer, CompressedMessagesAreRefused) {
  GrpcAnswer answer = Begun();
  answer.AddBody(std::string("\x01\0\0\0\0", 5));
  EXPECT_EQ(answer.Next().status().code(), Code::kInternal);
}

TEST(GrpcAnswer, AnAnswerCutShortIsNone) {
  GrpcAnswer without_status = Begun();
  EXPECT_EQ(without_status.Outcome().code(), Code::kUnavailable);
  GrpcAnswer within_message = Begun();
  within_message.AddBody(GrpcFrame("message").substr(0, 7));
  within_message.AddHeaderLine("grpc-status: 0");
  EXPECT_EQ(within_message.Outcome().code(), Code::kInternal);
}

TEST(GrpcAnswer, BadPercentEncodingStays) {
  EXPECT_EQ(DecodeGrpcMessage("%zz %4"), "%zz %4");
  EXPECT_EQ(DecodeGrpcMessage("%-1%+1%41%"), "%-1%+1A%");
}

}  // namespace
}  // namespace hearth::client
