#include "server/index_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "index/definition.h"
#include "model/names.h"

namespace hearth::server {
namespace {

using index::FieldMode;
using index::IndexConfig;
using index::QueryScope;

Result<IndexConfig> ReadConfig(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  // One byte more than allowed is enough for the parser to reject it.
  std::string text(index::kIndexConfigBytesMax + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad() || (file.fail() && !file.eof())) {
    const std::string why = errno == 0 ? "it is not a readable file" : std::strerror(errno);
    return InvalidArgument("the index configuration '" + path + "' cannot be read: " + why);
  }
  text.resize(static_cast<size_t>(file.gcount()));
  Result<IndexConfig> config = index::ParseIndexConfig(text);
  if (!config.ok()) {
    return InvalidArgument("the index configuration '" + path +
                           "' is not valid: " + config.status().message());
  }
  return config;
}

std::string GroupText(const std::string& collection_group, QueryScope scope) {
  return (scope == QueryScope::kCollectionGroup ? "collection group " : "") + collection_group;
}

std::string OverrideText(const index::FieldOverride& override) {
  std::string text = "indexes of field " + (override.field ? override.field->ToString() : "*") +
                     " of " + override.collection_group + ":";
  if (override.indexes.empty()) return text + " none";
  for (const index::SingleFieldIndex& each : override.indexes) {
    const bool is_group = each.scope == QueryScope::kCollectionGroup;
    const char* const mode = each.mode == FieldMode::kAscending    ? "ASC"
                             : each.mode == FieldMode::kDescending ? "DESC"
                                                                   : "CONTAINS";
    text += std::string(is_group ? " COLLECTION_GROUP_" : " COLLECTION_") + mode;
  }
  return text;
}

// All statements of a configuration, one text each.
std::set<std::string> Statements(const IndexConfig& config) {
  std::set<std::string> texts;
  for (const index::Definition& each : config.composites) {
    texts.insert("index " + GroupText(each.collection_id, each.scope) + " " +
                 index::Properties(each));
  }
  for (const index::VectorIndex& each : config.vectors) {
    const index::Definition prefix{each.collection_group, each.scope, each.prefix, false};
    const std::string kind =
        !each.hnsw ? "flat"
                   : "hnsw m=" + std::to_string(each.hnsw->links) +
                         " efConstruction=" + std::to_string(each.hnsw->construction_candidates) +
                         " efSearch=" + std::to_string(each.hnsw->search_candidates) + " " +
                         std::string(index::DistanceMeasureText(each.hnsw->distance_measure));
    texts.insert("vector index " + GroupText(each.collection_group, each.scope) + " " +
                 index::Properties(prefix) + " " + each.field.ToString() + " of " +
                 std::to_string(each.dimension) + " dimensions, " + kind);
  }
  for (const index::FieldOverride& each : config.overrides) texts.insert(OverrideText(each));
  for (const index::TtlPolicy& each : config.ttl_policies) {
    texts.insert("TTL of " + each.collection_group + ": " + each.field.ToString() + " + " +
                 index::TtlOffsetText(each.offset));
  }
  return texts;
}

}  // namespace

std::string DescribeChanges(const IndexConfig& before, const IndexConfig& after) {
  const std::set<std::string> old_texts = Statements(before);
  const std::set<std::string> new_texts = Statements(after);
  std::string description;
  const auto append = [&](const char* sign, const std::string& text) {
    description += (description.empty() ? "" : ", ") + (sign + text);
  };
  for (const std::string& text : new_texts) {
    if (!old_texts.contains(text)) append("+ ", text);
  }
  for (const std::string& text : old_texts) {
    if (!new_texts.contains(text)) append("- ", text);
  }
  return description;
}

Result<IndexFiles::File> IndexFiles::ParseFlag(std::string_view flag) {
  const size_t equals = flag.find('=');
  // A path may contain '=', too; the id of a database contains no slash.
  const bool has_database = equals != std::string_view::npos &&
                            flag.substr(0, equals).find('/') == std::string_view::npos;
  if (!has_database) return File{"(default)", std::string(flag)};
  const std::string id(flag.substr(0, equals));
  const auto name = model::DatabaseName::Parse("projects/p/databases/" + id);
  if (!name.ok()) {
    return InvalidArgument("'" + std::string(flag) +
                           "' has no valid database id before the '=': write " +
                           "DATABASE=FILE, or ./FILE if the file name contains '='");
  }
  return File{id, std::string(flag.substr(equals + 1))};
}

Result<IndexFiles> IndexFiles::Load(const std::vector<std::string>& flags,
                                    std::span<const AppEntry> apps,
                                    const model::DatabaseName& app_database) {
  IndexFiles files;
  for (const std::string& flag : flags) {
    ASSIGN_OR_RETURN(File file, ParseFlag(flag));
    const bool is_new =
        std::ranges::find(files.files_, file.database_id, &File::database_id) == files.files_.end();
    if (is_new) files.followed_.push_back({file.database_id, file.database_id, false});
    files.files_.push_back(std::move(file));
  }
  for (const AppEntry& app : apps) {
    const std::string source = "the application " + std::string(app.name);
    Result<IndexConfig> config = index::ParseIndexConfig(app.index_config_json());
    if (!config.ok()) return config.status().While("reading the index configuration of " + source);
    files.apps_.push_back({source, *std::move(config)});
  }
  if (!apps.empty()) {
    files.followed_.push_back({app_database.text(), std::string(app_database.database()), true});
  }
  for (Followed& followed : files.followed_) {
    ASSIGN_OR_RETURN(followed.config, files.Read(followed));
  }
  return files;
}

Result<IndexConfig> IndexFiles::Read(const Followed& followed) const {
  std::vector<index::SourcedIndexConfig> parts;
  if (followed.has_apps) parts = apps_;
  for (const File& file : files_) {
    if (file.database_id != followed.database_id) continue;
    ASSIGN_OR_RETURN(IndexConfig config, ReadConfig(file.path));
    parts.push_back({"'" + file.path + "'", std::move(config)});
  }
  Result<IndexConfig> merged = index::MergeIndexConfigs(parts);
  if (merged.ok()) return merged;
  return InvalidArgument("the index configurations of the database '" + followed.database +
                         "' contradict each other: " + merged.status().message());
}

void IndexFiles::Apply(engine::Engine* engine) const {
  for (const Followed& each : followed_) engine->SetIndexConfig(each.database, each.config);
}

void IndexFiles::Reload(engine::Engine* engine) {
  if (files_.empty()) {
    return Log(LogLevel::kInfo, "no index configuration to reload");
  }
  for (Followed& followed : followed_) {
    Result<IndexConfig> config = Read(followed);
    if (!config.ok()) {
      Log(LogLevel::kError, "the index configuration was not reloaded",
          {{"database", followed.database}, {"error", config.status().message()}});
      continue;
    }
    if (*config == followed.config) {
      Log(LogLevel::kInfo, "the index configuration has not changed",
          {{"database", followed.database}});
      continue;
    }
    Log(LogLevel::kInfo, "the index configuration has changed",
        {{"database", followed.database}, {"changes", DescribeChanges(followed.config, *config)}});
    followed.config = *std::move(config);
    engine->SetIndexConfig(followed.database, followed.config);
  }
}

}  // namespace hearth::server
