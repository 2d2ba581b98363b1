// A database in this process: no network, and no bytes made that the disk does not get too.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "client/firestore.h"
#include "model/names.h"

namespace hearth::engine {
class Engine;
}

namespace hearth::client {

struct EmbeddedOptions {
  std::string data_path = "data";  // Made if it is missing; one process at a time.
  std::string project = "hearth";
  std::string database = "(default)";
  size_t cache_mib = 64;
};

// Opens a data folder. It is closed when the last thing made from it is gone.
Result<Firestore> OpenEmbedded(const EmbeddedOptions& options);

// On an engine that somebody else runs and that must outlive all that is made from this.
Result<Firestore> OverEngine(engine::Engine& engine, const model::DatabaseName& database);

}  // namespace hearth::client
