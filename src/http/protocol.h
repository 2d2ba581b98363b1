// What a connection and the protocol spoken on it know of each other.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "http/event_loop.h"
#include "http/exchange.h"
#include "http/options.h"

namespace hearth::http {

// The connection, as a protocol sees it. Threads: the connection's loop only.
class ProtocolHost {
 public:
  virtual ~ProtocolHost() = default;

  virtual const std::shared_ptr<EventLoop>& loop() const = 0;
  virtual BufferBudget& budget() = 0;
  virtual const std::string& peer() const = 0;
  // There may be output: Produce is called before this turn of the loop ends.
  virtual void OutputReady() = 0;
  // Receive will take bytes again that it left before.
  virtual void InputWanted() = 0;
  // Calls OnTimer at `when` or earlier.
  virtual void CheckAt(TimePoint when) = 0;
};

// One protocol version on one connection: bytes in, bytes out, no socket.
//
// Threads: the connection's loop only. Ownership: owned by the connection, which outlives it.
// Errors: a peer that breaks the protocol gets told in the output, after which done() holds.
class Protocol {
 public:
  virtual ~Protocol() = default;

  // Takes bytes from the peer and says how many. What is left is offered again after InputWanted.
  virtual size_t Receive(std::string_view bytes) = 0;
  // False holds reading back.
  virtual bool wants_input() const = 0;
  // The peer sends no more.
  virtual void OnInputEnd() = 0;
  // Appends output until `out` holds about `bytes_max`, or there is none.
  virtual void Produce(std::string& out, size_t bytes_max) = 0;
  // The connection is to be closed once the output is written.
  virtual bool done() const = 0;
  // Ends the connection as soon as the requests that have begun are answered.
  virtual void Drain() = 0;
  // Acts on the time-outs that have passed; returns when to look again.
  virtual TimePoint OnTimer(TimePoint now) = 0;
  // The connection is lost: closes every exchange. The last call.
  virtual void OnLost() = 0;
};

}  // namespace hearth::http
