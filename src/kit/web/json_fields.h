#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/status_macros.h"

namespace hearth::kit {

// Code that walks parsed JSON is recursive: input must not choose the depth.
inline constexpr size_t kJsonDepthMax = 100;

// InvalidArgument, with the position, for text that is not JSON or nested deeper than
// kJsonDepthMax.
Result<nlohmann::json> ParseJson(std::string_view text);

// Reads and validates the fields of a JSON object from outside:
//
//   JsonFields fields = JsonFields::Parse(request.body());
//   const int64_t hidden = fields.Integer("hidden", {.min = 0});
//   RETURN_IF_ERROR(fields.status());
//
// The first error is kept, with the field's name; reads after it return zero or empty. A null field
// counts as missing.
//
// Threads: one at a time. Ownership: a value.
class JsonFields {
 public:
  struct IntegerRange {
    int64_t min = std::numeric_limits<int64_t>::min();
    int64_t max = std::numeric_limits<int64_t>::max();
  };
  struct TextRange {
    size_t characters_min = 0;
    size_t characters_max = 10'000;
  };

  // A body that is not a JSON object is an error in status().
  static JsonFields Parse(std::string_view body);
  explicit JsonFields(nlohmann::json object);

  int64_t Integer(std::string_view name, IntegerRange range);
  std::optional<int64_t> OptionalInteger(std::string_view name, IntegerRange range);
  double Number(std::string_view name);
  bool Boolean(std::string_view name);
  std::string Text(std::string_view name, TextRange range);
  std::optional<std::string> OptionalText(std::string_view name, TextRange range);
  // A nested object or array, unchecked; null if missing.
  nlohmann::json Raw(std::string_view name);
  // Fails if there are fields that were not read.
  void RefuseOthers();

  // InvalidArgument that names the field, or OK.
  const Status& status() const { return status_; }

 private:
  // Null if the field is missing, or after an error.
  const nlohmann::json* Find(std::string_view name);
  const nlohmann::json* Require(std::string_view name);
  int64_t ToInteger(std::string_view name, const nlohmann::json& value, IntegerRange range);
  std::string ToText(std::string_view name, const nlohmann::json& value, TextRange range);
  // Keeps the first: `name` must be `wanted`.
  void Refuse(std::string_view name, const std::string& wanted, const nlohmann::json& value);

  nlohmann::json object_ = nlohmann::json::object();
  std::vector<std::string> asked_;
  Status status_;
};

}  // namespace hearth::kit
