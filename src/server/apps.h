// The applications of this program and their configuration.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kit/web/application.h"
#include "server/options.h"

namespace hearth::server {

struct AppEntry {
  std::string_view name;
  Result<std::unique_ptr<kit::Application>> (*make)(kit::AppContext);
  std::string_view (*index_config_json)() = [] { return std::string_view("{}"); };
};

std::span<const AppEntry> AllApps();

// InvalidArgument, listing the known names, if it is not in `all`.
Result<AppEntry> FindApp(std::string_view name, std::span<const AppEntry> all);
// `text`: "all", "none", or comma-separated names. The result is in the order of `all`.
Result<std::vector<AppEntry>> ChooseApps(std::string_view text, std::span<const AppEntry> all);

// A JSON file with settings by application name: {"hackernews": {...}}. An empty path means no
// settings. InvalidArgument, with the path, for a file that cannot be read, is not such JSON, or
// names an application that is not in `all`.
Result<nlohmann::json> LoadAppSettings(const std::string& path, std::span<const AppEntry> all);

// The settings file merged with the command line's options.
Result<nlohmann::json> ReadAppSettings(const AppOptions& options);

// "prod", "staging", "ci" or "dev", from APP_ENV, or else NODE_ENV; both may be null.
std::string EnvironmentOf(const char* app_env, const char* node_env);

}  // namespace hearth::server
