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

// What walks over parsed JSON is recursive: text from outside must not choose how deep.
inline constexpr size_t kJsonDepthMax = 100;

// InvalidArgument, with the place, for text that is no JSON or nested more than kJsonDepthMax deep.
Result<nlohmann::json> ParseJson(std::string_view text);

// The fields of a JSON object that somebody sent, checked one by one:
//
//   JsonFields fields = JsonFields::Parse(request.body());
//   const int64_t hidden = fields.Integer("hidden", {.min = 0});
//   RETURN_IF_ERROR(fields.status());
//
// The first thing that is wrong is kept, with the field's name; what is asked for afterwards comes
// back as zero or empty. A field that is null counts as missing.
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

  // A body that is no JSON object is an error, of status().
  static JsonFields Parse(std::string_view body);
  explicit JsonFields(nlohmann::json object);

  int64_t Integer(std::string_view name, IntegerRange range);
  std::optional<int64_t> OptionalInteger(std::string_view name, IntegerRange range);
  double Number(std::string_view name);
  bool Boolean(std::string_view name);
  std::string Text(std::string_view name, TextRange range);
  std::optional<std::string> OptionalText(std::string_view name, TextRange range);
  // A nested object or array, as it is; null where it is missing.
  nlohmann::json Raw(std::string_view name);
  // Fails where there are fields that nobody asked for.
  void RefuseOthers();

  // InvalidArgument that names the field, or OK.
  const Status& status() const { return status_; }

 private:
  // Null where the field is missing, or where something was wrong before.
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
