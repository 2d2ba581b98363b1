#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "apps/feed/api/api.h"
#include "kit/jobs/quota.h"
#include "kit/jobs/sign_in_limits.h"
#include "kit/web/json_fields.h"
#include "kit/web/known_devices.h"
#include "kit/web/routes.h"

namespace hearth::feed {

// Sign-up, sign-in and sign-out, and an account's view of itself.
//
// Threads: safe for concurrent use.
class AuthApi {
 public:
  static constexpr char kRefreshCookie[] = "feed_refresh";
  static constexpr size_t kUsernameCharactersMin = 3;
  static constexpr size_t kUsernameCharactersMax = 30;
  static constexpr size_t kPasswordCharactersMin = 8;
  static constexpr size_t kPasswordCharactersMax = 200;
  static constexpr size_t kDisplayNameCharactersMax = 60;
  static constexpr size_t kBioCharactersMax = 300;
  static constexpr char kDeviceCookie[] = "feed_device";
  static constexpr std::chrono::hours kRegistrationWindow{1};
  static constexpr size_t kRegistrationKeysMax = 100'000;
  // New users follow this many accounts, or all if there are fewer.
  static constexpr int64_t kFollowsWanted = 3;

  explicit AuthApi(const ApiParts& parts);

  void AddTo(kit::Routes* routes);

 private:
  // Pages must not be able to read their refresh token; other clients cannot keep a cookie.
  enum class Delivery : uint8_t { kBody, kCookie };

  kit::Response Register(const kit::Request& request);
  kit::Response Login(const kit::Request& request);
  kit::Response Refresh(const kit::Request& request);
  kit::Response Logout(const kit::Request& request);
  kit::Response GetMe(UserId viewer) const;
  kit::Response FinishOnboarding(UserId viewer);

  // From the field "session"; nullopt if it is neither.
  static std::optional<Delivery> DeliveryOf(kit::JsonFields* fields);
  Result<User> Create(User user, const std::string& password);
  // Takes as long for missing accounts as for wrong passwords.
  Result<std::optional<User>> FindByPassword(const std::string& username,
                                             const std::string& password) const;
  kit::Response StartSession(const kit::Request& request, int status, const User& user,
                             Delivery delivery);
  kit::Response Tell(const kit::Request& request, int status, const User& user,
                     const std::string& refresh_token, Delivery delivery) const;

  const ApiParts parts_;
  const kit::KnownDevices devices_;
  kit::QuotaWindows registrations_;
  kit::SignInLimits sign_ins_;
};

}  // namespace hearth::feed
