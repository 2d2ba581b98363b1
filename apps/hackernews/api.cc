#include "apps/hackernews/api.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/http_status.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "http/percent.h"
#include "kit/web/json_fields.h"
#include "kit/web/lane.h"

namespace hearth::hackernews {
namespace {

// Longer than any Hacker News account, and short enough for a document's id.
constexpr size_t kAccountBytesMax = 64;
constexpr size_t kPasswordBytesMax = 1'000;

// The pages of the sandbox to which the reader's page and they themselves link.
constexpr const char* kSandboxPages[] = {"item", "article", "style.css"};

kit::Response Error(int status, std::string_view message) {
  return kit::Response::Json({{"error", message}}, status);
}

kit::Response TooMany(std::string_view message, std::chrono::milliseconds wait) {
  kit::Response response = Error(429, message);
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait);
  response.headers.emplace_back("retry-after", std::to_string(seconds.count()));
  return response;
}

kit::Response FromDatabase(const Status& status) {
  Log(LogLevel::kWarning, "hackernews: the database failed", {{"reason", status.ToString()}});
  return Error(HttpStatusOf(status.code()), "the database cannot be reached");
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

size_t LimitOf(const kit::Request& request) {
  const std::optional<int64_t> limit = ParseInteger(request.Query("limit").value_or(""));
  constexpr auto kMax = static_cast<int64_t>(Api::kStoriesPerRequestMax);
  return limit && *limit >= 1 && *limit <= kMax ? static_cast<size_t>(*limit)
                                                : Api::kStoriesPerRequestMax;
}

size_t SkipOf(const kit::Request& request) {
  const std::optional<int64_t> skip = ParseInteger(request.Query("skip").value_or(""));
  return skip && *skip > 0 ? static_cast<size_t>(*skip) : 0;
}

bool IsAccountName(std::string_view name) {
  return !name.empty() && name.size() <= kAccountBytesMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                  c == '_' || c == '-';
         });
}

}  // namespace

Api::Api(ApiParts parts)
    : parts_(std::move(parts)),
      devices_(parts_.sessions, kDeviceCookie),
      sign_ins_(parts_.clock, parts_.failed_sign_ins_per_address),
      sessions_started_(parts_.clock, kSessionsPerWindowMax, kSessionsWindow,
                        kSessionsAccountsMax) {}

void Api::AddTo(kit::Routes* routes) {
  const auto bind = [this](kit::Response (Api::*method)(const kit::Request&)) {
    return [this, method](const kit::Request& request) { return (this->*method)(request); };
  };
  routes->Add("GET", "/api/v1/stories", bind(&Api::GetStories));
  routes->Add("GET", "/api/v1/hidden", bind(&Api::GetHidden));
  routes->Add("POST", "/api/v1/hidden", bind(&Api::PostHidden));
  routes->Add("DELETE", "/api/v1/hidden/:id", bind(&Api::DeleteHidden));
  routes->Add("POST", "/api/v1/login", bind(&Api::PostLogin), {.work = kit::Work::kSignIn});
  routes->Add("POST", "/api/v1/logout", bind(&Api::PostLogout));
  routes->Add("GET", "/api/v1/me", bind(&Api::GetMe));
  routes->Add("POST", "/api/v1/worker",
              [this](const kit::Request& request) { return PostWorker(request); });
  routes->Add("DELETE", "/api/v1/cache",
              [this](const kit::Request& request) { return DeleteCache(request); });
  routes->Add("GET", "/api/v1/site", [this](const kit::Request&) { return GetSite(); });
  routes->Add("GET", "/api/v1/status",
              [this](const kit::Request& request) { return GetStatus(request); });
  if (parts_.links.is_made_up) {
    for (const char* page : kSandboxPages) {
      routes->Add(
          "GET", "/sandbox/" + std::string(page),
          [this, page](const kit::Request& request) { return GetSandboxPage(page, request); });
    }
  }
  routes->SetNotFound("unknown endpoint");
}

kit::Response Api::GetSite() const {
  const SiteLinks& links = parts_.links;
  nlohmann::json site = {{"itemUrl", links.item_url},
                         {"articleUrl", nullptr},
                         {"madeUp", links.is_made_up},
                         {"demoAccount", nullptr}};
  if (!links.article_url.empty()) site["articleUrl"] = links.article_url;
  if (!links.demo_account.empty()) {
    site["demoAccount"] = {{"username", links.demo_account}, {"password", links.demo_password}};
  }
  return kit::Response::Json(site);
}

