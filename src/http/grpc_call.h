#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "http/event_loop.h"
#include "http/exchange.h"
#include "http/grpc_framing.h"
#include "http/rpc.h"

namespace hearth::http {

// Answers with nothing but a status ("Trailers-Only"): head and trailers are one frame.
void AnswerGrpcError(Exchange& exchange, const Status& status,
                     std::span<const Header> more_headers = {});

// A call on an HTTP/2 stream. What other threads ask for is posted to the loop; there it is done
// at once, without a detour, so that a method that answers within its call costs no wake-up.
//
// Threads, Ownership: as RpcCall says. The stream holds it until OnClosed; only after that may
// it be destroyed on another thread.
class GrpcServerCall final : public RpcCall,
                             public ExchangeHandler,
                             public std::enable_shared_from_this<GrpcServerCall> {
 public:
  GrpcServerCall(Exchange& exchange, size_t message_bytes_max);

  // False when the request asks for what cannot be had; it is answered then.
  bool Negotiate();
  // `method` outlives the call.
  void AnswerWith(const SingleRequestMethod& method) { single_ = &method; }
  void AnswerWith(const StreamMethod& method);

  const RequestHead& head() const override { return head_; }
  std::shared_ptr<const ClientPresence> client() const override { return client_; }
  bool closed() const override { return closed_.load(std::memory_order_acquire); }
  void OnCancelled(std::function<void()> callback) override;
  void Send(std::string message) override;
  void Send(MessageBatch batch) override;
  void WhenWritable(std::function<void()> callback) override;
  void Finish(const Status& status) override;
  void Finish(MessageBatch last, const Status& status) override;
  void Respond(Result<std::string> answer) override;
  void PauseReceiving() override;
  void ResumeReceiving() override;

  void OnBody(std::string_view bytes) override;
  void OnBodyEnd() override;
  void OnDrain() override;
  void OnWritable() override;
  void OnClosed() override;

 private:
  template <typename Work>
  void OnLoop(Work work);

  // What follows runs on the loop.
  void SendNow(std::string message);
  void SendFramesNow(std::string frames);
  void SendHeadNow();
  void FinishNow(const Status& status);
  // Ends the call with an error that its method did not ask for, and lets the method know.
  void FailNow(const Status& status);
  void MarkEnded();
  void RunOnCancelled();
  void Deliver();
  void DeliverSingle();
  void DeliverStream();
  void ReturnCredit();
  // When the caller stops waiting; nullopt: never.
  std::optional<TimePoint> Deadline() const;
  void ArmDeadline();

  const std::shared_ptr<EventLoop> loop_;  // Shared: the call may outlive the server.
  const RequestHead head_;
  const std::shared_ptr<const ClientPresence> client_;  // Shared with the connection.
  const TimePoint start_;
  std::atomic<bool> closed_ = false;

  // Everything below belongs to the loop.
  Exchange* exchange_;  // Null once closed.
  GrpcMessageReader reader_;
  const SingleRequestMethod* single_ = nullptr;
  std::unique_ptr<RpcReceiver> receiver_;
  std::function<void()> on_cancelled_;
  std::function<void()> on_writable_;
  Timer deadline_;
  size_t uncredited_bytes_ = 0;  // Received, but held back from flow control while paused.
  bool head_sent_ = false;
  bool ended_ = false;
  bool cancelled_ = false;  // Ended other than by Finish.
  bool body_ended_ = false;
  bool half_close_delivered_ = false;
  bool paused_ = false;
  bool delivering_ = false;
};

}  // namespace hearth::http
