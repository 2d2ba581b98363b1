#pragma once

#include "engine/write.h"
#include "watch/live_query.h"

namespace hearth::engine {

// Whether `write` could make its document a result of the query, by what the write alone tells:
// false only if that is out of the question, whatever the document holds now. Cursors, offset and
// limit are left aside.
bool MayEnter(const watch::LiveQuery& query, const model::DatabaseName& database,
              const Write& write);

}  // namespace hearth::engine
