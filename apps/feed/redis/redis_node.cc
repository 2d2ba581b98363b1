#include "apps/feed/redis/redis_node.h"

#include <optional>
#include <utility>

#include "base/status_macros.h"

namespace hearth::feed {
namespace {

// One is enough: a timeout is expensive, and the database answers meanwhile.
constexpr size_t kFailuresMax = 1;

using Outcome = kit::CircuitBreaker::Outcome;

}  // namespace

RedisNode::RedisNode(const Clock& clock, RedisAddress address, const RedisTimes& times)
    : address_(std::move(address)), times_(times), breaker_(clock, kFailuresMax, times.rest) {}

Result<std::vector<RedisReply>> RedisNode::Exchange(std::span<const RedisArguments> commands,
                                                    std::chrono::milliseconds patience) {
  Pool& pool = patience.count() > 0 ? waiting_pool_ : pool_;
  std::unique_ptr<RedisConnection> connection;
  if (!TakePlace(pool, &connection)) {
    return Status(Code::kUnavailable,
                  "all connections to Redis at " + address_.ToString() + " are in use");
  }
  // After the wait for a connection, so that callers that waited behind a hung one do not try, too.
  const std::optional<kit::CircuitBreaker::Ticket> ticket = breaker_.Enter();
  if (!ticket) {
    GiveBack(pool, std::move(connection));
    return Status(Code::kUnavailable, "Redis at " + address_.ToString() + " failed a moment ago");
  }
  Result<std::vector<RedisReply>> replies = ExchangeOn(&connection, commands, patience);
  if (!replies.ok()) connection = nullptr;
  breaker_.Leave(*ticket, replies.ok() ? Outcome::kSuccess : Outcome::kFailure);
  GiveBack(pool, std::move(connection));
  return replies;
}

Result<std::vector<RedisReply>> RedisNode::ExchangeOn(std::unique_ptr<RedisConnection>* connection,
                                                      std::span<const RedisArguments> commands,
                                                      std::chrono::milliseconds patience) {
  // A restarted server has closed its old connections: that is not a failure.
  if (*connection && (*connection)->IsStale()) *connection = nullptr;
  if (!*connection) {
    ASSIGN_OR_RETURN(*connection, RedisConnection::Open(address_, times_.connect_timeout));
  }
  return (*connection)->Exchange(commands, times_.command_timeout + patience);
}

bool RedisNode::TakePlace(Pool& pool, std::unique_ptr<RedisConnection>* connection) {
  const auto end = std::chrono::steady_clock::now() + times_.command_timeout;
  MutexLock lock(pool.mutex);
  while (pool.in_use == pool.connections_max) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pool.returned.WaitFor(pool.mutex, left);
  }
  ++pool.in_use;
  if (pool.idle.empty()) return true;
  *connection = std::move(pool.idle.back());
  pool.idle.pop_back();
  return true;
}

void RedisNode::GiveBack(Pool& pool, std::unique_ptr<RedisConnection> connection) {
  MutexLock lock(pool.mutex);
  --pool.in_use;
  if (connection) pool.idle.push_back(std::move(connection));
  pool.returned.NotifyOne();
}

}  // namespace hearth::feed