// The sandbox's address is reachable only from this machine, so its pages are proxied. The path is
// never the client's: its URL contains a secret, which other pages of the sandbox show.
kit::Response Api::GetSandboxPage(const char* page_name, const kit::Request& request) {
  std::string path = page_name;
  if (const std::optional<std::string> id = request.Query("id")) {
    path += "?id=" + http::EncodePercent(*id);
  }
  Result<kit::HttpResponse> page = parts_.source.SitePage(path);
  if (!page.ok()) return Error(503, "the sandbox cannot be reached");
  return {.status = page->status,
          .content_type = std::string(page->Header("content-type").value_or("text/plain")),
          .body = std::move(page->body)};
}

kit::Response Api::GetStories(const kit::Request& request) {
  const Timespan timespan = ParseTimespan(request.Query("timespan").value_or(""));
  const Result<std::shared_ptr<const Stories>> stories = parts_.lists.Get(timespan);
  if (!stories.ok()) return FromDatabase(stories.status());

  std::shared_ptr<const HiddenStories::Ids> hidden = std::make_shared<HiddenStories::Ids>();
  const Result<std::optional<std::string>> user = UserOf(request);
  if (!user.ok()) return FromDatabase(user.status());
  if (*user) {
    Result<std::shared_ptr<const HiddenStories::Ids>> ids = parts_.hidden.Get(**user);
    if (!ids.ok()) return FromDatabase(ids.status());
    hidden = *std::move(ids);
  }

  nlohmann::json answer = nlohmann::json::array();
  size_t to_skip = SkipOf(request);
  const size_t limit = LimitOf(request);
  for (const Story& story : **stories) {
    if (answer.size() == limit) break;
    if (std::binary_search(hidden->begin(), hidden->end(), story.id)) continue;
    if (to_skip > 0) {
      --to_skip;
    } else {
      answer.push_back(ToJson(story));
    }
  }
  return kit::Response::Json(answer);
}

kit::Response Api::GetHidden(const kit::Request& request) {
  const Result<std::optional<std::string>> user = UserOf(request);
  if (!user.ok()) return FromDatabase(user.status());
  if (!*user) return Error(401, "authentication error");
  const Result<std::shared_ptr<const HiddenStories::Ids>> ids = parts_.hidden.Get(**user);
  if (!ids.ok()) return FromDatabase(ids.status());
  return kit::Response::Json(**ids);
}

kit::Response Api::PostHidden(const kit::Request& request) {
  const Result<std::optional<std::string>> user = UserOf(request);
  if (!user.ok()) return FromDatabase(user.status());
  if (!*user) return Error(401, "authentication error");
  kit::JsonFields fields = kit::JsonFields::Parse(request.body());
  const int64_t id = fields.Integer("hidden", {.min = 0});
  if (!fields.status().ok()) return Error(400, "invalid story id");
  if (const Status hidden = parts_.hidden.Hide(**user, id); !hidden.ok()) {
    return FromDatabase(hidden);
  }
  return kit::Response::Json({{"hidden", id}});
}

kit::Response Api::DeleteHidden(const kit::Request& request) {
  const Result<std::optional<std::string>> user = UserOf(request);
  if (!user.ok()) return FromDatabase(user.status());
  if (!*user) return Error(401, "authentication error");
  const std::optional<int64_t> id = ParseInteger(request.Parameter("id"));
  if (!id || *id < 0) return Error(400, "invalid story id");
  if (const Status shown = parts_.hidden.Unhide(**user, *id); !shown.ok()) {
    return FromDatabase(shown);
  }
  return kit::Response::Json({{"hidden", *id}});
}

kit::Response Api::PostLogin(const kit::Request& request) {
  kit::JsonFields fields = kit::JsonFields::Parse(request.body());
  const std::string account = fields.Text("acct", {.characters_min = 1});
  const std::string password = fields.Text("pw", {.characters_min = 1});
  if (!fields.status().ok()) return Error(400, "missing fields");

  if (!IsAccountName(account) || password.size() > kPasswordBytesMax) {
    return Error(401, "invalid credentials");
  }

  kit::SignInLimits::Client client = {.address = kit::AddressGroup(request.peer()),
                                      .username = account,
                                      .device = devices_.Find(request, account)};
  if (const std::optional<std::chrono::milliseconds> wait = sign_ins_.Begin(&client)) {
    return TooMany("too many failed attempts; try again later", *wait);
  }
  const Result<bool> known = parts_.source.CheckSignIn(account, password);
  if (!known.ok()) {
    sign_ins_.Cancel(client);
    Log(LogLevel::kWarning, "hackernews: sign-in failed", {{"reason", known.status().ToString()}});
    return Error(503, "Hacker News cannot be reached");
  }
  if (!*known) return Error(401, "invalid credentials");
  const kit::QuotaWindows::Outcome quota = sessions_started_.Spend(account);
  // Counts as a failure: otherwise each further attempt would be a request to Hacker News.
  if (!quota.allowed) return TooMany("too many sign-ins; try again later", quota.until_reset);
  sign_ins_.Succeed(client);
  return StartSession(request, account);
}

