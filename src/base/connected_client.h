#pragma once

#include <atomic>
#include <cstdint>

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
  explicit ConnectedClient(ClientKey key) : key_(key) {}

  ClientKey key() const { return key_; }

  // Whether the client leaves much of what it was sent unread. Nothing large is computed for it
  // then.
  void SetBehind(bool is_behind) { is_behind_.store(is_behind, std::memory_order_relaxed); }
  bool is_behind() const { return is_behind_.load(std::memory_order_relaxed); }

  void Leave() { has_left_.store(true, std::memory_order_relaxed); }
  bool has_left() const { return has_left_.load(std::memory_order_relaxed); }

 private:
  const ClientKey key_;
  std::atomic<bool> is_behind_ = false;
  std::atomic<bool> has_left_ = false;
};

}  // namespace hearth
