#include "client/remote/service_account.h"

#include <jwt.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/status_macros.h"

namespace hearth::client {
namespace {

constexpr char kAudience[] = "https://firestore.googleapis.com/";
constexpr int64_t kTokenSeconds = 3'600;         // Google's limit.
constexpr int64_t kRenewBeforeSeconds = 5 * 60;  // Allows for clock skew and the duration of calls.
constexpr size_t kKeyBytesMax = 64 * 1024;

std::optional<std::string> TextOf(const nlohmann::json& key, const char* name) {
  const auto found = key.find(name);
  if (found == key.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

struct FreeToken {
  void operator()(jwt_t* token) const { jwt_free(token); }
  void operator()(char* text) const { std::free(text); }
};

}  // namespace

Result<std::unique_ptr<ServiceAccount>> ServiceAccount::Load(const std::string& path,
                                                             const Clock& clock) {
  std::ifstream file(path, std::ios::binary);
  std::string json(kKeyBytesMax + 1, '\0');
  file.read(json.data(), static_cast<std::streamsize>(json.size()));
  json.resize(static_cast<size_t>(file.gcount()));
  if (file.bad() || json.empty()) {
    return InvalidArgument("the service account's key " + path + " cannot be read");
  }
  Result<std::unique_ptr<ServiceAccount>> account = Parse(json, clock);
  if (!account.ok()) return account.status().While("reading " + path);
  return account;
}

Result<std::unique_ptr<ServiceAccount>> ServiceAccount::Parse(const std::string& json,
                                                              const Clock& clock) {
  const auto parsed = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (json.size() > kKeyBytesMax || !parsed.is_object()) {
    return InvalidArgument("a service account's key is a small JSON object");
  }
  if (TextOf(parsed, "type") != "service_account") {
    return InvalidArgument("only keys of the type service_account are supported");
  }
  Key key;
  const std::pair<const char*, std::string*> parts[] = {{"project_id", &key.project},
                                                        {"client_email", &key.email},
                                                        {"private_key_id", &key.id},
                                                        {"private_key", &key.pem}};
  for (const auto& [name, part] : parts) {
    std::optional<std::string> text = TextOf(parsed, name);
    if (!text) return InvalidArgument("the service account's key has no " + std::string(name));
    *part = *std::move(text);
  }
  std::unique_ptr<ServiceAccount> account(new ServiceAccount(std::move(key), clock));
  // Finds a key that cannot sign now rather than at the first call.
  if (const Result<std::string> token = account->Token(); !token.ok()) {
    return InvalidArgument(token.status().message());
  }
  return account;
}

Result<std::string> ServiceAccount::Token() {
  const int64_t now = clock_.WallMicros() / 1'000'000;
  MutexLock lock(mutex_);
  // If the clock was set back, the token is dated in the future, which Google rejects.
  const bool is_fresh =
      now >= signed_at_seconds_ && now < signed_at_seconds_ + kTokenSeconds - kRenewBeforeSeconds;
  if (!token_.empty() && is_fresh) return token_;
  ASSIGN_OR_RETURN(token_, Sign(now));
  signed_at_seconds_ = now;
  return token_;
}

Result<std::string> ServiceAccount::Sign(int64_t now_seconds) const {
  const Status failed(Code::kFailedPrecondition,
                      "the service account's private key cannot sign with RS256");
  jwt_t* made = nullptr;
  if (jwt_new(&made) != 0) return failed;
  const std::unique_ptr<jwt_t, FreeToken> token(made);
  const auto* pem = reinterpret_cast<const unsigned char*>(key_.pem.data());
  const bool is_complete =
      jwt_set_alg(made, JWT_ALG_RS256, pem, static_cast<int>(key_.pem.size())) == 0 &&
      jwt_add_header(made, "kid", key_.id.c_str()) == 0 &&
      jwt_add_grant(made, "iss", key_.email.c_str()) == 0 &&
      jwt_add_grant(made, "sub", key_.email.c_str()) == 0 &&
      jwt_add_grant(made, "aud", kAudience) == 0 &&
      jwt_add_grant_int(made, "iat", now_seconds) == 0 &&
      jwt_add_grant_int(made, "exp", now_seconds + kTokenSeconds) == 0;
  if (!is_complete) return failed;
  const std::unique_ptr<char, FreeToken> text(jwt_encode_str(made));
  if (!text) return failed;
  return std::string(text.get());
}

}  // namespace hearth::client
