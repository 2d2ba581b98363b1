#include "client/transaction.h"

#include <utility>

#include "base/status_macros.h"
#include "client/document_reads.h"
#include "client/transport.h"

namespace hearth::client {

Transaction::Transaction(std::shared_ptr<Transport> transport, std::string id)
    : transport_(transport), id_(std::move(id)), batch_(std::move(transport)) {}

Status Transaction::CheckBeforeRead() const {
  if (batch_.size() == 0 && batch_.error_.ok()) return Status();
  return Status(Code::kFailedPrecondition,
                "Firestore transactions require all reads to be executed before all writes.");
}

template <typename T>
Result<T> Transaction::Noted(Result<T> answer) {
  if (!answer.ok()) read_error_ = answer.status().code();
  return answer;
}

Result<DocumentSnapshot> Transaction::Get(const DocumentReference& document) {
  ASSIGN_OR_RETURN(std::vector<DocumentSnapshot> snapshots, GetAll({document}));
  return std::move(snapshots.at(0));
}

Result<std::vector<DocumentSnapshot>> Transaction::GetAll(
    const std::vector<DocumentReference>& documents) {
  RETURN_IF_ERROR(CheckBeforeRead());
  return Noted(ReadDocuments(transport_, documents, std::nullopt, ReadMoment{.transaction = id_}));
}

Result<QuerySnapshot> Transaction::Get(const Query& query) {
  RETURN_IF_ERROR(CheckBeforeRead());
  return Noted(query.Run(ReadMoment{.transaction = id_}));
}

Result<std::vector<Value>> Transaction::Aggregate(const Query& query,
                                                  const std::vector<AggregateField>& fields) {
  RETURN_IF_ERROR(CheckBeforeRead());
  return Noted(query.RunAggregate(fields, ReadMoment{.transaction = id_}));
}

void Transaction::Create(const DocumentReference& document, const Map& data) {
  batch_.Create(document, data);
}

void Transaction::Set(const DocumentReference& document, const Map& data,
                      const SetOptions& options) {
  batch_.Set(document, data, options);
}

void Transaction::Update(const DocumentReference& document, const Map& data,
                         const Precondition& precondition) {
  batch_.Update(document, data, precondition);
}

void Transaction::Delete(const DocumentReference& document, const Precondition& precondition) {
  batch_.Delete(document, precondition);
}

}  // namespace hearth::client
