// What a step asks of a database, and what it answers, whatever the door.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "cases/runner/values.h"
#include "google/firestore/v1/firestore.pb.h"

namespace hearth::cases {

using Request = std::variant<
    proto::CommitRequest, proto::BatchWriteRequest, proto::CreateDocumentRequest,
    proto::UpdateDocumentRequest, proto::DeleteDocumentRequest, proto::GetDocumentRequest,
    proto::BatchGetDocumentsRequest, proto::ListDocumentsRequest, proto::ListCollectionIdsRequest,
    proto::RunQueryRequest, proto::RunAggregationQueryRequest, proto::PartitionQueryRequest,
    proto::ExecutePipelineRequest, proto::BeginTransactionRequest, proto::RollbackRequest>;

// One request. Doors that have no such method do the same in their own way, or say that they
// cannot.
struct Operation {
  Request request;
  // The query's limit is for its last results. No request says that: clients turn the query round.
  bool is_limit_to_last = false;
  // A list is wanted whole, page by page.
  bool is_all_pages = false;
  // The name that the transaction which this begins is to have.
  std::string new_transaction = {};
};

// "Commit" and so on.
std::string MethodOf(const Request& request);
const google::protobuf::Message& MessageOf(const Request& request);

// A document that was asked for or found. Without `document` it does not exist.
struct AnsweredDocument {
  std::string name;
  std::optional<proto::Document> document = {};
};

struct Answer {
  Status status = {};
  std::vector<AnsweredDocument> documents = {};
  std::vector<std::string> collection_ids = {};
  std::vector<proto::WriteResult> write_results = {};
  std::vector<Status> write_statuses = {};  // Of a batch, one a write.
  std::vector<proto::Value> aggregates = {};
  std::optional<Time> commit_time = {};
  std::optional<Time> read_time = {};
  std::string next_page_token = {};
  std::string transaction = {};
  std::optional<proto::ExplainMetrics> explain = {};
  // Why the door could not do what was asked, where that shows only when it is done.
  std::string not_possible = {};
};

// What an answer can say that not every door passes on.
enum class Detail : uint8_t {
  kNone,        // Every door does.
  kCommitTime,  // When a commit happened, and that what it deleted has no time.
  kTransformResults,
  kNotFoundMessage,  // That GetDocument fails where there is no document.
  kMessages,         // What a Listen stream carries.
};

}  // namespace hearth::cases
