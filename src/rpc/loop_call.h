#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/role.h"
#include "http/event_loop.h"
#include "http/exchange.h"
#include "rpc/call.h"

namespace hearth::rpc {

// The common part of all calls, for any carrier: requests from any thread run on the loop, in
// order; the call ends once; its method is notified of an end that it did not request; a receiver
// gets messages one at a time.
//
// A carrier derives from LoopCall<itself> and has, accessible here:
//
//   using Encoded = ...;                              The form in which messages are sent; encoded
//   Result<Encoded> Encode(std::string) const;        on the thread that sends them.
//   Result<Encoded> Encode(MessageBatch) const;
//   static size_t BytesOf(const Encoded&);            The approximate size.
//   void WriteNow(Encoded);                           Sends; before the end.
//   void WriteEndNow(const Status&);                  Sends the end. Runs once.
//   bool IsWritable() const;                          Little waits to be sent.
//   void DeliverNow();                                Hands waiting messages to the receiver.
//   void ReleaseNow();                                The call has ended: frees its resources.
//
// All but Encode run on the loop. Requests made there take effect immediately, without a detour, so
// that a method that answers within its call costs no wake-up.
//
// Threads, Ownership: as Call says.
template <typename Carrier>
class LoopCall : public Call, public std::enable_shared_from_this<Carrier> {
 public:
  const http::RequestHead& head() const final { return head_; }
  Executor& executor() const final { return *loop_; }
  std::shared_ptr<const ConnectedClient> client() const final { return client_; }
  bool closed() const final { return end_.stop_requested(); }
  std::stop_token end_token() const final { return end_.get_token(); }

  void OnCancelled(Task callback) final {
    OnLoop([callback = std::move(callback)](Carrier& call) mutable {
      call.AssertOnLoop();
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
      call.AssertOnLoop();
      if (call.ended_) return;
      call.on_writable_ = std::move(callback);
      call.RunWhenWritable();
    });
  }

  void Finish(const Status& status) final {
    OnLoop([status](Carrier& call) {
      call.AssertOnLoop();
      call.FinishNow(status);
    });
  }
  void Finish(MessageBatch last, const Status& status) final {
    if (last.empty()) return Finish(status);
    SendOnLoop(carrier().Encode(std::move(last)), [status](Carrier& call) {
      call.AssertOnLoop();
      call.FinishNow(status);
    });
  }
  void Respond(Result<std::string> answer) final {
    if (!answer.ok()) return Finish(answer.status());
    SendOnLoop(carrier().Encode(*std::move(answer)), [](Carrier& call) {
      call.AssertOnLoop();
      call.FinishNow(Status());
    });
  }

  void PauseReceiving() final {
    OnLoop([](Carrier& call) {
      call.AssertOnLoop();
      call.paused_ = true;
    });
  }
  void ResumeReceiving() final {
    OnLoop([](Carrier& call) {
      call.AssertOnLoop();
      call.paused_ = false;
      call.Deliver();
    });
  }

 protected:
  LoopCall(std::shared_ptr<http::EventLoop> loop, std::shared_ptr<const ConnectedClient> client,
           http::RequestHead head)
      : loop_(std::move(loop)),
        client_(std::move(client)),
        head_(std::move(head)),
        on_loop_(http::EventLoop::IsInLoop, loop_.get()) {}

  const std::shared_ptr<http::EventLoop>& loop() const { return loop_; }
  // For entry points from outside, on the loop.
  void AssertOnLoop() const ASSERTS_LOCK(on_loop_) { on_loop_.Assert(); }

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

  // The functions below run on the loop.
  bool ended() const REQUIRES_LOCK(on_loop_) { return ended_; }
  bool paused() const REQUIRES_LOCK(on_loop_) { return paused_; }
  Receiver* receiver() const REQUIRES_LOCK(on_loop_) { return receiver_.get(); }

  void StartReceiving(const StreamMethod& method) REQUIRES_LOCK(on_loop_) {
    receiver_ = method(this->shared_from_this());
    CHECK(receiver_ != nullptr);
  }
  void DropReceiver() REQUIRES_LOCK(on_loop_) { receiver_ = nullptr; }

  void FinishNow(const Status& status) REQUIRES_LOCK(on_loop_) {
    if (ended_) return;
    MarkEnded();
    on_cancelled_ = nullptr;
    WriteEnd(status);
  }

  // Ends the call with an error that its method did not request, and notifies the method.
  void FailNow(const Status& status) REQUIRES_LOCK(on_loop_) {
    if (ended_) return;
    const std::shared_ptr<Carrier> self = this->shared_from_this();
    MarkEnded();
    WriteEnd(status);
    RunOnCancelled();
  }

  // Ends the call without notifying the client, which is gone.
  void CancelNow() REQUIRES_LOCK(on_loop_) {
    if (ended_) return;
    MarkEnded();
    RunOnCancelled();
  }

