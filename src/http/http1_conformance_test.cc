// Messages that two HTTP/1.1 implementations may read differently, one row each. Whatever a proxy
// makes of them, this server refuses them and closes the connection, so that nothing behind them is
// taken for another request.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "http/testing/test_server.h"
#include "http/testing/test_socket.h"

namespace hearth::http {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr char kSmuggled[] = "DELETE /smuggled HTTP/1.1\r\nhost: localhost\r\n\r\n";

class Http1ConformanceTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* method : {"GET", "POST"}) {
      server_.router.AddPlain(method, "/", [this](const std::shared_ptr<PlainCall>& call) {
        ++answered_;
        call->Respond({.body = "[" + std::string(call->body()) + "]"});
      });
    }
    server_.router.AddPlain("DELETE", "/smuggled", [this](const std::shared_ptr<PlainCall>& call) {
      ++smuggled_;
      call->Respond({});
    });
    server_.Start();
  }

  // Everything that the server sends before it closes the connection.
  std::string Exchange(const std::string& bytes) {
    TestSocket socket(server_.port());
    socket.Send(bytes);
    return socket.ReadToEnd();
  }

  std::atomic<int> answered_ = 0;
  std::atomic<int> smuggled_ = 0;
  TestServer server_;
};

struct BadMessage {
  const char* why;
  std::string bytes;
  const char* status = "400";
};

// The head of a request, up to and including the header fields that every row has.
std::string Post(const std::string& fields, const std::string& body = "") {
  return "POST / HTTP/1.1\r\nhost: localhost\r\n" + fields + "\r\n" + body;
}
std::string Chunked(const std::string& body) {
  return Post("transfer-encoding: chunked\r\n", body);
}

