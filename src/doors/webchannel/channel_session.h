#pragma once

#include <google/protobuf/descriptor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "doors/webchannel/back_channel.h"
#include "doors/webchannel/channel_request.h"
#include "doors/webchannel/inbox.h"
#include "doors/webchannel/options.h"
#include "doors/webchannel/outbox.h"
#include "http/event_loop.h"
#include "http/plain.h"
#include "rpc/call.h"
#include "rpc/loop_call.h"

namespace hearth::doors::webchannel {

struct MethodTypes {
  const google::protobuf::Descriptor& request;
  const google::protobuf::Descriptor& response;
};

// One channel: a streaming call whose messages come in POST requests and go out in the answers to
// GET requests, on any connections.
//
// Threads: every function is safe from any thread, except ClaimForStart and Start, on the loop, and
// Shutdown, when the loop has ended. Non-const members belong to the loop of the handshake's
// connection; requests from other threads are posted there. Callbacks and the receiver run there.
// Ownership: shared by the table of sessions, by requests in progress and by the code that computes
// answers. Errors: client errors end the call, and the client receives the reason.
class ChannelSession final : public rpc::LoopCall<ChannelSession> {
 public:
  // `on_gone` runs once, on the loop, when requests can no longer reach the session.
  ChannelSession(std::shared_ptr<http::EventLoop> loop, ClientKey client, http::RequestHead head,
                 MethodTypes types, const ChannelOptions& options, rpc::Background background,
                 Task on_gone);

  const MethodTypes& types() const { return types_; }

  // Claims the memory of a session that holds nothing yet. False if there is none, or if the client
  // has had its share; then the session must not be started.
  bool ClaimForStart();
  void Start(const rpc::StreamMethod& method, std::vector<IncomingMap> maps);
  // Accepts the client's messages, and answers `request` once the method has taken them.
  void Forward(std::vector<IncomingMap> maps, std::optional<uint64_t> acknowledged,
               std::shared_ptr<http::PlainCall> request);
  // Replaces the previous back channel.
  void Attach(std::shared_ptr<BackChannel> back_channel, std::optional<uint64_t> acknowledged);
  void OnBackChannelReady(std::shared_ptr<BackChannel> back_channel);
  void OnBackChannelClosed(std::shared_ptr<BackChannel> back_channel);
  // The client ends the session.
  void Terminate();
  // The server is shutting down: notifies the client, which will reconnect.
  void Drain();
  // Ends the session after the loops have ended, when no other thread uses it.
  void Shutdown() HEARTH_TSA_(no_thread_safety_analysis);

 private:
  friend class rpc::LoopCall<ChannelSession>;

  // Messages as arrays.
  struct Encoded {
    std::vector<std::string> arrays = {};
    MemoryClaim claim = {};  // Until the session claims what it keeps.
  };
  Result<Encoded> Encode(const std::string& message) const;
  Result<Encoded> Encode(const rpc::MessageBatch& batch) const;
  static size_t BytesOf(const Encoded& encoded);
  Status AddArray(std::string_view message, Encoded* encoded) const;

  // The functions below run on the loop.
  void WriteNow(Encoded encoded) REQUIRES_LOCK(on_loop_);
  void WriteEndNow(const Status& status) REQUIRES_LOCK(on_loop_);
  bool IsWritable() const REQUIRES_LOCK(on_loop_) {
    return outbox_.unsent_bytes() < http::kSendBufferLowBytes;
  }
  void DeliverNow() REQUIRES_LOCK(on_loop_);
  void ReleaseNow() REQUIRES_LOCK(on_loop_);
  // Ends the call, if it has not ended, and the session.
  void DropNow() REQUIRES_LOCK(on_loop_);
  void AnswerHeld() REQUIRES_LOCK(on_loop_);
  void ScheduleFlush() REQUIRES_LOCK(on_loop_);
  void Flush() REQUIRES_LOCK(on_loop_);
  // Ends the back channel's answer with `chunk`.
  void FinishBackChannel(std::string chunk) REQUIRES_LOCK(on_loop_);
  void ArmTimer() REQUIRES_LOCK(on_loop_);
  // Has the receiver read a long message off the loop, before any other.
  void ReadInBackground(std::string message) REQUIRES_LOCK(on_loop_);
  // Adjusts the claim to what is kept. False if there is not enough memory.
  bool ClaimMemory() REQUIRES_LOCK(on_loop_);
  size_t KeptBytes() const REQUIRES_LOCK(on_loop_);
  // Adds a short array of the protocol's own. Memory for it is never refused: otherwise a client
  // would lose its session for a few bytes.
  void AddOwnArray(std::string array) REQUIRES_LOCK(on_loop_);
  void OnTimer() REQUIRES_LOCK(on_loop_);
  std::string ForwardAnswer() const REQUIRES_LOCK(on_loop_);

  const MethodTypes types_;
  const ChannelOptions options_;
  const rpc::Background background_;

  // Everything below belongs to the loop.
  Task on_gone_ GUARDED_BY(on_loop_);
  Inbox inbox_ GUARDED_BY(on_loop_);
  Outbox outbox_ GUARDED_BY(on_loop_);
  std::shared_ptr<BackChannel> back_channel_ GUARDED_BY(on_loop_);  // Shared with its connection.
  std::vector<std::shared_ptr<http::PlainCall>> held_requests_ GUARDED_BY(on_loop_);
  http::Timer timer_
      GUARDED_BY(on_loop_);  // The next "noop", or the end of a session without a back channel.
  MemoryClaim claim_ GUARDED_BY(on_loop_);
  bool back_channel_ready_ GUARDED_BY(on_loop_) = false;
  bool flush_scheduled_ GUARDED_BY(on_loop_) = false;
  bool is_reading_ GUARDED_BY(on_loop_) = false;  // A long message, off the loop.
  bool gone_ GUARDED_BY(on_loop_) = false;        // The session is gone; its call has ended too.
};

}  // namespace hearth::doors::webchannel
