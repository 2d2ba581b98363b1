#pragma once

#include <memory>
#include <utility>

#include "client/transport.h"

namespace hearth::client {

// Listens for as long as it lives.
//
// Threads: may be ended from any, also from its own callback. When Stop or the destructor returns
// elsewhere, no callback is running and none will.
class Listener {
 public:
  explicit Listener(std::unique_ptr<TransportListener> listener) : listener_(std::move(listener)) {}
  void Stop() { listener_.reset(); }

 private:
  std::unique_ptr<TransportListener> listener_;
};

}  // namespace hearth::client
