#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hearth::client {

// Parses the response to one gRPC call: header lines and body bytes go in, messages and the status
// come out.
//
// Threads: one at a time. Errors: ResourceExhausted for a message beyond the limit, Internal if the
// response is not gRPC. After an error the object is unusable.
class GrpcAnswer {
 public:
  explicit GrpcAnswer(size_t message_bytes_max) : message_bytes_max_(message_bytes_max) {}

  // "HTTP/2 200", "grpc-status: 5" and so on, of the head or of the trailers.
  void AddHeaderLine(std::string_view line);
  void AddBody(std::string_view bytes);
  // The next complete message, valid until the next call; nullopt if none is complete yet.
  Result<std::optional<std::string_view>> Next();

  // True once the server has sent a status.
  bool has_status() const { return grpc_status_.has_value(); }
  // The status of the call. Requires that nothing more follows.
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

// "%41" is "A". Malformed escapes are kept, so that a bad message does not hide a status.
std::string DecodeGrpcMessage(std::string_view text);

}  // namespace hearth::client
