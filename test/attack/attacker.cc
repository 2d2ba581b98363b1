#include "attack/attacker.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>

namespace hearth::attack {
namespace {

// While memory is scarce, a large commit may be refused. Like the SDKs, this tries again.
void Commit(support::FirestoreClient& client, const proto::CommitRequest& request) {
  const auto end = std::chrono::steady_clock::now() + support::kPatience;
  Status status = client.Commit(request).status();
  while (status.code() == Code::kResourceExhausted && std::chrono::steady_clock::now() < end) {
    status = client.Commit(request).status();
  }
  ASSERT_EQ(status, Status());
}

}  // namespace

http::TestHttp2Options ReadsNothing() { return {.stream_window_bytes = 0, .opens_windows = false}; }

std::string Framed(const google::protobuf::MessageLite& request) {
  return http::TestFrame(request.SerializeAsString());
}

int32_t StartCall(http::TestHttp2Client& client, std::string_view method,
                  const google::protobuf::MessageLite& request) {
  const int32_t stream = client.OpenGrpc(support::MethodPath(method));
  client.SendBody(stream, Framed(request));
  client.EndBody(stream);
  return stream;
}

void Fill(support::FirestoreClient& client, const std::string& collection, size_t count,
          size_t bytes) {
  constexpr size_t kWritesMax = 500;
  constexpr size_t kCommitBytesMax = 8 * 1024 * 1024;
  const std::string text(bytes, 't');
  proto::CommitRequest request;
  request.set_database(support::kDatabase);
  for (size_t i = 0; i < count; ++i) {
    proto::Document& document = *request.add_writes()->mutable_update();
    document.set_name(support::FullName(collection + "/" + std::to_string(i)));
    (*document.mutable_fields())["text"].set_string_value(text);
    (*document.mutable_fields())["n"].set_integer_value(static_cast<int64_t>(i));
    const auto writes = static_cast<size_t>(request.writes_size());
    if (writes < kWritesMax && writes * bytes < kCommitBytesMax && i + 1 < count) continue;
    Commit(client, request);
    request.clear_writes();
  }
}

proto::ListDocumentsRequest ListRequest(const std::string& collection, int32_t page_size) {
  proto::ListDocumentsRequest request;
  request.set_parent(std::string(support::kDatabase) + "/documents");
  request.set_collection_id(collection);
  request.set_page_size(page_size);
  return request;
}

proto::RunQueryRequest NumberQuery(const std::string& collection, int64_t number) {
  proto::RunQueryRequest request;
  request.set_parent(std::string(support::kDatabase) + "/documents");
  proto::StructuredQuery& query = *request.mutable_structured_query();
  query.add_from()->set_collection_id(collection);
  proto::StructuredQuery::FieldFilter& filter = *query.mutable_where()->mutable_field_filter();
  filter.mutable_field()->set_field_path("n");
  filter.set_op(proto::StructuredQuery::FieldFilter::EQUAL);
  filter.mutable_value()->set_integer_value(number);
  return request;
}

proto::RunAggregationQueryRequest LongCount(const std::string& collection) {
  proto::RunAggregationQueryRequest request;
  request.set_parent(std::string(support::kDatabase) + "/documents");
  proto::StructuredAggregationQuery& count = *request.mutable_structured_aggregation_query();
  proto::StructuredAggregationQuery::Aggregation& aggregation = *count.add_aggregations();
  aggregation.set_alias("count");
  aggregation.mutable_count();
  proto::StructuredQuery& query = *count.mutable_structured_query();
  query.add_from()->set_collection_id(collection);
  // A vector search would use an index; a filter on a field that no document has, too.
  proto::StructuredQuery::FieldFilter& filter = *query.mutable_where()->mutable_field_filter();
  filter.mutable_field()->set_field_path("text");
  filter.set_op(proto::StructuredQuery::FieldFilter::NOT_EQUAL);
  filter.mutable_value()->set_string_value("absent");
  return request;
}

size_t Finished(http::TestHttp2Client& client, const std::vector<int32_t>& streams) {
  return static_cast<size_t>(std::ranges::count_if(
      streams, [&client](int32_t stream) { return client.answer(stream).closed; }));
}

double Metric(uint16_t port, const std::string& data, std::string_view name) {
  std::string token;
  std::ifstream(data + "/admin.token") >> token;
  http::TestHttp2Client client(port);
  const int32_t stream = client.Open("GET", "/metrics", {{"authorization", "Bearer " + token}});
  client.UntilClosed(stream);
  const std::string& text = client.answer(stream).body;
  const std::string line = "\n" + std::string(name) + " ";
  const size_t found = text.find(line);
  return found == std::string::npos ? -1 : std::atof(text.c_str() + found + line.size());
}

}  // namespace hearth::attack
