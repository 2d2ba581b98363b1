#pragma once

#include <atomic>

namespace hearth {

// Whether a client's connection is still open. Checked by code that holds resources for the client.
// A client that has left may come back on another connection.
//
// Threads: safe for concurrent use.
class ClientPresence {
 public:
  void Leave() { has_left_.store(true, std::memory_order_relaxed); }
  bool has_left() const { return has_left_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> has_left_ = false;
};

}  // namespace hearth
