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

// Only the fields in `mask`; all where there is none. A null record stays null.
model::Record Project(model::Record record,
                      const std::optional<std::vector<model::FieldPath>>& mask);

// With the distance among the fields where the query asks for that.
TransportDocument ToTransportDocument(const query::Query& query, request::QueryResult result,
                                      model::Timestamp read_time);

}  // namespace hearth::client
