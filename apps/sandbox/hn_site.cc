#include "apps/sandbox/hn_site.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "apps/sandbox/hn_pages.h"
#include "apps/sandbox/hn_words.h"
#include "http/percent.h"

namespace hearth::sandbox {
namespace {

constexpr std::string_view kPassword = "hearth";

constexpr std::string_view kForm =
    "<html lang=\"en\"><body>{}<b>Login</b><br><br>"
    "<form action=\"login\" method=\"post\"><input type=\"hidden\" name=\"goto\" value=\"news\">"
    "username: <input type=\"text\" name=\"acct\"><br>password: <input type=\"password\" "
    "name=\"pw\"><br><input type=\"submit\" value=\"login\"></form></body></html>\n";

kit::Response Html(std::string page, int status = 200) {
  return {.status = status, .content_type = "text/html; charset=utf-8", .body = std::move(page)};
}

kit::Response NoSuchItem() {
  return Html(MakeMessagePage("No such story",
                              "The sandbox has no story with this number. It may have been stored "
                              "while the real Hacker News was in use."),
              404);
}

kit::Response FormPage(std::string_view message) {
  std::string page(kForm);
  page.replace(page.find("{}"), 2, message);
  return Html(std::move(page));
}

// Undecodable fields are skipped.
std::map<std::string, std::string> ParseForm(std::string_view body) {
  std::map<std::string, std::string> fields;
  while (!body.empty()) {
    const size_t end = body.find('&');
    const std::string_view pair = body.substr(0, end);
    body.remove_prefix(end == std::string_view::npos ? body.size() : end + 1);
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    std::optional<std::string> value =
        http::DecodePercent(pair.substr(equals + 1), {.plus_is_space = true});
    if (value) fields[std::string(pair.substr(0, equals))] = *std::move(value);
  }
  return fields;
}

bool IsAccount(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

}  // namespace

void HnSiteStandIn::AddRoutes(kit::Routes& routes) {
  routes.Add("GET", "/login", [](const kit::Request&) { return FormPage(""); });
  routes.Add("POST", "/login", [this](const kit::Request& request) { return SignIn(request); });
  routes.Add("GET", "/news", [](const kit::Request&) {
    return Html("<html lang=\"en\"><body>Signed in.</body></html>\n");
  });
  routes.Add("GET", "/item", [this](const kit::Request& request) { return ItemPage(request); });
  routes.Add("GET", "/article",
             [this](const kit::Request& request) { return ArticlePage(request); });
  routes.Add("GET", "/style.css", [](const kit::Request&) {
    return kit::Response{.content_type = "text/css; charset=utf-8",
                         .body = std::string(PageStyle())};
  });
}

std::optional<HnStoryPage> HnSiteStandIn::Find(const kit::Request& request) const {
  const std::string text = request.Query("id").value_or("");
  int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return items_.Page(id, Now());
}

kit::Response HnSiteStandIn::ItemPage(const kit::Request& request) const {
  const std::optional<HnStoryPage> story = Find(request);
  return story ? Html(MakeItemPage(*story, Now())) : NoSuchItem();
}

kit::Response HnSiteStandIn::ArticlePage(const kit::Request& request) const {
  const std::optional<HnStoryPage> story = Find(request);
  return story && !story->site.empty() ? Html(MakeArticlePage(*story)) : NoSuchItem();
}

kit::Response HnSiteStandIn::SignIn(const kit::Request& request) const {
  std::map<std::string, std::string> fields = ParseForm(request.body());
  const std::string& account = fields["acct"];
  if (!IsAccount(account) || fields["pw"] != kPassword) return FormPage("Bad login.<br><br>");
  uint64_t mixed = seed_;
  for (const char c : account) mixed = Lot(mixed ^ static_cast<unsigned char>(c)).Next();
  return {.status = 302,
          .headers = {{"location", "news"},
                      {"set-cookie",
                       "user=" + account + "&" + std::to_string(mixed) + "; Path=/; HttpOnly"}}};
}

}  // namespace hearth::sandbox
