#include "http/grpc_call.h"

#include <array>
#include <chrono>
#include <utility>

#include "base/check.h"

namespace hearth::http {
namespace {

constexpr Header kContentType = {"content-type", "application/grpc", HeaderText::kStatic};
constexpr Header kAcceptEncoding = {"grpc-accept-encoding", "identity,gzip", HeaderText::kStatic};
// Longer messages are cut: clients bound the size of the trailers they take, often at 8 KiB.
constexpr size_t kStatusMessageBytesMax = 4 * 1024;

Header StatusHeader(Code code) {
  static constexpr std::array<std::string_view, 17> kNumbers = {
      "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"};
  return {"grpc-status", kNumbers.at(static_cast<size_t>(code)), HeaderText::kStatic};
}

// The fields of a status, which view `message`.
struct StatusFields {
  explicit StatusFields(const Status& status) {
    fields[count++] = StatusHeader(status.code());
    if (status.message().empty()) return;
    message = PercentEncode(std::string_view(status.message()).substr(0, kStatusMessageBytesMax));
    fields[count++] = {.name = "grpc-message", .value = message};
  }

  std::string message;
  std::array<Header, 2> fields;
  size_t count = 0;
};

// Whether the same request may do better. gRPC clients try again by themselves only as long as they
// have not seen a head.
bool IsWorthAnotherTry(Code code) {
  return code == Code::kUnavailable || code == Code::kResourceExhausted ||
         code == Code::kInternal || code == Code::kDeadlineExceeded;
}

Status DeadlineExceeded() { return Status(Code::kDeadlineExceeded, "deadline exceeded"); }

}  // namespace

void AnswerGrpcError(Exchange& exchange, const Status& status,
                     std::span<const Header> more_headers) {
  const StatusFields trailers(status);
  std::vector<Header> headers = {kContentType};
  headers.insert(headers.end(), trailers.fields.begin(), trailers.fields.begin() + trailers.count);
  headers.insert(headers.end(), more_headers.begin(), more_headers.end());
  exchange.SendHead(200, headers, BodyFollows::kNo);
}

GrpcServerCall::GrpcServerCall(Exchange& exchange, size_t message_bytes_max)
    : loop_(exchange.loop()),
      head_(exchange.TakeHead()),
      client_(exchange.client()),
      start_(loop_->turn_start()),
      exchange_(&exchange),
      reader_(message_bytes_max, exchange.budget()),
      deadline_(*loop_) {}

bool GrpcServerCall::Negotiate() {
  const std::string_view encoding = head_.Find("grpc-encoding").value_or("identity");
  if (encoding == "gzip") {
    reader_.set_encoding(GrpcEncoding::kGzip);
  } else if (encoding != "identity") {
    AnswerGrpcError(*exchange_,
                    Status(Code::kUnimplemented,
                           "grpc-encoding " + std::string(encoding) + " is not supported"),
                    {&kAcceptEncoding, 1});
    return false;
  }
  return true;
}

void GrpcServerCall::AnswerWith(const StreamMethod& method) {
  receiver_ = method(shared_from_this());
  CHECK(receiver_ != nullptr);
  ArmDeadline();
}

template <typename Work>
void GrpcServerCall::OnLoop(Work work) {
  if (loop_->InLoop()) {
    work(*this);
  } else {
    loop_->Post([self = shared_from_this(), work = std::move(work)]() mutable { work(*self); });
  }
}

void GrpcServerCall::OnCancelled(std::function<void()> callback) {
  OnLoop([callback = std::move(callback)](GrpcServerCall& call) mutable {
    if (!call.ended_) {
      std::swap(call.on_cancelled_, callback);
    } else if (call.cancelled_) {
      callback();
    }
  });
}

void GrpcServerCall::Send(std::string message) {
  OnLoop([message = std::move(message)](GrpcServerCall& call) mutable {
    call.SendNow(std::move(message));
  });
}

void GrpcServerCall::Send(MessageBatch batch) {
  OnLoop([batch = std::move(batch)](GrpcServerCall& call) mutable {
    call.SendFramesNow(batch.TakeFrames());
  });
}

void GrpcServerCall::WhenWritable(std::function<void()> callback) {
  // Always through the loop: a producer that sends from its callback must not recurse.
  loop_->Post([self = shared_from_this(), callback = std::move(callback)]() mutable {
    if (self->ended_) return;
    if (self->exchange_->unsent_bytes() < kSendBufferLowBytes) {
      callback();
    } else {
      self->on_writable_ = std::move(callback);
    }
  });
}

void GrpcServerCall::Finish(const Status& status) {
  OnLoop([status](GrpcServerCall& call) { call.FinishNow(status); });
}

void GrpcServerCall::Finish(MessageBatch last, const Status& status) {
  OnLoop([last = std::move(last), status](GrpcServerCall& call) mutable {
    call.SendFramesNow(last.TakeFrames());
    call.FinishNow(status);
  });
}

void GrpcServerCall::Respond(Result<std::string> answer) {
  OnLoop([answer = std::move(answer)](GrpcServerCall& call) mutable {
    if (!answer.ok()) return call.FinishNow(answer.status());
    call.SendNow(*std::move(answer));
    call.FinishNow(Status());
  });
}

void GrpcServerCall::PauseReceiving() {
  OnLoop([](GrpcServerCall& call) { call.paused_ = true; });
}

void GrpcServerCall::ResumeReceiving() {
  OnLoop([](GrpcServerCall& call) {
    call.paused_ = false;
    call.Deliver();
  });
}

void GrpcServerCall::SendNow(std::string message) {
  if (ended_) return;
  SendHeadNow();
  exchange_->SendBody(GrpcFrameHead(message.size()));
  exchange_->SendBody(std::move(message));
}

void GrpcServerCall::SendFramesNow(std::string frames) {
  if (ended_ || frames.empty()) return;
  SendHeadNow();
  exchange_->SendBody(std::move(frames));
}

void GrpcServerCall::SendHeadNow() {
  if (std::exchange(head_sent_, true)) return;
  exchange_->SendHead(200, {&kContentType, 1}, BodyFollows::kYes);
}

void GrpcServerCall::FinishNow(const Status& status) {
  if (ended_) return;
  MarkEnded();
  on_cancelled_ = nullptr;
  // The SDK for Node.js takes a stream without a head for one that was not answered, and asks twice
  // more, seconds later.
  if (!IsWorthAnotherTry(status.code())) SendHeadNow();
  if (head_sent_) {
    const StatusFields trailers(status);
    exchange_->Finish({trailers.fields.data(), trailers.count});
  } else {
    AnswerGrpcError(*exchange_, status);
  }
}

void GrpcServerCall::FailNow(const Status& status) {
  if (ended_) return;
  const std::shared_ptr<GrpcServerCall> self = shared_from_this();
  std::function<void()> callback = std::move(on_cancelled_);
  FinishNow(status);
  on_cancelled_ = std::move(callback);
  RunOnCancelled();
}

void GrpcServerCall::MarkEnded() {
  ended_ = true;
  closed_.store(true, std::memory_order_release);
  deadline_.Disarm();
  on_writable_ = nullptr;
  if (!delivering_) reader_.Clear();
  ReturnCredit();
}

void GrpcServerCall::RunOnCancelled() {
  cancelled_ = true;
  if (const auto callback = std::exchange(on_cancelled_, nullptr)) callback();
}

void GrpcServerCall::OnBody(std::string_view bytes) {
  uncredited_bytes_ += bytes.size();
  if (ended_) return ReturnCredit();
  if (const Status appended = reader_.Append(bytes); !appended.ok()) return FailNow(appended);
  Deliver();
}

void GrpcServerCall::OnBodyEnd() {
  body_ended_ = true;
  Deliver();
}

void GrpcServerCall::OnWritable() {
  if (const auto callback = std::exchange(on_writable_, nullptr)) callback();
}

void GrpcServerCall::OnDrain() {
  if (receiver_ && !ended_) receiver_->OnDrain();
}

void GrpcServerCall::OnClosed() {
  if (!ended_) {
    MarkEnded();
    RunOnCancelled();
  }
  exchange_ = nullptr;
  receiver_.reset();
}

void GrpcServerCall::Deliver() {
  // A receiver that resumes from inside OnMessage is served by the loop that called it.
  if (ended_ || paused_ || delivering_) return;
  delivering_ = true;
  if (single_ != nullptr) {
    DeliverSingle();
  } else {
    DeliverStream();
  }
  delivering_ = false;
  if (ended_) reader_.Clear();
  if (!paused_ || ended_) ReturnCredit();
}

void GrpcServerCall::DeliverSingle() {
  const Result<std::optional<size_t>> frame_bytes = reader_.FrameBytes();
  if (!frame_bytes.ok()) return FailNow(frame_bytes.status());
  const size_t waiting_bytes = reader_.waiting_bytes();
  if (*frame_bytes && waiting_bytes > **frame_bytes) {
    return FailNow(Status(Code::kUnimplemented, "more than one message for a unary method"));
  }
  const bool complete = *frame_bytes && waiting_bytes == **frame_bytes;
  if (!body_ended_) {
    // A complete message is answered as soon as its stream ends, most often in this turn: no
    // deadline is worth its timer yet.
    if (!complete) ArmDeadline();
    return;
  }
  if (waiting_bytes == 0) {
    return FailNow(Status(Code::kUnimplemented, "no message for a unary method"));
  }
  if (!complete) return FailNow(Status(Code::kInternal, "the stream ends inside a message"));
  const Result<std::optional<std::string_view>> message = reader_.Next();
  if (!message.ok()) return FailNow(message.status());
  if (const std::optional<TimePoint> end = Deadline();
      end && std::chrono::steady_clock::now() >= *end) {
    return FailNow(DeadlineExceeded());  // Nobody waits for what has not been begun.
  }
  (*single_)(shared_from_this(), **message);
  reader_.Clear();
  if (!ended_) ArmDeadline();
}

void GrpcServerCall::DeliverStream() {
  while (!ended_ && !paused_) {
    const Result<std::optional<std::string_view>> message = reader_.Next();
    if (!message.ok()) return FailNow(message.status());
    if (!*message) break;
    receiver_->OnMessage(**message);
  }
  if (ended_ || paused_ || !body_ended_ || half_close_delivered_) return;
  if (reader_.waiting_bytes() > 0) {
    return FailNow(Status(Code::kInternal, "the stream ends inside a message"));
  }
  half_close_delivered_ = true;
  receiver_->OnHalfClose();
}

void GrpcServerCall::ReturnCredit() {
  const size_t bytes = std::exchange(uncredited_bytes_, 0);
  if (bytes > 0) exchange_->ConsumeBody(bytes);
}

std::optional<TimePoint> GrpcServerCall::Deadline() const {
  const std::optional<std::string_view> timeout = head_.Find("grpc-timeout");
  if (!timeout) return std::nullopt;
  const auto length = ParseGrpcTimeout(*timeout);
  return length ? std::optional(start_ + *length) : std::nullopt;
}

void GrpcServerCall::ArmDeadline() {
  if (ended_ || deadline_.armed_for() != TimePoint::max()) return;
  if (const std::optional<TimePoint> end = Deadline()) {
    // The timer dies with the call or is disarmed before, so it needs no share in it.
    deadline_.Arm(*end, [this] { FailNow(DeadlineExceeded()); });
  }
}

}  // namespace hearth::http
