#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "engine/engine.h"
#include "index/index_config.h"
#include "index/index_config_merge.h"
#include "model/names.h"
#include "server/apps.h"

namespace hearth::server {

// The index configurations from the command line and from applications, merged per database.
//
// Threads: one at a time.
class IndexFiles {
 public:
  // `flags`: "FILE" for the database "(default)", or "DATABASE=FILE". The configurations of `apps`
  // apply to `app_database`, together with the files of its id. InvalidArgument, with file and
  // position, for a file that cannot be read or is invalid, and for two configurations of a
  // database that conflict.
  static Result<IndexFiles> Load(const std::vector<std::string>& flags,
                                 std::span<const AppEntry> apps,
                                 const model::DatabaseName& app_database);

  void Apply(engine::Engine* engine) const;

  // Reads all files again and applies the changes. If the result is invalid, it is logged and the
  // database keeps its configuration.
  void Reload(engine::Engine* engine);

 private:
  struct File {
    std::string database_id;
    std::string path;
  };
  // The configuration of one database, or of all databases with an id.
  struct Followed {
    std::string database;     // An id or a name, as in Engine::SetIndexConfig.
    std::string database_id;  // The id whose files apply.
    bool has_apps;
    index::IndexConfig config = {};
  };

  static Result<File> ParseFlag(std::string_view flag);
  Result<index::IndexConfig> Read(const Followed& followed) const;

  std::vector<File> files_;
  std::vector<index::SourcedIndexConfig> apps_;
  std::vector<Followed> followed_;
};

// One line with the differences: "+ index rooms (a ASC, __name__ ASC), - …".
std::string DescribeChanges(const index::IndexConfig& before, const index::IndexConfig& after);

}  // namespace hearth::server
