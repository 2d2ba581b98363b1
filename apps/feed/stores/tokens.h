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

// How clients prove who they are: access tokens that need no database and end soon, and refresh
// tokens that get new ones.
//
// A refresh token is good for one use, which replaces it by the next of its family. One that is
// used again was stolen, from its owner or by them: nobody can tell, so the whole family ends. The
// database has only hashes of them.
//
// Threads: safe for concurrent use. Ownership: borrows the clock and the signer. Errors:
// Unauthenticated for tokens that are not ours, expired, used before or revoked.
class Tokens {
 public:
  static constexpr std::chrono::minutes kAccessLifetime{15};
  static constexpr std::chrono::seconds kRefreshLifetime = std::chrono::days(30);

  Tokens(const Clock& clock, Collections collections, const kit::SessionSigner& signer);

  std::string SignAccess(UserId user_id) const;
  // Whose it is.
  Result<UserId> CheckAccess(std::string_view token) const;

  // The first refresh token of a new family.
  Result<std::string> StartFamily(UserId user_id);
  struct Rotated {
    UserId user_id;
    std::string refresh_token;
  };
  Result<Rotated> Rotate(std::string_view refresh_token);
  // Ends the family. What is no token of ours has none.
  Status EndFamily(std::string_view refresh_token);

 private:
  client::Timestamp RefreshExpiry() const;

  const Clock& clock_;
  const Collections collections_;
  const kit::SessionSigner& signer_;
};

}  // namespace hearth::feed
