// Queries and writes as google.firestore.v1 spells them: the way back of wire/query_requests.h and
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

// "projects/P/databases/D/documents", with the document's path where there is one.
std::string ParentText(const model::ParentName& parent);

// The bytes of one google.firestore.v1.Write. Fields go out as they are stored: they are copied,
// not converted.
Result<std::string> EncodeWrite(const model::DatabaseName& database, const request::Write& write);

}  // namespace hearth::client
