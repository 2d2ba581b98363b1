#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/memory_budget.h"
#include "base/pause.h"
#include "documents/database.h"
#include "documents/document_reader.h"
#include "index/index_set.h"
#include "model/timestamp.h"
#include "storage/store.h"
#include "transactions/lock_table.h"

namespace hearth::engine {

// The parts of a view.
struct ReadViewParts {
  documents::ConstDatabaseHandle database = nullptr;  // Shared with the catalogue.
  const documents::DocumentReader* reader = nullptr;
  // For a view opened for scans; null for single documents. The indexes are shared with the
  // registry.
  std::shared_ptr<const index::IndexSet> indexes = nullptr;
  std::unique_ptr<storage::Snapshot> snapshot = nullptr;
  model::Timestamp read_time = {};
  bool is_present = false;  // The snapshot itself is the state at the read time.
  std::string new_transaction = {};
  // For a read-write transaction: the owner of the locks on the scope.
  std::optional<transactions::LockOwner> locked_by = {};
  std::shared_ptr<void> use = nullptr;  // Owned by the view; ends the transaction's use.
  PauseFunction pause = nullptr;        // For a view opened for scans.
  MemoryBudget* memory = nullptr;       // For what a read keeps. Null: unlimited.
  // The engine's: history up to there may be gone. Null: all of it is there.
  const std::atomic<int64_t>* forgotten_micros = nullptr;
};

}  // namespace hearth::engine
