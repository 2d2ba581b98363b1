#include "stress/counters.h"

#include <algorithm>

namespace hearth::stress {
namespace {

constexpr size_t kPairs = 3;
// A counter's stamp never changes; every increment writes it again.
constexpr Stamp kStamp{0};

void AddIncrementOf(const std::string& path, proto::CommitRequest* request) {
  proto::Write* write = AddSet(path, {kStamp, 0}, request);
  write->mutable_update()->mutable_fields()->erase("count");
  write->mutable_update_mask()->add_field_paths("stamp");
  write->mutable_update_mask()->add_field_paths("payload");
  AddIncrement(1, write);
}

}  // namespace

Counters::Counters() {
  for (size_t i = 0; i < kPairs; ++i) {
    const std::string id = std::to_string(i);
    pairs_.push_back({.left = "counters/left" + id, .right = "counters/right" + id});
  }
}

std::vector<std::string> Counters::Paths() const {
  std::vector<std::string> paths;
  for (const Pair& pair : pairs_) {
    paths.push_back(pair.left);
    paths.push_back(pair.right);
  }
  return paths;
}

void Counters::Step(const Session& session) {
  Pair& pair = pairs_[Below(session.random, kPairs)];
  proto::CommitRequest request = NewCommit();
  AddIncrementOf(pair.left, &request);
  AddIncrementOf(pair.right, &request);
  int64_t highest_when_sent = 0;
  {
    MutexLock lock(mutex_);
    highest_when_sent = pair.highest;
  }
  const CommitAnswer answer = Commit(session, request, {});
  if (!answer.acknowledged()) {
    MutexLock lock(mutex_);
    ++pair.unanswered;
    return;
  }
  const int64_t left = answer.response.write_results(0).transform_results(0).integer_value();
  const int64_t right = answer.response.write_results(1).transform_results(0).integer_value();
  if (left != right || left <= highest_when_sent) {
    session.referee.Fail(pair.left + " was answered as " + std::to_string(left) + ", " +
                         pair.right + " as " + std::to_string(right) + ", after " +
                         std::to_string(highest_when_sent));
  }
  {
    MutexLock lock(mutex_);
    ++pair.acknowledged;
    pair.highest = std::max(pair.highest, left);
    pair.newest = std::max(pair.newest, answer.time);
  }
  if (OneIn(session.random, 50)) {
    const Seen seen{{kStamp, left}, answer.time};
    session.referee.Remember({answer.time, {{pair.left, seen}, {pair.right, seen}}},
                             session.random);
  }
}

Status Counters::Verify(const World& world, Referee& referee) {
  MutexLock lock(mutex_);
  for (Pair& pair : pairs_) {
    const State& left = world.at(pair.left);
    if (left != world.at(pair.right)) {
      return DataLoss("half there: " + pair.left + " is: " + ToString(left) + "; but " +
                      pair.right + " is: " + ToString(world.at(pair.right)));
    }
    const int64_t count = left ? left->content.count : 0;
    const int64_t least = pair.verified + pair.acknowledged;
    const bool is_in_range = count >= least && count <= least + pair.unanswered;
    const bool is_recent = !left || left->update_time >= pair.newest;
    if (!is_in_range || !is_recent || count < pair.highest) {
      return DataLoss(pair.left + " was acknowledged as " + std::to_string(least) + " (" +
                      std::to_string(pair.unanswered) + " increments were not answered), highest " +
                      std::to_string(pair.highest) + "; found: " + ToString(left));
    }
    referee.counts.happened_unanswered += static_cast<uint64_t>(count - least);
    pair.verified = count;
    pair.acknowledged = pair.unanswered = 0;
  }
  return Status();
}

}  // namespace hearth::stress
