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

// Counts a listener while it uses memory.
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

// Listens to a query or a document. `on_state` runs on `threads`, one call at a time, until the
// returned listener is destroyed. A slow listener skips intermediate states: it gets the newest
// one, and at most one state is held for it.
// `keeps_alive`, the owner of engine, database and threads, is held until then.
Result<std::unique_ptr<TransportListener>> StartListening(
    engine::Engine& engine, documents::Database& database, ThreadPool& threads, ListenTarget target,
    Transport::OnState on_state, ListenerSlot slot, std::shared_ptr<void> keeps_alive);

// Whether this thread has run listener callbacks.
bool IsListenerThread();

}  // namespace hearth::client
