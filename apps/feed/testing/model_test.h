// For tests: random operations on a feed, with each page compared with a simple model.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "apps/feed/core/feed_core.h"
#include "apps/feed/stores/collections.h"
#include "apps/feed/testing/feed_oracle.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/testing/fake_clock.h"

namespace hearth::feed {

// A kind of cache and queue, and the faults that it can have.
struct ModelBackend {
  std::string name;
  // As for a new process: whatever outlives a process is still there.
  std::function<FeedCore::Parts(const Clock&, RandomSource&, Metrics&, const Collections&)> make;
  // Faults of the cache to choose from; each leaves it reachable.
  std::vector<std::function<void(std::mt19937_64&, FeedCore&, const std::vector<UserId>& users)>>
      harms;
  // Makes it unreachable, and reachable again. Empty if not applicable.
  std::function<void()> break_down = {};
  std::function<void()> come_back = {};
};

struct ModelOptions {
  uint64_t seed;
  int users = 8;
  int steps = 900;
  // By one author at once: more than a cache holds.
  int posts_of_a_burst = 530;
};

// Runs the model. Failures are reported by EXPECT with the seed and the step.
class FeedModel {
 public:
  FeedModel(ModelOptions options, ModelBackend backend, client::Firestore database);
  ~FeedModel();

  void Run();
  // The number of pages made in this way.
  uint64_t PagesBy(const std::string& path);

 private:
  void Restart();
  void Step();

  void Post(UserId author);
  // More at once than a cache holds.
  void PostManyTimes();
  void Delete();
  void Edit();
  void Follow();
  void Unfollow();
  void PassTime();
  void WorkOnQueue();
  void WorkUntilAnswered(const std::function<Result<size_t>()>& work);
  // As a process that dies between taking events and finishing them.
  void DropDeliveries();
  void Harm();
  void BreakDownOrComeBack();

  void ReadSomething();
  void CheckPage(UserId user, const std::optional<PostKey>& before);
  // All pages, in order.
  void CheckScroll(UserId user);

  UserId AnyUser() { return users_[Below(users_.size())].id; }
  size_t Below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(chance_); }
  bool OneIn(size_t n) { return Below(n) == 0; }

  const ModelOptions options_;
  const ModelBackend backend_;
  std::mt19937_64 chance_;
  FakeClock clock_{1'794'744'000'000'000};
  RandomSource random_;
  Metrics metrics_;
  Collections collections_;
  // For changes whose events are lost.
  PostStore posts_;
  FollowStore follows_;
  std::unique_ptr<FeedCore> core_;
  FeedOracle oracle_;
  std::vector<User> users_;
  std::vector<PostId> all_posts_;                       // Including deleted ones.
  std::map<UserId, std::optional<PostKey>> positions_;  // Where each user has scrolled to.
  bool is_broken_ = false;
  int step_ = 0;
};

}  // namespace hearth::feed
