// application/x-www-form-urlencoded, as used in queries and bodies.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::doors::webchannel {

// Names and values, decoded, in their order.
//
// Threads: immutable. Ownership: owns its text.
class Form {
 public:
  // nullopt if a '%' is not followed by two hexadecimal digits, or there are more than `fields_max`
  // fields.
  static std::optional<Form> Parse(std::string_view text, size_t fields_max);

  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }
  // The first value with that name; nullopt if there is none.
  std::optional<std::string_view> Find(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

}  // namespace hearth::doors::webchannel
