#pragma once

#include <cstdint>
#include <functional>

#include "base/status.h"
#include "storage/store.h"

namespace hearth::indexing {

// Work that must be in step with commits, such as building an index.
struct CommitStep {
  // Adds changes to the batch of the next group. Runs on the committer's thread.
  std::function<void(storage::Batch*)> stage;
  // Runs on the committer's thread too, once the group, with all that was committed before, is in
  // the store or has failed, and before anything of the next group is staged.
  std::function<void(const Status&)> done;
};

// Takes steps to the thread that commits.
//
// Threads: safe for concurrent use.
class CommitSteps {
 public:
  virtual ~CommitSteps() = default;

  virtual void Submit(CommitStep step) = 0;

  // Stores what `stage` adds to the next group, and waits for it. On success, `stored` runs on the
  // committer's thread, before anything of the group after it is staged.
  Status RunStep(std::function<void(storage::Batch*)> stage, std::function<void()> stored);

  // The number of groups that could not be stored.
  virtual uint64_t failed_groups() const = 0;
};

}  // namespace hearth::indexing
