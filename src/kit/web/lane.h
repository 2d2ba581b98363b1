#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/callback.h"
#include "base/mutex.h"
#include "http/exchange.h"

namespace hearth::kit {

// The clients behind an address, as far as quotas can tell them apart: an IPv4 address, or the /64
// network of an IPv6 address, because every IPv6 client has a whole network to itself. All clients
// on this machine are one group, because each can use any address of 127.0.0.0/8. Text that is not
// an address is returned unchanged.
std::string AddressGroup(std::string_view peer);

struct LaneOptions {
  size_t threads;
  size_t queued_max;
  // The share of one group of clients.
  size_t running_per_group_max;

  // One group may use three quarters of the threads, but always one.
  static LaneOptions Of(size_t threads, size_t queued_max);
};

// Threads for one kind of work, in which clients take turns: first the groups, then the connections
// of a group. A group with many tasks therefore delays a group with one task by at most one task.
//
// A group never has all threads (if there are several), and at most as many places in the queue as
// are free (base/fair_share.h), so that the slow tasks of one do not keep the others out.
//
// Threads: safe for concurrent use; threads are started on demand. The destructor runs the queued
// tasks, then joins.
class Lane {
 public:
  // `connection` only has to differ between connections.
  struct Client {
    std::string group;
    const void* connection = nullptr;

    // A client on another machine is in the group of its address: more connections do not bring it
    // more turns. On this machine only connections tell clients apart, so each is a group.
    static Client Of(const http::Exchange& exchange);
  };
  enum class Admission : uint8_t {
    kTaken,
    kFull,       // The lane's queue is full.
    kShareUsed,  // The group's share of the queue is full.
  };

  explicit Lane(const LaneOptions& options) : options_(options) {}
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // Drops the task unless it is taken.
  [[nodiscard]] Admission TryPost(const Client& client, Task task) EXCLUDES_LOCK(mutex_);

  size_t queued_tasks() const EXCLUDES_LOCK(mutex_);

 private:
  struct Connection {
    const void* id;
    std::deque<Task> tasks;  // Never empty.
  };
  struct Group {
    std::list<Connection> connections = {};  // Those with queued tasks, the next turn first.
    size_t queued = 0;
    size_t running = 0;
    bool has_turn = false;  // It is in `turns_`.
  };

  void Run() EXCLUDES_LOCK(mutex_);
  // Lines the group up if it has a task that may run.
  void LineUp(const std::string& name, Group& group) REQUIRES_LOCK(mutex_);
  // The next task of the group whose turn it is. Requires `turns_` not to be empty.
  Task TakeNext(std::string* name) REQUIRES_LOCK(mutex_);
  void End(const std::string& name) EXCLUDES_LOCK(mutex_);

  const LaneOptions options_;
  mutable Mutex mutex_;  // Leaf lock: tasks run without it.
  CondVar changed_;
  // Groups with queued or running tasks: at most `threads` + `queued_max`.
  std::unordered_map<std::string, Group> groups_ GUARDED_BY(mutex_);
  std::deque<std::string> turns_ GUARDED_BY(mutex_);  // Groups that may run a task.
  size_t queued_ GUARDED_BY(mutex_) = 0;
  size_t idle_threads_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ GUARDED_BY(mutex_);
};

}  // namespace hearth::kit
