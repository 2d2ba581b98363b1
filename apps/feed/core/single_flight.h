#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "apps/feed/ids/ids.h"
#include "base/mutex.h"

namespace hearth::feed {

// Work that is done once for all callers that need it at the same time.
//
// The first caller with a key does the work. Callers with the same key that arrive meanwhile wait
// until it ends, so that a wait lasts no longer than one piece of work. At most `waiters_max` wait
// for each key: a caller that waits occupies a thread, and a slow piece of work must leave threads
// to the callers with other keys.
//
// Threads: safe for concurrent use; no lock is held while the work runs. The work must not come
// back with its own key.
class SingleFlight {
 public:
  enum class Outcome : uint8_t {
    kWorked,   // By this caller.
    kWaited,   // Another caller's work began before this call and has ended.
    kCrowded,  // Another caller works, and enough callers wait for it already.
  };

  explicit SingleFlight(size_t waiters_max) : waiters_max_(waiters_max) {}

  Outcome Run(UserId key, const std::function<void()>& work) EXCLUDES_LOCK(mutex_);

 private:
  // Guarded by the mutex of the whole.
  struct Flight {
    size_t waiters = 0;
    bool has_landed = false;
    CondVar landed;
  };
  // Ends a flight, also when the work throws.
  class Landing;

  const size_t waiters_max_;
  Mutex mutex_;  // Leaf lock.
  // Those under way. A flight is shared with its waiters, who look at it after it has left the map.
  std::unordered_map<UserId, std::shared_ptr<Flight>> flights_ GUARDED_BY(mutex_);
};

}  // namespace hearth::feed
