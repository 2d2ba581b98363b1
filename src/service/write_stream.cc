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

namespace hearth::service {
namespace {

using engine::Engine;
using request::CommitResult;
namespace proto = wire::proto;

using Call = std::shared_ptr<rpc::Call>;

// Longer messages are parsed off the loop.
constexpr size_t kLoopMessageBytesMax = 64 * 1024;

// One connection of a Write stream. Requests are processed one at a time, in the order of their
// arrival: those behind the current one wait in the client.
//
// Threads: the call's loop.
class WriteStream final : public rpc::Receiver {
 public:
  WriteStream(Engine& engine, const Databases& databases, WriteStreams& streams, Call call)
      : engine_(engine),
        databases_(databases),
        streams_(streams),
        shared_(std::make_shared<Shared>(std::move(call))) {
    shared_->stream = this;
  }

  ~WriteStream() override { shared_->stream = nullptr; }

  void OnMessage(std::string_view message) override {
    if (shared_->call->closed()) return;
    if (message.size() <= kLoopMessageBytesMax) return Take(Parse(message, database_));
    shared_->call->PauseReceiving();
    const Status accepted = engine_.RunOnReaders(
        KeyOf(*shared_->call),
        [shared = shared_, database = database_, bytes = std::string(message)]() mutable {
          // Shared: a task must be small, and this is not.
          auto parsed = std::make_shared<Result<Parsed>>(Parse(bytes, database));
          shared->call->executor().Post([shared, parsed] {
            if (!shared->stream) return;
            shared->stream->Take(std::move(*parsed));
            if (!shared->is_committing) shared->call->ResumeReceiving();
          });
        });
    if (!accepted.ok()) shared_->call->Finish(accepted);
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
    explicit Shared(Call stream_call) : call(std::move(stream_call)) {}
    ~Shared() {
      if (state) state->Leave();
    }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

    const Call call;
    std::shared_ptr<WriteStreamState> state;  // Shared with the registry.
    uint64_t answers = 0;                     // That this client has, or will have soon.
    bool is_committing = false;
    bool is_ending = false;         // With the answer to the commit in progress, if any.
    WriteStream* stream = nullptr;  // Null once it is gone.
  };

  // A message, and its writes if the stream has a database already.
  struct Parsed {
    proto::WriteRequest request;
    std::vector<request::Write> writes;
  };
  static Result<Parsed> Parse(std::string_view bytes, const documents::DatabaseHandle& database) {
    Parsed parsed;
    RETURN_IF_ERROR(wire::ParseMessage(bytes, &parsed.request));
    if (!database) return parsed;
    RETURN_IF_ERROR(CheckStreamDatabase(parsed.request.database(), database->name));
    ASSIGN_OR_RETURN(parsed.writes,
                     wire::ReadWrites(database->name, parsed.request.mutable_writes()));
    return parsed;
  }

  void Take(Result<Parsed> parsed) {
    if (shared_->call->closed()) return;
    const auto take = [&]() -> Status {
      RETURN_IF_ERROR(parsed.status());
      return shared_->state ? Write(*std::move(parsed)) : ShakeHands(parsed->request);
    };
    if (const Status status = take(); !status.ok()) shared_->call->Finish(status);
  }

  Status ShakeHands(const proto::WriteRequest& request) {
    ASSIGN_OR_RETURN(const model::DatabaseName name,
                     StreamDatabase(request.database(), shared_->call->head()));
    if (!request.writes().empty()) {
      return InvalidArgument("'writes' must not be set on an initial write request.");
    }
    ASSIGN_OR_RETURN(database_, databases_.Open(*shared_->call, name));
    if (request.stream_id().empty() && !request.stream_token().empty()) {
      return InvalidArgument("Resuming a stream requires its 'stream_id' and a 'stream_token'.");
    }
    std::shared_ptr<WriteStreamState> state;
    if (request.stream_id().empty()) {
      state = streams_.Open(name.text());
    } else {
      ASSIGN_OR_RETURN(state, FindStream(request, name));
    }
    if (!state->TakeOver()) {
      return Status(Code::kAborted, "The stream is in use by another connection.");
    }
    shared_->state = std::move(state);
    shared_->call->Send(wire::EncodeWriteHandshake(shared_->state->id(),
                                                   WriteStreamState::TokenOf(shared_->answers)));
    return Status();
  }

  Result<std::shared_ptr<WriteStreamState>> FindStream(const proto::WriteRequest& request,
                                                       const model::DatabaseName& name) {
    std::shared_ptr<WriteStreamState> state = streams_.Find(request.stream_id());
    if (!state || state->database() != name.text()) {
      return Status(Code::kAborted, "The stream can no longer be resumed.");
    }
    const std::optional<uint64_t> answers = WriteStreamState::AnswersOf(request.stream_token());
    if (!answers) return InvalidArgument("The stream token is not one of this stream.");
    RETURN_IF_ERROR(state->AnswerAfter(*answers).status());
    RETURN_IF_ERROR(state->Acknowledge(*answers));
    shared_->answers = *answers;
    return state;
  }

  Status Write(Parsed parsed) {
    const proto::WriteRequest& request = parsed.request;
    // SDKs send the token of the newest answer they have; it may be from an older stream.
    if (const auto known = WriteStreamState::AnswersOf(request.stream_token());
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
    std::vector<request::Write>& writes = parsed.writes;
    if (writes.empty()) {  // The client's last request.
      shared_->call->Respond(
          wire::EncodeEmptyWriteResponse(WriteStreamState::TokenOf(shared_->answers + 1)));
      return Status();
    }
    shared_->call->PauseReceiving();
    shared_->is_committing = true;
    engine_.Commit(
        *database_, std::move(writes), "", shared_->call->executor(),
        [shared = shared_](const Result<CommitResult>& result) { Answer(*shared, result); },
        KeyOf(*shared_->call));
    return Status();
  }

  static void Answer(Shared& shared, const Result<CommitResult>& result) {
    if (!result.ok()) return shared.call->Finish(result.status());
    std::string answer =
        wire::EncodeWriteResponse(WriteStreamState::TokenOf(shared.answers + 1), *result);
    shared.state->AddAnswer(answer);
    ++shared.answers;
    shared.call->Send(std::move(answer));
    shared.is_committing = false;
    if (shared.is_ending) return shared.call->Finish(ServerIsEnding());
    shared.call->ResumeReceiving();
  }

  Engine& engine_;
  const Databases& databases_;
  WriteStreams& streams_;
  const std::shared_ptr<Shared> shared_;  // Shared with the commit in progress.
  documents::DatabaseHandle database_;
};

}  // namespace

std::unique_ptr<rpc::Receiver> FirestoreMethods::Write(const Call& call) {
  return std::make_unique<WriteStream>(engine_, databases_, write_streams_, call);
}

}  // namespace hearth::service
