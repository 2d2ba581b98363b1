// Remote calls as seen by the methods that answer them, for any protocol: gRPC, REST or WebChannel.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/callback.h"
#include "base/connected_client.h"
#include "base/executor.h"
#include "base/status.h"
#include "http/exchange.h"
#include "rpc/message_batch.h"

namespace hearth::rpc {

// One call.
//
// Threads: every function is safe from any thread; callbacks run on the call's own loop, never from
// inside the function that registered them on another thread.
// Ownership: shared by the connection and by the code that computes the answer. Once the client is
// gone, sending has no effect.
class Call {
 public:
  virtual ~Call() = default;

  virtual const http::RequestHead& head() const = 0;
  // The call's loop, for callbacks of the code that computes the answer.
  virtual Executor& executor() const = 0;

  // The client that makes the call; null: this process itself.
  virtual std::shared_ptr<const ConnectedClient> client() const { return nullptr; }

  // True once the call has ended: finished, cancelled, past its deadline, or disconnected.
  virtual bool closed() const = 0;
  // Requested when the call ends; for what works or waits on its behalf. Callbacks run on the loop.
  virtual std::stop_token end_token() const { return {}; }

  // Runs `callback` once, when the call ends other than by Finish; immediately if it has. Replaces
  // an earlier callback. It is dropped when the call is finished.
  virtual void OnCancelled(Task callback) = 0;

  // Queues one message for the client. Between messages, a producer of many waits for WhenWritable.
  virtual void Send(std::string message) = 0;
  // The same for several messages, with one hand-over to the loop instead of one each.
  virtual void Send(MessageBatch batch) = 0;

  // Runs `callback` once fewer than kSendBufferLowBytes wait to be written (immediately, through
  // the loop, if that is already so). Dropped without running when the call ends.
  virtual void WhenWritable(Task callback) = 0;

  // Ends the call. Only the first Finish has an effect.
  virtual void Finish(const Status& status) = 0;
  // Sends the remaining messages, if any, and ends the call.
  virtual void Finish(MessageBatch last, const Status& status) = 0;

  // Answers a unary call: the message and OK, or the error.
  virtual void Respond(Result<std::string> answer) = 0;

  // Holds back further messages of a streaming call until ResumeReceiving; flow control then slows
  // the client down. For a receiver that still processes a message after OnMessage has returned. A
  // call that has nothing to hold back ignores both.
  virtual void PauseReceiving() {}
  virtual void ResumeReceiving() {}
};

// Receives the messages of a streaming method. Runs on the call's loop.
class Receiver {
 public:
  // What is left to do on the loop with a message that was read elsewhere.
  using Delivery = Callback<void(Receiver& receiver)>;
  // Reads a message. Runs once, on a thread that is not a loop, possibly after the receiver is
  // gone.
  using MessageReader = Callback<Delivery(std::string_view message)>;

  virtual ~Receiver() = default;
  virtual void OnMessage(std::string_view message) = 0;
  // For a message that is too long to be read on the loop. Its delivery takes the place of
  // OnMessage: no other message is delivered before.
  virtual MessageReader ReaderForLongMessage() {
    return [](std::string_view message) -> Delivery {
      return [copy = std::string(message)](Receiver& receiver) { receiver.OnMessage(copy); };
    };
  }
  virtual void OnHalfClose() = 0;  // The client will send no more; it still reads.
  // The server is shutting down: a call without an end of its own should finish soon.
  virtual void OnDrain() {}
};

// Runs a task for a client on a thread that is not an event loop; fails if too many are queued
// there.
using Background = std::function<Status(ClientKey client, Task task)>;

// Answers a call that has exactly one request message; it may send one answer or many.
using SingleRequestMethod =
    std::function<void(std::shared_ptr<Call> call, std::string_view request)>;

// Opens a call with messages in both directions.
using StreamMethod = std::function<std::unique_ptr<Receiver>(std::shared_ptr<Call> call)>;

}  // namespace hearth::rpc
