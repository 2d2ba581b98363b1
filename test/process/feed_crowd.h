// Users of a photo feed in another process that gets killed, and what they know afterwards.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"

namespace hearth::process {

// The address of a feed, and requests to it. Threads: immutable.
class FeedDoor {
 public:
  struct Answer {
    int status = 0;  // 0: no answer, or an incomplete one.
    std::string content_type;
    std::string body;

    nlohmann::json Json() const { return nlohmann::json::parse(body, nullptr, false); }
  };

  // `prefix`: of its paths, "/apps/feed" or empty.
  FeedDoor(uint16_t port, std::string prefix) : port_(port), prefix_(std::move(prefix)) {}

  Answer Send(const std::string& method, const std::string& target, const std::string& token = {},
              const nlohmann::json& json = {}) const;
  Answer Upload(const std::string& token, const std::string& caption,
                const std::string& picture) const;

 private:
  Answer Exchange(const std::string& head, const std::string& body) const;

  uint16_t port_;
  std::string prefix_;
};

// Two users who post, one who follows both and likes their posts, one who follows and unfollows
// them. Each post has a unique caption and picture.
//
// Threads: one at a time; between Start and Stop it runs its own threads. Errors: fails the test.
class FeedCrowd {
 public:
  explicit FeedCrowd(uint64_t seed) : random_(seed) {}
  ~FeedCrowd() { Stop(); }
  FeedCrowd(const FeedCrowd&) = delete;
  FeedCrowd& operator=(const FeedCrowd&) = delete;

  void Register(const FeedDoor& door);

  // All users act concurrently, until they are stopped or get no answer.
  void Start(const FeedDoor& door);
  // Waits until this many more requests were acknowledged, including a post and a follow, which
  // lock different documents; fails the test at the time limit.
  void WaitForAcknowledged(int count) EXCLUDES_LOCK(mutex_);
  void Stop() EXCLUDES_LOCK(mutex_);
  // A number from 1 to `max`.
  int Random(int max) { return static_cast<int>(random_.Next() % static_cast<uint64_t>(max)) + 1; }

  // Requires that no user is acting. Acknowledged requests took effect, unanswered ones either did
  // or did not, and everything that exists is complete.
  void Check(const FeedDoor& door) EXCLUDES_LOCK(mutex_);

 private:
  static constexpr size_t kAuthors = 2;

  struct Account {
    int64_t id = 0;
    std::string token;
  };
  struct Likes {
    int acknowledged = 0;
    int unanswered = 0;
  };
  struct Shown {
    int64_t id;
    int64_t user_id;
    std::string caption;
    std::string created_at;
    int like_count;
    nlohmann::json media;
  };

  static Account NewAccount(const FeedDoor& door, const std::string& name);
  void PostUntilStopped(const FeedDoor& door, size_t author) EXCLUDES_LOCK(mutex_);
  void LikeUntilStopped(const FeedDoor& door) EXCLUDES_LOCK(mutex_);
  void FollowUntilStopped(const FeedDoor& door) EXCLUDES_LOCK(mutex_);
  // A post that was not tried yet; nullopt if there is none. Waits a little for one.
  std::optional<int64_t> NextToLike() EXCLUDES_LOCK(mutex_);
  bool is_stopped() EXCLUDES_LOCK(mutex_);
  enum class Request : uint8_t { kPost, kLike, kFollow };
  void Acknowledge(Request request) REQUIRES_LOCK(mutex_);

  // A whole feed, page by page.
  static std::vector<Shown> Scroll(const FeedDoor& door, const Account& account);
  void CheckPosts(const std::vector<Shown>& posts) EXCLUDES_LOCK(mutex_);
  static void CheckPictures(const FeedDoor& door, const std::vector<Shown>& posts);
  void CheckFollows(const FeedDoor& door, const std::vector<Shown>& posts) EXCLUDES_LOCK(mutex_);
  void CheckCounts(const FeedDoor& door, const std::vector<Shown>& posts) EXCLUDES_LOCK(mutex_);

  RandomSource random_;
  std::array<Account, kAuthors> authors_;
  Account reader_;
  Account wavering_;
  std::vector<std::thread> threads_;

  Mutex mutex_;  // Leaf lock.
  CondVar changed_;
  bool stopped_ GUARDED_BY(mutex_) = true;
  std::map<Request, int> acknowledged_ GUARDED_BY(mutex_);
  int captions_ GUARDED_BY(mutex_) = 0;
  std::map<int64_t, std::string> posted_ GUARDED_BY(mutex_);  // Captions by id.
  std::set<std::string> unanswered_ GUARDED_BY(mutex_);       // Captions.
  std::vector<int64_t> to_like_ GUARDED_BY(mutex_);
  std::map<int64_t, Likes> likes_ GUARDED_BY(mutex_);
  // Whether the wavering user follows an author; nullopt after an unanswered request.
  std::array<std::optional<bool>, kAuthors> follows_ GUARDED_BY(mutex_) = {false, false};
};

}  // namespace hearth::process
