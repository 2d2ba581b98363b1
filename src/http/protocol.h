// The interface between a connection and its protocol.
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
  virtual const std::shared_ptr<ConnectedClient>& client() const = 0;
  // There may be output: Produce is called before this turn of the loop ends.
  virtual void OutputReady() = 0;
  // Receive will now take bytes that it left before.
  virtual void InputWanted() = 0;
  // Calls OnTimer at `when` or earlier.
  virtual void CheckAt(TimePoint when) = 0;
};

// One protocol version on one connection: bytes in, bytes out, no socket.
//
// Threads: the connection's loop only. Ownership: owned by the connection, which outlives it.
// Errors: a protocol violation is reported to the peer in the output, after which done() is true.
class Protocol {
 public:
  virtual ~Protocol() = default;

  // Consumes bytes from the peer and returns how many. The rest is offered again after InputWanted.
  virtual size_t Receive(std::string_view bytes) = 0;
  // False pauses reading.
  virtual bool wants_input() const = 0;
  // The peer has closed its sending side.
  virtual void OnInputEnd() = 0;
  // Appends output until `out` holds about `bytes_max`, or there is none left.
  virtual void Produce(std::string& out, size_t bytes_max) = 0;
  // About the memory that it holds without any request, together with its connection.
  virtual size_t idle_bytes() const = 0;
  // True if no request is in progress.
  virtual bool is_idle() const = 0;
  // True if the connection should be closed once the output is written.
  virtual bool done() const = 0;
  // Ends the connection as soon as the requests in progress are answered.
  virtual void Drain() = 0;
  // Handles expired timeouts; returns when to check again.
  virtual TimePoint OnTimer(TimePoint now) = 0;
  // The connection is lost: closes every exchange. The last call.
  virtual void OnLost() = 0;
};

}  // namespace hearth::http
