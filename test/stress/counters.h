#pragma once

#include <string>
#include <vector>

#include "base/mutex.h"
#include "stress/workload.h"

namespace hearth::stress {

// Pairs of counters that all clients increment together, without reading them: the two are always
// equal, and count every acknowledged increment exactly once.
class Counters final : public Workload {
 public:
  Counters();

  void Step(const Session& session) override EXCLUDES_LOCK(mutex_);
  std::vector<std::string> Paths() const override;
  Status Verify(const World& world, Referee& referee) override EXCLUDES_LOCK(mutex_);

 private:
  struct Pair {
    std::string left;
    std::string right;
    int64_t verified = 0;      // The value after the last restart.
    int64_t acknowledged = 0;  // Increments since then.
    int64_t unanswered = 0;
    int64_t highest = 0;  // The highest value in any answer.
    Time newest{};
  };

  Mutex mutex_;  // Leaf lock.
  // The paths never change; the numbers are guarded by the mutex.
  std::vector<Pair> pairs_;
};

}  // namespace hearth::stress
