#pragma once

#include <google/protobuf/descriptor.h>

#include <atomic>
#include <functional>
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
#include "http/rpc.h"

namespace hearth::doors::webchannel {

struct MethodTypes {
  const google::protobuf::Descriptor& request;
  const google::protobuf::Descriptor& response;
};

// One channel: a streaming call whose messages come in POST requests and go out in the answers to
// GET requests, on any connections.
//
// Threads: every function is safe from any thread, except Start, on the loop, and Shutdown, when
// the loop has ended. What is not const belongs to the loop of the handshake's connection; what
// other threads ask for is posted there. Callbacks and the receiver run there.
// Ownership: shared by the table of sessions, by requests under way and by whoever computes
// answers. Errors: what the client does wrong ends the call, and the client reads why.
class ChannelSession final : public http::RpcCall,
                             public std::enable_shared_from_this<ChannelSession> {
 public:
  // `on_gone` runs once, on the loop, when no request can reach the session any more.
  ChannelSession(std::shared_ptr<http::EventLoop> loop, http::RequestHead head, MethodTypes types,
                 const ChannelOptions& options, std::function<void()> on_gone);

  const MethodTypes& types() const { return types_; }

  void Start(const http::StreamMethod& method, std::vector<IncomingMap> maps);
  // Takes the client's messages and answers `request`, once the method has taken them.
  void Forward(std::vector<IncomingMap> maps, std::optional<uint64_t> acknowledged,
               std::shared_ptr<http::PlainCall> request);
  // Replaces the back channel that there was.
  void Attach(std::shared_ptr<BackChannel> back_channel, std::optional<uint64_t> acknowledged);
  void OnBackChannelReady(std::shared_ptr<BackChannel> back_channel);
  void OnBackChannelClosed(std::shared_ptr<BackChannel> back_channel);
  // The client wants no more.
  void Terminate();
  // The server is about to end: tells the client, which comes back when there is one again.
  void Drain();
  // Ends what is left when the loops have ended.
  void Shutdown();

  const http::RequestHead& head() const override { return head_; }
  bool closed() const override { return closed_.load(std::memory_order_acquire); }
  void OnCancelled(std::function<void()> callback) override;
  void Send(std::string message) override;
  void Send(http::MessageBatch batch) override;
  void WhenWritable(std::function<void()> callback) override;
  void Finish(const Status& status) override;
  void Finish(http::MessageBatch last, const Status& status) override;
  void Respond(Result<std::string> answer) override;
  void PauseReceiving() override;
  void ResumeReceiving() override;

 private:
  using Arrays = std::vector<std::string>;

  template <typename Work>
  void OnLoop(Work work);
  // The array of one message, made on the thread that sends it.
  Result<std::string> MakeArray(std::string_view message) const;
  Result<Arrays> MakeArrays(const http::MessageBatch& batch) const;

  // What follows runs on the loop.
  void SendNow(Result<Arrays> arrays);
  void FinishNow(const Status& status);
  // Ends the call with an error that its method did not ask for, and lets the method know.
  void FailNow(const Status& status);
  void MarkEnded();
  void RunOnCancelled();
  // Ends the call, if it has not ended, and the session.
  void DropNow();
  void Deliver();
  void AnswerHeld();
  void ScheduleFlush();
  void Flush();
  // Ends the back channel's answer with `chunk`.
  void FinishBackChannel(std::string chunk);
  void ArmTimer();
  void OnTimer();
  void RunWhenWritable();
  std::string ForwardAnswer() const;

  const std::shared_ptr<http::EventLoop> loop_;  // Shared: the call may outlive the server.
  const http::RequestHead head_;
  const MethodTypes types_;
  const ChannelOptions options_;
  std::atomic<bool> closed_ = false;

  // Everything below belongs to the loop.
  std::function<void()> on_gone_;
  std::unique_ptr<http::RpcReceiver> receiver_;
  std::function<void()> on_cancelled_;
  std::function<void()> on_writable_;
  Inbox inbox_;
  Outbox outbox_;
  std::shared_ptr<BackChannel> back_channel_;  // Shared with its connection.
  std::vector<std::shared_ptr<http::PlainCall>> held_requests_;
  http::Timer timer_;  // The next "noop", or the end of a session without a back channel.
  bool back_channel_ready_ = false;
  bool flush_scheduled_ = false;
  bool ended_ = false;      // The call.
  bool cancelled_ = false;  // Ended other than by Finish.
  bool gone_ = false;       // The session.
  bool paused_ = false;
  bool delivering_ = false;
};

}  // namespace hearth::doors::webchannel
