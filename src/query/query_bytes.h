#pragma once

#include <cstddef>
#include <vector>

#include "model/field_path.h"
#include "query/normalize.h"

namespace hearth::query {

// Approximate memory use. Operands of filters are small, but values of cursors, parents and paths
// may have any size.
size_t BytesOf(const NormalizedQuery& query);
size_t BytesOf(const std::vector<model::FieldPath>& paths);

}  // namespace hearth::query
