// GetDocument, BatchGetDocuments, ListDocuments and ListCollectionIds.
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/listing.h"
#include "service/firestore_methods.h"
#include "wire/order_by.h"
#include "wire/responses.h"

namespace hearth::service {
namespace {

using documents::Database;
using engine::Engine;
using engine::ReadScope;
using engine::ReadView;
using model::Record;
using request::Consistency;
using wire::ReadMask;
namespace proto = wire::proto;

Result<std::string> AnswerGet(const std::string& name, const ReadMask& mask,
                              const Result<Record>& record) {
  if (!record.ok()) return record.status();
  if (!*record) return Status(Code::kNotFound, "Document \"" + name + "\" not found.");
  return wire::EncodeDocument(name, **record, mask);
}

bool IsQuick(const Result<Record>& record, const ReadMask& mask) {
  return !record.ok() || IsQuickToEncode(*record, mask);
}

// A GetDocument request, parsed.
struct Get {
  MemoryClaim kept_claim;
  documents::DatabaseHandle database;
  model::DocumentPath path;
  std::string name;
  ReadMask mask;
  Consistency consistency;

  static Result<Get> Parse(const Databases& databases, const rpc::Call& call,
                           std::string_view bytes, MemoryBudget* memory) {
    MemoryClaim kept(memory);
    RETURN_IF_ERROR(ClaimKept(bytes.size(), &kept));
    proto::GetDocumentRequest request;
    RETURN_IF_ERROR(wire::ParseMessage(bytes, &request));
    ASSIGN_OR_RETURN(model::DocumentName name, model::DocumentName::Parse(request.name()));
    ASSIGN_OR_RETURN(ReadMask mask, wire::ReadMaskOf(request));
    ASSIGN_OR_RETURN(Consistency consistency, wire::ReadConsistency(request));
    ASSIGN_OR_RETURN(documents::DatabaseHandle database, databases.Open(call, name.database));
    return Get{std::move(kept),      std::move(database),
               std::move(name.path), std::move(*request.mutable_name()),
               std::move(mask),      std::move(consistency)};
  }
};

// Documents in memory are answered on the event loop. After this much it has other things to do.
constexpr size_t kLoopBytesMax = size_t{256} * 1024;
constexpr size_t kLoopBytesPerDocument = size_t{1} * 1024;  // What a small one costs besides.

// One BatchGetDocuments: sends its results document by document, as fast as the client reads.
//
// Threads: one step at a time, on the call's loop while the documents are in memory, otherwise on a
// reader thread.
class BatchGet : public std::enable_shared_from_this<BatchGet> {
 public:
  BatchGet(Engine& engine, const Databases& databases, std::shared_ptr<rpc::Call> call)
      : engine_(engine),
        databases_(databases),
        call_(std::move(call)),
        kept_claim_(engine.memory()) {}

  void Start(std::string_view bytes) {
    if (Status status = Read(bytes); !status.ok()) call_->Finish(status);
  }

 private:
  enum class Where { kLoop, kReaderThread };

  Status Read(std::string_view bytes) {
    proto::BatchGetDocumentsRequest request;
    RETURN_IF_ERROR(wire::ParseMessage(bytes, &request));
    ASSIGN_OR_RETURN(const model::DatabaseName database_name,
                     model::DatabaseName::Parse(request.database()));
    const auto count = static_cast<size_t>(request.documents_size());
    RETURN_IF_ERROR(ClaimKept(bytes.size() + count * sizeof(model::DocumentPath), &kept_claim_));
    std::unordered_set<std::string_view> seen;
    for (std::string& text : *request.mutable_documents()) {
      if (seen.contains(text)) continue;
      ASSIGN_OR_RETURN(model::DocumentName name, model::DocumentName::Parse(text));
      RETURN_IF_ERROR(wire::CheckSameDatabase(database_name, name.database));
      seen.insert(text);
      paths_.push_back(std::move(name.path));
    }
    ASSIGN_OR_RETURN(mask_, wire::ReadMaskOf(request));
    ASSIGN_OR_RETURN(const Consistency consistency, wire::ReadConsistencyOrBegin(request));
    ASSIGN_OR_RETURN(const documents::DatabaseHandle database,
                     databases_.Open(*call_, database_name));
    name_prefix_ = database_name.text() + "/documents/";
    if (std::holds_alternative<request::Now>(consistency)) {
      Open(engine_.ReadNewest(*database));
      return Status();
    }
    ReadScope scope;
    scope.documents = paths_;
    engine_.Read(
        *database, ForClientOf(*call_, consistency), scope, call_->executor(),
        [self = shared_from_this()](Result<std::unique_ptr<ReadView>> view) {
          self->Open(std::move(view));
        },
        CallerOf(call_));
    return Status();
  }

