#include "apps/feed/api/auth_api.h"

#include <algorithm>
#include <utility>

#include "apps/feed/api/api_support.h"
#include "base/status_macros.h"
#include "kit/web/lane.h"
#include "kit/web/session.h"

namespace hearth::feed {
namespace {

constexpr char kBadUsername[] =
    "a username must have 3 to 30 characters: letters a to z, digits, dots and underscores";
constexpr char kBadPassword[] = "a password must have 8 to 200 characters";
constexpr char kBadSession[] = "session must be \"cookie\" if present";

std::string Lowered(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

bool IsUsername(std::string_view name) {
  // Firestore reserves such document ids.
  if (name.starts_with("__") && name.ends_with("__")) return false;
  return name.size() >= AuthApi::kUsernameCharactersMin &&
         name.size() <= AuthApi::kUsernameCharactersMax && std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
         });
}

kit::JsonFields ParseBody(const kit::Request& request) {
  return kit::JsonFields::Parse(request.body().empty() ? "{}" : request.body());
}

kit::Response BadRequest(std::string_view message) { return Error(400, DefaultCode(400), message); }

std::pair<std::string, std::string> RemovedCookie(const kit::Request& request) {
  return kit::SetCookie(AuthApi::kRefreshCookie, "",
                        kit::CookieOptions::For(request, std::chrono::seconds(-1)));
}

kit::Response UsernameTaken() {
  return Error(409, "username_taken", "this username is already taken");
}

}  // namespace

AuthApi::AuthApi(const ApiParts& parts)
    : parts_(parts),
      devices_(parts_.signer, kDeviceCookie),
      registrations_(parts_.clock, parts_.limits.registrations_per_hour, kRegistrationWindow,
                     kRegistrationKeysMax),
      sign_ins_(parts_.clock, parts_.limits.failed_sign_ins_per_address) {}

void AuthApi::AddTo(kit::Routes* routes) {
  const auto bind = [this](kit::Response (AuthApi::*method)(const kit::Request&)) {
    return [this, method](const kit::Request& request) { return (this->*method)(request); };
  };
  const kit::RouteOptions sign_in = {.work = kit::Work::kSignIn};
  routes->Add("POST", "/auth/register", bind(&AuthApi::Register), sign_in);
  routes->Add("POST", "/auth/login", bind(&AuthApi::Login), sign_in);
  routes->Add("POST", "/auth/refresh", bind(&AuthApi::Refresh));
  routes->Add("POST", "/auth/logout", bind(&AuthApi::Logout));
  const Gate gate(parts_.tokens);
  routes->Add("GET", "/me",
              gate.SignedIn([this](const kit::Request&, UserId viewer) { return GetMe(viewer); }));
  routes->Add("PATCH", "/me/onboarding", gate.SignedIn([this](const kit::Request&, UserId viewer) {
    return FinishOnboarding(viewer);
  }));
}

kit::Response AuthApi::Register(const kit::Request& request) {
  kit::JsonFields fields = ParseBody(request);
  if (!fields.status().ok()) return BadRequest(fields.status().message());
  User user;
  user.username = Lowered(fields.Text("username", {}));
  if (!fields.status().ok() || !IsUsername(user.username)) {
    return Error(400, "invalid_username", kBadUsername);
  }
  const std::string password = fields.Text("password", {.characters_min = kPasswordCharactersMin,
                                                        .characters_max = kPasswordCharactersMax});
  // The default message would quote the password.
  if (!fields.status().ok()) return Error(400, "invalid_password", kBadPassword);
  user.display_name =
      fields.OptionalText("display_name", {.characters_max = kDisplayNameCharactersMax})
          .value_or("");
  if (!fields.status().ok()) {
    return Error(400, "invalid_display_name", fields.status().message());
  }
  if (user.display_name.empty()) user.display_name = user.username;
  user.bio = fields.OptionalText("bio", {.characters_max = kBioCharactersMax}).value_or("");
  if (!fields.status().ok()) return Error(400, "invalid_bio", fields.status().message());
  const std::optional<Delivery> delivery = DeliveryOf(&fields);
  if (!delivery) return BadRequest(kBadSession);

  const Status known = parts_.core.users().FindByName(user.username).status();
  if (known.ok()) return UsernameTaken();
  if (known.code() != Code::kNotFound) return Failed(known);
  const std::string address = kit::AddressGroup(request.peer());
  const kit::QuotaWindows::Outcome quota = registrations_.Spend(address);
  if (!quota.allowed) {
    return TooMany("too many new accounts from your address", quota.until_reset);
  }
  const Result<User> created = Create(std::move(user), password);
  if (!created.ok()) registrations_.Refund(address);
  if (created.status().code() == Code::kAlreadyExists) return UsernameTaken();
  if (!created.ok()) return Failed(created.status());
  return StartSession(request, 201, *created, *delivery);
}

