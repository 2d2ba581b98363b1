// Frames and heads that RFC 9113 forbids, one row each: a broken frame ends the connection, a
// malformed request its stream, and no handler sees either.
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/http2_protocol.h"
#include "http/testing/test_server.h"
#include "http/testing/test_socket.h"

namespace hearth::http {
namespace {

using HeadFields = std::vector<std::pair<std::string, std::string>>;

constexpr uint8_t kEndStream = NGHTTP2_FLAG_END_STREAM;
constexpr uint8_t kEndHeaders = NGHTTP2_FLAG_END_HEADERS;
constexpr size_t kFrameHeadSize = 9;

std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, const std::string& payload) {
  std::string frame;
  for (const int shift : {16, 8, 0}) frame += static_cast<char>(payload.size() >> shift);
  frame += static_cast<char>(type);
  frame += static_cast<char>(flags);
  for (const int shift : {24, 16, 8, 0}) frame += static_cast<char>(stream >> shift);
  return frame + payload;
}

// HPACK: a length or a number after a prefix of `bits` bits.
std::string Number(uint8_t first, int bits, size_t number) {
  const size_t prefix_max = (size_t{1} << bits) - 1;
  if (number < prefix_max) return {static_cast<char>(first | number)};
  std::string text(1, static_cast<char>(first | prefix_max));
  for (number -= prefix_max; number >= 128; number /= 128) {
    text += static_cast<char>(number % 128 + 128);
  }
  return text + static_cast<char>(number);
}

// Literal fields that do not enter the table.
std::string Block(const HeadFields& fields) {
  std::string block;
  for (const auto& [name, value] : fields) {
    block += std::string(1, '\0') + Number(0, 7, name.size()) + name;
    block += Number(0, 7, value.size()) + value;
  }
  return block;
}

const HeadFields kGetFields = {
    {":method", "GET"}, {":scheme", "http"}, {":authority", "localhost"}, {":path", "/"}};

HeadFields With(HeadFields fields, const HeadFields& more) {
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

std::string Headers(const HeadFields& fields, uint32_t stream = 1,
                    uint8_t flags = kEndStream | kEndHeaders) {
  return Frame(NGHTTP2_HEADERS, flags, stream, Block(fields));
}

// What the server has sent until it closed the connection or answered stream 1.
struct Outcome {
  std::optional<uint32_t> goaway;
  std::optional<uint32_t> reset;
  bool answered = false;
  bool closed = false;
};

class Http2ConformanceTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* method : {"GET", "POST"}) {
      server_.router.AddPlain(method, "/", [this](const std::shared_ptr<PlainCall>& call) {
        ++answered_;
        call->Respond({.body = "hello"});
      });
    }
    server_.Start();
  }

  // Reads frames until stream 1 has ended or the connection has.
  Outcome Exchange(const std::string& bytes) {
    TestSocket socket(server_.port());
    socket.Send(std::string(kHttp2Preface) + Frame(NGHTTP2_SETTINGS, 0, 0, "") + bytes);
    Outcome outcome;
    while (true) {
      const std::string head = socket.ReadExactly(kFrameHeadSize);
      if (head.size() < kFrameHeadSize) {
        outcome.closed = true;
        return outcome;
      }
      const auto byte = [&](size_t i) { return static_cast<unsigned char>(head[i]); };
      const size_t size = size_t{byte(0)} << 16 | size_t{byte(1)} << 8 | byte(2);
      const std::string payload = socket.ReadExactly(size);
      const uint32_t stream = byte(8);
      if (byte(3) == NGHTTP2_GOAWAY) outcome.goaway = ErrorCode(payload.substr(4));
      if (byte(3) == NGHTTP2_RST_STREAM && stream == 1) outcome.reset = ErrorCode(payload);
      if (byte(3) == NGHTTP2_HEADERS && stream == 1) outcome.answered = true;
      const bool ended = byte(3) <= NGHTTP2_HEADERS && (byte(4) & kEndStream) != 0;
      if (stream == 1 && (outcome.reset || ended)) return outcome;
    }
  }

  static uint32_t ErrorCode(const std::string& payload) {
    return static_cast<unsigned char>(payload.at(3));
  }

  std::atomic<int> answered_ = 0;
  TestServer server_;
};

struct BadFrames {
  const char* why;
  std::string bytes;
  std::optional<uint32_t> reason;  // None: the connection ends without a word.
};