  void Open(Result<std::unique_ptr<ReadView>> view) {
    if (!view.ok()) return call_->Finish(view.status());
    view_ = *std::move(view);
    if (!view_->new_transaction().empty()) {
      Send(wire::EncodeNewTransaction(view_->new_transaction()));
    }
    Continue(Where::kLoop);
  }

  void Continue(Where where) {
    size_t unwaited_bytes = 0;
    size_t loop_bytes = 0;
    for (; next_ < paths_.size(); ++next_) {
      if (call_->closed()) return;
      if (where == Where::kReaderThread) {
        const Status status = engine_.PauseReader(call_->end_token());
        if (!status.ok()) return call_->Finish(status);
      } else if (loop_bytes >= kLoopBytesMax) {
        return ContinueOnReaderThread();
      }
      if (unwaited_bytes >= kUnwaitedBytesMax || IsBehind(*call_)) {
        return call_->WhenWritable([self = shared_from_this()] { self->Continue(Where::kLoop); });
      }
      std::optional<Result<model::Record>> record = view_->GetIfInMemory(paths_[next_]);
      if (where == Where::kLoop && !(record && IsQuick(*record, mask_))) {
        return ContinueOnReaderThread();
      }
      if (!record) record = view_->Get(paths_[next_]);
      if (!record->ok()) return call_->Finish(record->status());
      loop_bytes += kLoopBytesPerDocument + (**record ? (**record)->size() : 0);
      std::string message = Encode(paths_[next_], **record);
      unwaited_bytes += message.size();
      Send(std::move(message));
    }
    view_.reset();  // Before the client sees the end: its next request may end the transaction.
    call_->Finish(Status());
  }

  void Send(std::string message) {
    has_answered_ = true;
    call_->Send(std::move(message));
  }

  void ContinueOnReaderThread() {
    Task go_on = [self = shared_from_this()] { self->Continue(Where::kReaderThread); };
    // What was answered so far would be lost if the rest were refused.
    if (has_answered_) return engine_.PostToReaders(KeyOf(*call_), std::move(go_on));
    const Status accepted = engine_.RunOnReaders(KeyOf(*call_), std::move(go_on));
    if (!accepted.ok()) call_->Finish(accepted);
  }

  std::string Encode(const model::DocumentPath& path, const model::Record& record) const {
    const std::string name = name_prefix_ + path.path();
    return record ? wire::EncodeFound(name, *record, mask_, view_->read_time())
                  : wire::EncodeMissing(name, view_->read_time());
  }

  Engine& engine_;
  const Databases& databases_;
  const std::shared_ptr<rpc::Call> call_;
  std::string name_prefix_;
  ReadMask mask_;
  std::vector<model::DocumentPath> paths_;
  MemoryClaim kept_claim_;  // For the paths.
  std::unique_ptr<ReadView> view_;
  size_t next_ = 0;
  bool has_answered_ = false;
};

Result<size_t> ReadPageSize(int32_t page_size, const char* message) {
  if (page_size < 0) return InvalidArgument(message);
  if (page_size == 0) return request::kPageSizeDefault;
  return std::min(static_cast<size_t>(page_size), request::kPageSizeMax);
}

// A ListDocuments request, parsed.
struct List {
  MemoryClaim kept_claim;
  documents::DatabaseHandle database;
  request::ListDocumentsRequest request;
  ReadMask mask;
  Consistency consistency;
  ReadScope scope;

