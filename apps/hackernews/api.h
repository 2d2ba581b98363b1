#pragma once

#include <functional>
#include <optional>
#include <string>

#include "apps/hackernews/hidden_stories.h"
#include "apps/hackernews/hn_source.h"
#include "apps/hackernews/story_lists.h"
#include "base/clock.h"
#include "base/status.h"
#include "kit/jobs/quota.h"
#include "kit/jobs/sign_in_limits.h"
#include "kit/web/known_devices.h"
#include "kit/web/routes.h"
#include "kit/web/session.h"

namespace hearth::hackernews {

// The targets of the page's links, and the origin of the stories.
struct SiteLinks {
  std::string item_url;          // Followed by a story's id: its comments.
  std::string article_url = {};  // Likewise: the story's article. Empty: the story's own URL.
  bool is_made_up = false;       // The stories are from the sandbox.
  // An account that can be shown to every user; empty if accounts are real.
  std::string demo_account = {};
  std::string demo_password = {};
};

// Dependencies of the API. All are borrowed and must outlive the routes.
struct ApiParts {
  const Clock& clock;
  Collections collections;
  HnSource& source;
  StoryLists& lists;
  HiddenStories& hidden;
  const kit::SessionSigner& sessions;
  SiteLinks links;
  std::string worker_secret;  // Empty: the worker cannot be run by request.
  // Per address group (kit/web/lane.h), in each kit::SignInLimits::kWindow.
  size_t failed_sign_ins_per_address = kit::SignInLimits::kAddressFailuresMaxDefault;
  // Runs the worker now and returns its report.
  std::function<Result<nlohmann::json>()> run_worker;
  // What the page tells its readers, and what only the operator may know.
  std::function<nlohmann::json()> status;
  std::function<nlohmann::json()> operator_status;
};

// The endpoints below /api/v1.
//
// Threads: safe for concurrent use.
class Api {
 public:
  static constexpr size_t kStoriesPerRequestMax = 500;
  // Sign-ins of one account that succeed: they bound its sessions that can be ended, and so stored.
  // Only somebody with its password can use them up.
  static constexpr size_t kSessionsPerWindowMax = 100;
  static constexpr std::chrono::hours kSessionsWindow{1};
  static constexpr size_t kSessionsAccountsMax = 100'000;
  static constexpr std::chrono::hours kSessionLifetime{24};
  static constexpr char kSessionCookie[] = "hackernews_session";
  static constexpr char kDeviceCookie[] = "hackernews_device";
  static constexpr char kWorkerSecretHeader[] = "x-worker-secret";

  explicit Api(ApiParts parts);

  void AddTo(kit::Routes* routes);

 private:
  kit::Response GetSite() const;
  kit::Response GetSandboxPage(const char* page_name, const kit::Request& request);
  kit::Response GetStories(const kit::Request& request);
  kit::Response GetHidden(const kit::Request& request);
  kit::Response PostHidden(const kit::Request& request);
  kit::Response DeleteHidden(const kit::Request& request);
  kit::Response PostLogin(const kit::Request& request);
  // After the right password: the cookies.
  kit::Response StartSession(const kit::Request& request, const std::string& account);
  kit::Response PostLogout(const kit::Request& request);
  kit::Response GetMe(const kit::Request& request);
  kit::Response GetStatus(const kit::Request& request) const;
  kit::Response PostWorker(const kit::Request& request) const;
  kit::Response DeleteCache(const kit::Request& request) const;

  // Whether it comes from the operator.
  bool HasWorkerSecret(const kit::Request& request) const;
  struct Session {
    std::string username;
    std::string id;
    int64_t expiry_seconds;
  };
  // From the cookie, if the signature is ours; the session may have been ended since.
  std::optional<Session> SessionOf(const kit::Request& request) const;
  // Nullopt: not signed in. Asks the database, because a session may be ended in another process.
  Result<std::optional<std::string>> UserOf(const kit::Request& request) const;

  const ApiParts parts_;
  const kit::KnownDevices devices_;
  kit::SignInLimits sign_ins_;
  kit::QuotaWindows sessions_started_;
};

}  // namespace hearth::hackernews
