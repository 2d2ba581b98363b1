#include "doors/rest/rest_call.h"

#include <utility>
#include <vector>

#include "base/http_status.h"
#include "doors/rest/answers.h"
#include "doors/rest/transcoder.h"
#include "http/gzip.h"

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

Result<std::string> RestCall::Encode(std::string_view message) const {
  return wire::JsonFromMessage(*request_.match.binding->method->output_type(), message,
                               request_.form);
}

Result<std::string> RestCall::Encode(const rpc::MessageBatch& batch) const {
  std::string elements;
  Status status;
  batch.ForEach([&](std::string_view message) {
    if (!status.ok()) return;
    const Result<std::string> json = Encode(message);
    status = json.status();
    if (!status.ok()) return;
    if (!elements.empty()) elements += kSeparator;
    elements += *json;
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
    return Refuse(Status(Code::kUnavailable, "too many unfinished requests"));
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
  MemoryClaim none;
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
    if (!plain.ok()) return InvalidArgument("the body: " + plain.status().message());
    body = *std::move(plain);
  } else if (encoding != "identity") {
    return InvalidArgument("content-encoding " + std::string(encoding) + " is not supported");
  }
  return MakeRequest(request_.match, request_.parameters, body);
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
  exchange_ = nullptr;
}

void RestCall::WriteNow(Encoded json) {
  if (!answers_with_list()) {
    answer_ = std::move(json);
    return;
  }
  const bool is_first = !head_sent_;
  SendListHeadNow();
  exchange_->SendBody((is_first ? "[" : kSeparator) + json);
}

void RestCall::SendListHeadNow() {
  if (std::exchange(head_sent_, true)) return;
  const auto more_headers = CommonHeaders(head());
  std::vector<http::Header> headers = {{.name = "content-type", .value = kJsonType}};
  for (const auto& [name, value] : more_headers) headers.push_back({.name = name, .value = value});
  exchange_->SendHead(200, headers, http::BodyFollows::kYes);
}

void RestCall::WriteEndNow(const Status& status) {
  if (answers_with_list()) return WriteListEndNow(status);
  if (!status.ok()) return AnswerNow(ErrorAnswer(head(), status, request_.form.layout));
  AnswerNow({.content_type = kJsonType,
             .body = (answer_.empty() ? "{}" : std::move(answer_)) + "\n",
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
  body_ = std::string();
  exchange_->budget().Return(std::exchange(budgeted_bytes_, 0));
}

}  // namespace hearth::doors::rest
