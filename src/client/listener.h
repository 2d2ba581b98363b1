#pragma once

#include <memory>
#include <utility>

#include "client/transport.h"

namespace hearth::client {

// Listens for as long as it lives.
// Threads: may be stopped from any thread, including its own callback. When Stop or the
// destructor returns outside the callback, no callback is running and none will run.
class Listener {
 public:
  explicit Listener(std::unique_ptr<TransportListener> listener) : listener_(std::move(listener)) {}
  void Stop() { listener_.reset(); }

 private:
  std::unique_ptr<TransportListener> listener_;
};

}  // namespace hearth::client
