#include "cases/runner/rpc.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <utility>

namespace hearth::cases {
namespace {

using Messages = std::vector<std::string>;

template <typename Response>
std::vector<Response> Parse(const Messages& messages) {
  std::vector<Response> responses(messages.size());
  for (size_t i = 0; i < messages.size(); ++i) {
    if (!responses[i].ParseFromString(messages[i])) responses[i].Clear();
  }
  return responses;
}

// The only message of an answer.
template <typename Response>
Response ParseOne(const Messages& messages) {
  Response response;
  if (messages.size() != 1 || !response.ParseFromString(messages.front())) response.Clear();
  return response;
}

AnsweredDocument Found(const proto::Document& document) { return {document.name(), document}; }

// One overload per method.
void Decode(const proto::CommitRequest&, const Messages& messages, Answer* answer) {
  const auto response = ParseOne<proto::CommitResponse>(messages);
  answer->write_results.assign(response.write_results().begin(), response.write_results().end());
  if (response.has_commit_time()) answer->commit_time = response.commit_time();
}

void Decode(const proto::BatchWriteRequest&, const Messages& messages, Answer* answer) {
  const auto response = ParseOne<proto::BatchWriteResponse>(messages);
  answer->write_results.assign(response.write_results().begin(), response.write_results().end());
  for (const google::rpc::Status& status : response.status()) {
    answer->write_statuses.emplace_back(static_cast<Code>(status.code()), status.message());
  }
}

void Decode(const proto::CreateDocumentRequest&, const Messages& messages, Answer* answer) {
  answer->documents.push_back(Found(ParseOne<proto::Document>(messages)));
}

void Decode(const proto::UpdateDocumentRequest&, const Messages& messages, Answer* answer) {
  answer->documents.push_back(Found(ParseOne<proto::Document>(messages)));
}

void Decode(const proto::DeleteDocumentRequest&, const Messages&, Answer*) {}

void Decode(const proto::GetDocumentRequest&, const Messages& messages, Answer* answer) {
  answer->documents.push_back(Found(ParseOne<proto::Document>(messages)));
}

void Decode(const proto::BatchGetDocumentsRequest&, const Messages& messages, Answer* answer) {
  for (const auto& response : Parse<proto::BatchGetDocumentsResponse>(messages)) {
    if (!response.transaction().empty()) answer->transaction = response.transaction();
    if (response.has_read_time()) answer->read_time = response.read_time();
    if (response.has_found()) {
      answer->documents.push_back(Found(response.found()));
    } else if (!response.missing().empty()) {
      answer->documents.push_back({response.missing()});
    }
  }
}

void Decode(const proto::ListDocumentsRequest&, const Messages& messages, Answer* answer) {
  const auto response = ParseOne<proto::ListDocumentsResponse>(messages);
  for (const proto::Document& document : response.documents()) {
    // Documents that only exist as parents of others have no times.
    if (document.has_create_time()) {
      answer->documents.push_back(Found(document));
    } else {
      answer->documents.push_back({document.name()});
    }
  }
  answer->next_page_token = response.next_page_token();
}

void Decode(const proto::ListCollectionIdsRequest&, const Messages& messages, Answer* answer) {
  const auto response = ParseOne<proto::ListCollectionIdsResponse>(messages);
  answer->collection_ids.assign(response.collection_ids().begin(), response.collection_ids().end());
  answer->next_page_token = response.next_page_token();
}

void Decode(const proto::RunQueryRequest&, const Messages& messages, Answer* answer) {
  for (const auto& response : Parse<proto::RunQueryResponse>(messages)) {
    if (!response.transaction().empty()) answer->transaction = response.transaction();
    if (response.has_read_time()) answer->read_time = response.read_time();
    if (response.has_document()) answer->documents.push_back(Found(response.document()));
    if (response.has_explain_metrics()) answer->explain = response.explain_metrics();
  }
}

void Decode(const proto::RunAggregationQueryRequest& request, const Messages& messages,
            Answer* answer) {
  for (const auto& response : Parse<proto::RunAggregationQueryResponse>(messages)) {
    if (!response.transaction().empty()) answer->transaction = response.transaction();
    if (response.has_read_time()) answer->read_time = response.read_time();
    if (response.has_explain_metrics()) answer->explain = response.explain_metrics();
    if (!response.has_result()) continue;
    const auto& fields = response.result().aggregate_fields();
    for (const auto& each : request.structured_aggregation_query().aggregations()) {
      const auto found = fields.find(each.alias());
      answer->aggregates.push_back(found == fields.end() ? proto::Value() : found->second);
    }
  }
}

void Decode(const proto::PartitionQueryRequest&, const Messages& messages, Answer* answer) {
  const auto response = ParseOne<proto::PartitionQueryResponse>(messages);
  for (const proto::Cursor& cursor : response.partitions()) {
    proto::Document document;
    document.set_name(cursor.values_size() == 1 ? cursor.values(0).reference_value() : "");
    answer->documents.push_back(Found(document));
  }
  answer->next_page_token = response.next_page_token();
}

void Decode(const proto::BeginTransactionRequest&, const Messages& messages, Answer* answer) {
  answer->transaction = ParseOne<proto::BeginTransactionResponse>(messages).transaction();
}

void Decode(const proto::ExecutePipelineRequest&, const Messages&, Answer*) {}
void Decode(const proto::RollbackRequest&, const Messages&, Answer*) {}

class DecodedCall final : public Pending {
 public:
  DecodedCall(Operation operation, std::unique_ptr<PendingRpc> call)
      : operation_(std::move(operation)), call_(std::move(call)) {}

