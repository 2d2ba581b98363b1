#include "base/turn_pool.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <optional>
#include <utility>

namespace hearth {
namespace {

// The priority of long tasks: what is left when short tasks, event loops and commits have run, but
// never less than about a quarter of a core.
constexpr int kLongNice = 5;

std::chrono::nanoseconds ThreadCpuTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// For good: an ordinary process may not raise its priority again.
void LowerPriorityOfThisThread() {
  const auto id = static_cast<id_t>(syscall(SYS_gettid));
  setpriority(PRIO_PROCESS, id, kLongNice);  // If it fails, long tasks just compete more.
}

Status CallerLeft() { return Status(Code::kCancelled, "the caller has left"); }

}  // namespace

struct TurnPool::Running {
  TurnPool& pool;
  ClientKey client = ClientKey::kInternal;
  Time since = {};  // Of this task, or of its slice.
  // The thread's processor time when this was first looked at, in a short task.
  std::optional<std::chrono::nanoseconds> cpu_since = {};
  bool is_long = false;
  bool has_turn = false;  // Guarded by the pool's mutex while a long task waits for its turn.
  CondVar turn = {};
};

thread_local TurnPool::Running* TurnPool::running_here_ = nullptr;

TurnPool::TurnPool(const TurnPoolOptions& options)
    : options_(options), long_places_(options.long_tasks_max) {
  MutexLock lock(mutex_);
  for (size_t i = 0; i < options.threads; ++i) StartThread();
}

TurnPool::~TurnPool() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  while (true) {
    std::list<std::thread> ended;
    {
      MutexLock lock(mutex_);
      while (ended_.empty() && !threads_.empty()) changed_.Wait(mutex_);
      if (ended_.empty()) return;
      ended.swap(ended_);
    }
    for (std::thread& thread : ended) thread.join();
  }
}

void TurnPool::StartThread() {
  for (std::thread& thread : ended_) thread.join();  // They hold no lock any more.
  ended_.clear();
  threads_.emplace_back([this] { Run(); });
}

Status TurnPool::CheckRoomLocked(ClientKey client) const {
  const std::deque<Queued>* const own = queue_.Of(client);
  const size_t waiting = own == nullptr ? 0 : own->size();
  if (!MayTakePlace(client, waiting, queue_.size(), options_.queued_tasks_max)) {
    return Status(Code::kResourceExhausted, "too many reads are waiting for the disk");
  }
  if (client != ClientKey::kInternal && waiting >= options_.waiting_tasks_min &&
      std::chrono::steady_clock::now() - own->front().since > options_.wait_max) {
    return Status(Code::kResourceExhausted,
                  "this client's reads arrive faster than they can be answered");
  }
  return Status();
}

Status TurnPool::CheckRoom(ClientKey client) const {
  MutexLock lock(mutex_);
  return CheckRoomLocked(client);
}

void TurnPool::Enqueue(ClientKey client, Task task) {
  queue_.Push(client, {std::move(task), std::chrono::steady_clock::now()});
}

Status TurnPool::TryPost(ClientKey client, Task task) {
  {
    MutexLock lock(mutex_);
    if (Status room = CheckRoomLocked(client); !room.ok()) return room;
    Enqueue(client, std::move(task));
  }
  changed_.NotifyOne();
  return Status();
}

void TurnPool::Post(ClientKey client, Task task) {
  {
    MutexLock lock(mutex_);
    Enqueue(client, std::move(task));
  }
  changed_.NotifyOne();
}

void TurnPool::Post(Task task) {
  Post(running_here_ ? running_here_->client : ClientKey::kInternal, std::move(task));
}

size_t TurnPool::queued_tasks() const {
  MutexLock lock(mutex_);
  return queue_.size();
}

size_t TurnPool::long_tasks() const {
  MutexLock lock(mutex_);
  return long_places_.taken();
}

