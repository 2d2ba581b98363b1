#pragma once

#include "request/write.h"
#include "watch/live_query.h"

namespace hearth::transactions {

// Whether `write` could make its document a result of the query, judging by the write alone: false
// only if that is impossible whatever the document holds now. Ignores cursors, offset and limit.
bool MayEnter(const watch::LiveQuery& query, const model::DatabaseName& database,
              const request::Write& write);

}  // namespace hearth::transactions