Result<User> AuthApi::Create(User user, const std::string& password) {
  ASSIGN_OR_RETURN(user.password_hash, kit::HashPassword(password, parts_.memory));
  return parts_.core.users().Create(std::move(user));
}

kit::Response AuthApi::Login(const kit::Request& request) {
  kit::JsonFields fields = ParseBody(request);
  const std::string username = Lowered(fields.Text("username", {.characters_max = 200}));
  if (!fields.status().ok()) return BadRequest(fields.status().message());
  const std::string password = fields.Text("password", {.characters_max = kPasswordCharactersMax});
  if (!fields.status().ok()) return BadRequest("the password is missing or too long");
  const std::optional<Delivery> delivery = DeliveryOf(&fields);
  if (!delivery) return BadRequest(kBadSession);

  kit::SignInLimits::Client client = {.address = kit::AddressGroup(request.peer()),
                                      .username = username,
                                      .device = devices_.Find(request, username)};
  if (const std::optional<std::chrono::milliseconds> wait = sign_ins_.Begin(&client)) {
    return TooMany("too many failed attempts", *wait);
  }
  const Result<std::optional<User>> user = FindByPassword(username, password);
  if (!user.ok()) {
    sign_ins_.Cancel(client);
    return Failed(user.status());
  }
  if (!*user) return Error(401, "invalid_credentials", "wrong username or password");
  sign_ins_.Succeed(client);
  return StartSession(request, 200, **user, *delivery);
}

kit::Response AuthApi::Refresh(const kit::Request& request) {
  kit::JsonFields fields = ParseBody(request);
  std::optional<std::string> token = fields.OptionalText("refresh_token", {});
  if (!fields.status().ok()) return BadRequest(fields.status().message());
  const Delivery delivery = token ? Delivery::kBody : Delivery::kCookie;
  if (!token) token = request.Cookie(kRefreshCookie);

  const auto refuse = [&request, delivery] {
    kit::Response response = Error(401, "invalid_refresh_token", "the refresh token is not valid");
    if (delivery == Delivery::kCookie) response.headers.push_back(RemovedCookie(request));
    return response;
  };
  if (!token) return refuse();
  const Result<Tokens::Rotated> rotated = parts_.tokens.Rotate(*token);
  if (rotated.status().code() == Code::kUnauthenticated) return refuse();
  if (!rotated.ok()) return Failed(rotated.status());
  const Result<User> user = parts_.core.users().Get(rotated->user_id);
  if (user.status().code() == Code::kNotFound) return refuse();
  if (!user.ok()) return Failed(user.status());
  return Tell(request, 200, *user, rotated->refresh_token, delivery);
}

kit::Response AuthApi::Logout(const kit::Request& request) {
  kit::JsonFields fields = ParseBody(request);
  // Signing out succeeds whatever token was sent.
  for (const std::optional<std::string>& token :
       {fields.OptionalText("refresh_token", {}), request.Cookie(kRefreshCookie)}) {
    if (!token) continue;
    if (const Status ended = parts_.tokens.EndFamily(*token); !ended.ok()) return Failed(ended);
  }
  kit::Response response = NoContent();
  response.headers.push_back(RemovedCookie(request));
  return response;
}

