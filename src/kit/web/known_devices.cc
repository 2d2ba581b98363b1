#include "kit/web/known_devices.h"

#include <sodium.h>

#include <array>

#include "base/check.h"
#include "kit/web/response.h"

namespace hearth::kit {
namespace {

constexpr char kKind[] = "device";
constexpr size_t kIdBytes = 16;

std::string NewId() {
  CHECK(sodium_init() >= 0);
  std::array<unsigned char, kIdBytes> bytes;
  randombytes_buf(bytes.data(), bytes.size());
  std::array<char, 2 * kIdBytes + 1> hex;
  return sodium_bin2hex(hex.data(), hex.size(), bytes.data(), bytes.size());
}

}  // namespace

KnownDevices::KnownDevices(const SessionSigner& signer, std::string cookie_name)
    : signer_(signer), cookie_name_(std::move(cookie_name)) {}

std::optional<std::string> KnownDevices::Find(const Request& request,
                                              const std::string& username) const {
  const std::optional<std::string> token = request.Cookie(cookie_name_);
  if (!token) return std::nullopt;
  const Result<nlohmann::json> claims = signer_.Verify(*token);
  if (!claims.ok() || claims->value("kind", nlohmann::json()) != kKind ||
      claims->value("name", nlohmann::json()) != username) {
    return std::nullopt;
  }
  const auto id = claims->find("id");
  if (id == claims->end() || !id->is_string()) return std::nullopt;
  return id->get<std::string>();
}

std::pair<std::string, std::string> KnownDevices::Remember(const Request& request,
                                                           const std::string& username) const {
  const std::optional<std::string> id = Find(request, username);
  const nlohmann::json claims = {{"name", username}, {"id", id ? *id : NewId()}, {"kind", kKind}};
  return SetCookie(cookie_name_, signer_.Sign(claims, kLifetime),
                   CookieOptions::For(request, kLifetime));
}

}  // namespace hearth::kit
