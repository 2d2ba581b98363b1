#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "engine/engine.h"
#include "index/index_config.h"

namespace hearth::server {

// The index configurations that the command line names, and what they said when last read.
//
// Threads: one at a time.
class IndexFiles {
 public:
  // `flags`: "FILE" for the database "(default)", or "DATABASE=FILE". InvalidArgument, with file
  // and place, for a file that cannot be read or has no meaning, and for two of one database.
  static Result<IndexFiles> Load(const std::vector<std::string>& flags);

  void Apply(engine::Engine* engine) const;

  // Reads all files again and applies those that have changed. A file that cannot be used any more
  // is logged, and its database keeps the configuration it has.
  void Reload(engine::Engine* engine);

 private:
  struct File {
    std::string database_id;
    std::string path;
    index::IndexConfig config = {};
  };

  static Result<File> ParseFlag(std::string_view flag);

  std::vector<File> files_;
};

// One line about all that is in only one of the two: "+ index rooms (a ASC, __name__ ASC), - …".
std::string DescribeChanges(const index::IndexConfig& before, const index::IndexConfig& after);

}  // namespace hearth::server