bool TurnPool::Take(Running* running, Task* task) {
  MutexLock lock(mutex_);
  while (queue_.empty() && !stopping_) changed_.Wait(mutex_);
  if (queue_.empty()) return false;
  running->client = queue_.NextClient();
  *task = queue_.Pop().task;
  return true;
}

void TurnPool::Run() {
  Running running{*this};
  running_here_ = &running;
  while (!running.is_long) {
    Task task;
    if (!Take(&running, &task)) break;
    running.since = std::chrono::steady_clock::now();
    running.cpu_since.reset();
    task();
  }
  running_here_ = nullptr;
  if (running.is_long) EndLong(running);
  MutexLock lock(mutex_);
  for (auto thread = threads_.begin(); thread != threads_.end(); ++thread) {
    if (thread->get_id() != std::this_thread::get_id()) continue;
    ended_.splice(ended_.end(), threads_, thread);
    break;
  }
  if (stopping_) changed_.NotifyAll();
}

bool TurnPool::RunsHere() const { return running_here_ != nullptr && &running_here_->pool == this; }

Status TurnPool::Pause(const std::stop_token& left) {
  if (!RunsHere()) return Status();
  if (is_cancelled_) return Status(Code::kUnavailable, "the server is stopping");
  if (left.stop_requested()) return CallerLeft();
  Running& running = *running_here_;
  const Time now = std::chrono::steady_clock::now();
  const bool may_go_on = running.is_long ? running.has_turn && now - running.since < options_.slice
                                         : IsStillShort(running, now);
  return may_go_on ? Status() : PauseLong(running, left);
}

// Reading the processor time is a system call, so most tasks end without one.
bool TurnPool::IsStillShort(Running& running, Time now) const {
  const auto time = now - running.since;
  if (time < options_.short_cpu_max) return true;
  if (time >= options_.short_time_max) return false;
  const std::chrono::nanoseconds cpu = ThreadCpuTime();
  if (!running.cpu_since) running.cpu_since = cpu;
  return cpu - *running.cpu_since < options_.short_cpu_max;
}

Status TurnPool::PauseLong(Running& running, const std::stop_token& left) {
  // With the mutex, so that a wait that is about to begin is not missed.
  const auto wake = [this, &running] {
    MutexLock lock(mutex_);
    running.turn.NotifyOne();
  };
  const std::stop_callback when_left(left, wake);  // Without the mutex: it may run right here.
  const bool is_new = !running.is_long;
  {
    MutexLock lock(mutex_);
    if (is_new && !long_places_.TryTake(running.client)) {
      return Status(Code::kResourceExhausted, "too many long queries are in progress");
    }
    if (is_new) StartThread();  // In place of this one, which will not take another task.
    running.is_long = true;
    TakeTurns(running, left);
  }
  if (is_new) LowerPriorityOfThisThread();
  running.since = std::chrono::steady_clock::now();
  return left.stop_requested() ? CallerLeft() : Status();
}

void TurnPool::EndLong(const Running& running) {
  MutexLock lock(mutex_);
  long_places_.Return(running.client);
  if (running.has_turn) PassTurn();
}

void TurnPool::TakeTurns(Running& running, const std::stop_token& left) {
  if (running.has_turn) {
    if (long_waiting_.empty()) return;
    running.has_turn = false;
    PassTurn();
  } else if (long_running_ < options_.long_threads) {
    running.has_turn = true;
    ++long_running_;
    return;
  }
  long_waiting_.Push(running.client, &running);
  while (!running.has_turn && !left.stop_requested()) running.turn.Wait(mutex_);
  if (!running.has_turn) long_waiting_.Remove(running.client, &running);
}

void TurnPool::PassTurn() {
  if (long_waiting_.empty()) {
    --long_running_;
    return;
  }
  Running* const next = long_waiting_.Pop();
  next->has_turn = true;
  next->turn.NotifyOne();
}

}  // namespace hearth
