#include "stress/archive.h"

#include <algorithm>

namespace hearth::stress {
namespace {

constexpr size_t kChosenMax = 24;

}  // namespace

void Archive::Step(const Session& session) {
  bytes_left_ -= static_cast<int64_t>(kBulkBytes);
  const Content content{session.referee.NewStamp(Weight::kBulk), 0};
  // Spread over the key space, so that files overlap.
  const std::string id = std::to_string(session.random() % 10'000) + "-" +
                         std::to_string(static_cast<int64_t>(content.stamp));
  const std::string path = "archives/a/documents/" + id;
  proto::CommitRequest request = NewCommit();
  AddSet(path, content, &request)->mutable_current_document()->set_exists(false);
  const CommitAnswer answer = Commit(session, request, {});
  if (!answer.acknowledged()) return;
  MutexLock lock(mutex_);
  stored_.push_back({path, {content, answer.time}});
}

void Archive::Choose(Random& random) {
  MutexLock lock(mutex_);
  chosen_.clear();
  std::sample(stored_.begin(), stored_.end(), std::back_inserter(chosen_), kChosenMax, random);
}

std::vector<std::string> Archive::Paths() const {
  std::vector<std::string> paths;
  for (const Entry& entry : chosen_) paths.push_back(entry.path);
  return paths;
}

Status Archive::Verify(const World& world, Referee&) {
  for (const Entry& entry : chosen_) {
    if (world.at(entry.path) == entry.seen) continue;
    return DataLoss(entry.path + " was acknowledged as: " + ToString(entry.seen) +
                    "; found: " + ToString(world.at(entry.path)));
  }
  return Status();
}

}  // namespace hearth::stress
