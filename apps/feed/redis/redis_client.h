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

// Lua that Redis runs, alone, on keys that are all in one slot.
struct RedisScript {
  std::string text;
};

struct RedisCommand {
  RedisArguments arguments;
  std::string key = {};                 // Says which node of a cluster. Empty: any.
  const RedisScript* script = nullptr;  // Then `arguments` are what follows EVALSHA and its name.
};

// The first of `keys` says which node.
RedisCommand CallScript(const RedisScript& script, const std::vector<std::string>& keys,
                        std::vector<std::string> arguments);

// Redis, one server or a cluster; which of the two it finds out by itself, and again after changes.
// Scripts are loaded where they are missing.
//
// Threads: safe for concurrent use. Ownership: borrows the clock and the metrics; scripts must
// outlive it. Errors: Unavailable wherever Redis cannot serve, also OOM, LOADING, READONLY and
// CLUSTERDOWN; whether a command was carried out is not known then. NOGROUP and BUSYGROUP: see
// redis_reply.h. All are counted (feed_redis_errors_total), and feed_cache_degraded is 1 until none
// has come for kDegradedFor.
class RedisClient {
 public:
  static constexpr std::chrono::seconds kDegradedFor{5};
  static constexpr std::chrono::seconds kRefreshEvery{1};
  // Redirections, and scripts that are missing, for one command.
  static constexpr int kAttemptsMax = 6;

  RedisClient(const Clock& clock, Metrics& metrics, std::vector<RedisAddress> addresses,
              RedisTimes times = {});

  // `patience`: how long the command may block by itself.
  Result<RedisReply> Run(const RedisCommand& command,
                         std::chrono::milliseconds patience = std::chrono::milliseconds(0))
      EXCLUDES_LOCK(mutex_);
  // One result for each command, in order. Commands for the same node go together and run in order;
  // one that fails says nothing about those of other nodes.
  std::vector<Result<RedisReply>> Pipeline(
      const std::vector<RedisCommand>& commands,
      std::chrono::milliseconds patience = std::chrono::milliseconds(0)) EXCLUDES_LOCK(mutex_);

 private:
  using SharedNode = std::shared_ptr<RedisNode>;  // Of the map, and of those who use it now.
  struct Pending {
    size_t index;  // Of the command and its result.
    const RedisCommand* command;
    SharedNode node;
    bool is_asking = false;
  };
  using Results = std::vector<std::optional<Result<RedisReply>>>;

  // Sends what is pending for one node. Appends to `again` what has to be sent once more.
  void ExchangeWith(const SharedNode& node, const std::vector<Pending>& pending,
                    std::chrono::milliseconds patience, Results* results,
                    std::vector<Pending>* again) EXCLUDES_LOCK(mutex_);
  // The reply as a result; nullopt when the command has to be sent again, and `pending` says where.
  std::optional<Result<RedisReply>> Judge(RedisReply reply, Pending* pending) EXCLUDES_LOCK(mutex_);
  Result<RedisArguments> ArgumentsOf(const RedisCommand& command, const SharedNode& node)
      EXCLUDES_LOCK(mutex_);
  Result<std::string> LoadScript(const RedisScript& script, const SharedNode& node)
      EXCLUDES_LOCK(mutex_);

  Result<SharedNode> Route(const std::string& key) EXCLUDES_LOCK(mutex_);
  // Finds out who has which slots where that is not known or no longer true.
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

  Mutex mutex_;  // Leaf lock, but for those of the breakers.
  std::map<RedisAddress, SharedNode> nodes_ GUARDED_BY(mutex_);
  bool is_known_ GUARDED_BY(mutex_) = false;              // Whether the next two mean anything.
  std::optional<RedisSlotMap> slots_ GUARDED_BY(mutex_);  // nullopt: no cluster.
  RedisAddress answered_ GUARDED_BY(mutex_);              // Who said so.
  bool is_stale_ GUARDED_BY(mutex_) = false;
  bool is_refreshing_ GUARDED_BY(mutex_) = false;
  std::optional<std::chrono::steady_clock::time_point> next_refresh_ GUARDED_BY(mutex_);
  std::optional<std::chrono::steady_clock::time_point> last_error_ GUARDED_BY(mutex_);
  std::map<const RedisScript*, std::string> script_names_ GUARDED_BY(mutex_);
};

}  // namespace hearth::feed
