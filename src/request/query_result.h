#pragma once

#include <optional>

#include "model/names.h"
#include "model/record.h"

namespace hearth::request {

// One document of a query's answer.
struct QueryResult {
  model::DocumentPath path;
  model::Record record;            // Never null.
  std::optional<double> distance;  // For nearest-neighbour queries.
};

}  // namespace hearth::request
