// Listen: live targets over a long-lived stream.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "rpc/message_batch.h"
#include "service/firestore_methods.h"
#include "service/stream_database.h"
#include "watch/watcher.h"
#include "wire/listen.h"
#include "wire/parse_memory.h"

namespace hearth::service {
namespace {

using engine::Engine;
using request::TargetId;
using watch::Watcher;
namespace proto = wire::proto;

using Call = std::shared_ptr<rpc::Call>;

// While this many requests are queued, no more are received.
constexpr size_t kWaitingRequestsMax = 64;

// A client's stream as the watcher's sink.
class CallSink final : public watch::WatchSink {
 public:
  CallSink(Call call, const model::DatabaseName& database)
      : call_(std::move(call)), database_(database) {}

  void Send(const request::TargetEvent& event) override { Add(wire::EncodeTargetChange(event)); }
  void Send(const request::DocumentEvent& event) override {
    Add(wire::EncodeDocumentChange(database_, event));
  }
  void Send(const request::DocumentGoneEvent& event) override {
    Add(wire::EncodeDocumentGone(database_, event));
  }
  void Send(const request::ExistenceFilterEvent& event) override {
    Add(wire::EncodeExistenceFilter(event));
  }
  void Flush() override {
    if (!batch_.empty()) call_->Send(std::exchange(batch_, {}));
  }
  bool IsFull() const override { return unwaited_bytes_ >= http::kSendBufferLowBytes; }
  void WhenWritable(Task callback) override {
    Flush();
    unwaited_bytes_ = 0;
    call_->WhenWritable(std::move(callback));
  }
  void OnRequestTaken(size_t waiting) override {
    if (waiting < kWaitingRequestsMax / 2) call_->ResumeReceiving();
  }
  void End(const Status& status) override { call_->Finish(std::exchange(batch_, {}), status); }
  bool closed() const override { return call_->closed(); }

 private:
  void Add(const std::string& message) {
    unwaited_bytes_ += message.size();
    batch_.Add(message);
  }

  const Call call_;
  const model::DatabaseName& database_;
  rpc::MessageBatch batch_;
  size_t unwaited_bytes_ = 0;
};

// Assigns ids to targets for clients that leave it to the server. A stream uses either client ids
// or server ids.
class TargetNames {
 public:
  Result<TargetId> NameOf(TargetId asked_for) {
    if (asked_for < 0) {
      return InvalidArgument("Invalid target id: " + std::to_string(asked_for));
    }
    const bool is_by_server = asked_for == 0;
    if (is_by_server_.value_or(is_by_server) != is_by_server) {
      return InvalidArgument(
          "Target ids must be assigned either all by the client or all by the server.");
    }
    is_by_server_ = is_by_server;
    return is_by_server ? ++last_ : asked_for;
  }

 private:
  std::optional<bool> is_by_server_;
  TargetId last_ = 0;
};

class ListenStream final : public rpc::Receiver {
 public:
  ListenStream(Engine& engine, const Databases& databases, MemoryBudget* memory, Call call)
      : engine_(engine), databases_(databases), memory_(memory), call_(std::move(call)) {}
  ~ListenStream() override { Close(); }

  void OnMessage(std::string_view message) override {
    if (!call_->closed()) Take(Read(message, Context()));
  }

  rpc::Receiver::MessageReader ReaderForLongMessage() override {
    return [context = Context()](std::string_view message) -> rpc::Receiver::Delivery {
      return [read = Read(message, context)](rpc::Receiver& stream) mutable {
        static_cast<ListenStream&>(stream).Take(std::move(read));
      };
    };
  }

  void OnDrain() override {
    Close();
    call_->Finish(ServerIsEnding());
  }

  void OnHalfClose() override {
    if (!watcher_) return call_->Finish(Status());
    watcher_->EndWhenAnswered();
  }

