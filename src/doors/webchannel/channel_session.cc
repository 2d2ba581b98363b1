#include "doors/webchannel/channel_session.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "doors/webchannel/answers.h"
#include "wire/json.h"
#include "wire/parse_memory.h"

namespace hearth::doors::webchannel {
namespace {

constexpr const char* kNoop = R"(["noop"])";
constexpr const char* kClose = R"(["close"])";

}  // namespace

ChannelSession::ChannelSession(std::shared_ptr<http::EventLoop> loop, ClientKey client,
                               http::RequestHead head, MethodTypes types,
                               const ChannelOptions& options, rpc::Background background,
                               Task on_gone)
    // Not the connection's own client, which leaves with it.
    : LoopCall(std::move(loop), std::make_shared<ConnectedClient>(client), std::move(head)),
      types_(types),
      options_(options),
      background_(std::move(background)),
      on_gone_(std::move(on_gone)),
      inbox_(options.held_maps_max, options.held_map_bytes_max),
      timer_(*this->loop()),
      claim_(MemoryClaim::Lasting(options.memory, client)) {}

bool ChannelSession::ClaimForStart() {
  AssertOnLoop();
  return ClaimMemory();
}

void ChannelSession::Start(const rpc::StreamMethod& method, std::vector<IncomingMap> maps) {
  AssertOnLoop();
  ArmTimer();
  StartReceiving(method);
  const Status added = inbox_.Add(std::move(maps));
  if (!added.ok()) return FailNow(added);
  if (!ClaimMemory()) return FailNow(wire::NoMemoryForMessage());
  Deliver();
}

// ---- Requests of the client.

void ChannelSession::Forward(std::vector<IncomingMap> maps, std::optional<uint64_t> acknowledged,
                             std::shared_ptr<http::PlainCall> request) {
  OnLoop([maps = std::move(maps), acknowledged,
          request = std::move(request)](ChannelSession& session) mutable {
    session.AssertOnLoop();
    if (session.gone_) return request->Respond(UnknownSessionAnswer(request->head()));
    if (acknowledged) session.outbox_.Acknowledge(*acknowledged);
    // After the end, messages are ignored; that is no reason to fail the request.
    if (!session.ended()) {
      const Status added = session.inbox_.Add(std::move(maps));
      if (!added.ok()) {
        return request->Respond(RefusedAnswer(request->head(), 429, added.message()));
      }
      if (!session.ClaimMemory()) {
        request->Respond(RefusedAnswer(request->head(), 503, "the server has no memory left"));
        return session.DropNow();
      }
    }
    session.held_requests_.push_back(std::move(request));
    session.Deliver();
    session.AnswerHeld();
    session.RunWhenWritable();
  });
}

void ChannelSession::Attach(std::shared_ptr<BackChannel> back_channel,
                            std::optional<uint64_t> acknowledged) {
  OnLoop([back_channel = std::move(back_channel), acknowledged](ChannelSession& session) mutable {
    session.AssertOnLoop();
    if (acknowledged) session.outbox_.Acknowledge(*acknowledged);
    // Everything was sent and acknowledged, so nothing more will come.
    if (!session.gone_ && session.ended() && session.outbox_.empty()) session.DropNow();
    if (session.gone_) return back_channel->Refuse();
    if (session.back_channel_) session.FinishBackChannel("");
    session.back_channel_ = std::move(back_channel);
    session.back_channel_ready_ = true;
    session.outbox_.Rewind();
    // This shows the client that no intermediary buffers the answer until its end.
    const bool streaming = session.back_channel_->mode() == BackChannelMode::kStreaming;
    if (streaming && !session.outbox_.has_unsent()) session.AddOwnArray(kNoop);
    session.ArmTimer();
    session.Flush();
  });
}

void ChannelSession::OnBackChannelReady(std::shared_ptr<BackChannel> back_channel) {
  OnLoop([back_channel = std::move(back_channel)](ChannelSession& session) {
    session.AssertOnLoop();
    if (session.back_channel_ != back_channel) return;
    session.back_channel_ready_ = true;
    if (session.outbox_.has_unsent()) session.ScheduleFlush();
  });
}

void ChannelSession::OnBackChannelClosed(std::shared_ptr<BackChannel> back_channel) {
  OnLoop([back_channel = std::move(back_channel)](ChannelSession& session) {
    session.AssertOnLoop();
    if (session.back_channel_ != back_channel) return;
    session.back_channel_ = nullptr;
    session.ArmTimer();
  });
}

void ChannelSession::Terminate() {
  OnLoop([](ChannelSession& session) {
    session.AssertOnLoop();
    session.DropNow();
  });
}

void ChannelSession::Drain() {
  OnLoop([](ChannelSession& session) {
    session.AssertOnLoop();
    session.FailNow(Status(Code::kUnavailable, "the server is shutting down"));
  });
}

void ChannelSession::Shutdown() {
  DropNow();
  DropReceiver();
}

// ---- What is sent to the client.

Result<ChannelSession::Encoded> ChannelSession::Encode(const std::string& message) const {
  Encoded encoded{.claim = MemoryClaim(options_.memory)};
  RETURN_IF_ERROR(AddArray(message, &encoded));
  return encoded;
}

Result<ChannelSession::Encoded> ChannelSession::Encode(const rpc::MessageBatch& batch) const {
  Encoded encoded{.claim = MemoryClaim(options_.memory)};
  Status status;
  batch.ForEach([&](std::string_view message) {
    if (status.ok()) status = AddArray(message, &encoded);
  });
  if (!status.ok()) return status;
  return encoded;
}

Status ChannelSession::AddArray(std::string_view message, Encoded* encoded) const {
  ASSIGN_OR_RETURN(
      std::string json,
      wire::JsonFromMessage(types_.response, message, wire::JsonEnums::kNames, &encoded->claim));
  json.insert(0, 1, '[');
  json += ']';
  encoded->arrays.push_back(std::move(json));
  return Status();
}

size_t ChannelSession::BytesOf(const Encoded& encoded) {
  size_t bytes = 0;
  for (const std::string& array : encoded.arrays) bytes += array.size();
  return bytes;
}

// ---- On the loop.

size_t ChannelSession::KeptBytes() const {
  return kSessionBytes + outbox_.retained_bytes() + inbox_.held_bytes();
}

bool ChannelSession::ClaimMemory() { return claim_.Resize(KeptBytes()); }

void ChannelSession::AddOwnArray(std::string array) {
  outbox_.Add(std::move(array));
  if (KeptBytes() > claim_.bytes()) claim_.GrowAnyway(KeptBytes() - claim_.bytes());
}

void ChannelSession::WriteNow(Encoded encoded) {
  encoded.claim.Reset();
  for (std::string& array : encoded.arrays) outbox_.Add(std::move(array));
  if (outbox_.retained_bytes() > options_.retained_bytes_max || !ClaimMemory()) {
    // The client does not read, and the method does not wait for it; or there is no memory. The
    // client will come back for what it has missed.
    loop()->Post([self = shared_from_this()] {
      self->AssertOnLoop();
      self->DropNow();
    });
    return;
  }
  ScheduleFlush();
}

void ChannelSession::WriteEndNow(const Status& status) {
  if (!status.ok()) AddOwnArray("[" + wire::JsonFromError(status) + "]");
  AddOwnArray(kClose);
  ScheduleFlush();
  AnswerHeld();
}

void ChannelSession::ReleaseNow() {
  inbox_.Clear();
  // The receiver itself may have ended the call: it is destroyed after it has returned.
  loop()->Post([self = shared_from_this()] {
    self->AssertOnLoop();
    self->DropReceiver();
  });
}

void ChannelSession::DropNow() {
  if (std::exchange(gone_, true)) return;
  const std::shared_ptr<ChannelSession> self = shared_from_this();
  timer_.Disarm();
  if (back_channel_) FinishBackChannel("");
  outbox_.Clear();
  claim_.Reset();
  for (const auto& request : std::exchange(held_requests_, {})) {
    request->Respond(UnknownSessionAnswer(request->head()));
  }
  CancelNow();
  if (Task on_gone = std::exchange(on_gone_, nullptr)) on_gone();
}

void ChannelSession::DeliverNow() {
  DeliverMessages([this]() -> std::optional<Result<std::string>> {
    AssertOnLoop();
    if (is_reading_) return std::nullopt;
    std::optional<Result<std::string>> message = inbox_.Next();
    const bool is_long =
        message && message->ok() && (*message)->size() > options_.loop_message_bytes_max;
    if (!is_long) return message;
    ReadInBackground(**std::move(message));
    return std::nullopt;
  });
  if (!gone_ && !ClaimMemory()) return DropNow();
  AnswerHeld();
}

void ChannelSession::ReadInBackground(std::string message) {
  MemoryClaim claim(options_.memory);
  if (!ClaimMemory() || !claim.Grow(message.size())) return FailNow(wire::NoMemoryForMessage());
  is_reading_ = true;
  const Status accepted =
      background_(client()->key(),
                  [self = shared_from_this(), message = std::move(message),
                   claim = std::move(claim), read = receiver()->ReaderForLongMessage()]() mutable {
                    if (self->closed()) return;
                    self->OnLoop([deliver = read(message)](ChannelSession& session) mutable {
                      session.AssertOnLoop();
                      session.is_reading_ = false;
                      if (session.ended()) return;
                      deliver(*session.receiver());
                      session.Deliver();
                      session.AnswerHeld();
                    });
                  });
  if (!accepted.ok()) FailNow(accepted);
}

void ChannelSession::AnswerHeld() {
  // A client sends its next messages after it gets the answer: holding the answer slows it down
  // while the method has paused.
  const bool waits = !ended() && (paused() || is_reading_) && inbox_.has_next();
  if (waits && held_requests_.size() < kHeldAnswersMax) return;
  for (const auto& request : std::exchange(held_requests_, {})) {
    request->Respond(ChannelAnswer(request->head(), MakeChunk(ForwardAnswer())));
  }
}

std::string ChannelSession::ForwardAnswer() const {
  // Whether there is a back channel, the last array sent on it, and the unacknowledged bytes: a
  // client that has a back channel but not those bytes detects that it is broken.
  return std::string(back_channel_ ? "[1," : "[0,") + std::to_string(outbox_.last_sent_id()) + "," +
         std::to_string(outbox_.sent_bytes()) + "]";
}

void ChannelSession::ScheduleFlush() {
  // At the end of the turn, so that the messages of one turn go out in one chunk.
  if (std::exchange(flush_scheduled_, true)) return;
  loop()->Post([self = shared_from_this()] {
    self->AssertOnLoop();
    self->flush_scheduled_ = false;
    self->Flush();
  });
}

void ChannelSession::Flush() {
  if (!back_channel_ || !back_channel_ready_ || !outbox_.has_unsent()) return;
  const bool polling = back_channel_->mode() == BackChannelMode::kPolling;
  std::string chunk = outbox_.NextChunk(kChunkBytes);
  if (polling) {
    while (outbox_.has_unsent() && outbox_.sent_bytes() < options_.unacknowledged_bytes_max) {
      chunk += outbox_.NextChunk(kChunkBytes);
    }
  }
  const bool ends = polling || outbox_.sent_bytes() >= options_.unacknowledged_bytes_max ||
                    (ended() && !outbox_.has_unsent());
  if (ends) {
    FinishBackChannel(std::move(chunk));
  } else {
    back_channel_ready_ = false;
    back_channel_->Send(std::move(chunk));
  }
  ArmTimer();
  RunWhenWritable();
}

void ChannelSession::FinishBackChannel(std::string chunk) {
  const auto back_channel = std::exchange(back_channel_, nullptr);
  back_channel->Finish(std::move(chunk));
}

void ChannelSession::ArmTimer() {
  if (gone_) return;
  std::chrono::milliseconds wait = options_.session_timeout;
  if (back_channel_) wait = options_.keep_alive;
  if (back_channel_ && back_channel_->mode() == BackChannelMode::kPolling) {
    wait = std::clamp(back_channel_->poll_timeout().value_or(wait), std::min(kPollTimeoutMin, wait),
                      wait);
  }
  // The timer is destroyed with the session or disarmed before, so it need not share ownership.
  timer_.Arm(loop()->turn_start() + wait, [this] {
    AssertOnLoop();
    OnTimer();
  });
}

void ChannelSession::OnTimer() {
  if (!back_channel_) return DropNow();
  // A back channel with unsent data needs no keep-alive.
  if (!outbox_.has_unsent()) AddOwnArray(kNoop);
  ArmTimer();
  Flush();
}

}  // namespace hearth::doors::webchannel
