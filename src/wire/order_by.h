#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "query/query.h"

namespace hearth::wire {

inline constexpr size_t kOrdersMax = 100;  // Firestore's limit for filters and orders together.

// ListDocumentsRequest.order_by: field paths with an optional "asc" or "desc", separated by
// commas: "size desc, `last name`". Empty text gives no orders. InvalidArgument for anything else.
Result<std::vector<query::Order>> ParseOrderBy(std::string_view text);

}  // namespace hearth::wire
