#include "service/waiting_queries.h"

#include <vector>

namespace hearth::service {

std::unique_ptr<WaitingQueries::Wait> WaitingQueries::Begin(
    const std::shared_ptr<rpc::Call>& call) {
  const std::chrono::steady_clock::time_point now = clock_.Monotonic();
  std::vector<std::shared_ptr<rpc::Call>> overdue;
  std::unique_ptr<Wait> wait;
  {
    MutexLock lock(mutex_);
    // The end of their waits removes them.
    for (const Waiting& each : waiting_) {
      if (now - each.since < kWaitMax) break;
      if (std::shared_ptr<rpc::Call> late = each.call.lock()) overdue.push_back(std::move(late));
    }
    wait = std::make_unique<Wait>(shared_from_this(), waiting_.insert(waiting_.end(), {call, now}));
  }
  for (const std::shared_ptr<rpc::Call>& late : overdue) {
    late->Finish(Status(Code::kDeadlineExceeded, "the client does not read the results"));
  }
  return wait;
}

WaitingQueries::Wait::~Wait() {
  MutexLock lock(queries_->mutex_);
  queries_->waiting_.erase(place_);
}

}  // namespace hearth::service
