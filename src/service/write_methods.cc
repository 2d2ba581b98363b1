// CreateDocument, UpdateDocument, DeleteDocument, Commit, BatchWrite, and the start and end of
// transactions.
#include <string>
#include <utility>
#include <vector>

#include "base/memory_budget.h"
#include "base/status_macros.h"
#include "model/document.h"
#include "service/firestore_methods.h"
#include "wire/responses.h"

namespace hearth::service {
namespace {

using documents::Database;
using engine::Engine;
using request::CommitResult;
using request::Write;
using wire::ReadMask;
namespace proto = wire::proto;

// One write to one document, answered with the document.
struct SingleWrite {
  documents::DatabaseHandle database;
  Write write;
  ReadMask mask;
};

Result<SingleWrite> ParseCreate(Engine& engine, const Databases& databases, const rpc::Call& call,
                                std::string_view bytes) {
  proto::CreateDocumentRequest request;
  RETURN_IF_ERROR(wire::ParseMessage(bytes, &request));
  ASSIGN_OR_RETURN(const model::ParentName parent, model::ParentName::Parse(request.parent()));
  if (request.collection_id().empty()) return InvalidArgument("collectionId is the empty string.");
  if (!request.document().name().empty()) return InvalidArgument("document.name must not be set");
  ASSIGN_OR_RETURN(const model::CollectionPath collection,
                   parent.Collection(request.collection_id()));
  ASSIGN_OR_RETURN(model::DocumentPath path,
                   collection.Document(request.document_id().empty() ? engine.NewDocumentId()
                                                                     : request.document_id()));
  Write write{std::move(path), request::WriteKind::kUpdate, {}, {}, {}, {}};
  ASSIGN_OR_RETURN(write.fields, wire::ReadFields(request.mutable_document()));
  write.precondition.exists = false;
  ASSIGN_OR_RETURN(ReadMask mask, wire::ReadMaskOf(request));
  ASSIGN_OR_RETURN(documents::DatabaseHandle database, databases.Open(call, parent.database));
  return SingleWrite{std::move(database), std::move(write), std::move(mask)};
}

Result<SingleWrite> ParseUpdate(const Databases& databases, const rpc::Call& call,
                                std::string_view bytes) {
  proto::UpdateDocumentRequest request;
  RETURN_IF_ERROR(wire::ParseMessage(bytes, &request));
  ASSIGN_OR_RETURN(model::DocumentName name, model::DocumentName::Parse(request.document().name()));
  Write write{std::move(name.path), request::WriteKind::kUpdate, {}, {}, {}, {}};
  ASSIGN_OR_RETURN(write.fields, wire::ReadFields(request.mutable_document()));
  if (request.has_update_mask()) {
    ASSIGN_OR_RETURN(write.mask, wire::ReadFieldPaths(request.update_mask()));
  }
  ASSIGN_OR_RETURN(write.precondition, wire::ReadPrecondition(request.current_document()));
  ASSIGN_OR_RETURN(ReadMask mask, wire::ReadMaskOf(request));
  ASSIGN_OR_RETURN(documents::DatabaseHandle database, databases.Open(call, name.database));
  return SingleWrite{std::move(database), std::move(write), std::move(mask)};
}

Result<SingleWrite> ParseDelete(const Databases& databases, const rpc::Call& call,
                                std::string_view bytes) {
  proto::DeleteDocumentRequest request;
  RETURN_IF_ERROR(wire::ParseMessage(bytes, &request));
  ASSIGN_OR_RETURN(model::DocumentName name, model::DocumentName::Parse(request.name()));
  Write write{std::move(name.path), request::WriteKind::kDelete, {}, {}, {}, {}};
  ASSIGN_OR_RETURN(write.precondition, wire::ReadPrecondition(request.current_document()));
  ASSIGN_OR_RETURN(documents::DatabaseHandle database, databases.Open(call, name.database));
  return SingleWrite{std::move(database), std::move(write), std::nullopt};
}

void AnswerSingle(const std::shared_ptr<rpc::Call>& call, const std::string& name,
                  const model::Record& document, const ReadMask& mask) {
  call->Respond(document ? wire::EncodeDocument(name, *document, mask) : std::string());
}

// Commits the write, and answers with the resulting document, if there is one.
void CommitSingle(Engine& engine, const std::shared_ptr<rpc::Call>& call,
                  Result<SingleWrite> single) {
  if (!single.ok()) return call->Finish(single.status());
  Database& database = *single->database;
  std::string name = database.name.text() + "/documents/" + single->write.path.path();
  std::vector<request::Write> writes;
  writes.push_back(std::move(single->write));
  engine.Commit(
      database, std::move(writes), "", call->executor(),
      [&engine, call, name = std::move(name),
       mask = std::move(single->mask)](const Result<CommitResult>& result) mutable {
        if (!result.ok()) return call->Finish(result.status());
        const model::Record& document = result->write_results.at(0).document;
        if (IsQuickToEncode(document, mask)) return AnswerSingle(call, name, document, mask);
        // The document has been written: a full queue must not refuse this.
        engine.PostToReaders(KeyOf(*call),
                             [call, name = std::move(name), mask = std::move(mask), document] {
                               AnswerSingle(call, name, document, mask);
                             });
      },
      KeyOf(*call));
}

// One BatchWrite: every write is a commit of its own, and several are in progress at a time.
//
// Threads: the call's loop.
class BatchWriter : public std::enable_shared_from_this<BatchWriter> {
 public:
  static constexpr size_t kCommitsUnderWayMax = 256;
  static constexpr size_t kBytesPerOutcome =
      sizeof(Result<CommitResult>) + sizeof(request::WriteResult) + 2 * model::kRecordBytesMin;

