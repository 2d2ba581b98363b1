#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "kit/jobs/schedule.h"

namespace hearth::kit {

// Runs jobs when they are due. A job never runs twice at the same time: what comes due, or is asked
// for, while it runs is run once more afterwards, once for all of it. Different jobs run beside
// one another. Times missed while the process was down are not made up for.
//
// Threads: safe for concurrent use; a thread a job. Ownership: borrows the clock. The destructor
// stops.
class Scheduler {
 public:
  // Returns soon after `stopping` becomes true.
  using Job = std::function<Status(const std::atomic<bool>& stopping)>;

  explicit Scheduler(const Clock& clock);
  ~Scheduler();

  // Before Start.
  void Add(std::string name, Schedule schedule, Job job);
  void Start();
  // Ends the jobs under way and waits for them.
  void Stop();

  // Runs a job now and waits for its end; not from the job itself. Works before Start, too.
  // NotFound for a name that is none; Cancelled when stopped.
  Status RunNow(const std::string& name);
  // For tests with a clock of their own, which need no Start: starts what is due by that clock, and
  // waits for it and for what runs already.
  void RunDue();

  struct JobStatus {
    std::string name;
    bool is_running = false;
    uint64_t runs = 0;
    int64_t last_start_micros = 0;  // 0: never.
    int64_t last_end_micros = 0;
    Status last_result;
    int64_t next_start_micros = 0;
  };
  std::vector<JobStatus> Statuses() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace hearth::kit
