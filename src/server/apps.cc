#include "server/apps.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "apps/feed/feed.h"
#include "apps/hackernews/hackernews.h"
#include "base/status_macros.h"
#include "kit/web/json_fields.h"

namespace hearth::server {
namespace {

constexpr AppEntry kApps[] = {
    {.name = "hackernews",
     .make = hackernews::MakeApplication,
     .index_config_json = hackernews::IndexConfigJson},
    {.name = "feed", .make = feed::MakeApplication, .index_config_json = feed::IndexConfigJson},
};

// Generous for a configuration written by hand.
constexpr std::streamsize kSettingsBytesMax = 1024 * 1024;

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string Names(std::span<const AppEntry> apps) {
  if (apps.empty()) return "none is available";
  std::string names;
  for (const AppEntry& app : apps) names += (names.empty() ? "" : ", ") + std::string(app.name);
  return "available: " + names;
}

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content(kSettingsBytesMax + 1, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (file.bad() || (!file.eof() && file.gcount() == 0)) {
    return InvalidArgument("cannot read " + path + ": " + std::strerror(errno));
  }
  if (file.gcount() > kSettingsBytesMax) return InvalidArgument(path + " is larger than 1 MiB");
  content.resize(static_cast<size_t>(file.gcount()));
  return content;
}

}  // namespace

std::span<const AppEntry> AllApps() { return kApps; }

Result<AppEntry> FindApp(std::string_view name, std::span<const AppEntry> all) {
  const auto found = std::ranges::find(all, name, &AppEntry::name);
  if (found != all.end()) return *found;
  return InvalidArgument("there is no application " + Quoted(name) + "; " + Names(all));
}

Result<std::vector<AppEntry>> ChooseApps(std::string_view text, std::span<const AppEntry> all) {
  if (text == "all") return std::vector<AppEntry>(all.begin(), all.end());
  if (text == "none") return std::vector<AppEntry>();
  std::vector<std::string_view> names;
  while (true) {
    const size_t comma = text.find(',');
    names.push_back(text.substr(0, comma));
    RETURN_IF_ERROR(FindApp(names.back(), all).status());
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  std::vector<AppEntry> chosen;
  std::ranges::copy_if(all, std::back_inserter(chosen), [&](const AppEntry& app) {
    return std::ranges::find(names, app.name) != names.end();
  });
  return chosen;
}

Result<nlohmann::json> LoadAppSettings(const std::string& path, std::span<const AppEntry> all) {
  if (path.empty()) return nlohmann::json::object();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  Result<nlohmann::json> settings = kit::ParseJson(text);
  if (!settings.ok()) return settings.status().While("reading " + path);
  if (!settings->is_object()) {
    return InvalidArgument(path +
                           " must contain a JSON object: application names and their settings");
  }
  for (const auto& [name, value] : settings->items()) {
    if (const Status known = FindApp(name, all).status(); !known.ok()) {
      return known.While("reading " + path);
    }
    if (!value.is_object()) {
      return InvalidArgument(path + ": the settings of " + name + " must be a JSON object");
    }
  }
  return settings;
}

Result<nlohmann::json> ReadAppSettings(const AppOptions& options) {
  ASSIGN_OR_RETURN(nlohmann::json settings, LoadAppSettings(options.config, AllApps()));
  if (!options.redis.empty()) settings["feed"]["redis"] = options.redis;
  return settings;
}

std::string EnvironmentOf(const char* app_env, const char* node_env) {
  const std::string_view name = app_env != nullptr && *app_env != '\0'     ? app_env
                                : node_env != nullptr && *node_env != '\0' ? node_env
                                                                           : "";
  if (name == "production" || name == "prod") return "prod";
  if (name == "staging" || name == "ci") return std::string(name);
  return "dev";
}

}  // namespace hearth::server
