#include "server/options.h"

#include <charconv>

#include "base/status_macros.h"

namespace hearth::server {
namespace {

constexpr unsigned kPortMax = 65'535;
// Below this, single large requests would already be refused.
constexpr size_t kRequestMemoryMibMin = 128;

}  // namespace

Result<http::ListenAddress> ParseAddress(std::string_view text) {
  const std::string quoted = "'" + std::string(text) + "'";
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) {
    return InvalidArgument(quoted + " is not an address: write HOST:PORT, such as 127.0.0.1:8080");
  }
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string_view port_text = text.substr(colon + 1);
  unsigned port = 0;
  const auto [end, error] =
      std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  const bool is_number = error == std::errc() && end == port_text.data() + port_text.size();
  if (!is_number || port > kPortMax) {
    return InvalidArgument(quoted + " has no port between 0 and 65535 after its last colon");
  }
  return http::ListenAddress{std::string(host), static_cast<uint16_t>(port)};
}

Result<http::ListenAddress> ParseListenAddress(std::string_view text) {
  ASSIGN_OR_RETURN(http::ListenAddress address, ParseAddress(text));
  if (!http::IsLoopbackHost(address.host)) {
    return InvalidArgument("'" + std::string(text) +
                           "' is reachable from other machines, and Hearth has no authentication "
                           "yet: listen on 127.0.0.1, [::1] or localhost");
  }
  return address;
}

Result<size_t> MemoryMaxBytes(const MemoryOptions& options, size_t machine_bytes) {
  constexpr size_t kMebibyte = 1024 * 1024;
  const size_t bytes = options.max_mib != 0 ? options.max_mib * kMebibyte : machine_bytes / 2;
  const size_t needed_mib = options.cache_mib + kRequestMemoryMibMin;
  if (bytes < needed_mib * kMebibyte) {
    const std::string caches =
        options.cache_mib == 0 ? ""
                               : "--cache-mib is " + std::to_string(options.cache_mib) + ", and ";
    return InvalidArgument("--memory-max-mib must be at least " + std::to_string(needed_mib) +
                           ": " + caches + "requests need " + std::to_string(kRequestMemoryMibMin));
  }
  return bytes;
}

std::string AddressText(const http::ListenAddress& address) {
  const bool is_ipv6 = address.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + address.host + "]" : address.host;
  return host + ":" + std::to_string(address.port);
}

Result<http::OriginPolicy> ParseOriginPolicy(const OriginOptions& options) {
  http::OriginPolicy policy;
  for (const std::string& host : options.allowed_hosts) {
    const Status status = policy.AllowHost(host);
    if (!status.ok()) return status.While("--allow-host");
  }
  for (const std::string& origin : options.allowed_origins) {
    const Status status = policy.AllowOrigin(origin);
    if (!status.ok()) return status.While("--allow-origin");
  }
  return policy;
}

Result<indexing::IndexMode> ParseIndexMode(std::string_view text) {
  if (text == "auto") return indexing::IndexMode::kAuto;
  if (text == "strict") return indexing::IndexMode::kStrict;
  return InvalidArgument("'" + std::string(text) + "' is not an index mode: auto or strict");
}

Result<LogLevel> ParseLogLevel(std::string_view text) {
  if (text == "debug") return LogLevel::kDebug;
  if (text == "info") return LogLevel::kInfo;
  if (text == "warning") return LogLevel::kWarning;
  if (text == "error") return LogLevel::kError;
  return InvalidArgument("'" + std::string(text) +
                         "' is not a log level: debug, info, warning or error");
}

Result<LogFormat> ParseLogFormat(std::string_view text) {
  if (text == "text") return LogFormat::kText;
  if (text == "json") return LogFormat::kJson;
  return InvalidArgument("'" + std::string(text) + "' is not a log format: text or json");
}

}  // namespace hearth::server
