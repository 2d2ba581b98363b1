#pragma once

#include <string>
#include <vector>

#include "base/mutex.h"
#include "stress/workload.h"

namespace hearth::stress {

// Accounts between which all clients move money, in read-write transactions or with the update
// times of the read documents as preconditions: the total never changes.
class Accounts final : public Workload {
 public:
  Accounts();

  // Creates the accounts; call once.
  void Open(const Session& session) EXCLUDES_LOCK(mutex_);

  void Step(const Session& session) override EXCLUDES_LOCK(mutex_);
  std::vector<std::string> Paths() const override { return paths_; }
  Status Verify(const World& world, Referee& referee) override EXCLUDES_LOCK(mutex_);

 private:
  // Two accounts, as a transfer has read them.
  struct Pair {
    size_t from;
    size_t to;
    std::string transaction;  // Empty: the transfer relies on update times.
    World world;
  };

  std::optional<Pair> ReadPair(const Session& session);
  void Transfer(const Session& session, const Pair& pair) EXCLUDES_LOCK(mutex_);
  Status CheckTotal(const World& world) const;

  std::vector<std::string> paths_;
  Mutex mutex_;  // Leaf lock.
  std::vector<SharedDocument> newest_ GUARDED_BY(mutex_);
};

}  // namespace hearth::stress
