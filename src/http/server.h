#pragma once

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/connected_client.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/status.h"
#include "http/counting_service.h"
#include "http/event_loop.h"
#include "http/exchange.h"
#include "http/options.h"
#include "http/origin_guard.h"

namespace hearth::http {

class Listener;
class LoopConnections;
struct Peer;

// Listens, distributes connections over its loops in turn, and serves HTTP/1.1 and HTTP/2 on one
// port. Requests that the options' OriginPolicy does not admit never reach the service.
//
// Threads: Start, Drain and the destructor from one thread; connection_count from any.
// Ownership: owns loops, threads and connections; borrows the service, which must outlive it.
class Server {
 public:
  Server(ServerOptions options, Service& service);
  ~Server();  // Like Drain(0).
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Binds every address, then serves. On failure nothing listens, and the message names the address
  // and the reason: InvalidArgument if it is not a valid address, FailedPrecondition if it is taken
  // or forbidden.
  Status Start();

  // The bound addresses, in the order of the options, with the ports selected.
  const std::vector<ListenAddress>& addresses() const { return bound_; }

  // Stops accepting, lets the requests in progress finish for at most `timeout`, then closes the
  // rest and ends the loops. True if nothing had to be cut off. Only the first call has an effect.
  bool Drain(std::chrono::milliseconds timeout);

  size_t connection_count() const { return connection_count_; }

 private:
  friend class LoopConnections;

  // What to do with a new connection. Counts it, even if it is refused.
  enum class Admission : uint8_t { kRoom, kNoRoom, kShareUsed };
  Admission Admit(ClientKey client) EXCLUDES_LOCK(mutex_);
  void Accept(boost::asio::ip::tcp::socket socket, size_t loop_index);
  // Closes an idle connection of one of the loops from `first` on, and adopts the socket in its
  // place; drops it if there is none.
  void AdoptInsteadOfIdle(boost::asio::ip::tcp::socket socket, Peer peer, size_t loop_index,
                          size_t tried);
  void Refuse(ClientKey client);
  void OnConnectionEnd(ClientKey client) EXCLUDES_LOCK(mutex_);
  void WaitForNoConnections(std::chrono::steady_clock::time_point until) EXCLUDES_LOCK(mutex_);

  const ServerOptions options_;
  const MetricsOrPrivate metrics_;
  Counter& refused_connections_;
  OriginGuard guard_;
  CountingService service_;  // Counts refused requests too.
  std::vector<ListenAddress> bound_;
  std::atomic<size_t> connection_count_ = 0;
  std::atomic<uint64_t> connections_made_ = 0;
  std::atomic<size_t> waiting_for_room_ = 0;

  Mutex mutex_;  // Leaf lock; also guards the wait for connection_count_ to fall.
  std::unordered_map<ClientKey, size_t> of_client_ GUARDED_BY(mutex_);  // Connections.
  CondVar connection_ended_;

  // Shared with calls whose answer is computed elsewhere.
  std::vector<std::shared_ptr<EventLoop>> loops_;
  std::vector<std::unique_ptr<LoopConnections>> connections_;  // One per loop.
  std::unique_ptr<Listener> listener_;
  std::vector<std::thread> threads_;
  bool drained_ = false;
  MetricCallback open_connections_;  // Last: it reads the members above.
};

}  // namespace hearth::http
