// A database in this process: no network, and no encoding beyond the stored form.
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
  std::string data_path = "data";  // Created if missing. One process at a time.
  std::string project = "hearth";
  std::string database = "(default)";
  size_t cache_mib = 64;
};

// Opens a data folder. It is closed when the last object made from it is destroyed.
Result<Firestore> OpenEmbedded(const EmbeddedOptions& options);

// Uses an engine that the caller owns. The engine must outlive everything made from the result.
Result<Firestore> OverEngine(engine::Engine& engine, const model::DatabaseName& database);

}  // namespace hearth::client
