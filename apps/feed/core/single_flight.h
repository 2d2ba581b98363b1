#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "apps/feed/ids/ids.h"
#include "base/mutex.h"

namespace hearth::feed {

// Deduplicates concurrent work.
//
// The first caller with a key does the work. Callers with the same key that arrive meanwhile wait
// until it ends, so a wait lasts no longer than one piece of work. At most `waiters_max` wait per
// key: a waiting caller occupies a thread, and slow work must leave threads to callers with other
// keys.
//
// Threads: safe for concurrent use; no lock is held while the work runs. The work must not call Run
// with its own key.
class SingleFlight {
 public:
  enum class Outcome : uint8_t {
    kWorked,   // By this caller.
    kWaited,   // Another caller's work began before this call and has ended.
    kCrowded,  // Another caller works, and the maximum of callers wait.
  };

  explicit SingleFlight(size_t waiters_max) : waiters_max_(waiters_max) {}

  Outcome Run(UserId key, const std::function<void()>& work) EXCLUDES_LOCK(mutex_);

 private:
  // Guarded by the mutex of the SingleFlight.
  struct Flight {
    size_t waiters = 0;
    bool has_landed = false;
    CondVar landed;
  };
  // Ends a flight, even if the work throws.
  class Landing;

  const size_t waiters_max_;
  Mutex mutex_;  // Leaf lock.
  // Flights in progress. Waiters share a flight, since they read it after it has left the map.
  std::unordered_map<UserId, std::shared_ptr<Flight>> flights_ GUARDED_BY(mutex_);
};

}  // namespace hearth::feed
