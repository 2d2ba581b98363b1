#include "stress/groups.h"

#include <array>

#include "base/status_macros.h"

namespace hearth::stress {
namespace {

constexpr size_t kGroups = 8;
constexpr size_t kMembersMin = 2;  // Plus the head: groups of three to ten documents.
constexpr std::array<const char*, 3> kCollections = {"lefts", "rights", "middles/m/inner"};

}  // namespace

Groups::Groups() : groups_(kGroups) {
  for (size_t i = 0; i < kGroups; ++i) {
    const std::string id = "g" + std::to_string(i);
    groups_[i].head = "heads/" + id;
    for (size_t member = 0; member < kMembersMin + i; ++member) {
      groups_[i].members.push_back(std::string(kCollections[member % kCollections.size()]) + "/" +
                                   id + "-" + std::to_string(member));
    }
  }
}

std::vector<std::string> Groups::PathsOf(const Group& group) {
  std::vector<std::string> paths = group.members;
  paths.push_back(group.head);
  return paths;
}

std::vector<std::string> Groups::Paths() const {
  std::vector<std::string> all;
  for (const Group& group : groups_) {
    const std::vector<std::string> paths = PathsOf(group);
    all.insert(all.end(), paths.begin(), paths.end());
  }
  return all;
}

Status Groups::CheckAgreement(const Group& group, const World& world) {
  const State& head = world.at(group.head);
  const bool is_there = head && head->content.count == 1;
  for (size_t i = 0; i < group.members.size(); ++i) {
    const State& member = world.at(group.members[i]);
    State wanted;
    if (is_there) {
      wanted = Seen{{head->content.stamp, static_cast<int64_t>(i)}, head->update_time};
    }
    if (member == wanted) continue;
    return DataLoss("half there: " + group.head + " is: " + ToString(head) + "; but " +
                    group.members[i] + " is: " + ToString(member));
  }
  return Status();
}

void Groups::Step(const Session& session) {
  Group& group = groups_[Below(session.random, kGroups)];
  if (OneIn(session.random, 4)) {
    const std::optional<World> world = Read(session, PathsOf(group));
    if (!world) return;
    if (const Status agree = CheckAgreement(group, *world); !agree.ok()) {
      session.referee.Fail(agree.message());
    }
    return;
  }

  const bool removes = OneIn(session.random, 5);
  const Content head{session.referee.NewStamp(Weight::kLight), removes ? 0 : 1};
  proto::CommitRequest request = NewCommit();
  AddSet(group.head, head, &request);
  World after;
  for (size_t i = 0; i < group.members.size(); ++i) {
    const Content content{head.stamp, static_cast<int64_t>(i)};
    if (removes) {
      AddDelete(group.members[i], &request);
      after.documents[group.members[i]] = std::nullopt;
    } else {
      AddSet(group.members[i], content, &request);
      after.documents[group.members[i]] = Seen{content, {}};
    }
  }
  const CommitAnswer answer = Commit(session, request, {});
  {
    MutexLock lock(mutex_);
    if (!answer.acknowledged()) return group.newest.Unanswered(head);
    group.newest.Acknowledged(answer.time, head);
  }
  if (!OneIn(session.random, 50)) return;
  after.read_time = answer.time;
  after.documents[group.head] = Seen{head, {}};
  for (auto& [path, state] : after.documents) {
    if (state) state->update_time = answer.time;
  }
  session.referee.Remember(after, session.random);
}

Status Groups::Verify(const World& world, Referee& referee) {
  MutexLock lock(mutex_);
  for (Group& group : groups_) {
    RETURN_IF_ERROR(group.newest.Verify(group.head, world.at(group.head), referee));
    RETURN_IF_ERROR(CheckAgreement(group, world));
  }
  return Status();
}

}  // namespace hearth::stress
