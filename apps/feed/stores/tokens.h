#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "apps/feed/stores/collections.h"
#include "base/clock.h"
#include "base/status.h"
#include "kit/web/session.h"

namespace hearth::feed {

// Authentication tokens: short-lived access tokens that need no database, and refresh tokens that
// get new ones.
//
// A refresh token is valid for one use, which replaces it by the next of its family. A second use
// means that it was stolen, from its owner or by the owner's side; since these cannot be told
// apart, the whole family is revoked. The database has only hashes of them.
//
// Threads: safe for concurrent use. Ownership: borrows the clock and the signer. Errors:
// Unauthenticated for tokens that are not ours, expired, already used or revoked.
class Tokens {
 public:
  static constexpr std::chrono::minutes kAccessLifetime{15};
  static constexpr std::chrono::seconds kRefreshLifetime = std::chrono::days(30);

  Tokens(const Clock& clock, Collections collections, const kit::SessionSigner& signer);

  std::string SignAccess(UserId user_id) const;
  // Returns its user.
  Result<UserId> CheckAccess(std::string_view token) const;

  // The first refresh token of a new family.
  Result<std::string> StartFamily(UserId user_id);
  struct Rotated {
    UserId user_id;
    std::string refresh_token;
  };
  Result<Rotated> Rotate(std::string_view refresh_token);
  // Revokes the family. Does nothing for an invalid token.
  Status EndFamily(std::string_view refresh_token);

 private:
  client::Timestamp RefreshExpiry() const;

  const Clock& clock_;
  const Collections collections_;
  const kit::SessionSigner& signer_;
};

}  // namespace hearth::feed
