#include "client/remote/remote.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/status_macros.h"
#include "client/remote/remote_transport.h"
#include "client/remote/service_account.h"
#include "model/names.h"

namespace hearth::client {
namespace {

constexpr char kGoogle[] = "firestore.googleapis.com:443";

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Status CheckAddress(std::string_view address) {
  const Status malformed =
      InvalidArgument("not an address of the form HOST:PORT: '" + std::string(address) + "'");
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return malformed;
  const std::string_view host = address.substr(0, colon);
  const std::string_view port_text = address.substr(colon + 1);
  // Letters, digits and the characters of numeric addresses: nothing with a meaning in a URL.
  const bool is_bracketed = host.starts_with('[') && host.ends_with(']');
  constexpr std::string_view kHost =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  const std::string_view inside = is_bracketed ? host.substr(1, host.size() - 2) : host;
  for (const char c : inside) {
    if (kHost.find(c) == std::string_view::npos && !(is_bracketed && c == ':')) return malformed;
  }
  uint16_t port = 0;
  const char* end = port_text.data() + port_text.size();
  const auto [rest, error] = std::from_chars(port_text.data(), end, port);
  if (error != std::errc() || rest != end || port == 0 || inside.empty()) return malformed;
  return Status();
}

// The characters of RFC 6750; any other could end the header.
bool IsBearerToken(std::string_view text) {
  constexpr std::string_view kToken =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/=";
  return text.find_first_not_of(kToken) == std::string_view::npos;
}

// The account and its clock, owned by the function that makes tokens.
struct Signer {
  SystemClock clock;
  std::unique_ptr<ServiceAccount> account;
};

}  // namespace

Result<Firestore> Connect(const RemoteOptions& options) {
  std::string address = options.address;
  if (address.empty()) address = FromEnvironment("FIRESTORE_EMULATOR_HOST");
  const bool is_google = address.empty();
  if (is_google) address = kGoogle;
  RETURN_IF_ERROR(CheckAddress(address));

  std::string key = options.service_account_key;
  if (key.empty() && is_google) key = FromEnvironment("GOOGLE_APPLICATION_CREDENTIALS");
  if (key.empty() && is_google) {
    return InvalidArgument(
        "Google Cloud requires a service account key: set service_account_key or "
        "GOOGLE_APPLICATION_CREDENTIALS, or the address of another server");
  }
  if (options.timeout <= std::chrono::milliseconds(0) || options.connections_max == 0) {
    return InvalidArgument("the time-out and the number of connections must be positive");
  }
  if (!IsBearerToken(options.bearer_token)) {
    return InvalidArgument("the bearer token has characters that no token has");
  }
  const auto signer = std::make_shared<Signer>();  // Shared by the copies of the function below.
  if (!key.empty()) {
    ASSIGN_OR_RETURN(signer->account, ServiceAccount::Load(key, signer->clock));
  }
  const bool has_key = signer->account != nullptr;
  const std::string project =
      options.project.empty() && has_key ? signer->account->project() : options.project;
  ASSIGN_OR_RETURN(
      model::DatabaseName database,
      model::DatabaseName::Parse("projects/" + project + "/databases/" + options.database));
  GrpcChannelOptions channel;
  channel.server = {address, has_key ? Encryption::kTls : Encryption::kNone};
  channel.timeout = options.timeout;
  channel.connections_max = options.connections_max;
  // "owner": the emulators' name for any user.
  const std::string bearer = options.bearer_token.empty() ? "owner" : options.bearer_token;
  const auto authorization = [signer, bearer]() -> Result<std::string> {
    if (!signer->account) return "Bearer " + bearer;
    ASSIGN_OR_RETURN(const std::string token, signer->account->Token());
    return "Bearer " + token;
  };
  const auto pause = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); };
  return Firestore(std::make_shared<RemoteTransport>(RemoteTransport::Options{
      std::move(database), std::move(channel), options.attempts_max, authorization, pause}));
}

}  // namespace hearth::client
