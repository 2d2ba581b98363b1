#pragma once

#include <string>
#include <vector>

#include "base/mutex.h"
#include "stress/workload.h"

namespace hearth::stress {

// Groups of documents that all clients write, and remove, in single commits: at every moment either
// all documents of a group carry the stamp of its head, or none exists.
class Groups final : public Workload {
 public:
  Groups();

  void Step(const Session& session) override EXCLUDES_LOCK(mutex_);
  std::vector<std::string> Paths() const override;
  Status Verify(const World& world, Referee& referee) override EXCLUDES_LOCK(mutex_);

 private:
  struct Group {
    std::string head;  // Its count tells whether the members exist.
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