// How long is the body?
std::vector<BadMessage> LengthMessages() {
  return {
      {"unknown coding", Post("transfer-encoding: gzip\r\n"), "501"},
      {"unknown coding with a length", Post("transfer-encoding: x\r\ncontent-length: 0\r\n")},
      {"misspelt coding", Post("transfer-encoding: xchunked\r\n"), "501"},
      {"quoted coding", Post("transfer-encoding: \"chunked\"\r\n"), "501"},
      {"empty coding", Post("transfer-encoding:\r\n"), "501"},
      {"identity", Post("transfer-encoding: identity\r\n"), "501"},
      {"chunked is not last", Post("transfer-encoding: chunked, gzip\r\n", "0\r\n\r\n"), "501"},
      {"chunked is not alone", Post("transfer-encoding: gzip, chunked\r\n", "0\r\n\r\n"), "501"},
      {"chunked twice", Post("transfer-encoding: chunked, chunked\r\n", "0\r\n\r\n"), "501"},
      {"two codings", Post("transfer-encoding: chunked\r\ntransfer-encoding: x\r\n", "0\r\n\r\n")},
      {"two codings, reversed",
       Post("transfer-encoding: x\r\ntransfer-encoding: chunked\r\n", "0\r\n\r\n")},
      {"chunked in two fields",
       Post("transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n", "0\r\n\r\n")},
      {"a parameter", Post("transfer-encoding: chunked;q=1\r\n", "0\r\n\r\n"), "501"},
      {"a vertical tab", Post("transfer-encoding: \vchunked\r\n", "0\r\n\r\n")},
      {"chunked with a length",
       Post("transfer-encoding: chunked\r\ncontent-length: 4\r\n", "0\r\n\r\n")},
      {"a length with chunked",
       Post("content-length: 4\r\ntransfer-encoding: chunked\r\n", "0\r\n\r\n")},
      {"chunked in HTTP/1.0",
       "POST / HTTP/1.0\r\nhost: localhost\r\nconnection: keep-alive\r\n"
       "transfer-encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"two lengths", Post("content-length: 0\r\ncontent-length: 1\r\n", "a")},
      {"the same length twice", Post("content-length: 1\r\ncontent-length: 1\r\n", "a")},
      {"a list of lengths", Post("content-length: 1, 1\r\n", "a")},
      {"a negative length", Post("content-length: -1\r\n")},
      {"a signed length", Post("content-length: +1\r\n", "a")},
      {"a hexadecimal length", Post("content-length: 0x1\r\n", "a")},
      {"an empty length", Post("content-length:\r\n")},
      {"a huge length", Post("content-length: 18446744073709551616\r\n")},
      {"a fraction", Post("content-length: 1.0\r\n", "a")},
      {"two words", Post("content-length: 1 1\r\n", "a")},
  };
}

// Which host? Where does a line end, and where a name?
std::vector<BadMessage> LineMessages() {
  const std::string nul(1, '\0');
  return {
      {"no host", "GET / HTTP/1.1\r\n\r\n"},
      {"two hosts", "GET / HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n\r\n"},
      {"two hosts, one strange", "GET / HTTP/1.1\r\nhost: localhost\r\nHost: evil.example\r\n\r\n"},
      {"two hosts in HTTP/1.0", "GET / HTTP/1.0\r\nhost: localhost\r\nhost: a\r\n\r\n"},
      {"a folded value", Post("x: a\r\n b\r\n")},
      {"a folded coding", Post("transfer-encoding:\r\n chunked\r\n", "0\r\n\r\n")},
      {"a line that starts with a tab", "GET / HTTP/1.1\r\nhost: localhost\r\n\tx: y\r\n\r\n"},
      {"a folded first field", "GET / HTTP/1.1\r\n host: localhost\r\n\r\n"},
      {"line feeds only", "GET / HTTP/1.1\nhost: localhost\n\n"},
      {"a line feed after a field", "GET / HTTP/1.1\r\nhost: localhost\nx: y\r\n\r\n"},
      {"a line feed in a value", "GET / HTTP/1.1\r\nhost: localhost\r\nx: a\nb: c\r\n\r\n"},
      {"a carriage return in a value", "GET / HTTP/1.1\r\nhost: localhost\r\nx: a\rb: c\r\n\r\n"},
      {"a carriage return before the end", "GET / HTTP/1.1\r\nhost: localhost\r\r\n\r\n"},
      {"a line feed ends the head", "GET / HTTP/1.1\r\nhost: localhost\r\n\n"},
      {"a space before the colon", Post("content-length : 1\r\n", "a")},
      {"a tab before the colon", Post("transfer-encoding\t: chunked\r\n", "0\r\n\r\n")},
      {"no colon", Post("nonsense\r\n")},
      {"no name", Post(": x\r\n")},
      {"a space in a name", Post("a b: c\r\n")},
      {"a slash in a name", Post("a/b: c\r\n")},
      {"a byte over 127 in a name", Post("a\xE9: c\r\n")},
      {"a null in a name", Post("a" + nul + ": c\r\n")},
      {"a null in a value", Post("a: b" + nul + "\r\n")},
      {"a control character in a value", Post("a: b\x01\r\n")},
      {"a delete character in a value", Post("a: b\x7f\r\n")},
  };
}

std::vector<BadMessage> RequestLineMessages() {
  const std::string nul(1, '\0');
  return {
      {"no version", "GET /\r\nhost: localhost\r\n\r\n"},
      {"an unknown version", "GET / HTTP/1.2\r\nhost: localhost\r\n\r\n"},
      {"HTTP/2 without a preface", "GET / HTTP/2.0\r\nhost: localhost\r\n\r\n"},
      {"HTTP/0.9", "GET / HTTP/0.9\r\nhost: localhost\r\n\r\n"},
      {"a version in lower case", "GET / http/1.1\r\nhost: localhost\r\n\r\n"},
      {"two spaces before the target", "GET  / HTTP/1.1\r\nhost: localhost\r\n\r\n"},
      {"two spaces after the target", "GET /  HTTP/1.1\r\nhost: localhost\r\n\r\n"},
      {"a tab as a separator", "GET\t/ HTTP/1.1\r\nhost: localhost\r\n\r\n"},
      {"a space at the end", "GET / HTTP/1.1 \r\nhost: localhost\r\n\r\n"},
      {"a space at the beginning", " GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"},
      {"a null in the target", "GET /" + nul + " HTTP/1.1\r\nhost: localhost\r\n\r\n"},
      {"a byte over 127 in the target", "GET /\xE9 HTTP/1.1\r\nhost: localhost\r\n\r\n"},
      {"an invalid method", "G(T / HTTP/1.1\r\nhost: localhost\r\n\r\n"},
      {"a relative target", "GET index HTTP/1.1\r\nhost: localhost\r\n\r\n"},
      {"a query as target", "GET ?x HTTP/1.1\r\nhost: localhost\r\n\r\n"},
      {"a scheme behind a path", "GET a?b=http://c HTTP/1.1\r\nhost: localhost\r\n\r\n"},
      {"another scheme", "GET ftp://localhost/ HTTP/1.1\r\nhost: localhost\r\n\r\n"},
      {"an asterisk for another method", "GET * HTTP/1.1\r\nhost: localhost\r\n\r\n"},
      {"an authority as target", "CONNECT localhost:80 HTTP/1.1\r\nhost: localhost\r\n\r\n"},
      {"a fragment", "GET /#a HTTP/1.1\r\nhost: localhost\r\n\r\n"},
  };
}

// The head is fine, but nothing is answered before the end of the body.
std::vector<BadMessage> ChunkMessages() {
  const std::string nul(1, '\0');
  return {
      {"no chunk size", Chunked("\r\na\r\n0\r\n\r\n")},
      {"a negative chunk size", Chunked("-1\r\na\r\n0\r\n\r\n")},
      {"a signed chunk size", Chunked("+1\r\na\r\n0\r\n\r\n")},
      {"a chunk size with 0x", Chunked("0x1\r\na\r\n0\r\n\r\n")},
      {"a huge chunk size", Chunked("10000000000000001\r\na\r\n0\r\n\r\n")},
      {"a space before the chunk size", Chunked(" 1\r\na\r\n0\r\n\r\n")},
      {"a chunk size with a line feed", Chunked("1\na\r\n0\r\n\r\n")},
      {"a chunk that is too long", Chunked("1\r\nab\r\n0\r\n\r\n")},
      {"a chunk that is too short", Chunked("2\r\na\r\n0\r\n\r\n")},
      {"a chunk with a line feed", Chunked("1\r\na\n0\r\n\r\n")},
      {"an extension with a line feed", Chunked("1;a\n\r\na\r\n0\r\n\r\n")},
      {"an extension with a null", Chunked("1;a" + nul + "\r\na\r\n0\r\n\r\n")},
      {"a long extension", Chunked("1;a=" + std::string(20'000, 'b') + "\r\na\r\n0\r\n\r\n")},
      {"a trailer with a space", Chunked("1\r\na\r\n0\r\nx : y\r\n\r\n")},
      {"a trailer without a colon", Chunked("1\r\na\r\n0\r\nnonsense\r\n\r\n")},
      {"a folded trailer", Chunked("1\r\na\r\n0\r\nx: y\r\n z\r\n\r\n")},
      {"a trailer with a line feed", Chunked("1\r\na\r\n0\r\nx: y\n\r\n\r\n")},
      {"a length as a trailer", Chunked("1\r\na\r\n0\r\ncontent-length: 5\r\n\r\n")},
      {"a coding as a trailer", Chunked("1\r\na\r\n0\r\ntransfer-encoding: chunked\r\n\r\n")},
      {"a host as a trailer", Chunked("1\r\na\r\n0\r\nhost: evil.example\r\n\r\n")},
  };
}

std::vector<BadMessage> BadMessages() {
  std::vector<BadMessage> all;
  for (const auto& part :
       {LengthMessages(), LineMessages(), RequestLineMessages(), ChunkMessages()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

TEST_F(Http1ConformanceTest, AmbiguousMessagesEndTheConnection) {
  for (const BadMessage& message : BadMessages()) {
    const std::string answer = Exchange(message.bytes + kSmuggled);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + std::string(message.status) + " ")) << message.why;
    EXPECT_THAT(answer, HasSubstr("connection: close\r\n")) << message.why;
    EXPECT_EQ(answer.find("HTTP/1.1 ", 1), std::string::npos) << message.why;  // The only answer.
    EXPECT_EQ(answered_.exchange(0), 0) << message.why;
    EXPECT_EQ(smuggled_.exchange(0), 0) << message.why;
  }
}

// A parser sees messages cut anywhere.
TEST_F(Http1ConformanceTest, AmbiguousMessagesInPieces) {
  for (const BadMessage& message : BadMessages()) {
    TestSocket socket(server_.port());
    const std::string bytes = message.bytes + kSmuggled;
    if (bytes.size() > 1'000) continue;
    for (const char byte : bytes) {
      if (!socket.Send({&byte, 1})) break;
    }
    EXPECT_THAT(socket.ReadToEnd(), StartsWith("HTTP/1.1 " + std::string(message.status) + " "))
        << message.why;
    EXPECT_EQ(smuggled_.exchange(0), 0) << message.why;
  }
}

TEST_F(Http1ConformanceTest, EndlessPartsOfAChunkedBodyEndTheConnection) {
  for (const char* start : {"1;a=", "1\r\na\r\n0\r\nx: ", "1", ""}) {
    TestSocket socket(server_.port());
    socket.Send(Chunked(start) + std::string(50'000, '0'));
    EXPECT_THAT(socket.ReadToEnd(),
                testing::AnyOf(StartsWith("HTTP/1.1 431 "), StartsWith("HTTP/1.1 400 ")))
        << start;
  }
}

TEST_F(Http1ConformanceTest, UnusualMessagesAreAnswered) {
  struct GoodMessage {
    const char* why;
    std::string bytes;
    const char* body;
  };
  const GoodMessage messages[] = {
      {"coding in capitals", Post("Transfer-Encoding: CHUNKED\r\n", "1\r\na\r\n0\r\n\r\n"), "[a]"},
      {"spaces around a coding", Post("transfer-encoding: \tchunked \r\n", "1\r\na\r\n0\r\n\r\n"),
       "[a]"},
      {"leading zeros", Post("content-length: 0001\r\n", "a"), "[a]"},
      {"no space after a colon", Post("content-length:1\r\n", "a"), "[a]"},
      {"an empty value", Post("x:\r\ncontent-length: 1\r\n", "a"), "[a]"},
      {"a tab in a value", Post("x: a\tb\r\ncontent-length: 1\r\n", "a"), "[a]"},
      {"bytes over 127 in a value", Post("x: \xC3\xA9\r\ncontent-length: 1\r\n", "a"), "[a]"},
      {"a chunk size in capitals", Chunked("0A\r\n0123456789\r\n0\r\n\r\n"), "[0123456789]"},
      {"a chunk extension", Chunked("1;a=b;c=\"d\"\r\na\r\n0;e\r\n\r\n"), "[a]"},
      {"a trailer", Chunked("1\r\na\r\n0\r\nx-checksum: y\r\n\r\n"), "[a]"},
      {"empty lines before a request", "\r\n\r\n" + Post("content-length: 1\r\n", "a"), "[a]"},
      {"no body", "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n", "[]"},
      {"an absolute target", "GET HTTP://localhost/ HTTP/1.1\r\nhost: localhost\r\n\r\n", "[]"},
      {"an absolute target without a path",
       "GET http://localhost?x HTTP/1.1\r\nhost: localhost\r\n\r\n", "[]"},
  };
  for (const GoodMessage& message : messages) {
    TestSocket socket(server_.port());
    socket.Send(message.bytes + message.bytes);
    for (int i = 0; i < 2; ++i) {
      EXPECT_THAT(socket.ReadUntil(message.body), StartsWith("HTTP/1.1 200 ")) << message.why;
    }
    EXPECT_EQ(answered_.exchange(0), 2) << message.why;
  }
}

// It concerns no path, so no service sees it.
TEST_F(Http1ConformanceTest, OptionsOfTheServer) {
  TestSocket socket(server_.port());
  for (int i = 0; i < 2; ++i) {
    socket.Send("OPTIONS * HTTP/1.1\r\nhost: localhost\r\n\r\n");
    const std::string answer = socket.ReadUntil("\r\n\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(answer, HasSubstr("allow: GET, "));
  }
}

}  // namespace
}  // namespace hearth::http
