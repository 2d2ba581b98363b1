#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "http/event_loop.h"
#include "http/exchange.h"
#include "rpc/call.h"

namespace hearth::rpc {

// What calls have in common, whatever carries them: what any thread asks for happens on the loop,
// in order; the call ends once; its method hears of an end that it did not ask for; a receiver gets
// messages one at a time.
//
// A carrier derives from LoopCall<itself> and has, accessible here:
//
//   using Encoded = ...;                              What messages become before they are sent,
//   Result<Encoded> Encode(std::string) const;        on the thread that sends them.
//   Result<Encoded> Encode(MessageBatch) const;
//   void WriteNow(Encoded);                           Sends; before the end.
//   void WriteEndNow(const Status&);                  Sends the end. Runs once.
//   bool IsWritable() const;                          Little waits to be sent.
//   void DeliverNow();                                Hands waiting messages to the receiver.
//   void ReleaseNow();                                The call has ended: frees what it held.
//
// All but Encode run on the loop. What is requested there happens at once, without a detour, so
// that a method that answers within its call costs no wake-up.
//
// Threads, Ownership: as Call says.
template <typename Carrier>
class LoopCall : public Call, public std::enable_shared_from_this<Carrier> {
 public:
  const http::RequestHead& head() const final { return head_; }
  Executor& executor() const final { return *loop_; }
  bool closed() const final { return closed_.load(std::memory_order_acquire); }

  void OnCancelled(Task callback) final {
    OnLoop([callback = std::move(callback)](Carrier& call) mutable {
      if (!call.ended_) {
        std::swap(call.on_cancelled_, callback);
      } else if (call.cancelled_) {
        callback();
      }
    });
  }

  void Send(std::string message) final { SendEncoded(std::move(message)); }
  void Send(MessageBatch batch) final {
    if (!batch.empty()) SendEncoded(std::move(batch));
  }

  void WhenWritable(Task callback) final {
    // Always through the loop: a producer that sends from its callback must not recurse.
    loop_->Post([self = this->shared_from_this(), callback = std::move(callback)]() mutable {
      LoopCall& call = *self;
      if (call.ended_) return;
      call.on_writable_ = std::move(callback);
      call.RunWhenWritable();
    });
  }

  void Finish(const Status& status) final {
    OnLoop([status](Carrier& call) { call.FinishNow(status); });
  }
  void Finish(MessageBatch last, const Status& status) final {
    if (last.empty()) return Finish(status);
    OnLoop([encoded = carrier().Encode(std::move(last)), status](Carrier& call) mutable {
      call.SendNow(std::move(encoded));
      call.FinishNow(status);
    });
  }
  void Respond(Result<std::string> answer) final {
    if (!answer.ok()) return Finish(answer.status());
    OnLoop([encoded = carrier().Encode(*std::move(answer))](Carrier& call) mutable {
      call.SendNow(std::move(encoded));
      call.FinishNow(Status());
    });
  }

  void PauseReceiving() final {
    OnLoop([](Carrier& call) { call.paused_ = true; });
  }
  void ResumeReceiving() final {
    OnLoop([](Carrier& call) {
      call.paused_ = false;
      call.Deliver();
    });
  }

 protected:
  LoopCall(std::shared_ptr<http::EventLoop> loop, http::RequestHead head)
      : loop_(std::move(loop)), head_(std::move(head)) {}

  const std::shared_ptr<http::EventLoop>& loop() const { return loop_; }

  // Runs `work` with the call, on its loop.
  template <typename Work>
  void OnLoop(Work work) {
    if (loop_->InLoop()) {
      work(carrier());
    } else {
      loop_->Post(
          [self = this->shared_from_this(), work = std::move(work)]() mutable { work(*self); });
    }
  }

  // What follows runs on the loop.
  bool ended() const { return ended_; }
  bool paused() const { return paused_; }
  Receiver* receiver() const { return receiver_.get(); }

  void StartReceiving(const StreamMethod& method) {
    receiver_ = method(this->shared_from_this());
    CHECK(receiver_ != nullptr);
  }
  void DropReceiver() { receiver_ = nullptr; }

  void FinishNow(const Status& status) {
    if (ended_) return;
    MarkEnded();
    on_cancelled_ = nullptr;
    carrier().WriteEndNow(status);
  }

  // Ends the call with an error that its method did not ask for, and lets the method know.
  void FailNow(const Status& status) {
    if (ended_) return;
    const std::shared_ptr<Carrier> self = this->shared_from_this();
    MarkEnded();
    carrier().WriteEndNow(status);
    RunOnCancelled();
  }

  // Ends the call without a word to the client, who is gone.
  void CancelNow() {
    if (ended_) return;
    MarkEnded();
    RunOnCancelled();
  }

  // Marks a call as ended whose method has not been started.
  void RefuseNow() {
    if (!ended_) MarkEnded();
  }

  // Has the carrier hand over messages, unless that is under way: a receiver that resumes from
  // inside OnMessage is served by the loop that called it.
  void Deliver() {
    if (ended_ || paused_ || delivering_) return;
    const std::shared_ptr<Carrier> self = this->shared_from_this();
    delivering_ = true;
    carrier().DeliverNow();
    delivering_ = false;
    if (ended_) carrier().ReleaseNow();
  }

  // Hands over what `next` returns, an optional Result of a text, until there is nothing more.
  template <typename Next>
  void DeliverMessages(const Next& next) {
    while (!ended_ && !paused_) {
      const auto message = next();
      if (!message) return;
      if (!message->ok()) return FailNow(message->status());
      receiver_->OnMessage(**message);
    }
  }

  // To be called whenever the carrier may have become writable.
  void RunWhenWritable() {
    if (!on_writable_ || !carrier().IsWritable()) return;
    Task callback = std::exchange(on_writable_, nullptr);
    callback();
  }

 private:
  Carrier& carrier() { return static_cast<Carrier&>(*this); }
  const Carrier& carrier() const { return static_cast<const Carrier&>(*this); }

  template <typename Messages>
  void SendEncoded(Messages messages) {
    if (closed()) return;
    OnLoop([encoded = carrier().Encode(std::move(messages))](Carrier& call) mutable {
      call.SendNow(std::move(encoded));
    });
  }

  template <typename Encoded>
  void SendNow(Result<Encoded> encoded) {
    if (ended_) return;
    if (encoded.ok()) return carrier().WriteNow(*std::move(encoded));
    MarkEnded();
    carrier().WriteEndNow(encoded.status());
    // The method hears of its call's end, but not from inside its own call to send.
    loop_->Post([self = this->shared_from_this()] { self->RunOnCancelled(); });
  }

  void MarkEnded() {
    ended_ = true;
    closed_.store(true, std::memory_order_release);
    on_writable_ = nullptr;
    if (!delivering_) carrier().ReleaseNow();
  }

  void RunOnCancelled() {
    cancelled_ = true;
    if (Task callback = std::exchange(on_cancelled_, nullptr)) callback();
  }

  const std::shared_ptr<http::EventLoop> loop_;  // Shared: the call may outlive the server.
  const http::RequestHead head_;
  std::atomic<bool> closed_ = false;

  // Everything below belongs to the loop.
  std::unique_ptr<Receiver> receiver_;  // Of a streaming call.
  Task on_cancelled_;
  Task on_writable_;
  bool ended_ = false;
  bool cancelled_ = false;  // Ended other than by Finish.
  bool paused_ = false;
  bool delivering_ = false;
};

}  // namespace hearth::rpc
