#include "kit/web/prepared_answer.h"

#include <algorithm>

#include "base/log.h"
#include "http/gzip.h"
#include "kit/web/negotiation.h"

namespace hearth::kit {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

// Pages load nothing from other hosts, run only their own scripts, and cannot be framed.
constexpr std::pair<std::string_view, std::string_view> kSecurityHeaders[] = {
    {"content-security-policy",
     "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
     "form-action 'self'; frame-ancestors 'none'"},
    {"x-content-type-options", "nosniff"},
    {"referrer-policy", "same-origin"},
};

std::string* Find(Headers& headers, std::string_view name) {
  const auto found = std::ranges::find(
      headers, name, [](const auto& header) { return std::string_view(header.first); });
  return found == headers.end() ? nullptr : &found->second;
}

void AddUnlessThere(Headers& headers, std::string_view name, std::string_view value) {
  if (Find(headers, name) == nullptr) headers.emplace_back(name, value);
}

bool IsCompressible(std::string_view content_type) {
  return content_type.starts_with("text/") || content_type.starts_with("application/json") ||
         content_type.starts_with("application/xml") || content_type.starts_with("image/svg");
}

// A line break in a header's value would allow header injection.
bool IsHeaderText(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

bool IsSayable(const Response& response) {
  return response.status >= 200 && response.status <= 599 && IsHeaderText(response.content_type) &&
         std::ranges::all_of(response.headers, [](const auto& header) {
           return !header.first.empty() && IsHeaderText(header.first) &&
                  IsHeaderText(header.second);
         });
}

// The compressed form is another representation, so its tag can only be weak.
void WeakenEtag(Headers& headers) {
  std::string* etag = Find(headers, "etag");
  if (etag != nullptr && !etag->starts_with("W/")) etag->insert(0, "W/");
}

bool ClientHas(Headers& headers, int status, const AnswerWishes& wishes) {
  const std::string* etag = Find(headers, "etag");
  return etag != nullptr && status == 200 && wishes.is_read &&
         MatchesEtag(wishes.if_none_match, *etag);
}

}  // namespace

AnswerWishes::AnswerWishes(const http::RequestHead& head)
    : is_read(head.method() == "GET" || head.method() == "HEAD"),
      takes_gzip(AcceptsGzip(head.Find("accept-encoding").value_or(""))),
      if_none_match(head.Find("if-none-match").value_or("")) {}

PreparedAnswer PreparedAnswer::Of(Response response, const AnswerWishes& wishes) {
  if (!IsSayable(response)) {
    Log(LogLevel::kError, "a handler's response is not valid HTTP", {{"status", response.status}});
    response = {.status = 500, .body = "internal error\n"};
  }
  PreparedAnswer answer = {.status = response.status,
                           .headers = std::move(response.headers),
                           .body = std::move(response.body)};
  Headers& headers = answer.headers;
  for (const auto& [name, value] : kSecurityHeaders) AddUnlessThere(headers, name, value);
  const bool has_etag = Find(headers, "etag") != nullptr;
  AddUnlessThere(headers, "cache-control", has_etag ? "private, no-cache" : "no-store");
  if (IsCompressible(response.content_type)) AddUnlessThere(headers, "vary", "accept-encoding");
  if (ClientHas(headers, answer.status, wishes)) answer.status = 304;
  if (answer.status == 204 || answer.status == 304) {
    answer.body.clear();
    return answer;
  }
  headers.emplace_back("content-type", std::move(response.content_type));
  if (wishes.takes_gzip && answer.body.size() >= kCompressedBytesMin &&
      IsCompressible(headers.back().second) && Find(headers, "content-encoding") == nullptr) {
    answer.body = http::Gzip(answer.body);
    headers.emplace_back("content-encoding", "gzip");
    WeakenEtag(headers);
  }
  return answer;
}

PreparedAnswer PreparedAnswer::Of(const Asset& asset, const AnswerWishes& wishes) {
  const bool is_compressed = wishes.takes_gzip && !asset.gzip.empty();
  PreparedAnswer answer;
  // Revalidated each time, so that new and old versions of a page are never mixed.
  answer.headers = {{"etag", std::string(asset.etag)}, {"cache-control", "no-cache"}};
  for (const auto& [name, value] : kSecurityHeaders) answer.headers.emplace_back(name, value);
  if (!asset.gzip.empty()) answer.headers.emplace_back("vary", "accept-encoding");
  if (ClientHas(answer.headers, answer.status, wishes)) {
    answer.status = 304;
    return answer;
  }
  answer.headers.emplace_back("content-type", asset.content_type);
  if (is_compressed) {
    answer.headers.emplace_back("content-encoding", "gzip");
    WeakenEtag(answer.headers);
  }
  answer.body = is_compressed ? asset.gzip : asset.content;
  return answer;
}

void PreparedAnswer::SendTo(http::Exchange& exchange) && {
  const bool has_body = status != 204 && status != 304;
  if (has_body) headers.emplace_back("content-length", std::to_string(body.size()));
  std::vector<http::Header> fields;
  fields.reserve(headers.size());
  for (const auto& [name, value] : headers) fields.push_back({.name = name, .value = value});
  if (!has_body) return exchange.SendHead(status, fields, http::BodyFollows::kNo);
  exchange.SendHead(status, fields, http::BodyFollows::kYes);
  exchange.SendBody(std::move(body));
  exchange.Finish({});
}

void SendEventStreamHead(http::Exchange& exchange) {
  std::vector<http::Header> fields = {{.name = "content-type", .value = "text/event-stream"},
                                      {.name = "cache-control", .value = "no-store"},
                                      // Buffering proxies would delay events.
                                      {.name = "x-accel-buffering", .value = "no"}};
  for (const auto& [name, value] : kSecurityHeaders) {
    fields.push_back({.name = name, .value = value});
  }
  exchange.SendHead(200, fields, http::BodyFollows::kYes);
}

}  // namespace hearth::kit
