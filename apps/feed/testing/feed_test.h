// For tests: the feed's endpoints on any database, with a fake clock, a memory cache, and events
// that are recorded but not processed.
//
// The suite is in the library `feed_suite`. A test program links it and names the databases to run
// it on:
//
//   INSTANTIATE_TEST_SUITE_P(Embedded, FeedTest, testing::Values(...), client::BackendName);
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/feed/api/api.h"
#include "apps/feed/core/feed_core.h"
#include "apps/feed/stores/collections.h"
#include "apps/feed/testing/failing_transport.h"
#include "apps/feed/testing/recording_feed_queue.h"
#include "base/memory_budget.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/testing/fake_clock.h"
#include "client/firestore.h"
#include "client/testing/transport_contract.h"
#include "kit/web/routes.h"
#include "kit/web/session.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::feed {

inline constexpr int64_t kStartSeconds = 1'764'410'400;  // 2025-11-29T10:00:00Z
// Few enough to reach in a test.
inline constexpr LimitOptions kLimits = {
    .registrations_per_hour = 3, .posts_per_hour = 5, .comments_per_hour = 60};
inline constexpr char kSecret[] = "a secret that only these tests know";

class FeedTest : public testing::TestWithParam<client::ContractBackend> {
 protected:
  FeedTest();

  struct Account {
    UserId id;
    std::string token;
  };
  // Without a password, because hashing takes time.
  Account NewUser(const std::string& username, const std::string& display_name = "");
  // One post with one picture.
  PostId NewPost(const Account& author, const std::string& caption = "");

  struct Options {
    std::string token = {};
    nlohmann::json json = {};
    std::string body = {};  // If there is no JSON.
    std::string content_type = {};
    std::string cookie = {};
    std::string if_none_match = {};
    std::string peer = "127.0.0.1";
  };
  kit::Response Send(const std::string& method, const std::string& target,
                     const Options& options) const;
  kit::Response Send(const std::string& method, const std::string& target) const {
    return Send(method, target, Options());
  }
  kit::Response SendAs(const Account& account, const std::string& method, const std::string& target,
                       const nlohmann::json& json = {}) const {
    return Send(method, target, {.token = account.token, .json = json});
  }
  kit::Response Register(const nlohmann::json& json) const {
    return Send("POST", "/auth/register", {.json = json});
  }
  kit::Response Login(const nlohmann::json& json, const std::string& peer = "127.0.0.1") const {
    return Send("POST", "/auth/login", {.json = json, .peer = peer});
  }
  kit::Response Refresh(const std::string& token) const {
    return Send("POST", "/auth/refresh", {.json = {{"refresh_token", token}}});
  }
  // A refresh token, the first of its family.
  std::string NewFamily(const Account& account);

  struct Part {
    std::string name;
    std::string file_name;  // Empty if not a file.
    std::string content;
  };
  kit::Response Upload(const Account& account, const std::vector<Part>& parts) const;

  // The body; fails the test if the status differs.
  static nlohmann::json Body(const kit::Response& response, int status = 200);
  nlohmann::json Get(const std::string& target) const { return Body(Send("GET", target)); }
  nlohmann::json GetAs(const Account& account, const std::string& target) const {
    return Body(SendAs(account, "GET", target));
  }
  static void ExpectError(const kit::Response& response, int status, const std::string& code);

  // The ids of all items of all pages; at most 50 pages.
  template <Id T>
  std::vector<T> AllIds(const std::string& target, const char* name,
                        const std::string& token = "") const {
    std::vector<T> ids;
    for (const nlohmann::json& item : AllItems(target, name, token)) ids.push_back(item.at("id"));
    return ids;
  }
  // Runs `act` with 0, 1, ... on that many threads at once; returns the number of responses by
  // status.
  static std::map<int, int> AtOnce(int threads, const std::function<kit::Response(int)>& act);

  // A small picture, different for each shade.
  static std::string Picture(uint8_t shade);
  // The number of stored files.
  size_t StoredFiles() const;
  std::vector<FeedEvent> Published() const { return queue_->Published(); }
  void Advance(std::chrono::seconds step) { clock_.Advance(step); }

  storage::TemporaryFolder folder_;
  MemoryBudget memory_{256 * 1024 * 1024};
  FakeClock clock_{kStartSeconds * 1'000'000};
  std::shared_ptr<FailingTransport> transport_;  // Shared with the database's handle.
  Collections collections_;
  // For changes without events.
  UserStore users_;
  FollowStore follows_;
  PostStore posts_;
  kit::SessionSigner signer_;
  Tokens tokens_;
  MediaStore media_;
  PictureRemoval removal_;

 private:
  std::vector<nlohmann::json> AllItems(const std::string& target, const char* name,
                                       const std::string& token) const;
  // Keeps a pointer to the queue, which the core owns.
  FeedCore::Parts MakeParts();

  RandomSource random_{7};
  Metrics metrics_;
  RecordingFeedQueue* queue_ = nullptr;
  FeedCore core_;
  Api api_;
  kit::Routes routes_;
};

}  // namespace hearth::feed
