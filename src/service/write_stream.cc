// Write: commits over a long-lived stream.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "service/firestore_methods.h"
#include "service/stream_database.h"
#include "service/write_streams.h"
#include "wire/listen.h"
#include "wire/parse_memory.h"

namespace hearth::service {
namespace {

using engine::Engine;
using request::CommitResult;
namespace proto = wire::proto;

using Call = std::shared_ptr<rpc::Call>;

// One connection of a Write stream. Requests are processed one at a time, in the order of their
// arrival: those behind the current one wait in the client.
//
// Threads: the call's loop.
class WriteStream final : public rpc::Receiver {
 public:
  WriteStream(Engine& engine, const Databases& databases, WriteStreams& streams,
              MemoryBudget* memory, Call call)
      : engine_(engine),
        databases_(databases),
        streams_(streams),
        memory_(memory),
        shared_(std::make_shared<Shared>(engine, std::move(call))) {}

  void OnMessage(std::string_view message) override {
    if (!shared_->call->closed()) Take(Read(message, database_, memory_));
  }

  rpc::Receiver::MessageReader ReaderForLongMessage() override {
    return [database = database_,
            memory = memory_](std::string_view message) -> rpc::Receiver::Delivery {
      return [read = Read(message, database, memory)](rpc::Receiver& stream) mutable {
        static_cast<WriteStream&>(stream).Take(std::move(read));
      };
    };
  }

  void OnHalfClose() override { shared_->call->Finish(Status()); }

  void OnDrain() override {
    shared_->is_ending = true;
    if (!shared_->is_committing) shared_->call->Finish(ServerIsEnding());
  }

 private:
  // The state that a commit in progress needs, whether or not the connection still exists. Until
  // its answer is known, no other connection may take over the stream: it would execute the same
  // request again.
  struct Shared {
    Shared(Engine& owner, Call stream_call) : engine(owner), call(std::move(stream_call)) {}
    ~Shared() {
      if (state) state->Leave();
    }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

    Engine& engine;
    const Call call;
    std::shared_ptr<WriteStreamState> state;  // Shared with the registry.
    uint64_t answers = 0;                     // That this client has, or will have soon.
    bool is_committing = false;
    bool is_ending = false;  // With the answer to the commit in progress, if any.
  };

  // A message in our own types.
  struct Message {
    MemoryClaim claim;  // For what follows.
    std::string database;
    std::string stream_id;
    std::string stream_token;
    bool has_writes;
    std::vector<request::Write> writes;  // If the stream has a database already.
  };
  static Result<Message> Read(std::string_view bytes, const documents::DatabaseHandle& database,
                              MemoryBudget* memory) {
    MemoryClaim claim(memory);
    RETURN_IF_ERROR(wire::ClaimParsed(*proto::WriteRequest::descriptor(), bytes, &claim));
    proto::WriteRequest request;
    RETURN_IF_ERROR(wire::ParseMessage(bytes, &request));
    Message message{.claim = std::move(claim),
                    .database = std::move(*request.mutable_database()),
                    .stream_id = std::move(*request.mutable_stream_id()),
                    .stream_token = std::move(*request.mutable_stream_token()),
                    .has_writes = !request.writes().empty(),
                    .writes = {}};
    if (!database) return message;
    RETURN_IF_ERROR(CheckStreamDatabase(message.database, database->name));
    ASSIGN_OR_RETURN(message.writes, wire::ReadWrites(database->name, request.mutable_writes()));
    return message;
  }

  void Take(Result<Message> message) {
    if (shared_->call->closed()) return;
    const auto take = [&]() -> Status {
      RETURN_IF_ERROR(message.status());
      return shared_->state ? Write(*message) : ShakeHands(*message);
    };
    if (const Status status = take(); !status.ok()) shared_->call->Finish(status);
  }

