#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/feed/redis/redis_address.h"
#include "apps/feed/redis/redis_node.h"
#include "apps/feed/redis/redis_reply.h"
#include "apps/feed/redis/redis_slots.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/status.h"

namespace hearth::feed {

// A Lua script that Redis runs atomically, on keys of one slot.
struct RedisScript {
  std::string text;
};

struct RedisCommand {
  RedisArguments arguments;
  std::string key = {};                 // Selects the node of a cluster. Empty: any.
  const RedisScript* script = nullptr;  // If set, `arguments` follow EVALSHA and its name.
};

// The first of `keys` selects the node.
RedisCommand CallScript(const RedisScript& script, const std::vector<std::string>& keys,
                        std::vector<std::string> arguments);

// A Redis server or cluster. Which of the two is detected automatically, and again after changes.
// Missing scripts are loaded.
//
// Threads: safe for concurrent use. Ownership: borrows the clock and the metrics; scripts must
// outlive it. Errors: Unavailable if Redis cannot serve, including OOM, LOADING, READONLY and
// CLUSTERDOWN; whether a command was executed is then unknown. NOGROUP and BUSYGROUP: see
// redis_reply.h. All are counted (feed_redis_errors_total), and feed_cache_degraded is 1 until none
// has occurred for kDegradedFor.
class RedisClient {
 public:
  static constexpr std::chrono::seconds kDegradedFor{5};
  static constexpr std::chrono::seconds kRefreshEvery{1};
  // Redirections and missing scripts, per command.
  static constexpr int kAttemptsMax = 6;

  RedisClient(const Clock& clock, Metrics& metrics, std::vector<RedisAddress> addresses,
              RedisTimes times = {});

  // `patience`: how long the command itself may block.
  Result<RedisReply> Run(const RedisCommand& command,
                         std::chrono::milliseconds patience = std::chrono::milliseconds(0))
      EXCLUDES_LOCK(mutex_);
  // One result per command, in order. Commands for the same node are sent together and run in
  // order; a failure says nothing about commands for other nodes.
  std::vector<Result<RedisReply>> Pipeline(
      const std::vector<RedisCommand>& commands,
      std::chrono::milliseconds patience = std::chrono::milliseconds(0)) EXCLUDES_LOCK(mutex_);

 private:
  using SharedNode = std::shared_ptr<RedisNode>;  // Shared by the map and current users.
  struct Pending {
    size_t index;  // Of the command and its result.
    const RedisCommand* command;
    SharedNode node;
    bool is_asking = false;
  };
  using Results = std::vector<std::optional<Result<RedisReply>>>;

  // Sends the pending commands of one node. Appends those to be sent again to `again`.
  void ExchangeWith(const SharedNode& node, const std::vector<Pending>& pending,
                    std::chrono::milliseconds patience, Results* results,
                    std::vector<Pending>* again) EXCLUDES_LOCK(mutex_);
  // The reply as a result; nullopt if the command has to be sent again, to the node in `pending`.
  std::optional<Result<RedisReply>> Judge(RedisReply reply, Pending* pending) EXCLUDES_LOCK(mutex_);
  Result<RedisArguments> ArgumentsOf(const RedisCommand& command, const SharedNode& node)
      EXCLUDES_LOCK(mutex_);
  Result<std::string> LoadScript(const RedisScript& script, const SharedNode& node)
      EXCLUDES_LOCK(mutex_);

  Result<SharedNode> Route(const std::string& key) EXCLUDES_LOCK(mutex_);
  // Loads the slot map if it is unknown or outdated.
  Status RefreshIfNeeded() EXCLUDES_LOCK(mutex_);
  Status Discover() EXCLUDES_LOCK(mutex_);
  SharedNode NodeAt(const RedisAddress& address) EXCLUDES_LOCK(mutex_);
  SharedNode NodeAtLocked(const RedisAddress& address) REQUIRES_LOCK(mutex_);
  void LearnLocked(std::optional<RedisSlotMap> slots, const RedisAddress& answered)
      REQUIRES_LOCK(mutex_);
  void NoteNodeFailure() EXCLUDES_LOCK(mutex_);
  void Count(const std::vector<Result<RedisReply>>& results) EXCLUDES_LOCK(mutex_);

  const Clock& clock_;
  const std::vector<RedisAddress> addresses_;
  const RedisTimes times_;
  Counter& commands_;
  Counter& errors_;
  Gauge& degraded_;

  Mutex mutex_;  // Leaf lock, except for those of the breakers.
  std::map<RedisAddress, SharedNode> nodes_ GUARDED_BY(mutex_);
  bool is_known_ GUARDED_BY(mutex_) = false;              // Whether the next two are valid.
  std::optional<RedisSlotMap> slots_ GUARDED_BY(mutex_);  // nullopt: not a cluster.
  RedisAddress answered_ GUARDED_BY(mutex_);              // The node that reported it.
  bool is_stale_ GUARDED_BY(mutex_) = false;
  bool is_refreshing_ GUARDED_BY(mutex_) = false;
  std::optional<std::chrono::steady_clock::time_point> next_refresh_ GUARDED_BY(mutex_);
  std::optional<std::chrono::steady_clock::time_point> last_error_ GUARDED_BY(mutex_);
  std::map<const RedisScript*, std::string> script_names_ GUARDED_BY(mutex_);
};

}  // namespace hearth::feed
