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

// A path in google.api.http notation: "/v1/{parent=projects/*/databases/*/documents}:runQuery".
//
// Threads: immutable. Ownership: owns its text.
class PathTemplate {
 public:
  // The fields in the path, by their dotted paths, with their values.
  using Values = std::vector<std::pair<std::string, std::string>>;

  // InvalidArgument for an invalid template, and for more than one "**".
  static Result<PathTemplate> Parse(std::string_view text);

  // "runQuery", or "".
  const std::string& verb() const { return verb_; }
  // "/v1/{parent}/{collection_id}" ends in a variable of its own for the last segment.
  bool ends_in_own_variable() const;

  // nullopt if `segments`, still encoded and without the verb, do not match.
  std::optional<Values> Match(const std::vector<std::string_view>& segments) const;

 private:
  enum class Kind : uint8_t { kLiteral, kOne, kMany };
  struct Segment {
    Kind kind;
    std::string text = {};  // For a literal.
  };
  // A field and the segments that form its value.
  struct Variable {
    std::string field_path;
    size_t begin = 0;
    size_t end = 0;
    // A value of several segments contains slashes as separators, so encoded ones stay encoded.
    http::PercentDecoding decoding = {};
  };

  Status AddSegments(std::string_view text);
  Status AddVariable(std::string_view text);
  bool Fits(const Segment& segment, std::string_view text) const;

  std::vector<Segment> segments_;
  std::vector<Variable> variables_;
  std::optional<size_t> many_;  // The index of "**".
  std::string verb_;
};

// "/v1/a/b" to {"v1", "a", "b"}.
std::vector<std::string_view> SplitPath(std::string_view path);

}  // namespace hearth::doors::rest
