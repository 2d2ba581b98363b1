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

// The index configurations that the command line names and those that applications bring along,
// merged for each database.
//
// Threads: one at a time.
class IndexFiles {
 public:
  // `flags`: "FILE" for the database "(default)", or "DATABASE=FILE". What `apps` bring along is
  // for `app_database`, together with the files of its id.
  // InvalidArgument, with file and place, for a file that cannot be read or has no meaning, and for
  // two configurations of a database that cannot hold together.
  static Result<IndexFiles> Load(const std::vector<std::string>& flags,
                                 std::span<const AppEntry> apps,
                                 const model::DatabaseName& app_database);

  void Apply(engine::Engine* engine) const;

  // Reads all files again and applies what has changed. Where that cannot be used any more, it is
  // logged, and the database keeps the configuration it has.
  void Reload(engine::Engine* engine);

 private:
  struct File {
    std::string database_id;
    std::string path;
  };
  // What one database, or all of an id, follow.
  struct Followed {
    std::string database;     // An id or a name: as Engine::SetIndexConfig has it.
    std::string database_id;  // Whose files count.
    bool has_apps;
    index::IndexConfig config = {};
  };

  static Result<File> ParseFlag(std::string_view flag);
  Result<index::IndexConfig> Read(const Followed& followed) const;

  std::vector<File> files_;
  std::vector<index::SourcedIndexConfig> apps_;
  std::vector<Followed> followed_;
};

// One line about all that is in only one of the two: "+ index rooms (a ASC, __name__ ASC), - …".
std::string DescribeChanges(const index::IndexConfig& before, const index::IndexConfig& after);

}  // namespace hearth::server
