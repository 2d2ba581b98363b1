// The API's contract on a database in this process.
#include <atomic>
#include <memory>
#include <string>

#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "client/embedded/embedded.h"
#include "client/testing/transport_contract.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "storage/memory_store.h"

namespace hearth::client {
namespace {

// One engine for all tests. Each test gets its own project.
struct SharedEngine {
  SystemClock clock;
  RandomSource random;
  std::unique_ptr<storage::Store> store = storage::NewMemoryStore();
  std::unique_ptr<engine::Engine> engine =
      *engine::Engine::Open(*store, clock, random, engine::EngineOptions());
  std::atomic<int> projects = 0;

  Firestore NewProject() {
    const std::string project = "contract-" + std::to_string(++projects);
    Result<Firestore> db = OverEngine(
        *engine, *model::DatabaseName::Parse("projects/" + project + "/databases/(default)"));
    CHECK(db.ok());
    return *std::move(db);
  }
};

Firestore FreshInMemory() {
  static SharedEngine shared;
  return shared.NewProject();
}

INSTANTIATE_TEST_SUITE_P(Embedded, TransportContract,
                         testing::Values(ContractBackend{"InMemory", FreshInMemory}), BackendName);

}  // namespace
}  // namespace hearth::client
