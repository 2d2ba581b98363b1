#pragma once

#include <optional>
#include <string>

#include "execution/sort_key.h"
#include "model/names.h"
#include "model/record.h"
#include "query/normalize.h"
#include "watch/change.h"

namespace hearth::watch {

// Decides whether a document is a result of a query by looking at that document alone. Listeners
// ask it about each change, and transactions about each conflicting write.
//
// Threads: immutable. Ownership: owns the query, borrows the database's name.
class LiveQuery {
 public:
  LiveQuery(const model::DatabaseName& database, query::NormalizedQuery query);
  LiveQuery(const LiveQuery&) = delete;
  LiveQuery& operator=(const LiveQuery&) = delete;

  const query::NormalizedQuery& query() const { return query_; }
  const execution::Layout& layout() const { return layout_; }

  // Whether the document passes the filters and lies within the cursors: it is a result unless
  // offset or limit exclude it. `record` may be null.
  bool Contains(const model::DocumentPath& path, const model::Record& record) const;
  bool IsConcernedBy(const Change& change) const {
    return Contains(change.path, change.before) || Contains(change.path, change.after);
  }

  // The document's position among the results; nullopt if the document does not match.
  std::optional<std::string> PlaceOf(const model::DocumentPath& path,
                                     const model::Record& record) const;

  // True if offset or limit exclude results: then a document alone does not decide.
  bool HasWindow() const { return query_.query.limit.has_value() || query_.query.offset > 0; }

 private:
  const model::DatabaseName& database_;
  const query::NormalizedQuery query_;
  const execution::Layout layout_;
  const execution::Range cursors_;
};

}  // namespace hearth::watch
