#include "http/server.h"

#include <boost/asio/ip/tcp.hpp>
#include <future>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "base/fair_share.h"
#include "base/status_macros.h"
#include "http/connection.h"
#include "http/listener.h"

namespace hearth::http {

using boost::asio::ip::tcp;

// The connections of one loop.
//
// Threads: the loop's, except for the constructor. Ownership: destroyed after the loop stopped.
class LoopConnections final : public ConnectionKeeper {
 public:
  LoopConnections(Server& server, std::shared_ptr<EventLoop> loop)
      : server_(server), loop_(std::move(loop)) {}

  // From any thread: the connection starts on its loop.
  void Adopt(tcp::socket socket, Peer peer) {
    // Shared by the task that starts it, and then as Connection says.
    const auto connection = std::make_shared<Connection>(
        std::move(socket), std::move(peer), loop_, server_.options_.connection,
        server_.options_.memory, server_.service_, *this);
    loop_->Post([this, connection] {
      open_.insert(connection);
      connection->Start();
      if (ending_) connection->Drain();
    });
  }

  void DrainAll() {
    ending_ = true;
    ForEach([](Connection& connection) { connection.Drain(); });
  }

  void CloseAll() {
    ForEach([](Connection& connection) { connection.Close(); });
  }

  // Closes the connection that has been idle longest; false if none has for long enough.
  bool CloseIdlest() {
    std::shared_ptr<Connection> idlest;
    for (const std::shared_ptr<Connection>& connection : open_) {
      if (!idlest || connection->idle_since() < idlest->idle_since()) idlest = connection;
    }
    const TimePoint latest = loop_->turn_start() - server_.options_.replaceable_after;
    if (!idlest || idlest->idle_since() > latest) return false;
    idlest->Close();
    return true;
  }

  void OnConnectionClosed(const std::shared_ptr<Connection>& connection) override {
    open_.erase(connection);
  }
  void OnConnectionDestroyed(ClientKey client) override { server_.OnConnectionEnd(client); }

 private:
  template <typename Action>
  void ForEach(Action action) {
    const std::vector<std::shared_ptr<Connection>> all(open_.begin(), open_.end());
    for (const auto& connection : all) action(*connection);
  }

  Server& server_;
  const std::shared_ptr<EventLoop> loop_;  // Shared with the server and its calls.
  std::unordered_set<std::shared_ptr<Connection>> open_;
  bool ending_ = false;
};

Server::Server(ServerOptions options, Service& service)
    : options_(std::move(options)),
      metrics_(options_.metrics),
      refused_connections_(
          metrics_.get().GetCounter("hearth_http_refused_connections_total",
                                    "Connections closed at once because too many were open.")),
      guard_(options_.origins, service, metrics_.get()),
      service_(guard_, metrics_.get()) {
  CHECK(options_.loops > 0);
  for (size_t i = 0; i < options_.loops; ++i) {
    loops_.push_back(std::make_shared<EventLoop>());
    connections_.push_back(std::make_unique<LoopConnections>(*this, loops_.back()));
  }
  open_connections_ =
      metrics_.get().AddGauge("hearth_http_connections", "Open connections.",
                              [this] { return static_cast<double>(connection_count_); });
}

Server::~Server() { Drain(std::chrono::milliseconds(0)); }

Status Server::Start() {
  CHECK(threads_.empty() && !drained_);
  auto listener = std::make_unique<Listener>(loops_);
  std::vector<ListenAddress> bound;
  for (const ListenAddress& address : options_.listen) {
    ASSIGN_OR_RETURN(ListenAddress real, listener->Bind(address));
    bound.push_back(std::move(real));
  }
  listener_ = std::move(listener);
  bound_ = std::move(bound);
  listener_->Accept(
      [this](tcp::socket socket, size_t loop_index) { Accept(std::move(socket), loop_index); });
  for (const auto& loop : loops_) threads_.emplace_back([loop] { loop->Run(); });
  return Status();
}

Server::Admission Server::Admit(ClientKey client) {
  MutexLock lock(mutex_);
  const size_t others = connection_count_++;  // Counted from now on, so that Drain waits for it.
  const size_t has = of_client_[client]++;
  if (MayTakePlace(client, has, others, options_.connections_max)) return Admission::kRoom;
  return has == 0 ? Admission::kNoRoom : Admission::kShareUsed;
}

void Server::Accept(tcp::socket socket, size_t loop_index) {
  Peer peer(socket, ++connections_made_);
  switch (Admit(peer.key)) {
    case Admission::kRoom:
      return connections_[loop_index]->Adopt(std::move(socket), std::move(peer));
    case Admission::kNoRoom:
      return AdoptInsteadOfIdle(std::move(socket), std::move(peer), loop_index, 0);
    case Admission::kShareUsed:
      return Refuse(peer.key);
  }
}

void Server::Refuse(ClientKey client) {
  refused_connections_.Add();
  OnConnectionEnd(client);
}

void Server::AdoptInsteadOfIdle(tcp::socket socket, Peer peer, size_t loop_index, size_t tried) {
  // More than these need not wait for an answer: the loops are busy, or nothing is idle.
  constexpr size_t kWaitingForRoomMax = 64;
  if (tried == loops_.size() || waiting_for_room_ >= kWaitingForRoomMax) {
    return Refuse(peer.key);  // The socket closes here.
  }
  ++waiting_for_room_;
  const size_t asked = (loop_index + tried) % loops_.size();
  loops_[asked]->Post([this, asked, socket = std::move(socket), peer = std::move(peer), loop_index,
                       tried]() mutable {
    --waiting_for_room_;
    const bool has_room = connection_count_ <= options_.connections_max;
    if (!has_room && !connections_[asked]->CloseIdlest()) {
      return AdoptInsteadOfIdle(std::move(socket), std::move(peer), loop_index, tried + 1);
    }
    connections_[loop_index]->Adopt(std::move(socket), std::move(peer));
  });
}

bool Server::Drain(std::chrono::milliseconds timeout) {
  if (std::exchange(drained_, true) || threads_.empty()) return true;
  // Wait for it, because a connection accepted later would not be counted below.
  std::promise<void> stopped;
  loops_.front()->Post([&] { listener_->Stop([&] { stopped.set_value(); }); });
  stopped.get_future().wait();

  for (size_t i = 0; i < loops_.size(); ++i) {
    loops_[i]->Post([connections = connections_[i].get()] { connections->DrainAll(); });
  }
  WaitForNoConnections(std::chrono::steady_clock::now() + timeout);
  const bool all_finished = connection_count_ == 0;
  for (size_t i = 0; i < loops_.size(); ++i) {
    loops_[i]->Post([connections = connections_[i].get()] { connections->CloseAll(); });
  }
  // Closing does not wait for peers, so this ends.
  WaitForNoConnections(std::chrono::steady_clock::time_point::max());
  for (const auto& loop : loops_) loop->Stop();
  for (std::thread& thread : threads_) thread.join();
  return all_finished;
}

void Server::OnConnectionEnd(ClientKey client) {
  // Under the lock, so that the waiting thread cannot miss it between its check and its sleep.
  MutexLock lock(mutex_);
  --connection_count_;
  const auto found = of_client_.find(client);
  if (--found->second == 0) of_client_.erase(found);
  connection_ended_.NotifyAll();
}

void Server::WaitForNoConnections(std::chrono::steady_clock::time_point until) {
  using std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kLongWait{1'000};
  MutexLock lock(mutex_);
  while (connection_count_ > 0 && steady_clock::now() < until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now());
    connection_ended_.WaitFor(mutex_, std::min(left, kLongWait));
  }
}

}  // namespace hearth::http
