#include "doors/grpc/grpc_call.h"

#include <array>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "http/gzip.h"

namespace hearth::doors::grpc {
namespace {

constexpr http::Header kContentType = {"content-type", "application/grpc",
                                       http::HeaderText::kStatic};
constexpr http::Header kAcceptEncoding = {"grpc-accept-encoding", "identity,gzip",
                                          http::HeaderText::kStatic};

http::Header StatusHeader(Code code) {
  static constexpr std::array<std::string_view, 17> kNumbers = {
      "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"};
  return {"grpc-status", kNumbers.at(static_cast<size_t>(code)), http::HeaderText::kStatic};
}

// The fields of a status, which refer to `message`.
struct StatusFields {
  explicit StatusFields(const Status& status) {
    fields[count++] = StatusHeader(status.code());
    if (status.message().empty()) return;
    // Clients limit the size of trailers, often to 8 KiB.
    message = PercentEncode(Beginning(status.message(), kStatusMessageBytesMax));
    fields[count++] = {.name = "grpc-message", .value = message};
  }

  std::string message;
  std::array<http::Header, 2> fields;
  size_t count = 0;
};

// Whether a retry of the same request may succeed. gRPC clients retry by themselves only as long as
// they have not received a head.
bool IsWorthAnotherTry(Code code) {
  return code == Code::kUnavailable || code == Code::kResourceExhausted ||
         code == Code::kInternal || code == Code::kDeadlineExceeded;
}

Status DeadlineExceeded() { return Status(Code::kDeadlineExceeded, "deadline exceeded"); }

}  // namespace

void AnswerGrpcError(http::Exchange& exchange, const Status& status,
                     std::span<const http::Header> more_headers) {
  const StatusFields trailers(status);
  std::vector<http::Header> headers = {kContentType};
  headers.insert(headers.end(), trailers.fields.begin(), trailers.fields.begin() + trailers.count);
  headers.insert(headers.end(), more_headers.begin(), more_headers.end());
  exchange.SendHead(200, headers, http::BodyFollows::kNo);
}

GrpcServerCall::GrpcServerCall(http::Exchange& exchange, const GrpcOptions& options)
    : LoopCall(exchange.loop(), exchange.client(), exchange.TakeHead()),
      options_(options),
      start_(loop()->turn_start()),
      exchange_(&exchange),
      reader_(options.message_bytes_max, exchange.budget()),
      deadline_(*loop()) {}

bool GrpcServerCall::Negotiate() {
  AssertOnLoop();
  const std::string_view encoding = head().Find("grpc-encoding").value_or("identity");
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

void GrpcServerCall::AnswerWith(const rpc::SingleRequestMethod& method) {
  AssertOnLoop();
  single_ = &method;
}

void GrpcServerCall::AnswerWith(const rpc::StreamMethod& method) {
  AssertOnLoop();
  StartReceiving(method);
  ArmDeadline();
}

Result<GrpcServerCall::Encoded> GrpcServerCall::Encode(std::string message) {
  return Encoded{rpc::FrameHead(message.size()), std::move(message)};
}

void GrpcServerCall::WriteNow(Encoded encoded) {
  SendHeadNow();
  exchange_->SendBody(std::move(encoded.frames));
  if (!encoded.message.empty()) exchange_->SendBody(std::move(encoded.message));
}

void GrpcServerCall::SendHeadNow() {
  if (std::exchange(head_sent_, true)) return;
  exchange_->SendHead(200, {&kContentType, 1}, http::BodyFollows::kYes);
}

void GrpcServerCall::WriteEndNow(const Status& status) {
  // The SDK for Node.js treats a stream without a head as unanswered, and retries twice, seconds
  // later.
  if (!IsWorthAnotherTry(status.code())) SendHeadNow();
  if (head_sent_) {
    const StatusFields trailers(status);
    exchange_->Finish({trailers.fields.data(), trailers.count});
  } else {
    AnswerGrpcError(*exchange_, status);
  }
}

void GrpcServerCall::ReleaseNow() {
  deadline_.Disarm();
  reader_.Clear();
  ReturnCredit();
}

void GrpcServerCall::OnBody(std::string_view bytes) {
  AssertOnLoop();
  uncredited_bytes_ += bytes.size();
  if (ended()) return ReturnCredit();
  if (const Status appended = reader_.Append(bytes); !appended.ok()) return FailNow(appended);
  Deliver();
}

void GrpcServerCall::OnBodyEnd() {
  AssertOnLoop();
  body_ended_ = true;
  Deliver();
}

void GrpcServerCall::OnWritable() {
  AssertOnLoop();
  RunWhenWritable();
}

void GrpcServerCall::OnDrain() {
  AssertOnLoop();
  if (receiver() && !ended()) receiver()->OnDrain();
}

void GrpcServerCall::OnClosed() {
  AssertOnLoop();
  CancelNow();
  exchange_ = nullptr;
  DropReceiver();
}

bool GrpcServerCall::AwaitsBody() const {
  AssertOnLoop();
  // A whole message behind a paused receiver, or behind one in the background, waits for us.
  return receiver() == nullptr || !has_message_ || reader_.is_inside_frame();
}

bool GrpcServerCall::IsLarge(const GrpcFrame& frame) const {
  return frame.is_compressed || frame.payload.size() > options_.loop_message_bytes_max;
}

struct GrpcServerCall::LargeMessage {
  std::string payload;
  MemoryClaim claim;  // For the payload, and for what it decompresses to.
  bool is_compressed;
  Callback<void(std::string_view)> use;

  Status Make(size_t bytes_max) {
    if (!is_compressed) {
      use(payload);
      return Status();
    }
    ASSIGN_OR_RETURN(const std::string plain, http::Gunzip(payload, bytes_max, &claim));
    use(plain);
    return Status();
  }
};

void GrpcServerCall::MakeInBackground(const GrpcFrame& frame,
                                      Callback<void(std::string_view)> use) {
  LargeMessage large{std::string(frame.payload), MemoryClaim(options_.memory), frame.is_compressed,
                     std::move(use)};
  if (!large.claim.Grow(large.payload.size())) {
    return FailNow(Status(Code::kResourceExhausted, "the server has no memory for the message"));
  }
  Task make = [self = shared_from_this(), large = std::move(large)]() mutable {
    if (self->closed()) return;
    const Status made = large.Make(self->options_.message_bytes_max);
    if (!made.ok()) self->Finish(made);
  };
  if (!options_.background) return make();
  if (Status accepted = options_.background(client()->key(), std::move(make)); !accepted.ok()) {
    FailNow(accepted);
  }
}

void GrpcServerCall::DeliverNow() {
  if (single_ != nullptr) {
    DeliverSingle();
  } else {
    DeliverStream();
    // A stream may be silent for long; it keeps no buffer of a large message.
    if (reader_.waiting_bytes() == 0) reader_.Clear();
  }
  if (!paused()) ReturnCredit();
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
    // A complete message is answered as soon as its stream ends, usually in this turn: arming a
    // timer for the deadline is not worth it yet.
    if (!complete) ArmDeadline();
    return;
  }
  if (waiting_bytes == 0) {
    return FailNow(Status(Code::kUnimplemented, "no message for a unary method"));
  }
  if (!complete) return FailNow(Status(Code::kInternal, "the stream ends inside a message"));
  const Result<std::optional<GrpcFrame>> frame = reader_.Next();
  if (!frame.ok()) return FailNow(frame.status());
  if (const std::optional<http::TimePoint> end = Deadline();
      end && std::chrono::steady_clock::now() >= *end) {
    return FailNow(DeadlineExceeded());  // The caller no longer waits.
  }
  if (IsLarge(**frame)) {
    MakeInBackground(**frame, [self = shared_from_this(), method = single_](
                                  std::string_view message) { (*method)(self, message); });
  } else {
    (*single_)(shared_from_this(), (*frame)->payload);
  }
  reader_.Clear();
  if (!ended()) ArmDeadline();
}

void GrpcServerCall::DeliverStream() {
  DeliverMessages([this]() -> std::optional<Result<std::string_view>> {
    AssertOnLoop();
    if (is_making_) return std::nullopt;
    const Result<std::optional<GrpcFrame>> frame = reader_.Next();
    if (!frame.ok()) return frame.status();
    if (!*frame) return std::nullopt;
    has_message_ = true;
    if (!IsLarge(**frame)) return (*frame)->payload;
    is_making_ = true;
    MakeInBackground(**frame,
                     [self = shared_from_this(),
                      read = receiver()->ReaderForLongMessage()](std::string_view message) mutable {
                       self->OnLoop([deliver = read(message)](GrpcServerCall& call) mutable {
                         call.AssertOnLoop();
                         call.is_making_ = false;
                         if (call.ended()) return;
                         deliver(*call.receiver());
                         call.Deliver();
                       });
                     });
    return std::nullopt;
  });
  if (ended() || paused() || is_making_ || !body_ended_ || half_close_delivered_) return;
  if (reader_.waiting_bytes() > 0) {
    return FailNow(Status(Code::kInternal, "the stream ends inside a message"));
  }
  half_close_delivered_ = true;
  receiver()->OnHalfClose();
}

void GrpcServerCall::ReturnCredit() {
  const size_t bytes = std::exchange(uncredited_bytes_, 0);
  if (bytes > 0) exchange_->ConsumeBody(bytes);
}

std::optional<http::TimePoint> GrpcServerCall::Deadline() const {
  const std::optional<std::string_view> timeout = head().Find("grpc-timeout");
  if (!timeout) return std::nullopt;
  const auto length = ParseGrpcTimeout(*timeout);
  return length ? std::optional(start_ + *length) : std::nullopt;
}

void GrpcServerCall::ArmDeadline() {
  if (ended() || deadline_.armed_for() != http::TimePoint::max()) return;
  if (const std::optional<http::TimePoint> end = Deadline()) {
    // The timer is destroyed with the call or disarmed before, so it need not share ownership.
    deadline_.Arm(*end, [this] {
      AssertOnLoop();
      FailNow(DeadlineExceeded());
    });
  }
}

}  // namespace hearth::doors::grpc
