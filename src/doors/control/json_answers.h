// Databases, indexes, TTL policies and errors as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "base/status.h"
#include "documents/database.h"
#include "expiry/ttl_sweeper.h"
#include "http/plain.h"
#include "index/index_set.h"

namespace hearth::doors::control {

using Json = nlohmann::ordered_json;  // Keys stay in the order in which they are added.

http::PlainAnswer JsonAnswer(const Json& json);
// Google's form, {"error": {"code": 404, "message": …, "status": "NOT_FOUND"}}.
http::PlainAnswer ErrorAnswer(const Status& status);
http::PlainAnswer ErrorAnswer(int http_status, const Status& status);

Json DatabaseJson(const documents::Database& database, uint64_t size_bytes);
Json IndexJson(const index::Index& index, uint64_t size_bytes);
Json TtlJson(const expiry::TtlStatus& status);

}  // namespace hearth::doors::control