kit::Response Api::StartSession(const kit::Request& request, const std::string& account) {
  const auto user = parts_.collections.users().Doc(account).Set({}, {.merge = true});
  if (!user.ok()) sessions_started_.Refund(account);
  if (user.status().code() == Code::kInvalidArgument) return Error(401, "invalid credentials");
  if (!user.ok()) return FromDatabase(user.status());
  kit::Response response = kit::Response::Json({{"username", account}});
  const nlohmann::json claims = {{"username", account},
                                 {"id", parts_.collections.ended_sessions().Doc().id()}};
  response.headers.push_back(kit::SetCookie(kSessionCookie,
                                            parts_.sessions.Sign(claims, kSessionLifetime),
                                            kit::CookieOptions::For(request, kSessionLifetime)));
  response.headers.push_back(devices_.Remember(request, account));
  return response;
}

kit::Response Api::PostLogout(const kit::Request& request) {
  if (const std::optional<Session> session = SessionOf(request)) {
    const auto ended =
        parts_.collections.ended_sessions()
            .Doc(session->id)
            .Set({{"expires_at",
                   client::Timestamp::FromMicros(session->expiry_seconds * 1'000'000)}});
    // The cookie stays, so that the user can try again: a copy of it would still be valid.
    if (!ended.ok()) return FromDatabase(ended.status());
  }
  kit::Response response = kit::Response::Json({{"success", true}});
  response.headers.push_back(kit::SetCookie(
      kSessionCookie, "", kit::CookieOptions::For(request, std::chrono::seconds(-1))));
  return response;
}

kit::Response Api::GetMe(const kit::Request& request) {
  const Result<std::optional<std::string>> user = UserOf(request);
  if (!user.ok()) return FromDatabase(user.status());
  if (!*user) return Error(401, "authentication error");
  return kit::Response::Json({{"username", **user}});
}

kit::Response Api::GetStatus(const kit::Request& request) const {
  return kit::Response::Json(HasWorkerSecret(request) ? parts_.operator_status() : parts_.status());
}

kit::Response Api::PostWorker(const kit::Request& request) const {
  if (!HasWorkerSecret(request)) return Error(403, "forbidden");
  const Result<nlohmann::json> report = parts_.run_worker();
  if (!report.ok()) {
    return Error(HttpStatusOf(report.status().code()), report.status().message());
  }
  return kit::Response::Json(*report);
}

kit::Response Api::DeleteCache(const kit::Request& request) const {
  if (!HasWorkerSecret(request)) return Error(403, "forbidden");
  if (const Status cleared = parts_.lists.ClearCache(); !cleared.ok()) {
    return FromDatabase(cleared);
  }
  return kit::Response::Json({{"success", true}});
}

bool Api::HasWorkerSecret(const kit::Request& request) const {
  const std::string_view secret = request.Header(kWorkerSecretHeader).value_or("");
  return !parts_.worker_secret.empty() && kit::IsSameSecret(secret, parts_.worker_secret);
}

std::optional<Api::Session> Api::SessionOf(const kit::Request& request) const {
  const std::optional<std::string> token = request.Cookie(kSessionCookie);
  if (!token) return std::nullopt;
  const Result<nlohmann::json> claims = parts_.sessions.Verify(*token);
  if (!claims.ok()) return std::nullopt;
  const auto name = claims->find("username");
  const auto id = claims->find("id");
  if (name == claims->end() || !name->is_string() || id == claims->end() || !id->is_string()) {
    return std::nullopt;
  }
  return Session{.username = name->get<std::string>(),
                 .id = id->get<std::string>(),
                 .expiry_seconds = claims->at("exp").get<int64_t>()};
}

Result<std::optional<std::string>> Api::UserOf(const kit::Request& request) const {
  const std::optional<Session> session = SessionOf(request);
  if (!session) return std::optional<std::string>();
  ASSIGN_OR_RETURN(const client::DocumentSnapshot ended,
                   parts_.collections.ended_sessions().Doc(session->id).Get());
  if (ended.exists()) return std::optional<std::string>();
  return std::optional(session->username);
}

}  // namespace hearth::hackernews
