#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/status.h"
#include "http/event_loop.h"
#include "http/options.h"

namespace hearth::http {

// The listening sockets of a server.
//
// Threads: Bind before the loops run; the rest on the first loop. Ownership: borrows the loops;
// destroyed after they have stopped. Errors: Bind reports them; a failed accept is retried, since
// its cause (too many open files) is temporary.
class Listener {
 public:
  using OnAccepted = std::function<void(boost::asio::ip::tcp::socket, size_t loop_index)>;

  // Accepts on the first of `loops`, and distributes the sockets over all of them in turn.
  explicit Listener(const std::vector<std::shared_ptr<EventLoop>>& loops)
      : loops_(loops), loop_(*loops.front()) {}

  // Binds and listens, but accepts nothing yet. Returns the address with its actual port.
  Result<ListenAddress> Bind(const ListenAddress& address);
  // `on_accepted` runs on the first loop, with a socket that belongs to the loop it names.
  void Accept(OnAccepted on_accepted);
  // Accepts nothing from now on. `on_stopped` runs on the first loop once no accept is in progress:
  // each holds a socket of some loop, and must not outlive it. Call it at most once.
  void Stop(Task on_stopped);

 private:
  struct Socket {
    explicit Socket(EventLoop& loop);
    boost::asio::ip::tcp::acceptor acceptor;
    Timer retry;
  };

  void AcceptOn(Socket& socket);

  const std::vector<std::shared_ptr<EventLoop>>& loops_;
  EventLoop& loop_;
  size_t next_loop_ = 0;
  OnAccepted on_accepted_;
  std::vector<std::unique_ptr<Socket>> sockets_;
  size_t accepts_under_way_ = 0;
  Task on_stopped_;  // Set by Stop.
};

}  // namespace hearth::http
