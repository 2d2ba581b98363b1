// Queries and writes as google.firestore.v1 messages: the inverse of wire/query_requests.h and
// wire/requests.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "google/firestore/v1/firestore.pb.h"
#include "google/firestore/v1/query.pb.h"
#include "model/names.h"
#include "model/timestamp.h"
#include "query/query.h"
#include "request/write.h"

namespace hearth::client {

namespace proto = ::google::firestore::v1;

void FillTime(model::Timestamp time, google::protobuf::Timestamp* message);

// The query without its parent. InvalidArgument for numbers and text that the protocol cannot
// carry.
Result<proto::StructuredQuery> MakeStructuredQuery(const query::Query& query);

Result<proto::StructuredAggregationQuery> MakeAggregationQuery(
    const query::Query& query, const std::vector<query::Aggregation>& aggregations);

// "projects/P/databases/D/documents", followed by the document's path if there is one.
std::string ParentText(const model::ParentName& parent);

// The bytes of one google.firestore.v1.Write. Fields are copied in their stored form, not
// converted.
Result<std::string> EncodeWrite(const model::DatabaseName& database, const request::Write& write);

}  // namespace hearth::client
