#pragma once

#include <string>
#include <vector>

#include "base/mutex.h"
#include "stress/workload.h"

namespace hearth::stress {

// Groups of documents that every client writes, and removes, in single commits: at every moment
// all of a group carry the stamp of its head, or none of them is there.
class Groups final : public Workload {
 public:
  Groups();

  void Step(const Session& session) override EXCLUDES_LOCK(mutex_);
  std::vector<std::string> Paths() const override;
  Status Verify(const World& world, Referee& referee) override EXCLUDES_LOCK(mutex_);

 private:
  struct Group {
    std::string head;  // Its count says whether the members are there.
    std::vector<std::string> members;
    SharedDocument newest;  // The head's.
  };

  static std::vector<std::string> PathsOf(const Group& group);
  static Status CheckAgreement(const Group& group, const World& world);

  Mutex mutex_;  // Leaf lock.
  // The paths never change; `newest` is guarded by the mutex.
  std::vector<Group> groups_;
};

}  // namespace hearth::stress
