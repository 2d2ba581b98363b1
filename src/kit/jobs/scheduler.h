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

// Runs jobs when they are due. A job never runs concurrently with itself: all times and requests
// that arrive while it runs lead to one more run afterwards. Different jobs run concurrently. Times
// missed while the process was down are skipped.
//
// Threads: safe for concurrent use; one thread per job. Ownership: borrows the clock. The
// destructor stops the jobs.
class Scheduler {
 public:
  // Must return soon after `stopping` becomes true.
  using Job = std::function<Status(const std::atomic<bool>& stopping)>;

  explicit Scheduler(const Clock& clock);
  ~Scheduler();

  // Call before Start.
  void Add(std::string name, Schedule schedule, Job job);
  void Start();
  // Stops running jobs and waits for them.
  void Stop();

  // Runs a job now and waits until it ends; not to be called from the job itself. Works before
  // Start, too. NotFound for an unknown name; Cancelled when stopped.
  Status RunNow(const std::string& name);
  // For tests with a fake clock, without Start: runs the jobs that are due, and waits for them and
  // for those already running.
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
