#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace hearth::model {

// The path to a field through nested maps, such as `address.city`. Segments that do not match
// `[A-Za-z_][A-Za-z0-9_]*` are in backticks: `prices.`2024-01``. Never empty. Immutable.
class FieldPath {
 public:
  // InvalidArgument for bad syntax, an empty segment, a segment that cannot name a field, more than
  // 1,500 bytes (without backticks and escapes) or more than 20 segments.
  static Result<FieldPath> Parse(std::string_view text);
  // True if `text` has the syntax of a path, whatever its names and length.
  static bool IsWellFormed(std::string_view text);

  const std::vector<std::string>& segments() const { return segments_; }
  bool IsName() const { return segments_.size() == 1 && segments_[0] == "__name__"; }
  // True if this path is `other` or leads to a map that contains it.
  bool IsPrefixOf(const FieldPath& other) const;
  // The path of the map that this field is in; nullopt if it is a field of the document itself.
  std::optional<FieldPath> Parent() const;
  std::string ToString() const;  // Quoted where needed.
  friend auto operator<=>(const FieldPath&, const FieldPath&) = default;

 private:
  explicit FieldPath(std::vector<std::string> segments) : segments_(std::move(segments)) {}

  std::vector<std::string> segments_;
};

}  // namespace hearth::model
