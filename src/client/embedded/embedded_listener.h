#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/status.h"
#include "base/thread_pool.h"
#include "client/transport.h"
#include "engine/engine.h"

namespace hearth::client {

// Counts a listener for as long as it takes up memory.
class ListenerSlot {
 public:
  explicit ListenerSlot(std::shared_ptr<std::atomic<size_t>> count) : count_(std::move(count)) {
    ++*count_;
  }
  ListenerSlot(ListenerSlot&&) = default;
  ~ListenerSlot() {
    if (count_) --*count_;
  }

 private:
  std::shared_ptr<std::atomic<size_t>> count_;  // Shared with the transport.
};

// Listens to a query or a document. `on_state` runs on `threads` until what is returned is gone,
// one call at a time. Who is slow misses states in between: it gets the newest, and no more than
// one state is held for it.
//
// `keeps_alive` is held until then: the owner of engine, database and threads.
Result<std::unique_ptr<TransportListener>> StartListening(
    engine::Engine& engine, documents::Database& database, ThreadPool& threads, ListenTarget target,
    Transport::OnState on_state, ListenerSlot slot, std::shared_ptr<void> keeps_alive);

// Whether this thread is one that has run callbacks of listeners.
bool IsListenerThread();

}  // namespace hearth::client
