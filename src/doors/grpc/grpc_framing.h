// gRPC's wire format: message frames, timeouts, and percent-encoded status messages.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "http/exchange.h"
#include "rpc/message_batch.h"

namespace hearth::doors::grpc {

enum class GrpcEncoding : uint8_t { kIdentity, kGzip };

// "10S" and so on, at most a year; nullopt if it does not have that form.
std::optional<std::chrono::nanoseconds> ParseGrpcTimeout(std::string_view text);

// Encodes a status message for the grpc-message trailer.
std::string PercentEncode(std::string_view text);

// One message as it was sent.
struct GrpcFrame {
  std::string_view payload;
  bool is_compressed;
};

// Splits the bytes of a request into messages.
//
// Threads: one loop. Ownership: borrows the budget, which it charges for its buffer; call Clear
// before the budget is destroyed.
// Errors: ResourceExhausted for a message beyond the limit or the budget, Internal for an invalid
// frame; after an error, only Clear may be called.
class GrpcMessageReader {
 public:
  GrpcMessageReader(size_t message_bytes_max, http::BufferBudget& budget)
      : message_bytes_max_(message_bytes_max), budget_(budget) {}
  GrpcMessageReader(const GrpcMessageReader&) = delete;
  GrpcMessageReader& operator=(const GrpcMessageReader&) = delete;

  void set_encoding(GrpcEncoding encoding) { encoding_ = encoding; }

  Status Append(std::string_view bytes);
  // The size of the next frame, including its head; nullopt while the head is incomplete.
  Result<std::optional<size_t>> FrameBytes() const;
  // The next complete frame, valid until the next call; nullopt if there is none yet.
  Result<std::optional<GrpcFrame>> Next();
  // Bytes that Next has not returned yet.
  size_t waiting_bytes() const { return buffer_.size() - offset_; }
  // Whether the rest of the next frame has not been received.
  bool is_inside_frame() const;
  // Drops what is left. Frees the buffer, unless it is small, and returns its bytes to the budget.
  void Clear();

 private:
  const size_t message_bytes_max_;
  http::BufferBudget& budget_;
  GrpcEncoding encoding_ = GrpcEncoding::kIdentity;
  std::string buffer_;
  size_t offset_ = 0;  // The start of the next frame.
};

}  // namespace hearth::doors::grpc
