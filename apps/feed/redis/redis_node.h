#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "apps/feed/redis/redis_connection.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "kit/jobs/circuit_breaker.h"

namespace hearth::feed {

struct RedisTimes {
  std::chrono::milliseconds connect_timeout{250};
  std::chrono::milliseconds command_timeout{500};
  // How long a failed server is avoided before one request tries it again.
  std::chrono::milliseconds rest{1'000};
};

// One server: a small pool of connections and a circuit breaker. A server that hangs costs an
// occasional timeout, not one per request.
//
// Threads: safe for concurrent use. Ownership: borrows the clock. Errors: Unavailable. A failed
// connection is closed, with everything in flight on it.
class RedisNode {
 public:
  static constexpr size_t kConnectionsMax = 16;
  // Blocking commands have their own connections, so that they do not use up the others.
  static constexpr size_t kWaitingConnectionsMax = 4;

  RedisNode(const Clock& clock, RedisAddress address, const RedisTimes& times);

  const RedisAddress& address() const { return address_; }

  // One reply per command, in order. `patience`: how long the server may block on purpose.
  Result<std::vector<RedisReply>> Exchange(
      std::span<const RedisArguments> commands,
      std::chrono::milliseconds patience = std::chrono::milliseconds(0));

 private:
  // A pool of connections, bounded together with those in use.
  struct Pool {
    explicit Pool(size_t most) : connections_max(most) {}

    const size_t connections_max;
    Mutex mutex;  // Leaf lock.
    CondVar returned;
    size_t in_use GUARDED_BY(mutex) = 0;
    std::vector<std::unique_ptr<RedisConnection>> idle GUARDED_BY(mutex);
  };

  // Waits for a free place; false on timeout.
  bool TakePlace(Pool& pool, std::unique_ptr<RedisConnection>* connection);
  // nullptr: the connection failed.
  void GiveBack(Pool& pool, std::unique_ptr<RedisConnection> connection);
  Result<std::vector<RedisReply>> ExchangeOn(std::unique_ptr<RedisConnection>* connection,
                                             std::span<const RedisArguments> commands,
                                             std::chrono::milliseconds patience);

  const RedisAddress address_;
  const RedisTimes times_;
  kit::CircuitBreaker breaker_;
  Pool pool_{kConnectionsMax};
  Pool waiting_pool_{kWaitingConnectionsMax};
};

}  // namespace hearth::feed
