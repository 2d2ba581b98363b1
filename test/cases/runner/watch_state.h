#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "cases/runner/values.h"
#include "google/firestore/v1/firestore.pb.h"

namespace hearth::cases {

using Results = std::map<std::string, proto::Document>;  // By name.

// A client's state of one target.
struct TargetState {
  Results results = {};  // As received so far.
  bool is_current = false;
  std::optional<Status> removed = {};  // The cause, if it has ended; OK if the client removed it.
  std::string resume_token = {};
  // The newest moment of a complete snapshot.
  std::optional<Time> snapshot_time = {};
  Results snapshot = {};
  std::vector<std::string> order = {};  // Of the names, if the door reports it.
  // Messages since the last check: "change rooms/a", "delete rooms/a", "remove rooms/a", "reset",
  // "filter 3".
  std::vector<std::string> messages = {};
};

// Applies the messages of a Listen stream as SDKs do.
class WatchState {
 public:
  explicit WatchState(const Scope& scope) : root_(scope.root() + "/") {}

  // Prepares a target that the client is about to add; `known`: its results so far, if it resumes.
  void Begin(int target_id, Results known);
  TargetState& target(int target_id) { return targets_[target_id]; }

  void Apply(const proto::ListenResponse& message);
  // The whole state of one target, from doors that assemble the messages themselves.
  void ApplySnapshot(int target_id, const std::vector<proto::Document>& documents,
                     const Time& read_time);
  void ApplyEnd(int target_id, const Status& why);
  // The stream has ended, and with it all its targets.
  void ApplyEnd(const Status& why);

 private:
  void ApplyTargetChange(const proto::TargetChange& change);
  void ApplyGone(const std::string& name, const google::protobuf::RepeatedField<int32_t>& targets,
                 const std::string& how);
  std::string Short(const std::string& name) const;

  const std::string root_;
  std::map<int, TargetState> targets_;
};

}  // namespace hearth::cases
