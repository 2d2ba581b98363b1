#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "http/percent.h"

namespace hearth::doors::rest {

// A path as google.api.http writes it: "/v1/{parent=projects/*/databases/*/documents}:runQuery".
//
// Threads: immutable. Ownership: owns its text.
class PathTemplate {
 public:
  // The fields that the path names, by their dotted paths, and the values it gives them.
  using Values = std::vector<std::pair<std::string, std::string>>;

  // InvalidArgument for what is no template, and for more than one "**".
  static Result<PathTemplate> Parse(std::string_view text);

  // "runQuery", or "".
  const std::string& verb() const { return verb_; }
  // "/v1/{parent}/{collection_id}" ends in a variable of its own for the last segment.
  bool ends_in_own_variable() const;

  // nullopt when `segments`, as they came and without the verb, do not fit.
  std::optional<Values> Match(const std::vector<std::string_view>& segments) const;

 private:
  enum class Kind : uint8_t { kLiteral, kOne, kMany };
  struct Segment {
    Kind kind;
    std::string text = {};  // Of a literal.
  };
  // A field and the segments that make its value.
  struct Variable {
    std::string field_path;
    size_t begin = 0;
    size_t end = 0;
    // A value of several segments may hold slashes of its own, so those that were encoded stay
    // encoded.
    http::PercentDecoding decoding = {};
  };

  Status AddSegments(std::string_view text);
  Status AddVariable(std::string_view text);
  bool Fits(const Segment& segment, std::string_view text) const;

  std::vector<Segment> segments_;
  std::vector<Variable> variables_;
  std::optional<size_t> many_;  // Which segment is "**".
  std::string verb_;
};

// "/v1/a/b" to {"v1", "a", "b"}.
std::vector<std::string_view> SplitPath(std::string_view path);

}  // namespace hearth::doors::rest
