#include "client/embedded/embedded.h"

#include <utility>

#include "base/clock.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "client/embedded/embedded_transport.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "storage/rocksdb_store.h"
#include "storage/store.h"

namespace hearth::client {
namespace {

constexpr size_t kMebibyte = size_t{1024} * 1024;

// An engine with everything that it uses. The engine is destroyed first.
struct OwnedEngine {
  SystemClock clock;
  RandomSource random;
  std::unique_ptr<storage::Store> store;
  std::unique_ptr<engine::Engine> engine;
};

}  // namespace

Result<Firestore> OpenEmbedded(const EmbeddedOptions& options) {
  ASSIGN_OR_RETURN(
      const model::DatabaseName name,
      model::DatabaseName::Parse("projects/" + options.project + "/databases/" + options.database));
  auto owned = std::make_shared<OwnedEngine>();
  storage::RocksDbOptions storage_options;
  storage_options.path = options.data_path;
  storage_options.block_cache_bytes = options.cache_mib * kMebibyte / 2;
  ASSIGN_OR_RETURN(owned->store, storage::OpenRocksDbStore(storage_options));
  engine::EngineOptions engine_options;
  engine_options.document_cache_bytes = options.cache_mib * kMebibyte / 2;
  engine_options.vectors.folder = options.data_path + "/vectors";
  ASSIGN_OR_RETURN(owned->engine, engine::Engine::Open(*owned->store, owned->clock, owned->random,
                                                       engine_options));
  engine::Engine& engine = *owned->engine;
  return Firestore(EmbeddedTransport::Make(engine, name, std::move(owned)));
}

Result<Firestore> OverEngine(engine::Engine& engine, const model::DatabaseName& database) {
  return Firestore(EmbeddedTransport::Make(engine, database, nullptr));
}

}  // namespace hearth::client