  BatchWriter(Engine& engine, std::shared_ptr<rpc::Call> call, documents::DatabaseHandle database,
              std::vector<request::Write> writes, MemoryClaim kept)
      : engine_(engine),
        call_(std::move(call)),
        database_(std::move(database)),
        kept_claim_(std::move(kept)),
        writes_(std::move(writes)),
        outcomes_(writes_.size(), Status(Code::kInternal, "not written")),
        unfinished_(writes_.size()) {}

  void Start() {
    if (writes_.empty()) return Answer();
    const size_t first_commits = std::min(kCommitsUnderWayMax, writes_.size());
    for (size_t i = 0; i < first_commits; ++i) CommitNext();
  }

 private:
  void CommitNext() {
    const size_t index = next_++;
    if (index >= writes_.size()) return;
    std::vector<request::Write> writes;
    writes.push_back(std::move(writes_[index]));
    engine_.Commit(
        *database_, std::move(writes), "", call_->executor(),
        [self = shared_from_this(), index](Result<CommitResult> outcome) {
          self->OnCommitted(index, std::move(outcome));
        },
        KeyOf(*call_));
  }

  void OnCommitted(size_t index, Result<CommitResult> outcome) {
    // The answer has only its times. All the documents together would be much.
    if (outcome.ok() && !outcome->write_results.empty()) {
      model::Record& document = outcome->write_results.front().document;
      if (document) {
        document = std::make_shared<const std::string>(*document, 0, model::kRecordBytesMin);
      }
    }
    outcomes_[index] = std::move(outcome);
    const bool is_last = --unfinished_ == 0;
    if (!is_last) return CommitNext();
    if (outcomes_.size() <= kLoopResultsMax) return Answer();
    engine_.PostToReaders(KeyOf(*call_), [self = shared_from_this()] { self->Answer(); });
  }

  void Answer() { call_->Respond(wire::EncodeBatchWrite(outcomes_)); }

