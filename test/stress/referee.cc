#include "stress/referee.h"

#include <chrono>
#include <cstdio>
#include <utility>

namespace hearth::stress {
namespace {

constexpr size_t kMomentsMax = 400;
// The server keeps history for an hour; moments nearly that old are not read.
constexpr std::chrono::minutes kPastMax{50};

std::string Text(Time time) { return std::to_string(static_cast<int64_t>(time)); }

bool IsTooOld(Time time, Time newest) {
  return static_cast<int64_t>(newest) - static_cast<int64_t>(time) >
         std::chrono::microseconds(kPastMax).count();
}

}  // namespace

void Referee::Fail(const std::string& what) {
  MutexLock lock(mutex_);
  if (failed_.exchange(true)) return;
  std::printf("FAILED: %s\n", what.c_str());
  std::fflush(stdout);
}

void Referee::Raise(Time time) {
  int64_t seen = newest_;
  while (seen < static_cast<int64_t>(time) &&
         !newest_.compare_exchange_weak(seen, static_cast<int64_t>(time))) {
  }
}

void Referee::SawCommitTime(Time newest_when_sent, Time time) {
  if (time <= newest_when_sent) {
    Fail("a commit got the time " + Text(time) + ", although " + Text(newest_when_sent) +
         " had been handed out before it was sent");
  }
  Raise(time);
}

void Referee::SawReadTime(Time newest_when_sent, Time time) {
  if (time < newest_when_sent) {
    Fail("a read of the present happened at " + Text(time) + ", although " +
         Text(newest_when_sent) + " had been handed out before it was sent");
  }
  Raise(time);
}

void Referee::Remember(World world, Random& random) {
  MutexLock lock(mutex_);
  if (past_.size() < kMomentsMax) {
    past_.push_back(std::move(world));
  } else {
    past_[Below(random, past_.size())] = std::move(world);
  }
}

void Referee::CheckPast(FirestoreClient& client, Random& random) {
  World expected;
  {
    MutexLock lock(mutex_);
    if (past_.empty()) return;
    expected = past_[Below(random, past_.size())];
  }
  if (IsTooOld(expected.read_time, newest())) return;
  std::vector<std::string> paths;
  for (const auto& [path, state] : expected.documents) paths.push_back(path);
  const Result<World> world = ReadWorld(client, paths, expected.read_time);
  if (!world.ok()) {
    if (!client.is_lost()) {
      Fail("a read at " + Text(expected.read_time) + " failed: " + world.status().ToString());
    }
    return;
  }
  ++counts.past_reads;
  for (const auto& [path, state] : expected.documents) {
    if (world->at(path) == state) continue;
    Fail("at " + Text(expected.read_time) + " " + path + " was: " + ToString(state) +
         "; a later read at this time says: " + ToString(world->at(path)));
  }
}

}  // namespace hearth::stress
