#include "stress/workload.h"

#include <algorithm>
#include <utility>

namespace hearth::stress {

CommitAnswer Commit(const Session& session, const proto::CommitRequest& request,
                    const std::set<Code>& refusals) {
  Referee& referee = session.referee;
  const Time newest = referee.newest();
  Result<proto::CommitResponse> response = session.client.Commit(request);
  CommitAnswer answer;
  if (response.ok()) {
    answer.kind = CommitAnswer::Kind::kAcknowledged;
    answer.time = TimeOf(response->commit_time());
    answer.response = *std::move(response);
    ++referee.counts.acknowledged;
    referee.SawCommitTime(newest, answer.time);
    for (int i = 0; i < request.writes_size(); ++i) {
      if (request.writes(i).has_update() &&
          TimeOf(answer.response.write_results(i).update_time()) != answer.time) {
        referee.Fail("a write's update time is not its commit's time");
      }
    }
    return answer;
  }
  if (session.client.is_lost()) {
    ++referee.counts.unanswered;
    return answer;
  }
  answer.kind = CommitAnswer::Kind::kRefused;
  answer.status = response.status();
  ++referee.counts.refused;
  if (!refusals.contains(answer.status.code())) {
    referee.Fail("a commit was refused: " + answer.status.ToString());
  }
  return answer;
}

std::optional<World> Read(const Session& session, const std::vector<std::string>& paths) {
  const Time newest = session.referee.newest();
  Result<World> world = ReadWorld(session.client, paths);
  if (!world.ok()) {
    if (!session.client.is_lost()) {
      session.referee.Fail("a read failed: " + world.status().ToString());
    }
    return std::nullopt;
  }
  ++session.referee.counts.reads;
  session.referee.SawReadTime(newest, world->read_time);
  return *std::move(world);
}

void SharedDocument::Acknowledged(Time time, const Content& content) {
  if (!newest_ || newest_->update_time < time) newest_ = {content, time};
}

Status SharedDocument::Verify(const std::string& path, const State& state, Referee& referee) {
  const std::string wanted =
      path + " was acknowledged as: " + ToString(newest_) + "; found: " + ToString(state);
  if (state != newest_) {
    if (!state || (newest_ && state->update_time <= newest_->update_time)) {
      return DataLoss("lost: " + wanted);
    }
    if (std::find(unanswered_.begin(), unanswered_.end(), state->content) == unanswered_.end()) {
      return DataLoss("nobody wrote this: " + wanted);
    }
    ++referee.counts.happened_unanswered;
  }
  newest_ = state;
  unanswered_.clear();
  return Status();
}

}  // namespace hearth::stress
