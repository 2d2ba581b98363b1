#pragma once

#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/memory_budget.h"
#include "base/status.h"

namespace hearth::kit {

// Signs and reads session tokens: JSON Web Tokens, HS256.
//
// Threads: safe for concurrent use. Errors: Unauthenticated for a token that is malformed, expired,
// not ours, or signed by another algorithm ("none" above all).
class SessionSigner {
 public:
  // `secret`: at least 32 bytes; InvalidArgument for less.
  static Result<SessionSigner> Make(const std::string& secret, const Clock& clock);

  // `claims`: an object; `iat` and `exp` are added.
  std::string Sign(const nlohmann::json& claims, std::chrono::seconds lifetime) const;
  Result<nlohmann::json> Verify(std::string_view token) const;

 private:
  SessionSigner(const std::string& secret, const Clock& clock) : secret_(secret), clock_(clock) {}

  const std::string secret_;
  const Clock& clock_;
};

// A secret that outlives the process: read from `path`, or generated (32 random bytes, readable by
// its owner only) and written there.
Result<std::string> LoadOrMakeSecret(const std::string& path);

// Whether two secrets are equal, in constant time.
bool IsSameSecret(std::string_view a, std::string_view b);

// Argon2id. Takes tens of milliseconds and kPasswordBytes on purpose. At most kPasswordsAtOnce run
// at a time, and as many as the memory allows; others wait. ResourceExhausted if there is no memory
// even for one. `memory`: null for no limit.
inline constexpr int kPasswordsAtOnce = 4;
inline constexpr size_t kPasswordBytes = 64 * 1024 * 1024;
Result<std::string> HashPassword(std::string_view password, MemoryBudget* memory);
Result<bool> CheckPassword(std::string_view password, const std::string& hash,
                           MemoryBudget* memory);

}  // namespace hearth::kit