std::vector<BadFrames> AllBadFrames() {
  const std::string get = Headers(kGetFields);
  const std::string block = Block(kGetFields);
  return {
      {"a smaller stream", Headers(kGetFields, 7, kEndHeaders) + get, NGHTTP2_PROTOCOL_ERROR},
      {"a smaller stream between two others",
       Headers(kGetFields, 3, kEndHeaders) + Headers(kGetFields, 9, kEndHeaders) +
           Headers(kGetFields, 5),
       NGHTTP2_PROTOCOL_ERROR},
      {"an even stream", Headers(kGetFields, 2), NGHTTP2_PROTOCOL_ERROR},
      {"headers of the connection", Headers(kGetFields, 0), NGHTTP2_PROTOCOL_ERROR},
      {"a second request on a stream", Headers(kGetFields, 3) + Headers(kGetFields, 3),
       NGHTTP2_STREAM_CLOSED},
      {"data of the connection", Frame(NGHTTP2_DATA, 0, 0, "x"), NGHTTP2_PROTOCOL_ERROR},
      {"data of an idle stream", Frame(NGHTTP2_DATA, 0, 1, "x"), NGHTTP2_PROTOCOL_ERROR},
      {"a reset of an idle stream", Frame(NGHTTP2_RST_STREAM, 0, 1, std::string(4, '\0')),
       NGHTTP2_PROTOCOL_ERROR},
      {"a continuation of nothing", Frame(NGHTTP2_CONTINUATION, kEndHeaders, 1, block),
       NGHTTP2_PROTOCOL_ERROR},
      {"an interrupted head",
       Frame(NGHTTP2_HEADERS, kEndStream, 1, block) + Frame(NGHTTP2_PING, 0, 0, "12345678"),
       NGHTTP2_PROTOCOL_ERROR},
      {"a continuation of another stream",
       Frame(NGHTTP2_HEADERS, kEndStream, 1, block) +
           Frame(NGHTTP2_CONTINUATION, kEndHeaders, 3, ""),
       NGHTTP2_PROTOCOL_ERROR},
      {"a push", Frame(NGHTTP2_PUSH_PROMISE, kEndHeaders, 1, std::string("\0\0\0\2", 4) + block),
       NGHTTP2_PROTOCOL_ERROR},
      {"an unknown table entry", Frame(NGHTTP2_HEADERS, kEndStream | kEndHeaders, 1, "\xFE"),
       NGHTTP2_COMPRESSION_ERROR},
      {"half of a field", Frame(NGHTTP2_HEADERS, kEndStream | kEndHeaders, 1, block.substr(0, 5)),
       NGHTTP2_COMPRESSION_ERROR},
      {"too much padding",
       Frame(NGHTTP2_HEADERS, kEndStream | kEndHeaders | NGHTTP2_FLAG_PADDED, 1, "\xFF" + block),
       NGHTTP2_PROTOCOL_ERROR},
      {"a frame over the size limit", Frame(NGHTTP2_DATA, 0, 1, std::string(16'385, 'x')),
       NGHTTP2_FRAME_SIZE_ERROR},
      {"a short PING", Frame(NGHTTP2_PING, 0, 0, "1234"), NGHTTP2_FRAME_SIZE_ERROR},
      {"a PING of a stream", Frame(NGHTTP2_PING, 0, 1, "12345678"), NGHTTP2_PROTOCOL_ERROR},
      {"settings of a stream", Frame(NGHTTP2_SETTINGS, 0, 1, ""), NGHTTP2_PROTOCOL_ERROR},
      {"half of a setting", Frame(NGHTTP2_SETTINGS, 0, 0, "123"), NGHTTP2_FRAME_SIZE_ERROR},
      {"an invalid window", Frame(NGHTTP2_SETTINGS, 0, 0, std::string("\0\4\xFF\xFF\xFF\xFF", 6)),
       NGHTTP2_FLOW_CONTROL_ERROR},
      {"a window update by nothing", Frame(NGHTTP2_WINDOW_UPDATE, 0, 0, std::string(4, '\0')),
       NGHTTP2_PROTOCOL_ERROR},
      {"a window that overflows", Frame(NGHTTP2_WINDOW_UPDATE, 0, 0, "\x7F\xFF\xFF\xFF"),
       NGHTTP2_FLOW_CONTROL_ERROR},
  };
}

TEST_F(Http2ConformanceTest, BrokenFramesEndTheConnection) {
  for (const BadFrames& frames : AllBadFrames()) {
    const Outcome outcome = Exchange(frames.bytes + Headers(kGetFields, 99));
    EXPECT_TRUE(outcome.closed) << frames.why;
    EXPECT_EQ(outcome.goaway, frames.reason) << frames.why;
    EXPECT_FALSE(outcome.answered) << frames.why;
  }
}

struct BadHead {
  const char* why;
  HeadFields fields;
  std::string body = {};
};

std::vector<BadHead> AllBadHeads() {
  const std::string nul(1, '\0');
  const auto without = [](const std::string& name) {
    HeadFields fields;
    for (const auto& field : kGetFields) {
      if (field.first != name) fields.push_back(field);
    }
    return fields;
  };
  return {
      {"no method", without(":method")},
      {"no scheme", without(":scheme")},
      {"no path", without(":path")},
      {"an empty path", With(without(":path"), {{":path", ""}})},
      {"a relative path", With(without(":path"), {{":path", "index"}})},
      {"a query as path", With(without(":path"), {{":path", "?x"}})},
      {"an asterisk for another method", With(without(":path"), {{":path", "*"}})},
      {"a relative path of another scheme",
       {{":method", "GET"}, {":scheme", "ftp"}, {":authority", "localhost"}, {":path", "index"}}},
      {"CONNECT", {{":method", "CONNECT"}, {":authority", "localhost:80"}}},
      {"CONNECT with a protocol",
       With(without(":method"), {{":method", "CONNECT"}, {":protocol", "websocket"}})},
      {"a space in a path", With(without(":path"), {{":path", "/ HTTP/1.1"}})},
      {"a line end in a path", With(without(":path"), {{":path", "/\r\nx: y"}})},
      {"a space in a method", With(without(":method"), {{":method", "GET /x"}})},
      {"a line end in an authority",
       With(without(":authority"), {{":authority", "localhost\r\nx: y"}})},
      {"two methods", With({{":method", "GET"}}, kGetFields)},
      {"two paths", With({{":path", "/"}}, kGetFields)},
      {"two authorities", With({{":authority", "localhost"}}, kGetFields)},
      {"two hosts", With(kGetFields, {{"host", "localhost"}, {"host", "localhost"}})},
      {"the status of an answer", With(kGetFields, {{":status", "200"}})},
      {"an unknown pseudo-header", With(kGetFields, {{":unknown", "x"}})},
      {"a pseudo-header behind a field", With({{"x", "y"}}, kGetFields)},
      {"a name in capitals", With(kGetFields, {{"Cookie", "x"}})},
      {"an empty name", With(kGetFields, {{"", "x"}})},
      {"a space in a name", With(kGetFields, {{"a b", "x"}})},
      {"a colon in a name", With(kGetFields, {{"a:b", "x"}})},
      {"a line end in a name", With(kGetFields, {{"a\r\nb", "x"}})},
      {"a null in a value", With(kGetFields, {{"a", "b" + nul}})},
      {"a line feed in a value", With(kGetFields, {{"a", "b\nc: d"}})},
      {"a carriage return in a value", With(kGetFields, {{"a", "b\rc"}})},
      {"connection", With(kGetFields, {{"connection", "close"}})},
      {"keep-alive", With(kGetFields, {{"keep-alive", "timeout=5"}})},
      {"proxy-connection", With(kGetFields, {{"proxy-connection", "close"}})},
      {"transfer-encoding", With(kGetFields, {{"transfer-encoding", "chunked"}})},
      {"upgrade", With(kGetFields, {{"upgrade", "h2c"}})},
      {"te", With(kGetFields, {{"te", "gzip"}})},
      {"two lengths", With(kGetFields, {{"content-length", "1"}, {"content-length", "2"}}), "a"},
      {"a length that is no number", With(kGetFields, {{"content-length", "one"}}), "a"},
      {"a shorter body", With(kGetFields, {{"content-length", "2"}}), "a"},
      {"a longer body", With(kGetFields, {{"content-length", "1"}}), "ab"},
      {"a body that is missing", With(kGetFields, {{"content-length", "1"}})},
  };
}

TEST_F(Http2ConformanceTest, MalformedRequestsEndTheirStream) {
  for (const BadHead& head : AllBadHeads()) {
    std::string bytes =
        Headers(head.fields, 1, head.body.empty() ? kEndStream | kEndHeaders : kEndHeaders);
    if (!head.body.empty()) bytes += Frame(NGHTTP2_DATA, kEndStream, 1, head.body);
    const Outcome outcome = Exchange(bytes);
    EXPECT_EQ(outcome.reset, uint32_t{NGHTTP2_PROTOCOL_ERROR}) << head.why;
    EXPECT_EQ(answered_.exchange(0), 0) << head.why;
  }
}

TEST_F(Http2ConformanceTest, UnusualRequestsAreAnswered) {
  const std::pair<const char*, std::string> requests[] = {
      {"as usual", Headers(kGetFields)},
      {"te: trailers", Headers(With(kGetFields, {{"te", "trailers"}}))},
      {"a host without an authority",
       Headers({{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {"host", "localhost"}})},
      {"a tab and bytes over 127 in a value", Headers(With(kGetFields, {{"a", "b\t\xC3\xA9"}}))},
      {"skipped streams", Headers(kGetFields, 1, kEndHeaders) + Headers(kGetFields, 9) +
                              Headers(kGetFields, 101) + Frame(NGHTTP2_DATA, kEndStream, 1, "")},
      {"trailers", Headers(kGetFields, 1, kEndHeaders) + Headers({{"x", "y"}}, 1)},
      {"options of the server", Headers({{":method", "OPTIONS"},
                                         {":scheme", "http"},
                                         {":authority", "localhost"},
                                         {":path", "*"}})},
  };
  for (const auto& [why, bytes] : requests) {
    const Outcome outcome = Exchange(bytes);
    EXPECT_TRUE(outcome.answered) << why;
    EXPECT_FALSE(outcome.goaway.has_value()) << why;
  }
}

TEST_F(Http2ConformanceTest, BothSidesOfTheLimitOfUselessFrames) {
  struct Useless {
    const char* why;
    std::string before;
    std::string frame;
    std::string after;
  };
  const std::string get = Headers(kGetFields);
  const std::string begun = Headers(kGetFields, 1, kEndHeaders);
  const std::string end = Frame(NGHTTP2_DATA, kEndStream, 1, "");
  const std::string one("\0\0\0\1", 4);
  const Useless all[] = {
      {"window updates", "", Frame(NGHTTP2_WINDOW_UPDATE, 0, 0, one), get},
      {"window updates of a stream", begun, Frame(NGHTTP2_WINDOW_UPDATE, 0, 1, one), end},
      {"priorities", "", Frame(NGHTTP2_PRIORITY, 0, 99, one + "x"), get},
      {"unknown frames", "", Frame(0xF0, 0, 0, "x"), get},
      {"empty data", begun, Frame(NGHTTP2_DATA, 0, 1, ""), end},
      {"padding", begun, Frame(NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1, std::string(2, '\1')), end},
  };
  constexpr int kFew = 9'900;
  constexpr int kMany = 10'100;
  for (const Useless& useless : all) {
    std::string few = useless.before;
    for (int i = 0; i < kFew; ++i) few += useless.frame;
    EXPECT_TRUE(Exchange(few + useless.after).answered) << useless.why;
    std::string many = useless.before;
    for (int i = 0; i < kMany; ++i) many += useless.frame;
    const Outcome outcome = Exchange(many + useless.after);
    EXPECT_TRUE(outcome.closed) << useless.why;
    EXPECT_EQ(outcome.goaway, uint32_t{NGHTTP2_ENHANCE_YOUR_CALM}) << useless.why;
  }
}

// One byte repeats a field of 4,000: 60 KB become 240 MB.
std::string Bomb(uint8_t type, uint8_t flags, const std::string& first, const std::string& value) {
  const std::string field =
      Number(0x40, 6, 0) + Number(0, 7, 1) + "x" + Number(0, 7, value.size()) + value;
  std::string bytes = Frame(type, flags, 1, first + field);
  for (int i = 0; i < 4; ++i) {
    bytes += Frame(NGHTTP2_CONTINUATION, i == 3 ? kEndHeaders : 0, 1, std::string(15'000, '\xBE'));
  }
  return bytes;
}

// After an invalid field nghttp2 checks no more of them, so that those cost nothing.
TEST_F(Http2ConformanceTest, AHeadThatGrowsWithoutEndEndsTheConnection) {
  const std::string value(4'000, 'v');
  const std::string trailers =
      Headers(kGetFields, 1, kEndHeaders) + Bomb(NGHTTP2_HEADERS, kEndStream, "", value);
  for (const auto& [why, bytes] :
       {std::pair("a head", Bomb(NGHTTP2_HEADERS, kEndStream, Block(kGetFields), value)),
        std::pair("trailers", trailers)}) {
    const Outcome outcome = Exchange(bytes + Headers(kGetFields, 3));
    EXPECT_TRUE(outcome.closed) << why;
    EXPECT_FALSE(outcome.answered) << why;
    EXPECT_EQ(answered_.exchange(0), 0) << why;
  }
}

}  // namespace
}  // namespace hearth::http
