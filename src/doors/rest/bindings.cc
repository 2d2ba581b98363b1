#include "doors/rest/bindings.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "google/api/annotations.pb.h"

namespace hearth::doors::rest {
namespace {

using google::api::HttpRule;

std::pair<std::string, std::string> MethodAndPath(const HttpRule& rule) {
  switch (rule.pattern_case()) {
    case HttpRule::kGet:
      return {"GET", rule.get()};
    case HttpRule::kPut:
      return {"PUT", rule.put()};
    case HttpRule::kPost:
      return {"POST", rule.post()};
    case HttpRule::kDelete:
      return {"DELETE", rule.delete_()};
    case HttpRule::kPatch:
      return {"PATCH", rule.patch()};
    case HttpRule::kCustom:
      return {rule.custom().kind(), rule.custom().path()};
    case HttpRule::PATTERN_NOT_SET:
      break;
  }
  return {};
}

// Below "documents", collections and documents alternate.
bool NamesCollection(const std::vector<std::string_view>& segments) {
  const auto root = std::ranges::find(segments, "documents");
  return root != segments.end() && (segments.end() - root - 1) % 2 == 1;
}

}  // namespace

Bindings::Bindings(const google::protobuf::ServiceDescriptor& service) {
  for (int i = 0; i < service.method_count(); ++i) {
    const auto* method = service.method(i);
    const HttpRule& main_rule = method->options().GetExtension(google::api::http);
    const auto add = [&](const HttpRule& rule) {
      auto [http_method, path] = MethodAndPath(rule);
      if (path.empty()) return;
      Result<PathTemplate> parsed = PathTemplate::Parse(path);
      CHECK(parsed.ok());  // Part of the program, not of a request.
      bindings_.push_back({method, std::move(http_method), *std::move(parsed), rule.body()});
    };
    add(main_rule);
    for (const HttpRule& rule : main_rule.additional_bindings()) add(rule);
  }
}

std::vector<Match> Bindings::FindAll(std::string_view http_method,
                                     const std::vector<std::string_view>& segments,
                                     std::string_view verb) const {
  std::vector<Match> matches;
  for (const Binding& binding : bindings_) {
    if (binding.http_method != http_method || binding.path.verb() != verb) continue;
    if (auto values = binding.path.Match(segments)) {
      matches.push_back({&binding, *std::move(values)});
    }
  }
  return matches;
}

std::optional<Match> Bindings::Find(std::string_view http_method, std::string_view path) const {
  std::vector<std::string_view> segments = SplitPath(path);
  const std::string_view last = segments.back();
  if (const size_t colon = last.rfind(':'); colon != std::string_view::npos) {
    segments.back() = last.substr(0, colon);
    std::vector<Match> matches = FindAll(http_method, segments, last.substr(colon + 1));
    if (!matches.empty()) return std::move(matches.front());
    segments.back() = last;  // The colon is part of an id.
  }
  std::vector<Match> matches = FindAll(http_method, segments, "");
  if (matches.empty()) return std::nullopt;
  const bool names_collection = NamesCollection(segments);
  const auto best = std::ranges::find_if(matches, [&](const Match& match) {
    return match.binding->path.ends_in_own_variable() == names_collection;
  });
  return std::move(best != matches.end() ? *best : matches.front());
}

}  // namespace hearth::doors::rest