kit::Response AuthApi::GetMe(UserId viewer) const {
  const Result<User> user = parts_.core.users().Get(viewer);
  if (user.status().code() == Code::kNotFound) return AccountGone();
  if (!user.ok()) return Failed(user.status());
  return kit::Response::Json(MeJson(*user));
}

kit::Response AuthApi::FinishOnboarding(UserId viewer) {
  const Result<User> user = parts_.core.users().Get(viewer);
  if (user.status().code() == Code::kNotFound) return AccountGone();
  if (!user.ok()) return Failed(user.status());
  const Result<int64_t> accounts = parts_.core.users().Count();
  if (!accounts.ok()) return Failed(accounts.status());
  const int64_t wanted = std::min(kFollowsWanted, *accounts - 1);  // Nobody follows themselves.
  if (user->is_new_user && user->following_count < wanted) {
    return Error(
        409, "follows_missing",
        "choose " + std::to_string(wanted - user->following_count) + " more to follow first");
  }
  const Status finished = parts_.core.users().FinishOnboarding(viewer);
  if (!finished.ok() && finished.code() != Code::kNotFound) return Failed(finished);
  return GetMe(viewer);
}

std::optional<AuthApi::Delivery> AuthApi::DeliveryOf(kit::JsonFields* fields) {
  const std::optional<std::string> session = fields->OptionalText("session", {});
  if (!fields->status().ok() || (session && *session != "cookie")) return std::nullopt;
  return session ? Delivery::kCookie : Delivery::kBody;
}

Result<std::optional<User>> AuthApi::FindByPassword(const std::string& username,
                                                    const std::string& password) const {
  Result<User> user = IsUsername(username) ? parts_.core.users().FindByName(username)
                                           : Status(Code::kNotFound, "not a username");
  if (!user.ok() && user.status().code() != Code::kNotFound) return user.status();
  if (!user.ok() || user->password_hash.empty()) {
    // The same work as a comparison; otherwise the response time would reveal which names exist.
    RETURN_IF_ERROR(kit::HashPassword(password, parts_.memory).status());
    return std::optional<User>();
  }
  ASSIGN_OR_RETURN(const bool is_right,
                   kit::CheckPassword(password, user->password_hash, parts_.memory));
  if (!is_right) return std::optional<User>();
  return std::optional(*std::move(user));
}

kit::Response AuthApi::StartSession(const kit::Request& request, int status, const User& user,
                                    Delivery delivery) {
  const Result<std::string> refresh_token = parts_.tokens.StartFamily(user.id);
  if (!refresh_token.ok()) return Failed(refresh_token.status());
  kit::Response response = Tell(request, status, user, *refresh_token, delivery);
  if (delivery == Delivery::kCookie) {
    response.headers.push_back(devices_.Remember(request, user.username));
  }
  return response;
}

kit::Response AuthApi::Tell(const kit::Request& request, int status, const User& user,
                            const std::string& refresh_token, Delivery delivery) const {
  nlohmann::json body = {{"access_token", parts_.tokens.SignAccess(user.id)},
                         {"token_type", "Bearer"},
                         {"expires_in", std::chrono::seconds(Tokens::kAccessLifetime).count()},
                         {"user", MeJson(user)}};
  if (delivery == Delivery::kBody) body["refresh_token"] = refresh_token;
  kit::Response response = kit::Response::Json(body, status);
  response.headers.emplace_back("cache-control", "no-store");
  if (delivery == Delivery::kCookie) {
    response.headers.push_back(kit::SetCookie(
        kRefreshCookie, refresh_token, kit::CookieOptions::For(request, Tokens::kRefreshLifetime)));
  }
  return response;
}

}  // namespace hearth::feed
