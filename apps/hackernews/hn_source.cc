#include "apps/hackernews/hn_source.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "http/percent.h"

namespace hearth::hackernews {
namespace {

kit::OutboundOptions ApiOptions(const HnSourceOptions& options) {
  kit::OutboundOptions result;
  result.name = "hn";
  result.concurrent_max = HnSource::kParallelFetches;
  result.response_bytes_max = 4 * 1024 * 1024;
  result.private_hosts_allowed = options.private_hosts_allowed;
  result.backoff = options.retry_pause;
  return result;
}

kit::OutboundOptions SiteOptions(const HnSourceOptions& options) {
  kit::OutboundOptions result = ApiOptions(options);
  result.name = "hn-site";
  result.concurrent_max = 4;
  result.attempts_max = 1;  // Failed sign-ins are not retried automatically.
  return result;
}

bool SetsUserCookie(const kit::HttpResponse& response) {
  return std::any_of(response.headers.begin(), response.headers.end(), [](const auto& header) {
    return header.first == "set-cookie" && header.second.starts_with("user=");
  });
}

}  // namespace

HnSource::HnSource(const HnSourceOptions& options, const Clock& clock, RandomSource& random,
                   Metrics& metrics)
    : options_(options),
      clock_(clock),
      api_(ApiOptions(options), clock, random, metrics),
      site_(SiteOptions(options), clock, random, metrics) {}

Result<std::vector<int64_t>> HnSource::NewStories() {
  const Result<nlohmann::json> answer = api_.FetchJson(options_.api_url + "/v0/newstories.json");
  Note(answer.status());
  RETURN_IF_ERROR(answer.status());
  if (!answer->is_array()) {
    const Status status(Code::kDataLoss, "the list of new stories is not a JSON array");
    Note(status);
    return status;
  }
  std::vector<int64_t> ids;
  for (const nlohmann::json& id : *answer) {
    if (ids.size() == kNewStoriesMax) break;
    if (id.is_number_integer() && id.get<int64_t>() > 0) ids.push_back(id.get<int64_t>());
  }
  return ids;
}

std::vector<Result<std::optional<StoryItem>>> HnSource::Items(const std::vector<int64_t>& ids) {
  std::vector<std::string> urls;
  urls.reserve(ids.size());
  for (const int64_t id : ids) {
    urls.push_back(options_.api_url + "/v0/item/" + std::to_string(id) + ".json");
  }
  std::vector<Result<std::optional<StoryItem>>> items;
  items.reserve(ids.size());
  for (Result<nlohmann::json>& answer : api_.FetchAllJson(urls)) {
    Note(answer.status());
    if (!answer.ok()) {
      items.emplace_back(answer.status());
      continue;
    }
    Result<std::optional<StoryItem>> item = ParseItem(*answer);
    const int64_t id = ids[items.size()];
    if (item.ok() && *item && (*item)->story.id != id) {
      item = Status(Code::kDataLoss, "item " + std::to_string(id) + " has the id of another item");
    }
    items.push_back(std::move(item));
  }
  return items;
}

Result<kit::HttpResponse> HnSource::SitePage(const std::string& path) {
  return site_.Send({.url = options_.site_url + "/" + path});
}

Result<bool> HnSource::CheckSignIn(const std::string& account, const std::string& password) {
  const kit::HttpRequest request = {
      .method = "POST",
      .url = options_.site_url + "/login",
      .headers = {{"content-type", "application/x-www-form-urlencoded"}},
      .body = "acct=" + http::EncodePercent(account) + "&pw=" + http::EncodePercent(password) +
              "&goto=news"};
  ASSIGN_OR_RETURN(const kit::HttpResponse response, site_.Send(request));
  if (response.status >= 500 || response.status == 429) {
    return Status(Code::kUnavailable,
                  "the site answered with status " + std::to_string(response.status));
  }
  return SetsUserCookie(response);
}

HnSource::Health HnSource::health() const {
  MutexLock lock(mutex_);
  return health_;
}

void HnSource::Stop() {
  api_.Stop();
  site_.Stop();
}

void HnSource::Note(const Status& status) {
  const bool is_ok = status.ok() || status.code() == Code::kNotFound;
  MutexLock lock(mutex_);
  if (!health_.since_ms || health_.is_ok != is_ok) health_.since_ms = clock_.WallMicros() / 1'000;
  health_.is_ok = is_ok;
  health_.error = is_ok ? "" : status.message();
}

}  // namespace hearth::hackernews
