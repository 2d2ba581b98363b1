#pragma once

#include <memory>

#include "model/timestamp.h"
#include "query/source.h"
#include "storage/store.h"

namespace hearth::engine {

using query::DocumentCursor;

// The documents of the snapshot itself.
std::unique_ptr<DocumentCursor> NewPresentCursor(const storage::Snapshot& snapshot,
                                                 storage::KeyRange range,
                                                 storage::Direction direction);

// The documents as they were at `read_time`: those of the snapshot, with what later commits
// replaced put back.
std::unique_ptr<DocumentCursor> NewPastCursor(const storage::Snapshot& snapshot,
                                              storage::KeyRange range, model::Timestamp read_time);

}  // namespace hearth::engine
