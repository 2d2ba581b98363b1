#pragma once

#include <chrono>
#include <cstddef>

#include "base/memory_budget.h"
#include "base/turn_pool.h"
#include "documents/catalog.h"
#include "indexing/index_keeper.h"
#include "indexing/index_policy.h"
#include "indexing/vector_graph_upkeep.h"
#include "watch/change_feed.h"
#include "watch/watcher.h"

namespace hearth {
class Metrics;
}

namespace hearth::engine {

struct EngineOptions {
  // No more databases than this are created.
  size_t databases_max = documents::Catalog::kDatabasesMaxDefault;
  size_t document_cache_bytes = 32 * 1024 * 1024;
  // For work that may wait for the disk.
  TurnPoolOptions readers;
  // For listeners: their first results and later changes.
  TurnPoolOptions watch_threads;
  watch::WatcherOptions watchers;
  size_t queued_change_bytes_max = watch::ChangeFeed::kQueuedBytesMax;
  // How far back in time reads can go.
  std::chrono::seconds history = std::chrono::hours(1);
  // How long a commit or a transaction's read waits for another transaction.
  std::chrono::milliseconds lock_wait_max = std::chrono::seconds(5);
  indexing::IndexKeeperOptions indexes;
  indexing::VectorGraphOptions vectors;
  indexing::IndexMode index_mode = indexing::IndexMode::kAuto;
  // If a query reads more documents and index entries than this, beyond those that it returns, its
  // missing indexes are created.
  size_t reads_without_index_max = 300;
  // A query that examines more documents than this because an index is missing is logged, or
  // refused in strict mode.
  size_t scanned_documents_max = 100'000;
  MemoryBudget* memory = nullptr;  // Must outlive the engine. Null: unlimited.
  Metrics* metrics = nullptr;      // Must outlive the engine. Null: no metrics.
};

}  // namespace hearth::engine
