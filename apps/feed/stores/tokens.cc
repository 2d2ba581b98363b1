#include "apps/feed/stores/tokens.h"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "apps/feed/ids/post_key.h"
#include "apps/feed/stores/documents.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace hearth::feed {
namespace {

constexpr char kAccessKind[] = "access";
constexpr size_t kFamilyBytes = 16;
constexpr size_t kSecretBytes = 32;
constexpr size_t kHashBytes = 32;

struct RefreshToken {
  std::string family;
  std::string secret;

  std::string Text() const { return family + "." + secret; }
};

std::string ToHex(const unsigned char* bytes, size_t size) {
  std::string hex(2 * size + 1, '\0');  // libsodium terminates it with a zero.
  sodium_bin2hex(hex.data(), hex.size(), bytes, size);
  hex.pop_back();
  return hex;
}

std::string RandomHex(size_t size) {
  CHECK(sodium_init() >= 0);
  std::array<unsigned char, std::max(kFamilyBytes, kSecretBytes)> bytes;
  CHECK(size <= bytes.size());
  randombytes_buf(bytes.data(), size);
  return ToHex(bytes.data(), size);
}

// Secrets are random and long, so a fast hash is enough.
std::string HashOf(const std::string& secret) {
  std::array<unsigned char, kHashBytes> hash;
  const auto* bytes = reinterpret_cast<const unsigned char*>(secret.data());
  CHECK(crypto_generichash(hash.data(), hash.size(), bytes, secret.size(), nullptr, 0) == 0);
  return ToHex(hash.data(), hash.size());
}

bool IsHex(std::string_view text, size_t bytes) {
  return text.size() == 2 * bytes && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// Nullopt if malformed; a parsed token is safe to use in a document's name.
std::optional<RefreshToken> Parse(std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view family = text.substr(0, dot);
  const std::string_view secret = text.substr(dot + 1);
  if (!IsHex(family, kFamilyBytes) || !IsHex(secret, kSecretBytes)) return std::nullopt;
  return RefreshToken{std::string(family), std::string(secret)};
}

Status Refused(const char* why) {
  return Status(Code::kUnauthenticated, std::string("not a valid token: ") + why);
}

}  // namespace

Tokens::Tokens(const Clock& clock, Collections collections, const kit::SessionSigner& signer)
    : clock_(clock), collections_(std::move(collections)), signer_(signer) {}

std::string Tokens::SignAccess(UserId user_id) const {
  return signer_.Sign({{"sub", ToText(user_id)}, {"kind", kAccessKind}}, kAccessLifetime);
}

Result<UserId> Tokens::CheckAccess(std::string_view token) const {
  ASSIGN_OR_RETURN(const nlohmann::json claims, signer_.Verify(token));
  // The same secret signs other kinds of tokens.
  const auto kind = claims.find("kind");
  if (kind == claims.end() || *kind != kAccessKind) return Refused("wrong kind");
  const auto subject = claims.find("sub");
  if (subject == claims.end() || !subject->is_string()) return Refused("nobody's");
  const Result<UserId> user_id = ParseId<UserId>(subject->get_ref<const std::string&>());
  if (!user_id.ok()) return Refused("nobody's");
  return *user_id;
}

Result<std::string> Tokens::StartFamily(UserId user_id) {
  const RefreshToken token = {RandomHex(kFamilyBytes), RandomHex(kSecretBytes)};
  RETURN_IF_ERROR(collections_.sessions()
                      .Doc(token.family)
                      .Create({{"user_id", ToNumber(user_id)},
                               {"secret_hash", HashOf(token.secret)},
                               {"expires_at", RefreshExpiry()},
                               {"revoked", false}})
                      .status());
  return token.Text();
}

Result<Tokens::Rotated> Tokens::Rotate(std::string_view refresh_token) {
  const std::optional<RefreshToken> token = Parse(refresh_token);
  if (!token) return Refused("malformed");
  const RefreshToken next = {token->family, RandomHex(kSecretBytes)};
  const client::DocumentReference session = collections_.sessions().Doc(token->family);
  Rotated rotated = {.user_id = {}, .refresh_token = next.Text()};
  Status refusal;  // Returned after the commit, so that a revocation is kept.
  RETURN_IF_ERROR(
      collections_.database().RunTransaction([&](client::Transaction& transaction) -> Status {
        ASSIGN_OR_RETURN(const client::DocumentSnapshot document, transaction.Get(session));
        const client::Map fields = document.Data();
        rotated.user_id = ReadId<UserId>(fields, "user_id");
        refusal = Status();
        if (!document.exists()) {
          refusal = Refused("unknown family");
        } else if (BooleanOf(fields, "revoked")) {
          refusal = Refused("its family is revoked");
        } else if (SecondsOf(fields, "expires_at") <= NowSeconds(clock_)) {
          refusal = Refused("it has expired");
        } else if (!kit::IsSameSecret(HashOf(token->secret), TextOf(fields, "secret_hash"))) {
          refusal = Refused("it was used before");
          transaction.Update(session, {{"revoked", true}});
        } else {
          transaction.Update(
              session, {{"secret_hash", HashOf(next.secret)}, {"expires_at", RefreshExpiry()}});
        }
        return Status();
      }));
  RETURN_IF_ERROR(refusal);
  return rotated;
}

Status Tokens::EndFamily(std::string_view refresh_token) {
  const std::optional<RefreshToken> token = Parse(refresh_token);
  if (!token) return Status();
  return collections_.sessions().Doc(token->family).Delete().status();
}

client::Timestamp Tokens::RefreshExpiry() const {
  return ToTimestamp(NowSeconds(clock_) + kRefreshLifetime.count());
}

}  // namespace hearth::feed
