#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/feed/redis/redis_address.h"
#include "apps/feed/redis/redis_reply.h"
#include "base/status.h"

struct redisContext;

namespace hearth::feed {

using RedisArguments = std::vector<std::string>;

// One connection. After an error it is unusable: the next reply may belong to an earlier command.
//
// Threads: one at a time. Errors: Unavailable if Redis cannot be reached or does not answer in
// time. Error replies are returned as replies.
class RedisConnection {
 public:
  // Commands that are sent before the first reply is read. Bounds the buffers of both sides.
  static constexpr size_t kPipelineMax = 128;

  static Result<std::unique_ptr<RedisConnection>> Open(const RedisAddress& address,
                                                       std::chrono::milliseconds connect_timeout);

  // One reply per command, in order. `timeout` applies to each wait.
  Result<std::vector<RedisReply>> Exchange(std::span<const RedisArguments> commands,
                                           std::chrono::milliseconds timeout);
  // Whether the server has closed it, or sent unexpected data, while it was idle.
  bool IsStale() const;

 private:
  struct Closer {
    void operator()(redisContext* context) const;
  };
  using Context = std::unique_ptr<redisContext, Closer>;

  RedisConnection(Context context, std::string name)
      : context_(std::move(context)), name_(std::move(name)) {}

  Status ExchangeSome(std::span<const RedisArguments> commands, std::vector<RedisReply>* replies);
  Status Failure() const;

  Context context_;
  std::string name_;
};

}  // namespace hearth::feed
