#pragma once

#include "request/write.h"
#include "watch/live_query.h"

namespace hearth::transactions {

// Whether `write` could make its document a result of the query, by what the write alone tells:
// false only if that is out of the question, whatever the document holds now. Cursors, offset and
// limit are left aside.
bool MayEnter(const watch::LiveQuery& query, const model::DatabaseName& database,
              const request::Write& write);

}  // namespace hearth::transactions
