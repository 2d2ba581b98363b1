#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pause.h"
#include "base/status.h"
#include "documents/database.h"
#include "model/names.h"
#include "model/record.h"
#include "model/timestamp.h"
#include "query/normalize.h"
#include "request/query_result.h"
#include "watch/change.h"
#include "watch/watch_memory.h"

namespace hearth::watch {

// Bounds the changes held in memory together, and the bytes of their records.
struct ChangesMax {
  size_t count;
  size_t bytes;
};

// The results of a query, one by one. Threads: one at a time. Errors: those of the store.
class Results {
 public:
  virtual ~Results() = default;
  // nullopt after the last one. May wait for the disk.
  virtual Result<std::optional<request::QueryResult>> Next() = 0;
};

// What watchers read: databases at given moments, and the changes between two moments. All
// functions may wait for the disk, and for commits at or before the moment.
//
// Threads: safe for concurrent use. Errors: those of the store.
class Reader {
 public:
  virtual ~Reader() = default;

  // An error if the query cannot be listened to.
  virtual Status Check(const documents::Database& database,
                       const query::NormalizedQuery& query) = 0;

  // Next calls `pause` often, and fails with its errors.
  virtual Result<std::unique_ptr<Results>> Query(const documents::Database& database,
                                                 query::NormalizedQuery query,
                                                 model::Timestamp read_time,
                                                 PauseFunction pause) = 0;
  virtual Result<size_t> Count(const documents::Database& database, query::NormalizedQuery query,
                               model::Timestamp read_time, PauseFunction pause) = 0;
  // The document's record; null if the document does not exist.
  virtual Result<model::Record> Get(const documents::Database& database,
                                    const model::DocumentPath& path,
                                    model::Timestamp read_time) = 0;

  // Whether the changes since `time` are still available. Those of a deleted database of that name
  // are not.
  virtual bool IsInHistory(const documents::Database& database, model::Timestamp time) const = 0;
  // The documents selected by `concerns` that differ between two moments; nullopt if there are more
  // than `max` or `memory` allows, or if finding them takes reading too many others. `memory` is
  // charged for them. `pause` as above.
  virtual Result<std::optional<std::vector<Change>>> ChangesBetween(
      const documents::Database& database, model::Timestamp from, model::Timestamp to,
      const std::function<bool(const model::DocumentPath&)>& concerns, const ChangesMax& max,
      WatchMemory* memory, PauseFunction pause) = 0;

  // Encodes a moment from which a listener can resume. Decoding returns nullopt for a token that
  // this store did not issue.
  virtual std::string ResumeToken(model::Timestamp read_time) const = 0;
  virtual std::optional<model::Timestamp> ReadResumeToken(std::string_view token) const = 0;
};

}  // namespace hearth::watch
