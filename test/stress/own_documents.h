#pragma once

#include <map>
#include <string>
#include <vector>

#include "stress/workload.h"

namespace hearth::stress {

// Documents that only one client writes, so that it knows their exact state after every answer:
// sets, deletes, increments and preconditions, on one document or several together.
//
// Threads: only one client calls Step.
class OwnDocuments final : public Workload {
 public:
  explicit OwnDocuments(size_t client);

  void Step(const Session& session) override;
  std::vector<std::string> Paths() const override { return paths_; }
  Status Verify(const World& world, Referee& referee) override;

 private:
  // The effects of a commit, if it succeeds.
  struct Plan {
    proto::CommitRequest request = NewCommit();
    std::map<size_t, std::optional<Content>> after;  // By document; absent: deleted.
    Code expected = Code::kOk;
  };

  Plan MakePlan(const Session& session);
  void AddWrite(const Session& session, size_t document, Plan* plan);
  // A precondition that holds, or occasionally one that does not.
  void AddPrecondition(Random& random, size_t document, Plan* plan);
  void Carry(const Session& session, const Plan& plan);
  void CheckOne(const Session& session);
  World Snapshot(Time time) const;
  // Why the stored state is not the outcome of `plan`; OK if it is.
  Status Compare(const World& world, const Plan* plan) const;

  std::vector<std::string> paths_;
  std::vector<State> states_;
  std::optional<Plan> unanswered_;  // A client that got no answer does nothing more.
};

}  // namespace hearth::stress
