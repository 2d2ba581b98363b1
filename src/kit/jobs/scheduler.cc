#include "kit/jobs/scheduler.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/log.h"

namespace hearth::kit {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// The machine's clock may be set while a job waits; this is how often it is checked.
constexpr milliseconds kWaitMax = std::chrono::seconds(10);
// A clock set back by more than this makes times occur again. Less counts as a correction.
constexpr int64_t kSetBackMicrosMin = 60'000'000;

// One requested run. Guarded by the scheduler's mutex.
struct Run {
  std::optional<Status> result;
};
using SharedRun = std::shared_ptr<Run>;  // Shared by the job and the waiters.

Status RunGuarded(const Scheduler::Job& job, const std::atomic<bool>& stopping) {
  try {
    return job(stopping);
  } catch (const std::exception& thrown) {
    return Status(Code::kInternal, std::string("the job threw: ") + thrown.what());
  }
}

}  // namespace

struct Scheduler::State {
  struct Entry {
    Entry(std::string name, Schedule the_schedule, Job the_job)
        : schedule(std::move(the_schedule)), job(std::move(the_job)) {
      status.name = std::move(name);
    }

    const Schedule schedule;
    const Job job;
    std::thread thread;
    // The rest is guarded by the mutex.
    JobStatus status;
    SharedRun wanted;   // Not yet started.
    SharedRun current;  // In progress.
    int64_t looked_at_micros = 0;
  };

  explicit State(const Clock& the_clock) : clock(the_clock) {}

  void Work(Entry& entry) EXCLUDES_LOCK(mutex);
  SharedRun WaitForWork(Entry& entry) EXCLUDES_LOCK(mutex);
  void NoticeTimeLocked(Entry& entry) REQUIRES_LOCK(mutex);
  SharedRun WantLocked(Entry& entry) REQUIRES_LOCK(mutex);
  Status AwaitLocked(const Run& run) REQUIRES_LOCK(mutex);

  const Clock& clock;
  std::atomic<bool> stopping = false;
  Mutex mutex;  // Leaf lock: jobs run without it.
  CondVar changed;
  bool is_started GUARDED_BY(mutex) = false;
  bool is_joining GUARDED_BY(mutex) = false;
  bool is_joined GUARDED_BY(mutex) = false;
  // The list is complete before Start. The guarded part of each entry is guarded by the mutex.
  std::vector<std::unique_ptr<Entry>> entries;
};

void Scheduler::State::Work(Entry& entry) {
  while (const SharedRun run = WaitForWork(entry)) {
    const Status result = RunGuarded(entry.job, stopping);
    if (!result.ok() && !stopping) {
      Log(LogLevel::kWarning, "job failed",
          {{"job", entry.status.name}, {"error", result.ToString()}});
    }
    MutexLock lock(mutex);
    run->result = result;
    entry.current = nullptr;
    entry.status.is_running = false;
    entry.status.last_end_micros = clock.WallMicros();
    entry.status.last_result = result;
    ++entry.status.runs;
    changed.NotifyAll();
  }
}

// Null if the scheduler stops.
SharedRun Scheduler::State::WaitForWork(Entry& entry) {
  MutexLock lock(mutex);
  while (!stopping) {
    if (is_started) NoticeTimeLocked(entry);
    if (entry.wanted != nullptr) {
      entry.current = std::exchange(entry.wanted, nullptr);
      entry.status.is_running = true;
      entry.status.last_start_micros = clock.WallMicros();
      return entry.current;
    }
    if (!is_started) {
      changed.Wait(mutex);
      continue;
    }
    const auto left = std::chrono::ceil<milliseconds>(
        microseconds(entry.status.next_start_micros - clock.WallMicros()));
    changed.WaitFor(mutex, std::clamp(left, milliseconds(1), kWaitMax));
  }
  return nullptr;
}

void Scheduler::State::NoticeTimeLocked(Entry& entry) {
  const int64_t now = clock.WallMicros();
  if (now < entry.looked_at_micros - kSetBackMicrosMin) {
    entry.status.next_start_micros = entry.schedule.NextAfter(now);
  }
  entry.looked_at_micros = now;
  if (now < entry.status.next_start_micros) return;
  entry.status.next_start_micros = entry.schedule.NextAfter(now);
  WantLocked(entry);
}

SharedRun Scheduler::State::WantLocked(Entry& entry) {
  if (entry.wanted == nullptr) entry.wanted = std::make_shared<Run>();
  return entry.wanted;
}

Status Scheduler::State::AwaitLocked(const Run& run) {
  while (!run.result && !stopping) changed.Wait(mutex);
  return run.result ? *run.result : Status(Code::kCancelled, "the scheduler was stopped");
}

Scheduler::Scheduler(const Clock& clock) : state_(std::make_unique<State>(clock)) {}

Scheduler::~Scheduler() { Stop(); }

void Scheduler::Add(std::string name, Schedule schedule, Job job) {
  State& state = *state_;
  auto entry = std::make_unique<State::Entry>(std::move(name), std::move(schedule), std::move(job));
  entry->looked_at_micros = state.clock.WallMicros();
  entry->status.next_start_micros = entry->schedule.NextAfter(entry->looked_at_micros);
  MutexLock lock(state.mutex);
  CHECK(!state.is_started && !state.stopping);
  entry->thread = std::thread([&state, &worked = *entry] { state.Work(worked); });
  state.entries.push_back(std::move(entry));
}

void Scheduler::Start() {
  MutexLock lock(state_->mutex);
  state_->is_started = true;
  for (const auto& entry : state_->entries) {
    entry->looked_at_micros = state_->clock.WallMicros();
    entry->status.next_start_micros = entry->schedule.NextAfter(entry->looked_at_micros);
  }
  state_->changed.NotifyAll();
}

void Scheduler::Stop() {
  {
    MutexLock lock(state_->mutex);
    state_->stopping = true;
    state_->changed.NotifyAll();
    // A second caller waits for the first.
    while (state_->is_joining) state_->changed.Wait(state_->mutex);
    if (state_->is_joined) return;
    state_->is_joining = true;
  }
  for (const auto& entry : state_->entries) entry->thread.join();
  MutexLock lock(state_->mutex);
  state_->is_joining = false;
  state_->is_joined = true;
  state_->changed.NotifyAll();
}

Status Scheduler::RunNow(const std::string& name) {
  MutexLock lock(state_->mutex);
  for (const auto& entry : state_->entries) {
    if (entry->status.name != name) continue;
    const SharedRun run = state_->WantLocked(*entry);
    state_->changed.NotifyAll();
    return state_->AwaitLocked(*run);
  }
  return Status(Code::kNotFound, "no job \"" + name + "\"");
}

void Scheduler::RunDue() {
  MutexLock lock(state_->mutex);
  std::vector<SharedRun> runs;
  for (const auto& entry : state_->entries) {
    state_->NoticeTimeLocked(*entry);
    if (entry->current != nullptr) runs.push_back(entry->current);
    if (entry->wanted != nullptr) runs.push_back(entry->wanted);
  }
  state_->changed.NotifyAll();
  for (const SharedRun& run : runs) {
    IgnoreError(state_->AwaitLocked(*run), "recorded in the job's status");
  }
}

std::vector<Scheduler::JobStatus> Scheduler::Statuses() const {
  MutexLock lock(state_->mutex);
  std::vector<JobStatus> statuses;
  for (const auto& entry : state_->entries) statuses.push_back(entry->status);
  return statuses;
}

}  // namespace hearth::kit
