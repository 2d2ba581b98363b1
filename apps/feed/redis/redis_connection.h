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

// One connection. After an error it is of no use: what it would read next may be the answer to
// something else.
//
// Threads: one at a time. Errors: Unavailable where Redis cannot be reached or does not answer in
// time. Error replies are replies.
class RedisConnection {
 public:
  // Commands that are sent before the first of their answers is read. Bounds what either side
  // buffers.
  static constexpr size_t kPipelineMax = 128;

  static Result<std::unique_ptr<RedisConnection>> Open(const RedisAddress& address,
                                                       std::chrono::milliseconds connect_timeout);

  // One reply for each command, in order. `timeout` is for each wait.
  Result<std::vector<RedisReply>> Exchange(std::span<const RedisArguments> commands,
                                           std::chrono::milliseconds timeout);
  // Whether the server has closed it, or says something unasked, while nobody used it.
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
