#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "cases/runner/case_file.h"
#include "cases/runner/session.h"

namespace hearth::cases {

// Parses every statement without executing it. InvalidArgument, with "PATH:LINE: ", for the first
// invalid one. Otherwise the reason why `door`, which may be null, cannot run the variant; nullopt
// if it can.
Result<std::optional<std::string>> Rehearse(const Case& test, const Variant& variant,
                                            const Door* door);

struct Outcome {
  enum class Kind : uint8_t { kPassed, kFailed, kSkipped };
  Kind kind = Kind::kPassed;
  std::string text = {};     // What failed, or why it was skipped.
  size_t unseen_checks = 0;  // Checks of details that the door does not report.
};

// Runs one variant in a database that nothing else uses.
Outcome RunVariant(const Case& test, const Variant& variant, const std::string& door_name,
                   Door& door, const std::string& database);

}  // namespace hearth::cases
