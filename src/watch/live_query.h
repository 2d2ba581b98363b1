#pragma once

#include <optional>
#include <string>

#include "execution/sort_key.h"
#include "model/names.h"
#include "model/record.h"
#include "query/normalize.h"
#include "watch/change.h"

namespace hearth::watch {

// Tells whether documents are results of a query by looking at them alone: listeners ask it about
// each change, and transactions about each write that others want to make.
//
// Threads: immutable. Ownership: owns the query, borrows the database's name.
class LiveQuery {
 public:
  LiveQuery(const model::DatabaseName& database, query::NormalizedQuery query);
  LiveQuery(const LiveQuery&) = delete;
  LiveQuery& operator=(const LiveQuery&) = delete;

  const query::NormalizedQuery& query() const { return query_; }
  const execution::Layout& layout() const { return layout_; }

  // Whether the document passes the filters and lies within the cursors: it is a result, unless
  // offset or limit leave it out. `record` may be null.
  bool Contains(const model::DocumentPath& path, const model::Record& record) const;
  bool IsConcernedBy(const Change& change) const {
    return Contains(change.path, change.before) || Contains(change.path, change.after);
  }

  // The place among the results; nullopt where the document is none.
  std::optional<std::string> PlaceOf(const model::DocumentPath& path,
                                     const model::Record& record) const;

  // True when offset or limit leave results out: then a document alone does not tell.
  bool HasWindow() const { return query_.query.limit.has_value() || query_.query.offset > 0; }

 private:
  const model::DatabaseName& database_;
  const query::NormalizedQuery query_;
  const execution::Layout layout_;
  const execution::Range cursors_;
};

}  // namespace hearth::watch
