#include "client/firestore.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/status_macros.h"
#include "client/backoff.h"
#include "client/document_reads.h"

namespace hearth::client {
namespace {

// The smallest id that a document can have.
constexpr std::string_view kLeastId = "__id-9223372036854775808__";

// Whether a transaction that failed with this error may succeed on a retry.
bool MayCommitLater(const Status& error) {
  switch (error.code()) {
    case Code::kAborted:
    case Code::kCancelled:
    case Code::kUnknown:
    case Code::kDeadlineExceeded:
    case Code::kInternal:
    case Code::kUnavailable:
    case Code::kUnauthenticated:
    case Code::kResourceExhausted:
      return true;
    case Code::kInvalidArgument:
      return error.message().find("transaction has expired") != std::string::npos;
    default:
      return false;
  }
}

Result<query::Query> CollectionGroupQuery(const Transport& transport, std::string_view id) {
  if (id.find('/') != std::string_view::npos) {
    return InvalidArgument("Invalid collectionId '" + std::string(id) +
                           "'. Collection IDs must not contain '/'.");
  }
  RETURN_IF_ERROR(model::ValidateCollectionId(id));
  query::Query query{model::ParentName{transport.database(), ""}, std::string(id)};
  query.all_descendants = true;
  return query;
}

// The names of all documents at any depth below `parent`: a document's path, or empty.
query::Query Descendants(const Transport& transport, std::string_view parent) {
  query::Query query{model::ParentName{transport.database(), std::string(parent)}, ""};
  query.all_descendants = true;
  query.select.emplace();
  return query;
}

query::Filter NameFilter(query::Operator op, const std::string& name) {
  return {
      query::FieldFilter{*model::FieldPath::Parse("__name__"), op, model::EncodeReference(name)}};
}

// The same for a collection: the names below its parent that start like those of its documents.
query::Query Descendants(const Transport& transport, const model::CollectionPath& collection) {
  query::Query query = Descendants(transport, collection.parent());
  const std::string name = transport.database().text() + "/documents/" + collection.path();
  const std::string least = '/' + std::string(kLeastId);
  query::CompositeFilter within{query::CompositeFilter::Operator::kAnd, {}};
  within.filters.push_back(NameFilter(query::Operator::kGreaterOrEqual, name + least));
  within.filters.push_back(NameFilter(query::Operator::kLess, name + '\0' + least));
  query.where = query::Filter{std::move(within)};
  return query;
}

}  // namespace

Firestore::Firestore(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

CollectionReference Firestore::Collection(std::string_view path) const {
  return CollectionReference(transport_, model::CollectionPath::Parse(path));
}

DocumentReference Firestore::Doc(std::string_view path) const {
  return DocumentReference(transport_, model::DocumentPath::Parse(path));
}

Query Firestore::CollectionGroup(std::string_view collection_id) const {
  return Query(transport_, CollectionGroupQuery(*transport_, collection_id));
}

Result<std::vector<CollectionReference>> Firestore::ListCollections() const {
  ASSIGN_OR_RETURN(const std::vector<std::string> ids, transport_->ListCollectionIds(""));
  std::vector<CollectionReference> collections;
  for (const std::string& id : ids) collections.push_back(Collection(id));
  return collections;
}

Result<std::vector<DocumentSnapshot>> Firestore::GetAll(
    const std::vector<DocumentReference>& documents, const GetAllOptions& options) const {
  std::optional<std::vector<model::FieldPath>> mask;
  if (options.field_mask) {
    mask.emplace();
    for (const std::string& text : *options.field_mask) {
      ASSIGN_OR_RETURN(model::FieldPath path, model::FieldPath::Parse(text));
      mask->push_back(std::move(path));
    }
  }
  return ReadDocuments(transport_, documents, mask, ReadMoment{.read_time = options.read_time});
}

WriteBatch Firestore::Batch() const { return WriteBatch(transport_); }

BulkWriter Firestore::Bulk(BulkWriterOptions options, BulkWriter::OnError on_error) const {
  return BulkWriter(transport_, options, std::move(on_error));
}

Firestore::AttemptOutcome Firestore::TryTransaction(const Attempt& attempt,
                                                    const std::string& id) const {
  Transaction transaction(transport_, id);
  if (Status status = attempt(transaction); !status.ok()) {
    const bool is_from_database = transaction.IsFromDatabase(status);
    return {status, is_from_database && MayCommitLater(status)};
  }
  if (!transaction.batch_.error_.ok()) return {transaction.batch_.error_, false};
  Status status = transaction.batch_.CommitIn(id).status();
  const bool may_retry = MayCommitLater(status);
  return {std::move(status), may_retry};
}

Status Firestore::RunTransaction(const Attempt& attempt, const TransactionOptions& options) const {
  if (options.read_time && !options.read_only) {
    return InvalidArgument("Only a read-only transaction can have a read time.");
  }
  // A read-only transaction has no conflicts.
  const size_t attempts_max = options.read_only ? 1 : std::max<size_t>(options.attempts_max, 1);
  BeginOptions begin{options.read_only, options.read_time};
  for (size_t attempts = 1;; ++attempts) {
    const Result<std::string> id = transport_->BeginTransaction(begin);
    AttemptOutcome outcome{id.status(), MayCommitLater(id.status())};
    if (id.ok()) {
      outcome = TryTransaction(attempt, *id);
      if (outcome.status.ok()) return Status();
      IgnoreError(transport_->Rollback(*id), "it may have ended already; if not, it will");
      begin.retry_transaction = *id;
    }
    if (!outcome.may_succeed_later || attempts >= attempts_max) return outcome.status;
    std::this_thread::sleep_for(PauseAfter(attempts, *transport_));
  }
}

Status Firestore::DeleteResults(const query::Query& query, BulkWriter* writer) const {
  const auto remove = [this, writer](const TransportDocument& document) {
    writer->Delete(DocumentReference(transport_, document.path));
    return true;
  };
  return transport_->Query(query, ReadMoment{}, remove).status();
}

Status Firestore::RecursiveDelete(const DocumentReference& document) const {
  ASSIGN_OR_RETURN(const model::DocumentPath path, document.parsed_path());
  BulkWriter writer = Bulk();
  const Status status = DeleteResults(Descendants(*transport_, path.path()), &writer);
  if (status.ok()) writer.Delete(document);
  const Status written = writer.Flush();
  return status.ok() ? written : status;
}

Status Firestore::RecursiveDelete(const CollectionReference& collection) const {
  ASSIGN_OR_RETURN(const model::CollectionPath path, collection.parsed_path());
  BulkWriter writer = Bulk();
  const Status status = DeleteResults(Descendants(*transport_, path), &writer);
  const Status written = writer.Flush();
  return status.ok() ? written : status;
}

}  // namespace hearth::client