  Status ShakeHands(const Message& message) {
    ASSIGN_OR_RETURN(const model::DatabaseName name,
                     StreamDatabase(message.database, shared_->call->head()));
    if (message.has_writes) {
      return InvalidArgument("'writes' must not be set on an initial write request.");
    }
    ASSIGN_OR_RETURN(database_, databases_.Open(*shared_->call, name));
    if (message.stream_id.empty() && !message.stream_token.empty()) {
      return InvalidArgument("Resuming a stream requires its 'stream_id' and a 'stream_token'.");
    }
    std::shared_ptr<WriteStreamState> state;
    if (message.stream_id.empty()) {
      state = streams_.Open(name.text(), KeyOf(*shared_->call));
    } else {
      ASSIGN_OR_RETURN(state, FindStream(message, name));
    }
    if (!state->TakeOver()) {
      return Status(Code::kAborted, "The stream is in use by another connection.");
    }
    shared_->state = std::move(state);
    shared_->call->Send(wire::EncodeWriteHandshake(shared_->state->id(),
                                                   WriteStreamState::TokenOf(shared_->answers)));
    return Status();
  }

  Result<std::shared_ptr<WriteStreamState>> FindStream(const Message& message,
                                                       const model::DatabaseName& name) {
    std::shared_ptr<WriteStreamState> state = streams_.Find(message.stream_id);
    if (!state || state->database() != name.text()) {
      return Status(Code::kAborted, "The stream can no longer be resumed.");
    }
    const std::optional<uint64_t> answers = WriteStreamState::AnswersOf(message.stream_token);
    if (!answers) return InvalidArgument("The stream token is not one of this stream.");
    RETURN_IF_ERROR(state->AnswerAfter(*answers).status());
    RETURN_IF_ERROR(state->Acknowledge(*answers));
    shared_->answers = *answers;
    return state;
  }

  Status Write(Message& message) {
    // SDKs send the token of the newest answer they have; it may be from an older stream.
    if (const auto known = WriteStreamState::AnswersOf(message.stream_token);
        known && *known <= shared_->answers) {
      RETURN_IF_ERROR(shared_->state->Acknowledge(*known));
    }
    ASSIGN_OR_RETURN(const std::optional<std::string> known_answer,
                     shared_->state->AnswerAfter(shared_->answers));
    if (known_answer) {  // Executed before the connection broke.
      ++shared_->answers;
      shared_->call->Send(*known_answer);
      return Status();
    }
    if (message.writes.empty()) {  // The client's last request.
      shared_->call->Respond(
          wire::EncodeEmptyWriteResponse(WriteStreamState::TokenOf(shared_->answers + 1)));
      return Status();
    }
    shared_->call->PauseReceiving();
    shared_->is_committing = true;
    engine_.Commit(
        *database_, std::move(message.writes), "", shared_->call->executor(),
        [shared = shared_](Result<CommitResult> result) { OnCommitted(shared, std::move(result)); },
        KeyOf(*shared_->call));
    return Status();
  }

  static void OnCommitted(const std::shared_ptr<Shared>& shared, Result<CommitResult> result) {
    if (!result.ok()) return shared->call->Finish(result.status());
    const std::string token = WriteStreamState::TokenOf(shared->answers + 1);
    if (result->write_results.size() <= kLoopResultsMax) {
      SendAnswer(*shared, wire::EncodeWriteResponse(token, *result));
      return Continue(*shared);
    }
    shared->engine.PostToReaders(KeyOf(*shared->call),
                                 [shared, token, result = *std::move(result)] {
                                   SendAnswer(*shared, wire::EncodeWriteResponse(token, result));
                                   shared->call->executor().Post([shared] { Continue(*shared); });
                                 });
  }

  // On any thread: meanwhile, the commit in progress holds back everything else.
  static void SendAnswer(Shared& shared, std::string answer) {
    shared.state->AddAnswer(answer);
    shared.call->Send(std::move(answer));
  }

  // After an answer.
  static void Continue(Shared& shared) {
    ++shared.answers;
    shared.is_committing = false;
    if (shared.is_ending) return shared.call->Finish(ServerIsEnding());
    shared.call->ResumeReceiving();
  }

  Engine& engine_;
  const Databases& databases_;
  WriteStreams& streams_;
  MemoryBudget* const memory_;
  const std::shared_ptr<Shared> shared_;  // Shared with the commit in progress.
  documents::DatabaseHandle database_;
};

}  // namespace

std::unique_ptr<rpc::Receiver> FirestoreMethods::Write(const Call& call) {
  return std::make_unique<WriteStream>(engine_, databases_, write_streams_, memory_, call);
}

}  // namespace hearth::service
