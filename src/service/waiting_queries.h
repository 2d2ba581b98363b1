#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "rpc/call.h"

namespace hearth::service {

// The queries that wait for their clients to read. Each of them keeps a snapshot of the store, and
// with it replaced data on the disk. A client that reads a little from time to time could make it
// wait forever, so whenever a query begins to wait, those that have waited too long end with
// DeadlineExceeded.
//
// Threads: safe for concurrent use. Ownership: borrows the clock; shared by its waits, which may
// end after the methods.
class WaitingQueries : public std::enable_shared_from_this<WaitingQueries> {
 public:
  // Few answers are unsent when a query waits: this suffices for a few hundred bytes a second.
  static constexpr std::chrono::minutes kWaitMax{10};

  // The wait of one query, until this is destroyed. Threads: one at a time.
  class Wait;

  explicit WaitingQueries(const Clock& clock) : clock_(clock) {}

  std::unique_ptr<Wait> Begin(const std::shared_ptr<rpc::Call>& call) EXCLUDES_LOCK(mutex_);

 private:
  struct Waiting {
    std::weak_ptr<rpc::Call> call;
    std::chrono::steady_clock::time_point since;
  };
  using Place = std::list<Waiting>::iterator;

  const Clock& clock_;
  Mutex mutex_;                                    // Leaf lock.
  std::list<Waiting> waiting_ GUARDED_BY(mutex_);  // In the order of their beginnings.
};

class WaitingQueries::Wait {
 public:
  Wait(std::shared_ptr<WaitingQueries> queries, Place place)
      : queries_(std::move(queries)), place_(place) {}
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

 private:
  const std::shared_ptr<WaitingQueries> queries_;  // Shared with the methods.
  const Place place_;
};

}  // namespace hearth::service
