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

// What a client knows of one target.
struct TargetState {
  Results results = {};  // As far as the server has told.
  bool is_current = false;
  std::optional<Status> removed = {};  // Why, if it has ended; OK when the client asked for that.
  std::string resume_token = {};
  // The newest moment that all has been told of.
  std::optional<Time> snapshot_time = {};
  Results snapshot = {};
  std::vector<std::string> order = {};  // Of the names, where the door says it.
  // What came since it was last asked for: "change rooms/a", "delete rooms/a", "remove rooms/a",
  // "reset", "filter 3".
  std::vector<std::string> messages = {};
};

// What a client makes of the messages of a Listen stream, as SDKs do.
class WatchState {
 public:
  explicit WatchState(const Scope& scope) : root_(scope.root() + "/") {}

  // A target that the client is about to add; `known`: its results so far, if it goes on.
  void Begin(int target_id, Results known);
  TargetState& target(int target_id) { return targets_[target_id]; }

  void Apply(const proto::ListenResponse& message);
  // A whole state of one target, from doors that put messages together themselves.
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
