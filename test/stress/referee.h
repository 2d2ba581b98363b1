#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "stress/content.h"

namespace hearth::stress {

using Random = std::mt19937_64;
// A number below `bound`.
inline size_t Below(Random& random, size_t bound) { return random() % bound; }
// True once in `times`.
inline bool OneIn(Random& random, size_t times) { return Below(random, times) == 0; }

// Checks the invariants of the whole run, across all kills: times never go backwards, and the past
// does not change.
//
// Threads: safe for concurrent use.
class Referee {
 public:
  // Reports a failure; the first one ends the run.
  void Fail(const std::string& what) EXCLUDES_LOCK(mutex_);
  bool failed() const { return failed_; }

  // The newest time in any answer so far. A commit that is sent from now on is later.
  Time newest() const { return Time{newest_.load()}; }
  void SawCommitTime(Time newest_when_sent, Time time);
  void SawReadTime(Time newest_when_sent, Time time);

  // A new stamp of this run.
  Stamp NewStamp(Weight weight) { return MakeStamp(++stamps_, weight); }

  // Keeps `world`, or a sample of the worlds it is given, for CheckPast. Every document in it must
  // have been in exactly this state at its read time.
  void Remember(World world, Random& random) EXCLUDES_LOCK(mutex_);
  // Reads one remembered moment again.
  void CheckPast(FirestoreClient& client, Random& random) EXCLUDES_LOCK(mutex_);

  struct Counts {
    std::atomic<uint64_t> acknowledged = 0;
    std::atomic<uint64_t> refused = 0;
    std::atomic<uint64_t> unanswered = 0;
    std::atomic<uint64_t> reads = 0;
    std::atomic<uint64_t> past_reads = 0;
    std::atomic<uint64_t> happened_unanswered = 0;
  };
  Counts counts;

 private:
  void Raise(Time time);

  std::atomic<bool> failed_ = false;
  std::atomic<int64_t> newest_ = 0;
  std::atomic<int64_t> stamps_ = 0;
  Mutex mutex_;  // Leaf lock.
  std::vector<World> past_ GUARDED_BY(mutex_);
};

}  // namespace hearth::stress
