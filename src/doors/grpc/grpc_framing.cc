#include "doors/grpc/grpc_framing.h"

#include <charconv>

#include "base/check.h"
#include "base/status_macros.h"
#include "base/text.h"

namespace hearth::doors::grpc {
namespace {

// gRPC's wire format allows no more.
constexpr size_t kTimeoutDigitsMax = 8;
// Capacity that an empty buffer keeps; it is not counted.
constexpr size_t kKeptBufferBytes = 4 * 1024;
constexpr std::chrono::nanoseconds kTimeoutMax = std::chrono::hours(365 * 24);

}  // namespace

std::optional<std::chrono::nanoseconds> ParseGrpcTimeout(std::string_view text) {
  if (text.size() < 2 || text.size() > kTimeoutDigitsMax + 1) return std::nullopt;
  int64_t amount = 0;
  const char* const unit = text.data() + text.size() - 1;
  const auto [end, error] = std::from_chars(text.data(), unit, amount);
  if (error != std::errc() || end != unit || amount < 0) return std::nullopt;
  std::chrono::nanoseconds step;
  switch (*unit) {
    case 'H':
      step = std::chrono::hours(1);
      break;
    case 'M':
      step = std::chrono::minutes(1);
      break;
    case 'S':
      step = std::chrono::seconds(1);
      break;
    case 'm':
      step = std::chrono::milliseconds(1);
      break;
    case 'u':
      step = std::chrono::microseconds(1);
      break;
    case 'n':
      step = std::chrono::nanoseconds(1);
      break;
    default:
      return std::nullopt;
  }
  // 99999999 hours would not fit into 64 bits of nanoseconds.
  return amount > kTimeoutMax / step ? kTimeoutMax : amount * step;
}

std::string PercentEncode(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && c != '%') {
      encoded += c;
    } else {
      encoded += '%';
      encoded += kHex[static_cast<uint8_t>(c) >> 4];
      encoded += kHex[static_cast<uint8_t>(c) & 15];
    }
  }
  return encoded;
}

Status GrpcMessageReader::Append(std::string_view bytes) {
  // The budget counts exactly the buffer's size, so drop consumed bytes first.
  if (waiting_bytes() == 0) Clear();
  budget_.Return(offset_);
  buffer_.erase(0, offset_);
  offset_ = 0;
  if (!budget_.Take(bytes.size())) {
    return Status(Code::kResourceExhausted, "the connection has too many unfinished requests");
  }
  buffer_.append(bytes);
  return Status();
}

Result<std::optional<size_t>> GrpcMessageReader::FrameBytes() const {
  if (waiting_bytes() < rpc::kFrameHeadBytes) return std::optional<size_t>();
  const char* const head = buffer_.data() + offset_;
  const uint8_t compressed = static_cast<uint8_t>(head[0]);
  const size_t size = rpc::FrameMessageBytes({head, rpc::kFrameHeadBytes});
  if (compressed > 1) return Status(Code::kInternal, "not a gRPC frame: unknown flags");
  if (compressed == 1 && encoding_ == GrpcEncoding::kIdentity) {
    return Status(Code::kInternal, "a message is compressed, but grpc-encoding is not set");
  }
  // Rejected by the size in the head, before more of it is buffered.
  if (size > message_bytes_max_) {
    return Status(Code::kResourceExhausted, "received message larger than max (" +
                                                std::to_string(size) + " vs. " +
                                                std::to_string(message_bytes_max_) + ")");
  }
  return std::optional<size_t>(rpc::kFrameHeadBytes + size);
}

Result<std::optional<GrpcFrame>> GrpcMessageReader::Next() {
  ASSIGN_OR_RETURN(const std::optional<size_t> frame_bytes, FrameBytes());
  if (!frame_bytes || waiting_bytes() < *frame_bytes) return std::optional<GrpcFrame>();
  const std::string_view frame = std::string_view(buffer_).substr(offset_, *frame_bytes);
  offset_ += *frame_bytes;
  return std::optional<GrpcFrame>({frame.substr(rpc::kFrameHeadBytes), frame[0] != 0});
}

bool GrpcMessageReader::is_inside_frame() const {
  if (waiting_bytes() == 0) return false;
  const Result<std::optional<size_t>> frame_bytes = FrameBytes();
  return !frame_bytes.ok() || !*frame_bytes || waiting_bytes() < **frame_bytes;
}

void GrpcMessageReader::Clear() {
  if (buffer_.empty()) return;
  budget_.Return(buffer_.size());
  buffer_.clear();
  if (buffer_.capacity() > kKeptBufferBytes) FreeText(buffer_);
  offset_ = 0;
}

}  // namespace hearth::doors::grpc