 private:
  // What reading a message needs, on any thread.
  struct ReadContext {
    const Databases& databases;
    MemoryBudget* memory;
    Call call;
    documents::ConstDatabaseHandle database;  // Null before the first message.
  };
  ReadContext Context() const { return {databases_, memory_, call_, database_}; }

  // A message in our own types.
  struct Message {
    MemoryClaim claim;  // For what follows.
    Result<documents::ConstDatabaseHandle> database;
    proto::ListenRequest::TargetChangeCase change;
    TargetId target_id;  // To add or to remove.
    std::optional<Result<request::TargetRequest>> target;
  };

  static Result<Message> Read(std::string_view bytes, const ReadContext& context) {
    MemoryClaim claim(context.memory);
    RETURN_IF_ERROR(wire::ClaimParsed(*proto::ListenRequest::descriptor(), bytes, &claim));
    proto::ListenRequest request;
    RETURN_IF_ERROR(wire::ParseMessage(bytes, &request));
    Message message{.claim = std::move(claim),
                    .database = Open(request.database(), context),
                    .change = request.target_change_case(),
                    .target_id = request.has_add_target() ? request.add_target().target_id()
                                                          : request.remove_target(),
                    .target = std::nullopt};
    if (message.database.ok() && request.has_add_target()) {
      message.target = wire::ReadTarget((*message.database)->name, request.add_target());
    }
    return message;
  }

  static Result<documents::ConstDatabaseHandle> Open(const std::string& name,
                                                     const ReadContext& context) {
    if (context.database) {
      RETURN_IF_ERROR(CheckStreamDatabase(name, context.database->name));
      return context.database;
    }
    ASSIGN_OR_RETURN(const model::DatabaseName database,
                     StreamDatabase(name, context.call->head()));
    ASSIGN_OR_RETURN(documents::ConstDatabaseHandle opened,
                     context.databases.Open(*context.call, database));
    return opened;
  }

  void Take(Result<Message> message) {
    const Status status = message.ok() ? Change(*message) : message.status();
    if (status.ok()) return;
    Close();
    call_->Finish(status);
  }

  Status Change(Message& message) {
    if (const Status status = message.database.status(); !status.ok()) {
      // SDKs pass only this to their listeners; they try again after the end of a stream.
      if (status.code() == Code::kPermissionDenied &&
          message.change == proto::ListenRequest::kAddTarget) {
        call_->Send(wire::EncodeTargetChange(
            {request::TargetEvent::Kind::kRemove, {message.target_id}, status}));
      }
      return status;
    }
    if (!watcher_) Watch(*std::move(message.database));
    switch (message.change) {
      case proto::ListenRequest::kAddTarget: {
        ASSIGN_OR_RETURN(const TargetId id, names_.NameOf(message.target_id));
        watcher_->AddTarget(id, *std::move(message.target));
        break;
      }
      case proto::ListenRequest::kRemoveTarget:
        watcher_->RemoveTarget(message.target_id);
        break;
      case proto::ListenRequest::TARGET_CHANGE_NOT_SET:
        return InvalidArgument("A listen request must add or remove a target.");
    }
    if (watcher_->waiting_requests() >= kWaitingRequestsMax) call_->PauseReceiving();
    return Status();
  }

  void Watch(documents::ConstDatabaseHandle database) {
    database_ = std::move(database);
    watcher_ = engine_.Watch(*database_, std::make_unique<CallSink>(call_, database_->name),
                             KeyOf(*call_));
    call_->OnCancelled([watcher = watcher_] { watcher->Close(); });
  }

  void Close() {
    if (watcher_) watcher_->Close();
  }

  Engine& engine_;
  const Databases& databases_;
  MemoryBudget* const memory_;
  const Call call_;
  documents::ConstDatabaseHandle database_;
  std::shared_ptr<Watcher> watcher_;  // Shared with the work in progress.
  TargetNames names_;
};

}  // namespace

std::unique_ptr<rpc::Receiver> FirestoreMethods::Listen(const Call& call) {
  return std::make_unique<ListenStream>(engine_, databases_, memory_, call);
}

}  // namespace hearth::service
