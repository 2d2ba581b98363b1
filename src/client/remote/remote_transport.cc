#include "client/remote/remote_transport.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/status_macros.h"
#include "client/remote/query_proto.h"
#include "google/firestore/v1/firestore.pb.h"
#include "model/document.h"
#include "model/document_id.h"
#include "model/fields.h"
#include "model/wire_format.h"
#include "wire/requests.h"

namespace hearth::client {
namespace {

using model::DocumentName;
using model::DocumentPath;
using model::FieldPath;
using model::Fields;
using model::Timestamp;
using std::chrono::milliseconds;

constexpr int kPageSize = 300;
// CommitRequest.writes and BatchWriteRequest.writes.
constexpr uint32_t kRequestWrites = 2;

Status Malformed(std::string_view what) {
  return Status(Code::kInternal, "the server's answer is malformed: " + std::string(what));
}

Status ParseAnswer(std::string_view bytes, google::protobuf::MessageLite* message) {
  if (wire::ParseMessage(bytes, message).ok()) return Status();
  return Malformed("not a " + message->GetTypeName());
}

Result<Timestamp> TimeOf(const google::protobuf::Timestamp& time) {
  const Result<Timestamp> result = Timestamp::FromParts(time.seconds(), time.nanos());
  if (!result.ok()) return Malformed(result.status().message());
  return result;
}

Result<DocumentPath> PathOf(const std::string& name) {
  Result<DocumentName> parsed = DocumentName::Parse(name);
  if (!parsed.ok()) return Malformed(parsed.status().message());
  return std::move(parsed->path);
}

// Moves the contents out of `document`.
Result<model::Record> RecordOf(proto::Document* document) {
  ASSIGN_OR_RETURN(const Timestamp create_time, TimeOf(document->create_time()));
  ASSIGN_OR_RETURN(const Timestamp update_time, TimeOf(document->update_time()));
  const Result<Fields> fields = wire::ReadFields(document);
  if (!fields.ok()) return Malformed(fields.status().message());
  return std::make_shared<const std::string>(
      model::EncodeRecord(create_time, update_time, *fields));
}

// The distance is in the field that the query names.
std::optional<double> DistanceIn(const query::Query& query, const std::string& record) {
  if (!query.nearest || !query.nearest->distance_result_field) return std::nullopt;
  const std::optional<model::ValueView> distance =
      model::FindField(model::RecordFields(record), *query.nearest->distance_result_field);
  if (!distance || !distance->IsNumber()) return std::nullopt;
  return distance->number();
}

template <typename Request>
void FillMoment(const ReadMoment& moment, Request* request) {
  if (!moment.transaction.empty()) {
    request->set_transaction(moment.transaction);
  } else if (moment.read_time) {
    FillTime(*moment.read_time, request->mutable_read_time());
  }
}

void FillMask(const std::vector<FieldPath>& paths, proto::DocumentMask* mask) {
  for (const FieldPath& path : paths) mask->add_field_paths(path.ToString());
}

Result<TransportWriteResult> WriteResultOf(const proto::WriteResult& result, Timestamp otherwise) {
  if (!result.has_update_time()) return TransportWriteResult{otherwise};
  ASSIGN_OR_RETURN(const Timestamp time, TimeOf(result.update_time()));
  return TransportWriteResult{time};
}

// The values of a routing header are encoded like those of a URL's query. Of the characters in
// names, only the colon must be escaped.
std::string RoutingParameters(const model::DatabaseName& database) {
  std::string project;
  for (const char c : database.project()) {
    if (c == ':') {
      project += "%3A";
    } else {
      project += c;
    }
  }
  return "project_id=" + project + "&database_id=" + std::string(database.database());
}

}  // namespace

RemoteTransport::RemoteTransport(Options options)
    : options_(std::move(options)), channel_(options_.channel) {}

std::string RemoteTransport::NewDocumentId() { return model::NewDocumentId(random_); }

GrpcOutcome RemoteTransport::CallOnce(GrpcRequest* request, const OnAnswer& on_answer,
                                      bool* was_answered) {
  const Result<std::string> authorization = options_.authorization();
  if (!authorization.ok()) return {authorization.status(), false};
  request->headers = {{"authorization", *authorization},
                      {"google-cloud-resource-prefix", options_.database.text()},
                      {"x-goog-request-params", RoutingParameters(options_.database)}};
  Status refused;
  GrpcOutcome outcome = channel_.Call(*request, [&](std::string_view message) {
    *was_answered = true;
    const Result<bool> wants_more = on_answer(message);
    refused = wants_more.status();
    return wants_more.ok() && *wants_more;
  });
  if (!refused.ok()) outcome.status = refused;
  return outcome;
}

Status RemoteTransport::CallStream(std::string_view method, std::string message, Repeat repeat,
                                   const OnAnswer& on_answer) {
  GrpcRequest request{"/google.firestore.v1.Firestore/" + std::string(method), std::move(message)};
  milliseconds pause = kFirstPause;
  for (size_t attempt = 1;; ++attempt) {
    bool was_answered = false;
    const GrpcOutcome outcome = CallOnce(&request, on_answer, &was_answered);
    const bool may_repeat = repeat == Repeat::kIfUnsent ? !outcome.was_sent : !was_answered;
    if (outcome.status.code() != Code::kUnavailable || !may_repeat ||
        attempt >= options_.attempts_max) {
      return outcome.status;
    }
    // Half of the pause is random, so that clients that lost their server together do not return
    // together.
    const int64_t half = pause.count() / 2;
    options_.pause(milliseconds(
        half + static_cast<int64_t>(random_.Next() % static_cast<uint64_t>(half + 1))));
    pause = std::min(pause * 2, kPauseMax);
  }
}

Status RemoteTransport::CallUnary(std::string_view method, std::string message, Repeat repeat,
                                  google::protobuf::MessageLite* response) {
  size_t answers = 0;
  const auto take = [&](std::string_view answer) -> Result<bool> {
    if (++answers > 1) return Malformed("more than one message");
    RETURN_IF_ERROR(ParseAnswer(answer, response));
    return true;
  };
  RETURN_IF_ERROR(CallStream(method, std::move(message), repeat, take));
  return answers == 1 ? Status() : Malformed("no message");
}

Result<Transport::Documents> RemoteTransport::Get(const std::vector<DocumentPath>& paths,
                                                  const std::optional<std::vector<FieldPath>>& mask,
                                                  const ReadMoment& moment) {
  proto::BatchGetDocumentsRequest request;
  request.set_database(options_.database.text());
  for (const DocumentPath& path : paths) {
    request.add_documents(options_.database.text() + "/documents/" + path.path());
  }
  if (mask) FillMask(*mask, request.mutable_mask());
  FillMoment(moment, &request);

  std::unordered_map<std::string, model::Record> records;  // By full name.
  Documents result;
  const auto take = [&](std::string_view bytes) -> Result<bool> {
    proto::BatchGetDocumentsResponse response;
    RETURN_IF_ERROR(ParseAnswer(bytes, &response));
    if (response.has_read_time()) {
      ASSIGN_OR_RETURN(result.read_time, TimeOf(response.read_time()));
    }
    if (response.has_found()) {
      std::string name = response.found().name();
      ASSIGN_OR_RETURN(records[std::move(name)], RecordOf(response.mutable_found()));
    } else if (response.result_case() == proto::BatchGetDocumentsResponse::kMissing) {
      records[response.missing()] = nullptr;
    }
    return true;
  };
  RETURN_IF_ERROR(
      CallStream("BatchGetDocuments", request.SerializeAsString(), Repeat::kIfUnanswered, take));
  result.documents.reserve(paths.size());
  for (size_t i = 0; i < paths.size(); ++i) {
    const auto record = records.find(request.documents(static_cast<int>(i)));
    if (record == records.end()) return Malformed("a document is neither found nor missing");
    result.documents.push_back({paths[i], record->second, {}, {}});
  }
  return result;
}

Result<Timestamp> RemoteTransport::Query(const query::Query& query, const ReadMoment& moment,
                                         const OnResult& on_result) {
  proto::RunQueryRequest request;
  request.set_parent(ParentText(query.parent));
  ASSIGN_OR_RETURN(*request.mutable_structured_query(), MakeStructuredQuery(query));
  FillMoment(moment, &request);
  Timestamp read_time;
  const auto take = [&](std::string_view bytes) -> Result<bool> {
    proto::RunQueryResponse response;
    RETURN_IF_ERROR(ParseAnswer(bytes, &response));
    if (response.has_read_time()) {
      ASSIGN_OR_RETURN(read_time, TimeOf(response.read_time()));
    }
    if (!response.has_document()) return true;
    ASSIGN_OR_RETURN(DocumentPath path, PathOf(response.document().name()));
    ASSIGN_OR_RETURN(model::Record record, RecordOf(response.mutable_document()));
    const std::optional<double> distance = DistanceIn(query, *record);
    return on_result({std::move(path), std::move(record), distance, read_time});
  };
  RETURN_IF_ERROR(CallStream("RunQuery", request.SerializeAsString(), Repeat::kIfUnanswered, take));
  return read_time;
}

Result<Transport::Aggregates> RemoteTransport::Aggregate(
    const query::Query& query, const std::vector<query::Aggregation>& aggregations,
    const ReadMoment& moment) {
  proto::RunAggregationQueryRequest request;
  request.set_parent(ParentText(query.parent));
  ASSIGN_OR_RETURN(*request.mutable_structured_aggregation_query(),
                   MakeAggregationQuery(query, aggregations));
  FillMoment(moment, &request);
  Aggregates result;
  const auto take = [&](std::string_view bytes) -> Result<bool> {
    proto::RunAggregationQueryResponse response;
    RETURN_IF_ERROR(ParseAnswer(bytes, &response));
    if (response.has_read_time()) {
      ASSIGN_OR_RETURN(result.read_time, TimeOf(response.read_time()));
    }
    if (!response.has_result()) return true;
    result.values.clear();
    for (const query::Aggregation& aggregation : aggregations) {
      const auto value = response.result().aggregate_fields().find(aggregation.alias);
      if (value == response.result().aggregate_fields().end()) {
        return Malformed("no " + aggregation.alias);
      }
      const Result<std::string> encoded = wire::ReadValue(value->second);
      if (!encoded.ok()) return Malformed(encoded.status().message());
      result.values.push_back(Decode(model::ValueView(*encoded)));
    }
    return true;
  };
  RETURN_IF_ERROR(
      CallStream("RunAggregationQuery", request.SerializeAsString(), Repeat::kIfUnanswered, take));
  if (result.values.size() != aggregations.size()) return Malformed("no result");
  return result;
}

Result<std::string> RemoteTransport::EncodeWrites(const std::vector<request::Write>& writes) const {
  std::string bytes;
  for (const request::Write& write : writes) {
    ASSIGN_OR_RETURN(const std::string encoded, EncodeWrite(options_.database, write));
    model::AppendBytes(model::WireTag(kRequestWrites, model::WireType::kBytes), encoded, &bytes);
  }
  return bytes;
}

Result<TransportCommit> RemoteTransport::Commit(std::vector<request::Write> writes,
                                                const std::string& transaction) {
  proto::CommitRequest request;
  request.set_database(options_.database.text());
  request.set_transaction(transaction);
  ASSIGN_OR_RETURN(const std::string encoded, EncodeWrites(writes));
  proto::CommitResponse response;
  RETURN_IF_ERROR(
      CallUnary("Commit", request.SerializeAsString() + encoded, Repeat::kIfUnsent, &response));
  if (static_cast<size_t>(response.write_results_size()) != writes.size()) {
    return Malformed("not one result for each write");
  }
  TransportCommit commit;
  ASSIGN_OR_RETURN(commit.commit_time, TimeOf(response.commit_time()));
  for (const proto::WriteResult& write_result : response.write_results()) {
    ASSIGN_OR_RETURN(const TransportWriteResult read,
                     WriteResultOf(write_result, commit.commit_time));
    commit.results.push_back(read);
  }
  return commit;
}

Result<std::vector<Result<TransportWriteResult>>> RemoteTransport::BatchWrite(
    std::vector<request::Write> writes) {
  proto::BatchWriteRequest request;
  request.set_database(options_.database.text());
  ASSIGN_OR_RETURN(const std::string encoded, EncodeWrites(writes));
  proto::BatchWriteResponse response;
  RETURN_IF_ERROR(
      CallUnary("BatchWrite", request.SerializeAsString() + encoded, Repeat::kIfUnsent, &response));
  const int count = static_cast<int>(writes.size());
  if (response.status_size() != count || response.write_results_size() != count) {
    return Malformed("not one result for each write");
  }
  std::vector<Result<TransportWriteResult>> results;
  for (int i = 0; i < count; ++i) {
    const auto& status = response.status(i);
    if (status.code() != 0) {
      const bool is_known = status.code() > 0 && status.code() <= 16;
      results.push_back(
          Status(is_known ? static_cast<Code>(status.code()) : Code::kUnknown, status.message()));
    } else {
      results.push_back(WriteResultOf(response.write_results(i), Timestamp()));
    }
  }
  return results;
}

Result<std::string> RemoteTransport::BeginTransaction(const BeginOptions& options) {
  proto::BeginTransactionRequest request;
  request.set_database(options_.database.text());
  if (options.read_only) {
    auto& read_only = *request.mutable_options()->mutable_read_only();
    if (options.read_time) FillTime(*options.read_time, read_only.mutable_read_time());
  } else {
    auto& read_write = *request.mutable_options()->mutable_read_write();
    read_write.set_retry_transaction(options.retry_transaction);
  }
  proto::BeginTransactionResponse response;
  RETURN_IF_ERROR(
      CallUnary("BeginTransaction", request.SerializeAsString(), Repeat::kIfUnanswered, &response));
  return response.transaction();
}

Status RemoteTransport::Rollback(const std::string& transaction) {
  proto::RollbackRequest request;
  request.set_database(options_.database.text());
  request.set_transaction(transaction);
  google::protobuf::Empty response;
  return CallUnary("Rollback", request.SerializeAsString(), Repeat::kIfUnanswered, &response);
}

Result<std::vector<std::string>> RemoteTransport::ListCollectionIds(
    const std::string& parent_document_path) {
  proto::ListCollectionIdsRequest request;
  request.set_parent(ParentText({options_.database, parent_document_path}));
  request.set_page_size(kPageSize);
  std::vector<std::string> ids;
  proto::ListCollectionIdsResponse response;
  do {
    request.set_page_token(response.next_page_token());
    RETURN_IF_ERROR(CallUnary("ListCollectionIds", request.SerializeAsString(),
                              Repeat::kIfUnanswered, &response));
    for (std::string& id : *response.mutable_collection_ids()) ids.push_back(std::move(id));
  } while (!response.next_page_token().empty());
  return ids;
}

Result<std::vector<DocumentPath>> RemoteTransport::ListDocumentPaths(
    const model::CollectionPath& collection) {
  proto::ListDocumentsRequest request;
  request.set_parent(ParentText({options_.database, std::string(collection.parent())}));
  request.set_collection_id(std::string(collection.id()));
  request.set_page_size(kPageSize);
  request.set_show_missing(true);
  request.mutable_mask();  // No fields.
  std::vector<DocumentPath> paths;
  proto::ListDocumentsResponse response;
  do {
    request.set_page_token(response.next_page_token());
    RETURN_IF_ERROR(
        CallUnary("ListDocuments", request.SerializeAsString(), Repeat::kIfUnanswered, &response));
    for (const proto::Document& document : response.documents()) {
      ASSIGN_OR_RETURN(DocumentPath path, PathOf(document.name()));
      paths.push_back(std::move(path));
    }
  } while (!response.next_page_token().empty());
  return paths;
}

Result<std::unique_ptr<TransportListener>> RemoteTransport::Listen(ListenTarget, OnState) {
  return Status(Code::kUnimplemented,
                "listeners need an embedded database (OpenEmbedded); they are not implemented over "
                "the network yet");
}

}  // namespace hearth::client
