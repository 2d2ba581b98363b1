// For tests: Redis servers in their own processes, with fault injection.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/feed/redis/redis_address.h"
#include "apps/feed/redis/redis_reply.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::feed {

// One redis-server on a free loopback port, without persistence.
//
// Threads: one at a time. Errors: a server that does not start ends the test program.
class RedisServer {
 public:
  explicit RedisServer(const std::vector<std::string>& more_arguments = {});
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  RedisAddress address() const { return {"127.0.0.1", port_}; }

  // Immediately, with SIGKILL.
  void Kill();
  // On the same port, empty.
  void Restart();
  // It accepts connections but does not answer.
  void Pause();
  void Resume();
  void Flush();
  // The reply, including errors.
  RedisReply Command(const std::vector<std::string>& arguments);

 private:
  void Start();
  bool IsServing();

  const storage::TemporaryFolder folder_;
  const std::vector<std::string> more_arguments_;
  const uint16_t port_;
  pid_t pid_ = 0;  // 0: not running.
};

// A cluster of masters that share the slots evenly.
class RedisCluster {
 public:
  static constexpr size_t kNodes = 3;

  RedisCluster();

  RedisServer& node(size_t index) { return *nodes_[index]; }
  std::vector<RedisAddress> addresses() const;
  // The initial owner of the slot of a key.
  size_t HomeOf(const std::string& key) const;
  // Sends a command to all nodes, for commands without a key or for all keys.
  void CommandEverywhere(const std::vector<std::string>& arguments);
  // Whether all nodes know that all slots are served.
  bool IsWhole();

 private:
  std::vector<std::unique_ptr<RedisServer>> nodes_;
};

}  // namespace hearth::feed
