#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/hackernews/story.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/status.h"
#include "kit/outbound/outbound.h"

namespace hearth::hackernews {

struct HnSourceOptions {
  std::string api_url = "https://hacker-news.firebaseio.com";
  std::string site_url = "https://news.ycombinator.com";
  std::vector<std::string> private_hosts_allowed = {};  // "127.0.0.1:4711"
  std::chrono::milliseconds retry_pause{250};  // Before the second attempt; then it doubles.
};

// Hacker News: its API, and its site for sign-in.
//
// Threads: safe for concurrent use; calls block. Errors: Unavailable and DeadlineExceeded if it
// cannot be reached, DataLoss for invalid responses.
class HnSource {
 public:
  static constexpr size_t kParallelFetches = 20;
  // Bound on newstories, currently 500. The rest is ignored.
  static constexpr size_t kNewStoriesMax = 5'000;

  HnSource(const HnSourceOptions& options, const Clock& clock, RandomSource& random,
           Metrics& metrics);

  // The ids of the newest stories.
  Result<std::vector<int64_t>> NewStories();
  // In the order of the ids; nullopt for items that are not, or no longer, stories.
  std::vector<Result<std::optional<StoryItem>>> Items(const std::vector<int64_t>& ids);
  // A page of the site, "item?id=1", with any status.
  Result<kit::HttpResponse> SitePage(const std::string& path);
  // Whether the site accepts this account and password.
  Result<bool> CheckSignIn(const std::string& account, const std::string& password);

  // The start of the current state, in milliseconds since the epoch; nullopt: no request yet.
  struct Health {
    bool is_ok = true;
    std::optional<int64_t> since_ms;
    std::string error;
  };
  Health health() const EXCLUDES_LOCK(mutex_);
  // Running and later calls fail soon.
  void Stop();

 private:
  void Note(const Status& status) EXCLUDES_LOCK(mutex_);

  const HnSourceOptions options_;
  const Clock& clock_;
  kit::Outbound api_;
  kit::Outbound site_;
  mutable Mutex mutex_;  // Leaf lock.
  Health health_ GUARDED_BY(mutex_);
};

}  // namespace hearth::hackernews
