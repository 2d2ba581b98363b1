#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hearth::kit {

// The fields of a JSON object that somebody sent, checked one by one:
//
//   JsonFields fields = JsonFields::Parse(request.body());
//   const int64_t hidden = fields.Integer("hidden", {.min = 0});
//   RETURN_IF_ERROR(fields.status());
//
// The first thing that is wrong is kept, with the field's name; what is asked for afterwards comes
// back as zero or empty.
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
  nlohmann::json Raw(std::string_view name) const;
  // Fails where there are fields that nobody asked for.
  void RefuseOthers();

  // InvalidArgument that names the field, or OK.
  const Status& status() const { return status_; }

 private:
  nlohmann::json object_;
  std::vector<std::string> asked_;
  Status status_;
};

}  // namespace hearth::kit
