#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "doors/grpc/grpc_framing.h"
#include "doors/grpc/grpc_service.h"
#include "http/event_loop.h"
#include "http/exchange.h"
#include "rpc/call.h"
#include "rpc/loop_call.h"

namespace hearth::doors::grpc {

// Answers with only a status ("Trailers-Only"): head and trailers are one frame.
void AnswerGrpcError(http::Exchange& exchange, const Status& status,
                     std::span<const http::Header> more_headers = {});

// A call on an HTTP/2 stream.
//
// Threads, Ownership: as rpc::Call says. The stream holds it until OnClosed; only after that may it
// be destroyed on another thread.
class GrpcServerCall final : public rpc::LoopCall<GrpcServerCall>, public http::ExchangeHandler {
 public:
  // `options` outlive the call.
  GrpcServerCall(http::Exchange& exchange, const GrpcOptions& options);

  // False if the request needs something unsupported; it has then been answered.
  bool Negotiate();
  // `method` outlives the call.
  void AnswerWith(const rpc::SingleRequestMethod& method);
  void AnswerWith(const rpc::StreamMethod& method);

  void OnBody(std::string_view bytes) override;
  void OnBodyEnd() override;
  void OnDrain() override;
  void OnWritable() override;
  void OnClosed() override;
  bool AwaitsBody() const override;

 private:
  friend class rpc::LoopCall<GrpcServerCall>;

  // Frames; the last may be in two parts, so that no message is copied.
  struct Encoded {
    std::string frames;
    std::string message = {};
  };
  static Result<Encoded> Encode(std::string message);
  static Result<Encoded> Encode(rpc::MessageBatch batch) { return Encoded{batch.TakeFrames()}; }
  static size_t BytesOf(const Encoded& encoded) {
    return encoded.frames.size() + encoded.message.size();
  }

  // The functions below run on the loop.
  void WriteNow(Encoded encoded) REQUIRES_LOCK(on_loop_);
  void WriteEndNow(const Status& status) REQUIRES_LOCK(on_loop_);
  bool IsWritable() const REQUIRES_LOCK(on_loop_) { return exchange_->is_writable(); }
  void DeliverNow() REQUIRES_LOCK(on_loop_);
  void ReleaseNow() REQUIRES_LOCK(on_loop_);

  void SendHeadNow() REQUIRES_LOCK(on_loop_);
  void DeliverSingle() REQUIRES_LOCK(on_loop_);
  void DeliverStream() REQUIRES_LOCK(on_loop_);

  // A message that is handled off the loop: it is long, or compressed.
  struct LargeMessage;
  bool IsLarge(const GrpcFrame& frame) const;
  // Makes the message, off the loop, and passes it to `use`, there too.
  void MakeInBackground(const GrpcFrame& frame, Callback<void(std::string_view)> use)
      REQUIRES_LOCK(on_loop_);
  void ReturnCredit() REQUIRES_LOCK(on_loop_);
  // When the caller stops waiting; nullopt: never.
  std::optional<http::TimePoint> Deadline() const;
  void ArmDeadline() REQUIRES_LOCK(on_loop_);

  const GrpcOptions& options_;
  const http::TimePoint start_;

  // Everything below belongs to the loop.
  http::Exchange* exchange_ GUARDED_BY(on_loop_);  // Null once closed.
  GrpcMessageReader reader_ GUARDED_BY(on_loop_);
  const rpc::SingleRequestMethod* single_ GUARDED_BY(on_loop_) = nullptr;
  http::Timer deadline_ GUARDED_BY(on_loop_);
  size_t uncredited_bytes_ GUARDED_BY(on_loop_) =
      0;  // Received, but held back from flow control while paused.
  bool head_sent_ GUARDED_BY(on_loop_) = false;
  bool body_ended_ GUARDED_BY(on_loop_) = false;
  bool half_close_delivered_ GUARDED_BY(on_loop_) = false;
  bool has_message_ GUARDED_BY(on_loop_) = false;  // A stream begins with one.
  bool is_making_ GUARDED_BY(on_loop_) = false;    // A message of a stream, off the loop.
};

}  // namespace hearth::doors::grpc
