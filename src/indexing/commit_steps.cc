#include "indexing/commit_steps.h"

#include <optional>
#include <utility>

#include "base/mutex.h"

namespace hearth::indexing {

Status CommitSteps::RunStep(std::function<void(storage::Batch*)> stage,
                            std::function<void()> stored) {
  Mutex mutex;
  CondVar finished;
  std::optional<Status> outcome;
  CommitStep step;
  step.stage = std::move(stage);
  step.done = [&, stored = std::move(stored)](const Status& status) {
    if (status.ok()) stored();
    MutexLock lock(mutex);
    outcome = status;
    finished.NotifyAll();
  };
  Submit(std::move(step));
  MutexLock lock(mutex);
  while (!outcome) finished.Wait(mutex);
  return *outcome;
}

}  // namespace hearth::indexing
