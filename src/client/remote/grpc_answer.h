#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hearth::client {

// What a server says to one gRPC call: lines of headers and bytes of a body go in, messages and the
// status come out.
//
// Threads: one at a time. Errors: ResourceExhausted for a message beyond the limit, Internal for
// what is not gRPC; after one of them the answer is of no further use.
class GrpcAnswer {
 public:
  explicit GrpcAnswer(size_t message_bytes_max) : message_bytes_max_(message_bytes_max) {}

  // "HTTP/2 200", "grpc-status: 5" and so on, of the head or of the trailers.
  void AddHeaderLine(std::string_view line);
  void AddBody(std::string_view bytes);
  // The next complete message, valid until the next call; nullopt when there is none yet.
  Result<std::optional<std::string_view>> Next();

  // True once the server has said what the call came to.
  bool has_status() const { return grpc_status_.has_value(); }
  // What the call came to, where nothing more follows.
  Status Outcome() const;

 private:
  void AddField(const std::string& name, std::string_view value);

  const size_t message_bytes_max_;
  int http_status_ = 0;
  std::string content_type_;
  std::optional<Code> grpc_status_;
  std::string grpc_message_;
  std::string buffer_;
  size_t offset_ = 0;  // Where the next frame begins.
};

// A frame is: 1 byte, 1 if the message is compressed; 4 bytes, its size, big-endian; the message.
std::string GrpcFrame(std::string_view message);

// "%41" is "A". What is not of that form stays as it is: a status is never lost over its message.
std::string DecodeGrpcMessage(std::string_view text);

}  // namespace hearth::client
