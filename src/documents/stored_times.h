#pragma once

#include "base/status.h"
#include "model/timestamp.h"
#include "storage/store.h"

namespace hearth::documents {

// The time of the newest commit on disk; the epoch if there is none.
Result<model::Timestamp> LoadNewestCommitTime(const storage::Store& store);

// The time of the newest deletion of a database; the epoch if there is none.
Result<model::Timestamp> LoadNewestDeletionTime(const storage::Store& store);

// The newest moment on disk that was handed out, to a commit or to a reader.
Result<model::Timestamp> LoadNewestTime(const storage::Store& store);

}  // namespace hearth::documents
