// A step's request to a database, and the answer, independent of the door.
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

// One request. A door without such a method achieves the same in another way, or reports that it
// cannot.
struct Operation {
  Request request;
  // The limit is for the query's last results. No request can express that: clients reverse the
  // query.
  bool is_limit_to_last = false;
  // The whole list is wanted, page by page.
  bool is_all_pages = false;
  // The name for the transaction that this request begins.
  std::string new_transaction = {};
};

// "Commit" and so on.
std::string MethodOf(const Request& request);
const google::protobuf::Message& MessageOf(const Request& request);

// A document that was requested or found. Without `document` it does not exist.
struct AnsweredDocument {
  std::string name;
  std::optional<proto::Document> document = {};
};

struct Answer {
  Status status = {};
  std::vector<AnsweredDocument> documents = {};
  std::vector<std::string> collection_ids = {};
  std::vector<proto::WriteResult> write_results = {};
  std::vector<Status> write_statuses = {};  // Of a batch, one per write.
  std::vector<proto::Value> aggregates = {};
  std::optional<Time> commit_time = {};
  std::optional<Time> read_time = {};
  std::string next_page_token = {};
  std::string transaction = {};
  std::optional<proto::ExplainMetrics> explain = {};
  // Why the door could not do it, if that only shows during execution.
  std::string not_possible = {};
};

// Parts of an answer that not every door reports.
enum class Detail : uint8_t {
  kNone,        // Every door reports it.
  kCommitTime,  // The time of a commit, and that a deletion has no update time.
  kTransformResults,
  kNotFoundMessage,  // That GetDocument fails for a missing document.
  kMessages,         // The messages of a Listen stream.
  kBatchError,       // That a batch failed as a whole, instead of its writes.
  kBatchTimes,       // The update times of a batch's writes.
};

}  // namespace hearth::cases
