// For tests: the whole application, with its cache in memory or on its own Redis, on any database.
// The suite is in the library `feed_workflows`.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/feed/stores/collections.h"
#include "apps/feed/stores/follow_store.h"
#include "apps/feed/stores/post_store.h"
#include "apps/feed/stores/tokens.h"
#include "apps/feed/stores/user_store.h"
#include "apps/feed/testing/redis_server.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/testing/fake_clock.h"
#include "client/firestore.h"
#include "kit/web/application.h"
#include "kit/web/session.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::feed {

struct WorkflowBackend {
  std::string name;
  std::function<client::Firestore()> fresh;
  bool has_redis = false;
};

std::string WorkflowBackendName(const testing::TestParamInfo<WorkflowBackend>& info);

class WorkflowTest : public testing::TestWithParam<WorkflowBackend> {
 protected:
  WorkflowTest();
  ~WorkflowTest() override;

  struct Account {
    UserId id;
    std::string token;
  };
  Account NewUser(const std::string& name);
  // Newest first.
  std::vector<PostId> NewPosts(const Account& author, int count);
  kit::Response Send(const Account& account, const std::string& method, const std::string& target,
                     const nlohmann::json& json = {});
  void Follow(const Account& user, const Account& author);

  struct Page {
    std::vector<PostId> ids;
    std::string next_cursor;  // Empty: null.
    bool has_more = false;
  };
  Page Feed(const Account& user, const std::string& cursor = "");
  // All pages until the end.
  std::vector<PostId> Scroll(const Account& user);
  // Waits until every event has been processed.
  void Settle();
  // As if a process ended and another one started.
  void Restart();
  uint64_t PagesBy(const std::string& path);

  // The keys in Redis, if there is one.
  std::string FeedKey(const Account& user) const { return "feed:user:" + ToText(user.id); }
  int64_t RedisNumber(const std::vector<std::string>& command);

  std::unique_ptr<RedisServer> redis_;  // Null without Redis.
  storage::TemporaryFolder folder_;
  FakeClock clock_{1'764'410'400'000'000};  // 2025-11-29T10:00:00Z
  RandomSource random_{7};
  Metrics metrics_;
  client::Firestore database_;
  Collections collections_;
  UserStore users_;
  PostStore posts_;
  kit::SessionSigner signer_;
  Tokens tokens_;
  std::unique_ptr<kit::Application> app_;
};

}  // namespace hearth::feed
