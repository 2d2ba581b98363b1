// Firestore's error for a query that lacks an index: the reason, and a link that creates the index.
#pragma once

#include <cstdint>
#include <string>

#include "index/definition.h"
#include "index/index_config.h"
#include "model/names.h"

namespace hearth::index {

enum class RangeFilters : uint8_t { kOnOneFieldAtMost, kOnSeveralFields };

// The message of the FAILED_PRECONDITION. Automatic indexing could have created an index of one
// field whose name has the direction that the field implies: for it the link leads to the field's
// own settings. Any other index is a composite one.
std::string MissingIndexMessage(const model::DatabaseName& database, const Definition& definition,
                                RangeFilters range_filters);

// The same for a nearest-neighbour search. The console cannot create such an index, so the message
// has a command instead.
std::string MissingVectorIndexMessage(const model::DatabaseName& database,
                                      const VectorIndex& index);

}  // namespace hearth::index
