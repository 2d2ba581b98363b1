#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/status.h"
#include "http/options.h"
#include "indexing/index_policy.h"

namespace hearth::server {

// Options of applications, embedded or in their own process.
struct AppOptions {
  std::string config;  // A file with their settings; empty: none.
  std::string redis;   // HOST:PORT, comma-separated; empty: none.
  bool is_live = false;
};

// Who else may use a server, besides clients that reach it under a name of this machine.
struct OriginOptions {
  std::vector<std::string> allowed_hosts;
  std::vector<std::string> allowed_origins;
};

// How much memory a process may use.
struct MemoryOptions {
  size_t max_mib = 0;  // 0: half of the machine's.
  size_t cache_mib = 0;
};

// The command line of `hearth serve`.
struct ServeOptions {
  std::string data_path = "data";
  std::vector<std::string> listen = {"127.0.0.1:8080"};
  OriginOptions origins;
  MemoryOptions memory = {.cache_mib = 64};
  size_t loops = 0;  // 0: one per core.
  size_t connections_max = 10'000;
  size_t databases_max = 10'000;
  size_t drain_seconds = 10;
  std::optional<size_t> disk_reserve_mib;  // Absent: see DefaultReserveBytes.
  bool accept_loss = false;
  bool accept_clock = false;
  std::string indexes = "auto";
  std::vector<std::string> index_config;
  size_t unused_index_days = 7;
  size_t on_demand_index_entries = 20;
  size_t scan_documents_max = 100'000;
  std::string apps = "none";
  std::string app_project = "hearth";
  // Besides those that are protected already, and that of embedded applications.
  std::vector<std::string> protected_projects;
  AppOptions app;
  std::string log_level = "info";
  std::string log_format = "text";
};

// The command line of `hearth app`.
struct RunAppOptions {
  std::string name;
  std::string firestore;  // HOST:PORT; empty: from the client's environment.
  std::string project = "hearth";
  std::string listen = "127.0.0.1:8081";
  OriginOptions origins;
  std::string admin_token_folder;  // Of the database's server; empty: from the environment.
  std::string data_path;           // Empty: "data-NAME".
  MemoryOptions memory;
  size_t drain_seconds = 10;
  AppOptions app;
  std::string log_level = "info";
  std::string log_format = "text";
};

// The command line of `hearth sandbox`.
struct RunSandboxOptions {
  std::string listen = "127.0.0.1:8090";
  MemoryOptions memory;
};

// "HOST:PORT" or "[IPv6]:PORT". InvalidArgument for anything else.
Result<http::ListenAddress> ParseAddress(std::string_view text);
// The same, and InvalidArgument for an address that other machines can reach: there is no
// authentication yet, so anyone who reaches the port can read and write everything.
Result<http::ListenAddress> ParseListenAddress(std::string_view text);

// The bytes for MemoryBudget. InvalidArgument if the caches leave too little for requests.
Result<size_t> MemoryMaxBytes(const MemoryOptions& options, size_t machine_bytes);

// HOST:PORT, with brackets around an IPv6 address.
std::string AddressText(const http::ListenAddress& address);

// InvalidArgument, with the flag, for a value that is not a host or not an origin.
Result<http::OriginPolicy> ParseOriginPolicy(const OriginOptions& options);

Result<indexing::IndexMode> ParseIndexMode(std::string_view text);
Result<LogLevel> ParseLogLevel(std::string_view text);
Result<LogFormat> ParseLogFormat(std::string_view text);

}  // namespace hearth::server