  Engine& engine_;
  const std::shared_ptr<rpc::Call> call_;
  const documents::DatabaseHandle database_;
  const MemoryClaim kept_claim_;  // For the writes and their outcomes.
  std::vector<request::Write> writes_;
  std::vector<Result<CommitResult>> outcomes_;
  size_t next_ = 0;
  size_t unfinished_;
};

void AnswerCommit(Engine& engine, const std::shared_ptr<rpc::Call>& call,
                  Result<CommitResult> result) {
  if (!result.ok()) return call->Finish(result.status());
  if (result->write_results.size() <= kLoopResultsMax) {
    return call->Respond(wire::EncodeCommit(*result));
  }
  engine.PostToReaders(KeyOf(*call), [call, result = *std::move(result)] {
    call->Respond(wire::EncodeCommit(result));
  });
}

}  // namespace

void FirestoreMethods::CreateDocument(const Call& call, std::string_view request) {
  CommitSingle(engine_, call, ParseCreate(engine_, databases_, *call, request));
}

void FirestoreMethods::UpdateDocument(const Call& call, std::string_view request) {
  CommitSingle(engine_, call, ParseUpdate(databases_, *call, request));
}

void FirestoreMethods::DeleteDocument(const Call& call, std::string_view request) {
  CommitSingle(engine_, call, ParseDelete(databases_, *call, request));
}

void FirestoreMethods::Commit(const Call& call, std::string_view request) {
  const auto start = [&]() -> Status {
    proto::CommitRequest message;
    RETURN_IF_ERROR(wire::ParseMessage(request, &message));
    ASSIGN_OR_RETURN(const model::DatabaseName name,
                     model::DatabaseName::Parse(message.database()));
    ASSIGN_OR_RETURN(std::vector<request::Write> writes,
                     wire::ReadWrites(name, message.mutable_writes()));
    ASSIGN_OR_RETURN(documents::DatabaseHandle database, databases_.Open(*call, name));
    engine_.Commit(
        *database, std::move(writes), message.transaction(), call->executor(),
        [this, call](Result<CommitResult> result) {
          AnswerCommit(engine_, call, std::move(result));
        },
        KeyOf(*call));
    return Status();
  };
  if (const Status status = start(); !status.ok()) call->Finish(status);
}

void FirestoreMethods::BatchWrite(const Call& call, std::string_view request) {
  const auto start = [&]() -> Status {
    proto::BatchWriteRequest message;
    RETURN_IF_ERROR(wire::ParseMessage(request, &message));
    ASSIGN_OR_RETURN(const model::DatabaseName name,
                     model::DatabaseName::Parse(message.database()));
    ASSIGN_OR_RETURN(std::vector<request::Write> writes,
                     wire::ReadWrites(name, message.mutable_writes()));
    RETURN_IF_ERROR(request::CheckEachDocumentOnce(writes));
    MemoryClaim kept(engine_.memory());
    RETURN_IF_ERROR(ClaimKept(
        request::ApproximateBytes(writes) + writes.size() * BatchWriter::kBytesPerOutcome, &kept));
    ASSIGN_OR_RETURN(documents::DatabaseHandle database, databases_.Open(*call, name));
    auto writer = std::make_shared<BatchWriter>(engine_, call, std::move(database),
                                                std::move(writes), std::move(kept));
    call->executor().Post([writer = std::move(writer)] { writer->Start(); });
    return Status();
  };
  if (const Status status = start(); !status.ok()) call->Finish(status);
}

void FirestoreMethods::BeginTransaction(const Call& call, std::string_view request) {
  const auto begin = [&]() -> Result<std::string> {
    proto::BeginTransactionRequest message;
    RETURN_IF_ERROR(wire::ParseMessage(request, &message));
    ASSIGN_OR_RETURN(const model::DatabaseName name,
                     model::DatabaseName::Parse(message.database()));
    ASSIGN_OR_RETURN(const request::TransactionOptions options,
                     wire::ReadTransactionOptions(message.options(),
                                                  request::TransactionOptions::Mode::kReadWrite));
    ASSIGN_OR_RETURN(const documents::DatabaseHandle database, databases_.Open(*call, name));
    ASSIGN_OR_RETURN(const std::string transaction,
                     engine_.BeginTransaction(*database, options, call->client()));
    return wire::EncodeBeginTransaction(transaction);
  };
  call->Respond(begin());
}

void FirestoreMethods::Rollback(const Call& call, std::string_view request) {
  const auto roll_back = [&]() -> Result<std::string> {
    proto::RollbackRequest message;
    RETURN_IF_ERROR(wire::ParseMessage(request, &message));
    ASSIGN_OR_RETURN(const model::DatabaseName name,
                     model::DatabaseName::Parse(message.database()));
    ASSIGN_OR_RETURN(const documents::DatabaseHandle database, databases_.Open(*call, name));
    RETURN_IF_ERROR(engine_.Rollback(*database, message.transaction()));
    return std::string();  // google.protobuf.Empty.
  };
  call->Respond(roll_back());
}

}  // namespace hearth::service
