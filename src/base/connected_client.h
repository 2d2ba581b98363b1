#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace hearth {

// Identifies a client where clients take turns or share something that can run out.
enum class ClientKey : uint64_t {
  kInternal = 0,  // This process: embedded programs, applications, maintenance.
};

// A client as the server sees it: whose turn it is, whether it reads what it is sent, and whether
// its connection is still open. A client that has left may come back on another connection.
//
// Threads: safe for concurrent use.
class ConnectedClient {
 public:
  static constexpr size_t kInFlightBytesMax = 1024 * 1024;

  explicit ConnectedClient(ClientKey key) : key_(key) {}

  ClientKey key() const { return key_; }

  // Whether the client leaves much of what it was sent unread, or much is on its way to it. Nothing
  // large is computed for it then.
  bool is_behind() const {
    return is_behind_.load(std::memory_order_relaxed) ||
           in_flight_bytes_.load(std::memory_order_relaxed) >= kInFlightBytesMax;
  }
  void SetBehind(bool is_behind) { is_behind_.store(is_behind, std::memory_order_relaxed); }

  // Bytes of an answer between the thread that computed it and the connection.
  class InFlight {
   public:
    InFlight(std::shared_ptr<const ConnectedClient> client, size_t bytes)
        : client_(std::move(client)), bytes_(bytes) {
      client_->in_flight_bytes_.fetch_add(bytes_, std::memory_order_relaxed);
    }
    ~InFlight() {
      if (client_) client_->in_flight_bytes_.fetch_sub(bytes_, std::memory_order_relaxed);
    }
    InFlight(InFlight&&) = default;
    InFlight& operator=(InFlight&&) = delete;

   private:
    std::shared_ptr<const ConnectedClient> client_;  // Shared with the connection; null if moved.
    size_t bytes_;
  };

  void Leave() { has_left_.store(true, std::memory_order_relaxed); }
  bool has_left() const { return has_left_.load(std::memory_order_relaxed); }

 private:
  const ClientKey key_;
  std::atomic<bool> is_behind_ = false;
  mutable std::atomic<size_t> in_flight_bytes_ = 0;
  std::atomic<bool> has_left_ = false;
};

}  // namespace hearth
