#include "doors/rest/rest_call.h"

#include <utility>
#include <vector>

#include "base/http_status.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "doors/rest/answers.h"
#include "doors/rest/transcoder.h"
#include "http/gzip.h"
#include "wire/parse_memory.h"

namespace hearth::doors::rest {
namespace {

// Separates the elements of a list: on a line of its own, so that line-based readers find the
// elements.
constexpr const char* kSeparator = "\n,\n";

}  // namespace

RestCall::RestCall(http::Exchange& exchange, const rpc::SingleRequestMethod& method,
                   RestRequest request, const rpc::Background& background,
                   const RestOptions& options)
    : LoopCall(exchange.loop(), exchange.client(), exchange.TakeHead()),
      method_(method),
      request_(std::move(request)),
      background_(background),
      options_(options),
      exchange_(&exchange) {}

Result<RestCall::Encoded> RestCall::Encode(std::string_view message) const {
  if (message.size() <= options_.prompt_answer_bytes_max) return ToJson(message);
  rpc::MessageBatch batch;
  batch.Add(message);
  return Encode(std::move(batch));
}

Result<RestCall::Encoded> RestCall::Encode(rpc::MessageBatch batch) const {
  if (batch.bytes() <= options_.prompt_answer_bytes_max) return ToJson(batch);
  Encoded encoded{.messages = std::move(batch), .claim = MemoryClaim(options_.memory)};
  if (!encoded.claim.Grow(encoded.messages.bytes())) return wire::NoMemoryForMessage();
  return encoded;
}

Result<RestCall::Encoded> RestCall::ToJson(std::string_view message) const {
  Encoded encoded{.claim = MemoryClaim(options_.memory)};
  ASSIGN_OR_RETURN(encoded.json,
                   wire::JsonFromMessage(*request_.match.binding->method->output_type(), message,
                                         request_.form, &encoded.claim));
  return encoded;
}

Result<RestCall::Encoded> RestCall::ToJson(const rpc::MessageBatch& batch) const {
  Encoded elements{.claim = MemoryClaim(options_.memory)};
  Status status;
  batch.ForEach([&](std::string_view message) {
    if (!status.ok()) return;
    Result<std::string> json = wire::JsonFromMessage(*request_.match.binding->method->output_type(),
                                                     message, request_.form, &elements.claim);
    status = json.status();
    if (!status.ok()) return;
    if (elements.json.empty()) {
      elements.json = *std::move(json);
    } else {
      elements.json.append(kSeparator).append(*json);
    }
  });
  if (!status.ok()) return status;
  return elements;
}

void RestCall::OnBody(std::string_view bytes) {
  AssertOnLoop();
  exchange_->ConsumeBody(bytes.size());
  if (ended()) return;
  if (bytes.size() > options_.body_bytes_max - body_.size()) {
    return Refuse(InvalidArgument("Request payload size exceeds the limit: " +
                                  std::to_string(options_.body_bytes_max) + " bytes."),
                  413);
  }
  if (!exchange_->budget().Take(bytes.size())) {
    return Refuse(Status(Code::kResourceExhausted, "too many unfinished requests"));
  }
  budgeted_bytes_ += bytes.size();
  body_.append(bytes);
}

void RestCall::OnBodyEnd() {
  AssertOnLoop();
  if (ended()) return;
  const bool is_short =
      body_.size() <= options_.loop_body_bytes_max && !head().Find("content-encoding");
  if (!is_short) return StartInBackground();
  MemoryClaim none;  // A short body takes a few megabytes at worst.
  const Result<std::string> message = ReadRequest(std::move(body_), &none);
  DropBody();
  if (!message.ok()) return Refuse(message.status());
  method_(shared_from_this(), *message);
}

void RestCall::StartInBackground() {
  MemoryClaim claim(options_.memory);
  if (!claim.Grow(body_.size())) {
    return Refuse(Status(Code::kResourceExhausted, "the server has no memory for the request"));
  }
  Task start = [self = shared_from_this(), body = std::move(body_),
                claim = std::move(claim)]() mutable {
    if (self->closed()) return;
    const Result<std::string> message = self->ReadRequest(std::move(body), &claim);
    if (message.ok()) return self->method_(self, *message);
    self->OnLoop([status = message.status()](RestCall& call) {
      call.AssertOnLoop();
      if (!call.ended()) call.Refuse(status);
    });
  };
  DropBody();  // The claim replaces the connection's budget.
  if (Status accepted = background_(client()->key(), std::move(start)); !accepted.ok()) {
    Refuse(accepted);
  }
}

Result<std::string> RestCall::ReadRequest(std::string body, MemoryClaim* claim) const {
  const std::string_view encoding = head().Find("content-encoding").value_or("identity");
  if (encoding == "gzip") {
    Result<std::string> plain = http::Gunzip(body, options_.body_bytes_max, claim);
    if (plain.status() == http::NoMemoryToDecompress()) return plain.status();
    if (!plain.ok()) return InvalidArgument("the body: " + plain.status().message());
    body = *std::move(plain);
  } else if (encoding != "identity") {
    return InvalidArgument("content-encoding " + std::string(encoding) + " is not supported");
  }
  ASSIGN_OR_RETURN(std::string message,
                   MakeRequest(request_.match, request_.parameters, body, claim));
  // The method claims what it makes of it.
  if (!claim->Resize(message.size())) return wire::NoMemoryForMessage();
  return message;
}

void RestCall::OnWritable() {
  AssertOnLoop();
  RunWhenWritable();
}

void RestCall::OnClosed() {
  AssertOnLoop();
  const std::shared_ptr<RestCall> self = shared_from_this();
  CancelNow();
  DropBody();
  DropUnwritten();
  exchange_ = nullptr;
}

void RestCall::WriteNow(Encoded encoded) {
  if (is_broken_) return;
  if (!waits_to_write() && encoded.messages.empty()) return WriteJson(std::move(encoded));
  if (const size_t bytes = encoded.messages.bytes(); bytes > 0) {
    // An answer that the client has not read: no further request is started behind many of them.
    encoded.claim.Reset();
    if (!exchange_->budget().TakeAnswer(bytes)) return BreakOffLater(wire::NoMemoryForMessage());
    unencoded_bytes_ += bytes;
  }
  unwritten_.push_back(std::move(encoded));
  WriteUnwritten();
}

void RestCall::WriteJson(Encoded encoded) {
  if (!answers_with_list()) {
    answer_ = std::move(encoded);
    return;
  }
  const bool is_first = !head_sent_;
  SendListHeadNow();
  encoded.claim.Reset();  // From here on, the connection counts it.
  exchange_->SendBody((is_first ? "[" : kSeparator) + std::move(encoded.json));
}

void RestCall::WriteUnwritten() {
  while (!waits_to_write() && !unwritten_.empty()) {
    Encoded next = std::move(unwritten_.front());
    unwritten_.pop_front();
    if (next.messages.empty()) {
      WriteJson(std::move(next));
    } else {
      EncodeInBackground(std::move(next.messages));
    }
  }
  if (waits_to_write() || !unwritten_end_) return;
  const Status status = *std::exchange(unwritten_end_, std::nullopt);
  WriteEndNow(status);
}

void RestCall::EncodeInBackground(rpc::MessageBatch messages) {
  conversion_ = std::make_shared<Conversion>(options_.memory);
  conversion_->messages = std::move(messages);
  const Status accepted = background_(client()->key(), [self = shared_from_this(),
                                                        conversion = conversion_] {
    if (conversion->is_dropped.load(std::memory_order_relaxed)) return;
    self->OnLoop([conversion, json = self->ToJson(conversion->messages)](RestCall& call) mutable {
      call.AssertOnLoop();
      call.OnEncoded(*conversion, std::move(json));
    });
  });
  if (!accepted.ok()) BreakOffLater(accepted);
}

void RestCall::OnEncoded(const Conversion& conversion, Result<Encoded> encoded) {
  if (conversion_.get() != &conversion) return;  // Dropped.
  if (!encoded.ok()) return BreakOff(encoded.status());
  const size_t bytes = conversion.messages.bytes();
  conversion_ = nullptr;
  unencoded_bytes_ -= bytes;
  exchange_->budget().ReturnAnswer(bytes);
  WriteJson(*std::move(encoded));
  WriteUnwritten();
  RunWhenWritable();
}

void RestCall::BreakOffLater(Status status) {
  is_broken_ = true;
  DropUnwritten();
  loop()->Post([self = shared_from_this(), status = std::move(status)] {
    self->AssertOnLoop();
    if (self->exchange_ != nullptr) self->BreakOff(status);
  });
}

void RestCall::DropUnwritten() {
  if (const std::shared_ptr<Conversion> dropped = std::exchange(conversion_, nullptr)) {
    dropped->is_dropped.store(true, std::memory_order_relaxed);
    dropped->claim.GrowAnyway(dropped->messages.bytes());
  }
  unwritten_.clear();
  exchange_->budget().ReturnAnswer(std::exchange(unencoded_bytes_, 0));
}

void RestCall::BreakOff(const Status& status) {
  is_broken_ = false;
  DropUnwritten();
  if (!ended()) return FailNow(status);
  unwritten_end_.reset();
  WriteEndNow(status);
}

void RestCall::SendListHeadNow() {
  if (std::exchange(head_sent_, true)) return;
  const auto more_headers = CommonHeaders(head());
  std::vector<http::Header> headers = {{.name = "content-type", .value = kJsonType}};
  for (const auto& [name, value] : more_headers) headers.push_back({.name = name, .value = value});
  exchange_->SendHead(200, headers, http::BodyFollows::kYes);
}

void RestCall::WriteEndNow(const Status& status) {
  if (waits_to_write()) {
    unwritten_end_ = status;
    return;
  }
  if (answers_with_list()) return WriteListEndNow(status);
  if (!status.ok()) return AnswerNow(ErrorAnswer(head(), status, request_.form.layout));
  Encoded answer = std::exchange(answer_, {});
  answer.claim.Reset();  // From here on, the connection counts it.
  AnswerNow({.content_type = kJsonType,
             .body = (answer.json.empty() ? "{}" : std::move(answer.json)) + "\n",
             .more_headers = CommonHeaders(head())});
}

void RestCall::WriteListEndNow(const Status& status) {
  if (!head_sent_) {
    http::PlainAnswer answer{
        .content_type = kJsonType, .body = "[]\n", .more_headers = CommonHeaders(head())};
    if (!status.ok()) {
      answer.status = HttpStatusOf(status.code());
      answer.body = "[" + wire::JsonFromError(status, request_.form.layout) + "\n]\n";
    }
    return AnswerNow(std::move(answer));
  }
  std::string end;
  if (!status.ok()) end = kSeparator + wire::JsonFromError(status, request_.form.layout);
  exchange_->SendBody(end + "\n]\n");
  exchange_->Finish({});
}

void RestCall::AnswerNow(http::PlainAnswer answer) {
  http::AnswerPlain(*exchange_, std::move(answer));
}

void RestCall::Refuse(const Status& status, int http_status) {
  const std::shared_ptr<RestCall> self = shared_from_this();
  RefuseNow();
  DropBody();
  http::PlainAnswer answer = ErrorAnswer(head(), status, request_.form.layout, http_status);
  if (answers_with_list()) {
    answer.body = "[" + answer.body + "]\n";
  }
  AnswerNow(std::move(answer));
}

void RestCall::DropBody() {
  FreeText(body_);
  exchange_->budget().Return(std::exchange(budgeted_bytes_, 0));
}

}  // namespace hearth::doors::rest
