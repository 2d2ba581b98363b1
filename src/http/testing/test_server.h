#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "http/router.h"
#include "http/server.h"

namespace hearth::http {

// A value that one thread writes and another waits for. Threads: safe for concurrent use.
template <typename T>
class Watched {
 public:
  explicit Watched(T value = {}) : value_(std::move(value)) {}

  void Update(const std::function<void(T&)>& change) {
    MutexLock lock(mutex_);
    change(value_);
    changed_.NotifyAll();
  }
  T Get() {
    MutexLock lock(mutex_);
    return value_;
  }
  // False if `met` does not become true in time.
  bool WaitFor(const std::function<bool(const T&)>& met) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    MutexLock lock(mutex_);
    while (!met(value_)) {
      if (std::chrono::steady_clock::now() > end) return false;
      changed_.WaitFor(mutex_, std::chrono::milliseconds(1'000));
    }
    return true;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  T value_ GUARDED_BY(mutex_);
};

// A server on a free port of the loopback, with the routes that a test adds to `router` before
// Start.
struct TestServer {
  explicit TestServer(PlainOptions plain_options = {}) : router(plain_options) {
    options.listen = {{.host = "127.0.0.1", .port = 0}};
  }

  void Start() {
    server = std::make_unique<Server>(options, router);
    const Status started = server->Start();
    ASSERT_TRUE(started.ok()) << started.ToString();
  }
  uint16_t port() const { return server->addresses().front().port; }

  ServerOptions options;
  Router router;
  std::unique_ptr<Server> server;
};

}  // namespace hearth::http
