// Shared by the attacks: documents to attack with, raw calls, and what the server says of itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/testing/test_http2_client.h"
#include "process/process.h"

namespace hearth::attack {

namespace proto = support::proto;

// A client whose windows are closed: the server cannot send it any answer's body.
http::TestHttp2Options ReadsNothing();

// Opens a unary call and sends its whole request, without waiting for anything.
int32_t StartCall(http::TestHttp2Client& client, std::string_view method,
                  const google::protobuf::MessageLite& request);
// How many of the calls have ended.
size_t Finished(http::TestHttp2Client& client, const std::vector<int32_t>& streams);
// The request's frame.
std::string Framed(const google::protobuf::MessageLite& request);

// Creates `count` documents c/0, c/1, ... with a text of `bytes` and a number `n`.
void Fill(support::FirestoreClient& client, const std::string& collection, size_t count,
          size_t bytes);

proto::ListDocumentsRequest ListRequest(const std::string& collection, int32_t page_size);
// SELECT * FROM collection WHERE n = `number`.
proto::RunQueryRequest NumberQuery(const std::string& collection, int64_t number);
// Counts the documents whose text is "absent": it has to look at every one of them.
proto::RunAggregationQueryRequest LongCount(const std::string& collection);

// A value of /metrics, without labels; -1 if there is none. `data`: the server's folder, which has
// the administrator's token.
double Metric(uint16_t port, const std::string& data, std::string_view name);

}  // namespace hearth::attack