  // Marks a call as ended whose method has not been started.
  void RefuseNow() REQUIRES_LOCK(on_loop_) {
    if (!ended_) MarkEnded();
  }

  // Makes the carrier deliver messages, unless a delivery is already running: if a receiver resumes
  // from inside OnMessage, the delivery that called it continues.
  void Deliver() REQUIRES_LOCK(on_loop_) {
    if (ended_ || paused_ || delivering_) return;
    const std::shared_ptr<Carrier> self = this->shared_from_this();
    delivering_ = true;
    Carrier& call = carrier();
    call.AssertOnLoop();
    call.DeliverNow();
    delivering_ = false;
    if (ended_) call.ReleaseNow();
  }

  // Delivers what `next` returns, an optional Result of a text, until there is nothing more.
  template <typename Next>
  void DeliverMessages(const Next& next) REQUIRES_LOCK(on_loop_) {
    while (!ended_ && !paused_) {
      const auto message = next();
      if (!message) return;
      if (!message->ok()) return FailNow(message->status());
      receiver_->OnMessage(**message);
    }
  }

  // Call it whenever the carrier may have become writable.
  void RunWhenWritable() REQUIRES_LOCK(on_loop_) {
    const Carrier& call = carrier();
    call.AssertOnLoop();
    if (!on_writable_ || !call.IsWritable()) return;
    Task callback = std::exchange(on_writable_, nullptr);
    callback();
  }

 private:
  Carrier& carrier() { return static_cast<Carrier&>(*this); }
  const Carrier& carrier() const { return static_cast<const Carrier&>(*this); }

  template <typename Messages>
  void SendEncoded(Messages messages) {
    if (closed()) return;
    SendOnLoop(carrier().Encode(std::move(messages)), [](Carrier&) {});
  }

  // Sends on the loop, then runs `after` there. What is on its way to the loop counts for the
  // client: it may be much.
  template <typename Encoded, typename After>
  void SendOnLoop(Result<Encoded> encoded, After after) {
    if (loop_->InLoop()) {
      AssertOnLoop();
      SendNow(std::move(encoded));
      return after(carrier());
    }
    const size_t bytes = encoded.ok() && client_ ? Carrier::BytesOf(*encoded) : 0;
    std::optional<ConnectedClient::InFlight> in_flight;
    if (bytes > 0) in_flight.emplace(client_, bytes);
    loop_->Post([self = this->shared_from_this(), encoded = std::move(encoded),
                 after = std::move(after), in_flight = std::move(in_flight)]() mutable {
      self->AssertOnLoop();
      self->SendNow(std::move(encoded));
      after(*self);
    });
  }

  template <typename Encoded>
  void SendNow(Result<Encoded> encoded) REQUIRES_LOCK(on_loop_) {
    if (ended_) return;
    if (encoded.ok()) {
      Carrier& call = carrier();
      call.AssertOnLoop();
      return call.WriteNow(*std::move(encoded));
    }
    MarkEnded();
    WriteEnd(encoded.status());
    // The method is notified of the end of its call, but not from inside its own call to Send.
    loop_->Post([self = this->shared_from_this()] {
      self->AssertOnLoop();
      self->RunOnCancelled();
    });
  }

  void WriteEnd(const Status& status) REQUIRES_LOCK(on_loop_) {
    Carrier& call = carrier();
    call.AssertOnLoop();
    call.WriteEndNow(status);
  }

  void MarkEnded() REQUIRES_LOCK(on_loop_) {
    ended_ = true;
    end_.request_stop();
    on_writable_ = nullptr;
    if (delivering_) return;  // The message being delivered is still in use.
    Carrier& call = carrier();
    call.AssertOnLoop();
    call.ReleaseNow();
  }

  void RunOnCancelled() REQUIRES_LOCK(on_loop_) {
    cancelled_ = true;
    if (Task callback = std::exchange(on_cancelled_, nullptr)) callback();
  }

  const std::shared_ptr<http::EventLoop> loop_;          // Shared: the call may outlive the server.
  const std::shared_ptr<const ConnectedClient> client_;  // Shared with the connection.
  const http::RequestHead head_;
  std::stop_source end_;

 protected:
  const Role on_loop_;

 private:
  std::unique_ptr<Receiver> receiver_ GUARDED_BY(on_loop_);  // For a streaming call.
  Task on_cancelled_ GUARDED_BY(on_loop_);
  Task on_writable_ GUARDED_BY(on_loop_);
  bool ended_ GUARDED_BY(on_loop_) = false;
  bool cancelled_ GUARDED_BY(on_loop_) = false;  // Ended other than by Finish.
  bool paused_ GUARDED_BY(on_loop_) = false;
  bool delivering_ GUARDED_BY(on_loop_) = false;
};

}  // namespace hearth::rpc
