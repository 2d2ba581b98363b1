#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "http/event_loop.h"
#include "http/options.h"
#include "http/protocol.h"

namespace hearth::http {

class Connection;

// Where a connection comes from, and which client that is.
//
// All connections from another address are one client: otherwise a client would get more by opening
// more connections. From the address of this machine, only connections tell clients apart.
struct Peer {
  // `connection_number`: different from those of all other connections of the server.
  Peer(const boost::asio::ip::tcp::socket& socket, uint64_t connection_number);

  std::string address;  // Empty if the socket is already dead.
  ClientKey key;
};

// Keeps a loop's connections. Threads: the loop's thread.
class ConnectionKeeper {
 public:
  virtual ~ConnectionKeeper() = default;
  // The connection is closed and need not be kept any longer.
  virtual void OnConnectionClosed(const std::shared_ptr<Connection>& connection) = 0;
  // Its last operation has ended too, so nothing of it is left on the loop.
  virtual void OnConnectionDestroyed(ClientKey client) = 0;
};

// One client's socket: reads, detects the protocol, writes, enforces timeouts.
//
// Threads: its loop's thread, after Start. Ownership: shared by its keeper and by the Asio
// operations in flight, which end soon after Close. Errors: every failure closes the connection.
class Connection final : public ProtocolHost,
                         public TurnEndTask,
                         public std::enable_shared_from_this<Connection> {
 public:
  Connection(boost::asio::ip::tcp::socket socket, Peer peer, std::shared_ptr<EventLoop> loop,
             const ConnectionLimits& limits, MemoryBudget* memory, Service& service,
             ConnectionKeeper& keeper);
  ~Connection() override { keeper_.OnConnectionDestroyed(client_->key()); }

  void Start();
  // Closes once the requests in progress are answered; immediately if there are none.
  void Drain();
  // Closes now, and closes the exchanges.
  void Close();

  // When it last received something, if no request is in progress; otherwise TimePoint::max().
  TimePoint idle_since() const;

  const std::shared_ptr<EventLoop>& loop() const override { return loop_; }
  BufferBudget& budget() override { return budget_; }
  const std::string& peer() const override { return peer_; }
  const std::shared_ptr<ConnectedClient>& client() const override { return client_; }
  void OutputReady() override;
  void InputWanted() override;
  void CheckAt(TimePoint when) override;
  void RunAtTurnEnd() override;

 private:
  enum class Phase : uint8_t { kOpen, kLingering, kClosed };
  enum class SendResult : uint8_t { kAll, kSome, kFailed };

  void WaitReadable();
  void OnReadable();
  // False if there is nothing more to read for now, or for good.
  bool ReadOnce();
  void Feed(std::string_view bytes);
  void ChooseProtocol(std::string_view bytes);
  void OnInputEnd();

  void Flush();
  SendResult SendAll(std::string_view& bytes);
  void WaitWritable();
  void OnWritable();
  void Linger();

  // Tells the budget what the buffers and the protocol hold. False if there is no memory for more.
  bool CountBuffers();
  // Starts a period in which the peer must accept a minimum.
  void ExpectSendProgress();
  void ArmTimer();
  void OnTimer();

  boost::asio::ip::tcp::socket socket_;
  const std::shared_ptr<EventLoop> loop_;
  const ConnectionLimits& limits_;
  Service& service_;
  ConnectionKeeper& keeper_;
  BufferBudget budget_;
  const std::string peer_;
  const std::shared_ptr<ConnectedClient> client_;  // Shared with state that its requests left.
  std::unique_ptr<Protocol> protocol_;             // Null until the first bytes identify it.
  std::string unread_;        // Received, but not yet consumed by the protocol.
  std::string unsent_;        // Produced, but not yet accepted by the socket.
  size_t counted_bytes_ = 0;  // For both, and for the protocol.
  size_t sent_bytes_ = 0;     // Since the last ExpectSendProgress.
  TimePoint last_read_;
  Timer timer_;
  TimePoint protocol_deadline_ = TimePoint::max();
  TimePoint send_deadline_ = TimePoint::max();
  TimePoint linger_deadline_ = TimePoint::max();
  Phase phase_ = Phase::kOpen;
  bool waiting_readable_ = false;
  bool waiting_writable_ = false;
  bool turn_end_queued_ = false;
  bool input_wanted_ = false;
  bool input_ended_ = false;
  bool draining_ = false;
};

}  // namespace hearth::http
