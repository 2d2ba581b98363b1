// The network I/O of one thread: an Asio io_context, timers, and a mailbox for other threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/callback.h"
#include "base/executor.h"
#include "base/mutex.h"

namespace boost::asio {
class io_context;
}

namespace hearth::http {

using TimePoint = std::chrono::steady_clock::time_point;

class Timer;

// Work that accumulates during a turn of the loop and runs once at its end, such as one write for
// all the answers that a connection got in that turn.
class TurnEndTask {
 public:
  virtual ~TurnEndTask() = default;
  virtual void RunAtTurnEnd() = 0;
};

// Runs the connections of one thread.
//
// Time is the system's monotonic clock, because that is the clock of the kernel's poll.
// Threads: Post and InLoop are safe from any thread; everything else belongs to the loop's thread.
// Ownership: shared by the server and by calls whose answer is computed elsewhere, so that an
// answer that comes after the server's end finds a closed mailbox and not a freed one.
class EventLoop final : public Executor {
 public:
  EventLoop();
  ~EventLoop() override;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Runs until Stop; the calling thread becomes the loop's thread.
  void Run();
  // Ends Run and drops everything posted from now on. From any thread.
  void Stop() EXCLUDES_LOCK(mailbox_mutex_);

  // Runs `task` on the loop, in the order of posting. Tasks posted while the loop is busy cost one
  // wake-up and share a turn. After Stop the task is dropped without running.
  void Post(Task task) override EXCLUDES_LOCK(mailbox_mutex_);
  bool InLoop() const { return std::this_thread::get_id() == thread_.load(); }
  // For state that belongs to the loop (base/role.h). Once the loop has ended, any thread may clean
  // up.
  static bool IsInLoop(const void* loop) {
    const EventLoop& self = *static_cast<const EventLoop*>(loop);
    return self.InLoop() || self.has_ended_;
  }

  boost::asio::io_context& io();

  // The time at which the current turn began: accurate enough for deadlines, and free.
  TimePoint turn_start() const { return turn_start_; }
  // Shared ownership keeps the task alive until the turn's end.
  void AtTurnEnd(std::shared_ptr<TurnEndTask> task) { turn_end_.push_back(std::move(task)); }

  // Scratch space that connections use within one callback, so that idle ones hold no buffers.
  std::vector<char>& read_scratch() { return read_scratch_; }
  std::string& write_scratch() { return write_scratch_; }

 private:
  friend class Timer;
  friend class LoopTurn;
  struct Asio;  // Keeps Boost out of the headers that the rest of the product includes.

  void DrainMailbox() EXCLUDES_LOCK(mailbox_mutex_);
  void WaitForFirstTimer();
  void FireTimers();
  void EndTurn();

  std::atomic<std::thread::id> thread_ = {};
  std::atomic<bool> has_ended_ = false;

  Mutex mailbox_mutex_;  // Leaf lock: tasks run without it.
  std::vector<Task> mailbox_ GUARDED_BY(mailbox_mutex_);
  bool stopped_ GUARDED_BY(mailbox_mutex_) = false;

  std::vector<Task> running_tasks_;  // Swapped with the mailbox; keeps capacity.
  std::multimap<TimePoint, Timer*> timers_;
  TimePoint waiting_until_ = TimePoint::max();
  TimePoint turn_start_;
  std::vector<std::shared_ptr<TurnEndTask>> turn_end_;
  std::vector<std::shared_ptr<TurnEndTask>> turn_ending_;  // Keeps capacity, like running_tasks_.
  std::vector<char> read_scratch_;
  std::string write_scratch_;
  // Last, so that handlers destroyed with it can still use everything above.
  const std::unique_ptr<Asio> asio_;
};

// The scope of one callback from Asio: records the time, and runs the turn-end tasks at its end.
class LoopTurn {
 public:
  explicit LoopTurn(EventLoop& loop);
  ~LoopTurn() { loop_.EndTurn(); }
  LoopTurn(const LoopTurn&) = delete;
  LoopTurn& operator=(const LoopTurn&) = delete;

 private:
  EventLoop& loop_;
};

// Calls back once at a set time, unless disarmed before.
//
// Threads: used on the loop's thread; may be destroyed elsewhere once disarmed.
class Timer {
 public:
  explicit Timer(EventLoop& loop) : loop_(loop) {}
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Replaces an earlier arming.
  void Arm(TimePoint when, Task callback);
  void Disarm();
  // TimePoint::max() if not armed.
  TimePoint armed_for() const { return armed_ ? position_->first : TimePoint::max(); }

 private:
  friend class EventLoop;

  EventLoop& loop_;
  bool armed_ = false;
  std::multimap<TimePoint, Timer*>::iterator position_;
  Task callback_;
};

}  // namespace hearth::http
