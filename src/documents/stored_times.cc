#include "documents/stored_times.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/status_macros.h"
#include "documents/keys.h"
#include "model/document_key.h"

namespace hearth::documents {
namespace {

using model::Timestamp;

Result<Timestamp> LoadTime(const storage::Store& store, std::string_view key) {
  ASSIGN_OR_RETURN(const std::optional<std::string> stored, store.Get(storage::Space::kMeta, key));
  if (!stored) return Timestamp();
  ASSIGN_OR_RETURN(const uint64_t micros, model::DecodeUint64(*stored));
  return Timestamp::FromMicros(static_cast<int64_t>(micros));
}

}  // namespace

Result<Timestamp> LoadNewestCommitTime(const storage::Store& store) {
  return LoadTime(store, kCommitTimeKey);
}

Result<Timestamp> LoadNewestDeletionTime(const storage::Store& store) {
  return LoadTime(store, kDeletionTimeKey);
}

Result<Timestamp> LoadNewestTime(const storage::Store& store) {
  ASSIGN_OR_RETURN(const Timestamp commit_time, LoadTime(store, kCommitTimeKey));
  ASSIGN_OR_RETURN(const Timestamp read_time, LoadTime(store, kReadTimeKey));
  return std::max(commit_time, read_time);
}

}  // namespace hearth::documents
