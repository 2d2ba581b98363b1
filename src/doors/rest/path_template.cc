#include "doors/rest/path_template.h"

#include <algorithm>

#include "base/status_macros.h"

namespace hearth::doors::rest {
std::vector<std::string_view> SplitPath(std::string_view path) {
  std::vector<std::string_view> segments;
  if (path.starts_with('/')) path.remove_prefix(1);
  while (true) {
    const size_t slash = path.find('/');
    segments.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

Result<PathTemplate> PathTemplate::Parse(std::string_view text) {
  PathTemplate result;
  if (!text.starts_with('/')) return InvalidArgument("a path template must begin with a slash");
  // A variable may contain slashes and colons, so the verb is searched for after the last one.
  const size_t last_brace = text.rfind('}');
  const size_t colon =
      text.find(':', last_brace == std::string_view::npos ? text.rfind('/') : last_brace);
  if (colon != std::string_view::npos) {
    result.verb_ = text.substr(colon + 1);
    text = text.substr(0, colon);
  }
  text.remove_prefix(1);
  while (!text.empty()) {
    if (text.starts_with('{')) {
      const size_t end = text.find('}');
      if (end == std::string_view::npos) return InvalidArgument("a variable is not closed");
      RETURN_IF_ERROR(result.AddVariable(text.substr(1, end - 1)));
      text.remove_prefix(end + 1);
    } else {
      const size_t end = std::min(text.find('/'), text.size());
      RETURN_IF_ERROR(result.AddSegments(text.substr(0, end)));
      text.remove_prefix(end);
    }
    if (text.starts_with('/')) text.remove_prefix(1);
  }
  return result;
}

Status PathTemplate::AddSegments(std::string_view text) {
  for (const std::string_view segment : SplitPath(text)) {
    if (segment.empty()) return InvalidArgument("a segment is empty");
    if (segment == "**") {
      if (many_) return InvalidArgument("a path template has more than one **");
      many_ = segments_.size();
      segments_.push_back({.kind = Kind::kMany});
    } else if (segment == "*") {
      segments_.push_back({.kind = Kind::kOne});
    } else {
      segments_.push_back({.kind = Kind::kLiteral, .text = std::string(segment)});
    }
  }
  return Status();
}

Status PathTemplate::AddVariable(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view pattern = equals == std::string_view::npos ? "*" : text.substr(equals + 1);
  Variable variable{.field_path = std::string(text.substr(0, equals)), .begin = segments_.size()};
  RETURN_IF_ERROR(AddSegments(pattern));
  variable.end = segments_.size();
  if (pattern != "*") variable.decoding.keeps_slashes = true;
  variables_.push_back(std::move(variable));
  return Status();
}

bool PathTemplate::ends_in_own_variable() const {
  return !variables_.empty() && variables_.back().end == segments_.size() &&
         variables_.back().begin + 1 == segments_.size() && segments_.back().kind == Kind::kOne;
}

bool PathTemplate::Fits(const Segment& segment, std::string_view text) const {
  if (text.empty()) return false;
  if (segment.kind != Kind::kLiteral) return true;
  return text == segment.text || http::DecodePercent(text) == segment.text;
}

std::optional<PathTemplate::Values> PathTemplate::Match(
    const std::vector<std::string_view>& segments) const {
  if (!many_ ? segments.size() != segments_.size() : segments.size() + 1 < segments_.size()) {
    return std::nullopt;
  }
  // The number of segments that "**" matches.
  const size_t many_count = many_ ? segments.size() + 1 - segments_.size() : 1;
  // The start of a template segment in the path.
  const auto position = [&](size_t index) {
    return many_ && index > *many_ ? index - 1 + many_count : index;
  };
  for (size_t i = 0; i < segments_.size(); ++i) {
    for (size_t j = position(i); j < position(i + 1); ++j) {
      if (!Fits(segments_[i], segments[j])) return std::nullopt;
    }
  }
  Values values;
  for (const Variable& variable : variables_) {
    std::string value;
    for (size_t j = position(variable.begin); j < position(variable.end); ++j) {
      const std::optional<std::string> part = http::DecodePercent(segments[j], variable.decoding);
      if (!part) return std::nullopt;
      if (j > position(variable.begin)) value += '/';
      value += *part;
    }
    values.emplace_back(variable.field_path, std::move(value));
  }
  return values;
}

}  // namespace hearth::doors::rest