  bool IsDone() override { return call_->IsDone(); }
  Answer Wait() override { return DecodeAnswer(operation_, call_->Wait()); }

 private:
  const Operation operation_;
  const std::unique_ptr<PendingRpc> call_;
};

class RpcSession final : public Session {
 public:
  RpcSession(std::unique_ptr<RpcChannel> channel, std::string database)
      : channel_(std::move(channel)), database_(std::move(database)) {}

  std::unique_ptr<Pending> Start(const Operation& operation) override {
    Request request = operation.request;
    if (operation.is_limit_to_last) {
      if (auto* query = std::get_if<proto::RunQueryRequest>(&request)) {
        TurnRound(query->mutable_structured_query());
      }
    }
    return std::make_unique<DecodedCall>(operation, channel_->Start(request));
  }

  std::unique_ptr<Listeners> Listen() override { return NewStreamListeners(*channel_, database_); }

 private:
  const std::unique_ptr<RpcChannel> channel_;
  const std::string database_;
};

class StreamListeners final : public Listeners {
 public:
  StreamListeners(RpcChannel& channel, std::string database)
      : stream_(channel.OpenStream("Listen", database)), database_(std::move(database)) {}

  std::optional<std::string> Add(const proto::Target& target) override {
    proto::ListenRequest request;
    request.set_database(database_);
    *request.mutable_add_target() = target;
    stream_->Send(request);
    return std::nullopt;
  }

  void Remove(int target_id) override {
    proto::ListenRequest request;
    request.set_database(database_);
    request.set_remove_target(target_id);
    stream_->Send(request);
  }

  Status Advance(WatchState* state) override {
    const Result<std::string> message = stream_->Receive();
    if (message.ok()) {
      proto::ListenResponse response;
      if (!response.ParseFromString(*message)) {
        return Status(Code::kInternal, "a message that does not parse");
      }
      state->Apply(response);
    } else if (message.status() == OutOfPatience()) {
      return message.status();
    } else {
      state->ApplyEnd(message.status());
    }
    return Status();
  }

 private:
  const std::unique_ptr<RpcStream> stream_;
  const std::string database_;
};

}  // namespace

std::unique_ptr<Session> NewRpcSession(std::unique_ptr<RpcChannel> channel, std::string database) {
  return std::make_unique<RpcSession>(std::move(channel), std::move(database));
}

std::unique_ptr<Listeners> NewStreamListeners(RpcChannel& channel, std::string database) {
  return std::make_unique<StreamListeners>(channel, std::move(database));
}

Answer DecodeAnswer(const Operation& operation, const Result<Messages>& messages) {
  Answer answer;
  answer.status = messages.status();
  if (answer.status.ok()) {
    std::visit([&](const auto& request) { Decode(request, *messages, &answer); },
               operation.request);
  } else if (const auto* get = std::get_if<proto::GetDocumentRequest>(&operation.request)) {
    if (answer.status.code() == Code::kNotFound) answer.documents.push_back({get->name()});
  }
  if (operation.is_limit_to_last) std::reverse(answer.documents.begin(), answer.documents.end());
  return answer;
}

std::optional<std::string> WhyNotJson(const google::protobuf::Message& message) {
  std::string json;
  if (google::protobuf::util::MessageToJsonString(message, &json).ok()) return std::nullopt;
  return "JSON cannot say this";
}

void TurnRound(proto::StructuredQuery* query) {
  for (auto& order : *query->mutable_order_by()) {
    order.set_direction(order.direction() == proto::StructuredQuery::DESCENDING
                            ? proto::StructuredQuery::ASCENDING
                            : proto::StructuredQuery::DESCENDING);
  }
  proto::StructuredQuery turned = *query;
  turned.clear_start_at();
  turned.clear_end_at();
  if (query->has_start_at()) {
    *turned.mutable_end_at() = query->start_at();
    turned.mutable_end_at()->set_before(!query->start_at().before());
  }
  if (query->has_end_at()) {
    *turned.mutable_start_at() = query->end_at();
    turned.mutable_start_at()->set_before(!query->end_at().before());
  }
  *query = std::move(turned);
}

}  // namespace hearth::cases
