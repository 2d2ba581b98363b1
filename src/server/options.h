#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/status.h"
#include "engine/index_policy.h"
#include "http/options.h"

namespace hearth::server {

// What `hearth serve` was told on its command line.
struct ServeOptions {
  std::string data_path = "data";
  std::vector<std::string> listen = {"127.0.0.1:8080"};
  size_t cache_mib = 64;
  size_t loops = 0;  // 0: one a core.
  size_t connections_max = 10'000;
  size_t drain_seconds = 10;
  std::string indexes = "auto";
  std::vector<std::string> index_config;
  size_t unused_index_days = 7;
  size_t scan_documents_max = 100'000;
  std::string log_level = "info";
  std::string log_format = "text";
};

// "HOST:PORT" or "[IPv6]:PORT". InvalidArgument for anything else.
Result<http::ListenAddress> ParseAddress(std::string_view text);
// The same, and InvalidArgument for an address that other machines can reach: there is no sign-in
// yet, so whoever reaches the port can read and write all.
Result<http::ListenAddress> ParseListenAddress(std::string_view text);

Result<engine::IndexMode> ParseIndexMode(std::string_view text);
Result<LogLevel> ParseLogLevel(std::string_view text);
Result<LogFormat> ParseLogFormat(std::string_view text);

}  // namespace hearth::server
