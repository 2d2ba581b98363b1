#include "client/remote/grpc_answer.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "base/text.h"

namespace hearth::client {
namespace {

constexpr size_t kFrameHeadBytes = 5;
constexpr std::string_view kBlanks = " \t\r\n";
constexpr int kCodeMax = static_cast<int>(Code::kUnauthenticated);

std::optional<int> ParseNumber(std::string_view text, int base = 10) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// gRPC's table for proxies and servers that do not speak it.
Code CodeOfHttp(int status) {
  switch (status) {
    case 400:
      return Code::kInternal;
    case 401:
      return Code::kUnauthenticated;
    case 403:
      return Code::kPermissionDenied;
    case 404:
      return Code::kUnimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return Code::kUnavailable;
    default:
      return Code::kUnknown;
  }
}

}  // namespace

void GrpcAnswer::AddHeaderLine(std::string_view line) {
  line = Trim(line, kBlanks);
  if (line.starts_with("HTTP/")) {  // A new head: earlier ones were informational.
    const size_t space = line.find(' ');
    const std::string_view rest = space == std::string_view::npos ? "" : line.substr(space + 1);
    http_status_ = ParseNumber(rest.substr(0, 3)).value_or(0);
    content_type_.clear();
    return;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  AddField(name, Trim(line.substr(colon + 1), kBlanks));
}

void GrpcAnswer::AddField(const std::string& name, std::string_view value) {
  if (name == "content-type") {
    content_type_ = value;
  } else if (name == "grpc-message") {
    grpc_message_ = DecodeGrpcMessage(value);
  } else if (name == "grpc-status") {
    const int code = ParseNumber(value).value_or(-1);
    grpc_status_ = code >= 0 && code <= kCodeMax ? static_cast<Code>(code) : Code::kUnknown;
  }
}

void GrpcAnswer::AddBody(std::string_view bytes) {
  // A proxy's error page contains no messages.
  if (!content_type_.starts_with("application/grpc")) return;
  buffer_.erase(0, std::exchange(offset_, 0));
  buffer_.append(bytes);
}

Result<std::optional<std::string_view>> GrpcAnswer::Next() {
  const std::string_view rest = std::string_view(buffer_).substr(offset_);
  if (rest.size() < kFrameHeadBytes) return std::optional<std::string_view>();
  if (rest[0] != 0) {
    return Status(Code::kInternal, "the server sent a compressed message, which was not asked for");
  }
  size_t size = 0;
  for (size_t i = 1; i < kFrameHeadBytes; ++i) size = size << 8 | static_cast<uint8_t>(rest[i]);
  if (size > message_bytes_max_) {
    return Status(Code::kResourceExhausted, "the server sent a message of " + std::to_string(size) +
                                                " bytes, the limit is " +
                                                std::to_string(message_bytes_max_));
  }
  if (rest.size() - kFrameHeadBytes < size) return std::optional<std::string_view>();
  offset_ += kFrameHeadBytes + size;
  return std::optional(rest.substr(kFrameHeadBytes, size));
}

Status GrpcAnswer::Outcome() const {
  if (grpc_status_ && *grpc_status_ != Code::kOk) return Status(*grpc_status_, grpc_message_);
  if (http_status_ != 200) {
    return Status(CodeOfHttp(http_status_),
                  "the server answered with HTTP status " + std::to_string(http_status_));
  }
  if (!content_type_.starts_with("application/grpc")) {
    return Status(Code::kUnknown, "the answer is not gRPC but '" + content_type_ + "'");
  }
  // The connection was lost: if a server is killed while it answers, libcurl may take what has
  // arrived for all of the answer.
  if (!grpc_status_) return Status(Code::kUnavailable, "the answer ended without a status");
  if (offset_ != buffer_.size()) {
    return Status(Code::kInternal, "the answer ended within a message");
  }
  return Status();
}

std::string GrpcFrame(std::string_view message) {
  std::string frame;
  frame.reserve(kFrameHeadBytes + message.size());
  frame.push_back(0);
  for (int shift = 24; shift >= 0; shift -= 8) {
    frame.push_back(static_cast<char>(message.size() >> shift));
  }
  frame.append(message);
  return frame;
}

std::string DecodeGrpcMessage(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && text.size() - i > 2 && text[i + 1] != '-') {
      if (const std::optional<int> byte = ParseNumber(text.substr(i + 1, 2), 16)) {
        decoded.push_back(static_cast<char>(*byte));
        i += 2;
        continue;
      }
    }
    decoded.push_back(text[i]);
  }
  return decoded;
}

}  // namespace hearth::client
