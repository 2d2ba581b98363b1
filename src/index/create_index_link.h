// What Firestore answers to a query that lacks an index: why, and a link that creates it.
#pragma once

#include <cstdint>
#include <string>

#include "index/definition.h"
#include "index/index_config.h"
#include "model/names.h"

namespace hearth::index {

enum class RangeFilters : uint8_t { kOnOneFieldAtMost, kOnSeveralFields };

// The message of the FAILED_PRECONDITION. An index of one field, in the direction that the field
// implies for the name, is one that automatic indexing could have made: the link then leads to the
// field's own settings. Any other index is a composite one.
std::string MissingIndexMessage(const model::DatabaseName& database, const Definition& definition,
                                RangeFilters range_filters);

// The same for a nearest-neighbour search. The console cannot make such an index, so this names a
// command.
std::string MissingVectorIndexMessage(const model::DatabaseName& database,
                                      const VectorIndex& index);

}  // namespace hearth::index
