#include "http/event_loop.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "base/check.h"

namespace hearth::http {
namespace {

// Large enough for one read to take a burst of requests, small enough for the second-level cache.
constexpr size_t kReadScratchBytes = 64 * 1024;

}  // namespace

struct EventLoop::Asio {
  // One thread runs it; Asio then skips some wake-ups of other threads but still accepts posts.
  boost::asio::io_context io{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work =
      boost::asio::make_work_guard(io);
  boost::asio::steady_timer timer{io};
};

EventLoop::EventLoop()
    : turn_start_(std::chrono::steady_clock::now()),
      read_scratch_(kReadScratchBytes),
      asio_(std::make_unique<Asio>()) {}

EventLoop::~EventLoop() = default;

boost::asio::io_context& EventLoop::io() { return asio_->io; }

void EventLoop::Run() {
  thread_ = std::this_thread::get_id();
  asio_->io.run();
  // Tasks posted too late may own objects that belong to this thread: drop them here.
  std::vector<Task> dropped;
  {
    MutexLock lock(mailbox_mutex_);
    dropped.swap(mailbox_);
  }
  dropped.clear();
  has_ended_ = true;
}

void EventLoop::Stop() {
  {
    MutexLock lock(mailbox_mutex_);
    stopped_ = true;
  }
  asio_->io.stop();
}

void EventLoop::Post(Task task) {
  bool wake = false;
  {
    MutexLock lock(mailbox_mutex_);
    if (stopped_) return;
    wake = mailbox_.empty();
    mailbox_.push_back(std::move(task));
  }
  // If the mailbox was not empty, a wake-up is already on its way.
  if (wake) boost::asio::post(asio_->io, [this] { DrainMailbox(); });
}

void EventLoop::DrainMailbox() {
  LoopTurn turn(*this);
  {
    MutexLock lock(mailbox_mutex_);
    running_tasks_.swap(mailbox_);
  }
  for (Task& task : running_tasks_) {
    task();
    task = nullptr;  // Frees what it owns before the next one runs.
  }
  running_tasks_.clear();
}

void EventLoop::EndTurn() {
  // A task may mark another connection, which then still belongs to this turn.
  while (!turn_end_.empty()) {
    turn_ending_.swap(turn_end_);
    for (std::shared_ptr<TurnEndTask>& task : turn_ending_) task->RunAtTurnEnd();
    turn_ending_.clear();
  }
}

void EventLoop::WaitForFirstTimer() {
  const TimePoint first = timers_.empty() ? TimePoint::max() : timers_.begin()->first;
  // A wait that ends too early finds nothing to do and waits again, which is cheaper than moving
  // the wait whenever a timer is disarmed.
  if (first >= waiting_until_) return;
  waiting_until_ = first;
  asio_->timer.expires_at(first);
  asio_->timer.async_wait([this](const boost::system::error_code& error) {
    if (!error) FireTimers();
  });
}

void EventLoop::FireTimers() {
  LoopTurn turn(*this);
  waiting_until_ = TimePoint::max();
  while (!timers_.empty() && timers_.begin()->first <= turn_start_) {
    Timer& timer = *timers_.begin()->second;
    Task callback = std::move(timer.callback_);
    timer.Disarm();
    callback();
  }
  WaitForFirstTimer();
}

LoopTurn::LoopTurn(EventLoop& loop) : loop_(loop) {
  loop_.turn_start_ = std::chrono::steady_clock::now();
}

Timer::~Timer() { Disarm(); }

void Timer::Arm(TimePoint when, Task callback) {
  Disarm();
  callback_ = std::move(callback);
  // Never due in the turn that armed it: a callback that keeps rearming itself for a time in the
  // past must not starve the loop.
  when = std::max(when, loop_.turn_start_ + std::chrono::nanoseconds(1));
  position_ = loop_.timers_.emplace(when, this);
  armed_ = true;
  loop_.WaitForFirstTimer();
}

void Timer::Disarm() {
  if (!armed_) return;
  armed_ = false;
  loop_.timers_.erase(position_);
  callback_ = nullptr;
}

}  // namespace hearth::http
