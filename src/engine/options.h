#pragma once

#include <chrono>
#include <cstddef>

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
  size_t document_cache_bytes = 32 * 1024 * 1024;
  size_t reader_threads = 4;
  size_t queued_reads_max = 20'000;
  // For listeners: what they read at first, and what they hear of later.
  size_t watch_threads = 4;
  watch::WatcherOptions watchers;
  size_t queued_change_bytes_max = watch::ChangeFeed::kQueuedBytesMax;
  // How far back reads at an earlier time go.
  std::chrono::seconds history = std::chrono::hours(1);
  // How long a commit or a transaction's read waits for somebody else's transaction.
  std::chrono::milliseconds lock_wait_max = std::chrono::seconds(5);
  indexing::IndexKeeperOptions indexes;
  indexing::VectorGraphOptions vectors;
  indexing::IndexMode index_mode = indexing::IndexMode::kAuto;
  // A query that reads more documents and index entries than this, and not because it returns them,
  // has the indexes made that it lacks.
  size_t reads_without_index_max = 300;
  // A query that looks at more documents than this, for want of an index, is logged, or in strict
  // mode refused.
  size_t scanned_documents_max = 100'000;
  Metrics* metrics = nullptr;  // Must outlive the engine. Null: nobody looks.
};

}  // namespace hearth::engine
