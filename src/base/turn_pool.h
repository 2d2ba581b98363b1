#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <list>
#include <stop_token>
#include <thread>

#include "base/connected_client.h"
#include "base/executor.h"
#include "base/fair_share.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/turn_queue.h"

namespace hearth {

struct TurnPoolOptions {
  // Tasks that run at once, as long as they are short.
  size_t threads = 4;
  size_t queued_tasks_max = 20'000;
  // A client whose oldest task has waited this long, and that has this many more, gets no further
  // ones accepted: it asks for more than the server can do, and they would only wait longer.
  std::chrono::milliseconds wait_max{500};
  size_t waiting_tasks_min = 256;

  // A task that has used this much processor time, or has taken this long, is long. The first
  // `short_cpu_max` of its time are not looked at.
  std::chrono::microseconds short_cpu_max{1'000};
  std::chrono::milliseconds short_time_max{20};
  // Long tasks that run at once, and those that have begun.
  size_t long_threads = 2;
  size_t long_tasks_max = 256;
  // A long task that has run this long lets the next one run.
  std::chrono::milliseconds slice{5};
};

// Threads that run tasks of many clients so that none of them can keep the others waiting. Clients
// take turns. A task that turns out to be long leaves its thread to short ones: it goes on at a
// lower priority, in slices, taking turns with the other long tasks.
//
// A long task must call Pause often. It keeps its thread while it waits for its turn, so it may be
// written as an ordinary loop; the number of such threads is bounded and shared by clients.
//
// Threads: safe for concurrent use. The destructor runs the queued tasks, then joins.
class TurnPool final : public Executor {
 public:
  explicit TurnPool(const TurnPoolOptions& options);
  ~TurnPool() override;
  TurnPool(const TurnPool&) = delete;
  TurnPool& operator=(const TurnPool&) = delete;

  // Whether a new task of the client would be accepted now. ResourceExhausted if too many wait, the
  // client has had its share, or its tasks wait too long.
  Status CheckRoom(ClientKey client) const EXCLUDES_LOCK(mutex_);
  // Accepts new work, or drops it with the same error.
  [[nodiscard]] Status TryPost(ClientKey client, Task task) EXCLUDES_LOCK(mutex_);
  // Continues work that was accepted before. Not limited: TryPost already bounds the work.
  void Post(ClientKey client, Task task) EXCLUDES_LOCK(mutex_);
  // The same, on behalf of the client whose task is running, or of this process.
  void Post(Task task) override EXCLUDES_LOCK(mutex_);

  // To be called from a task, often; elsewhere it has no effect. Waits until the others have had
  // their turn. An error ends the work: ResourceExhausted if it is long and there are too many long
  // ones, Unavailable after Cancel, Cancelled once `left` is requested, which ends the wait at
  // once: the work then ends without a turn, and must be short about it.
  Status Pause(const std::stop_token& left = {}) EXCLUDES_LOCK(mutex_);

  // Whether the calling thread runs one of the tasks.
  bool RunsHere() const;

  // From now on, Pause fails.
  void Cancel() { is_cancelled_ = true; }

  // The numbers of tasks that wait for a thread, and of long tasks that have begun.
  size_t queued_tasks() const EXCLUDES_LOCK(mutex_);
  size_t long_tasks() const EXCLUDES_LOCK(mutex_);

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Queued {
    Task task;
    Time since;
  };
  // A running task, known to its thread.
  struct Running;

  void StartThread() REQUIRES_LOCK(mutex_);
  void Run() EXCLUDES_LOCK(mutex_);
  // False if there will be no more tasks.
  bool Take(Running* running, Task* task) EXCLUDES_LOCK(mutex_);
  Status CheckRoomLocked(ClientKey client) const REQUIRES_LOCK(mutex_);
  void Enqueue(ClientKey client, Task task) REQUIRES_LOCK(mutex_);
  bool IsStillShort(Running& running, Time now) const;
  // What Pause does in a long task, or in one that is no longer short.
  Status PauseLong(Running& running, const std::stop_token& left) EXCLUDES_LOCK(mutex_);
  // Gives the task's turn, if it has one, to the next long task, if there is one, and waits for
  // another turn. Once `left` is requested it has none.
  void TakeTurns(Running& running, const std::stop_token& left) REQUIRES_LOCK(mutex_);
  void EndLong(const Running& running) EXCLUDES_LOCK(mutex_);
  // Lets the next long task run in the place of one that has stopped.
  void PassTurn() REQUIRES_LOCK(mutex_);

  static thread_local Running* running_here_;  // Null outside of tasks.

  const TurnPoolOptions options_;
  std::atomic<bool> is_cancelled_ = false;
  mutable Mutex mutex_;  // Leaf lock: tasks run without it.
  CondVar changed_;
  TurnQueue<Queued> queue_ GUARDED_BY(mutex_);
  SharedPlaces long_places_ GUARDED_BY(mutex_);
  TurnQueue<Running*> long_waiting_ GUARDED_BY(mutex_);
  size_t long_running_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
  // A thread that ends moves itself to `ended_`, where another one joins it.
  std::list<std::thread> threads_ GUARDED_BY(mutex_);
  std::list<std::thread> ended_ GUARDED_BY(mutex_);
};

}  // namespace hearth
