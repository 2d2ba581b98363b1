// Records as clients see them.
#pragma once

#include <optional>
#include <vector>

#include "client/transport.h"
#include "engine/query_run.h"
#include "model/field_path.h"
#include "model/record.h"
#include "query/query.h"

namespace hearth::client {

// Only the fields in `mask`, or all of them without a mask. A null record stays null.
model::Record Project(model::Record record,
                      const std::optional<std::vector<model::FieldPath>>& mask);

// Adds the distance to the fields if the query asks for it.
TransportDocument ToTransportDocument(const query::Query& query, request::QueryResult result,
                                      model::Timestamp read_time);

}  // namespace hearth::client