  static Result<List> Parse(const Databases& databases, const rpc::Call& call,
                            std::string_view bytes, MemoryBudget* memory) {
    MemoryClaim kept(memory);
    RETURN_IF_ERROR(ClaimKept(bytes.size(), &kept));
    proto::ListDocumentsRequest message;
    RETURN_IF_ERROR(wire::ParseMessage(bytes, &message));
    ASSIGN_OR_RETURN(model::ParentName parent, model::ParentName::Parse(message.parent()));
    request::ListDocumentsRequest request{std::move(parent), message.collection_id()};
    request.page_token = message.page_token();
    request.show_missing = message.show_missing();
    ASSIGN_OR_RETURN(request.page_size,
                     ReadPageSize(message.page_size(), "Page size must be nonnegative."));
    ASSIGN_OR_RETURN(request.orders, wire::ParseOrderBy(message.order_by()));
    if (request.show_missing && !request.orders.empty()) {
      return InvalidArgument("cannot specify an order when show_missing is true");
    }
    if (request.show_missing && request.collection_id.empty()) {
      return InvalidArgument("collection id must be set when show_missing is true");
    }
    if (request.collection_id.empty() && !request.orders.empty()) {
      return InvalidArgument("kind is required for all orders except __key__ ascending");
    }
    ASSIGN_OR_RETURN(ReadScope scope, engine::ScopeOf(request));
    ASSIGN_OR_RETURN(ReadMask mask, wire::ReadMaskOf(message));
    ASSIGN_OR_RETURN(Consistency consistency, wire::ReadConsistency(message));
    ASSIGN_OR_RETURN(documents::DatabaseHandle database,
                     databases.Open(call, request.parent.database));
    return List{std::move(kept), std::move(database),    std::move(request),
                std::move(mask), std::move(consistency), std::move(scope)};
  }
};

}  // namespace

void FirestoreMethods::GetDocument(const Call& call, std::string_view request) {
  Result<Get> parsed = Get::Parse(databases_, *call, request, engine_.memory());
  if (!parsed.ok()) return call->Finish(parsed.status());
  if (std::holds_alternative<request::Now>(parsed->consistency)) {
    const auto record = engine_.GetNewestIfInMemory(*parsed->database, parsed->path);
    if (record && IsQuick(*record, parsed->mask)) {
      return call->Respond(AnswerGet(parsed->name, parsed->mask, *record));
    }
    return RunOnReaders(call, [this, call, get = *std::move(parsed)] {
      call->Respond(AnswerGet(get.name, get.mask, engine_.GetNewest(*get.database, get.path)));
    });
  }
  const Database& database = *parsed->database;
  Consistency consistency = std::move(parsed->consistency);
  ReadScope scope;
  scope.documents.push_back(parsed->path);
  ReadOnReaders(call, database, std::move(consistency), std::move(scope),
                [call, get = *std::move(parsed)](std::unique_ptr<ReadView> view) {
                  Result<std::string> answer = AnswerGet(get.name, get.mask, view->Get(get.path));
                  view.reset();
                  call->Respond(std::move(answer));
                });
}

void FirestoreMethods::BatchGetDocuments(const Call& call, std::string_view request) {
  std::make_shared<BatchGet>(engine_, databases_, call)->Start(request);
}

void FirestoreMethods::ListDocuments(const Call& call, std::string_view request) {
  if (Status room = engine_.CheckReaders(KeyOf(*call)); !room.ok()) return call->Finish(room);
  Result<List> parsed = List::Parse(databases_, *call, request, engine_.memory());
  if (!parsed.ok()) return call->Finish(parsed.status());
  const Database& database = *parsed->database;
  Consistency consistency = std::move(parsed->consistency);
  ReadScope scope = std::move(parsed->scope);
  ReadOnReaders(call, database, std::move(consistency), std::move(scope),
                [call, list = *std::move(parsed)](std::unique_ptr<ReadView> view) {
                  const Result<request::DocumentPage> page =
                      engine::ListDocuments(*view, list.request);
                  view.reset();
                  if (!page.ok()) return call->Finish(page.status());
                  call->Respond(wire::EncodeDocumentPage(list.database->name, *page, list.mask));
                });
}

void FirestoreMethods::ListCollectionIds(const Call& call, std::string_view bytes) {
  const auto start = [&]() -> Status {
    MemoryClaim kept(engine_.memory());
    RETURN_IF_ERROR(ClaimKept(bytes.size(), &kept));
    proto::ListCollectionIdsRequest message;
    RETURN_IF_ERROR(wire::ParseMessage(bytes, &message));
    ASSIGN_OR_RETURN(model::ParentName parent, model::ParentName::Parse(message.parent()));
    ASSIGN_OR_RETURN(
        const size_t page_size,
        ReadPageSize(message.page_size(), "page_size must be greater than or equal to zero."));
    Consistency consistency = request::Now{};
    if (message.has_read_time()) {
      ASSIGN_OR_RETURN(consistency, wire::ReadTime(message.read_time()));
    }
    ASSIGN_OR_RETURN(const documents::DatabaseHandle database,
                     databases_.Open(*call, parent.database));
    ReadScope scope;
    scope.access = ReadScope::Access::kScans;
    ReadOnReaders(call, *database, std::move(consistency), std::move(scope),
                  [call, kept = std::move(kept), parent = std::move(parent), page_size,
                   token = message.page_token()](std::unique_ptr<ReadView> view) {
                    const Result<request::CollectionIdPage> page =
                        engine::ListCollectionIds(*view, parent, page_size, token);
                    view.reset();
                    if (!page.ok()) return call->Finish(page.status());
                    call->Respond(wire::EncodeCollectionIdPage(*page));
                  });
    return Status();
  };
  if (const Status status = start(); !status.ok()) call->Finish(status);
}

}  // namespace hearth::service
