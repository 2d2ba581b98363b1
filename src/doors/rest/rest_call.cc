#include "doors/rest/rest_call.h"

#include <utility>
#include <vector>

#include "base/http_status.h"
#include "doors/rest/answers.h"
#include "doors/rest/transcoder.h"
#include "http/gzip.h"

namespace hearth::doors::rest {
namespace {

// Between the elements of a list: on a line of its own, so that readers of lines find elements.
constexpr const char* kSeparator = "\n,\n";

}  // namespace

RestCall::RestCall(http::Exchange& exchange, const http::SingleRequestMethod& method,
                   RestRequest request, const Background& background, const RestOptions& options)
    : loop_(exchange.loop()),
      head_(exchange.TakeHead()),
      method_(method),
      request_(std::move(request)),
      background_(background),
      options_(options),
      exchange_(&exchange) {}

template <typename Work>
void RestCall::OnLoop(Work work) {
  if (loop_->InLoop()) {
    work(*this);
  } else {
    loop_->Post([self = shared_from_this(), work = std::move(work)]() mutable { work(*self); });
  }
}

Result<std::string> RestCall::Encode(std::string_view message) const {
  return wire::JsonFromMessage(*request_.match.binding->method->output_type(), message,
                               request_.form);
}

Result<std::string> RestCall::Encode(const http::MessageBatch& batch) const {
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

void RestCall::OnCancelled(std::function<void()> callback) {
  OnLoop([callback = std::move(callback)](RestCall& call) mutable {
    if (!call.ended_) {
      std::swap(call.on_cancelled_, callback);
    } else if (call.cancelled_) {
      callback();
    }
  });
}

void RestCall::Send(std::string message) {
  if (closed()) return;
  OnLoop([json = Encode(message)](RestCall& call) mutable { call.SendNow(std::move(json)); });
}

void RestCall::Send(http::MessageBatch batch) {
  if (closed() || batch.empty()) return;
  OnLoop([json = Encode(batch)](RestCall& call) mutable { call.SendNow(std::move(json)); });
}

void RestCall::WhenWritable(std::function<void()> callback) {
  // Always through the loop: a producer that sends from its callback must not recurse.
  loop_->Post([self = shared_from_this(), callback = std::move(callback)]() mutable {
    if (self->ended_) return;
    if (self->exchange_->unsent_bytes() < http::kSendBufferLowBytes) {
      callback();
    } else {
      self->on_writable_ = std::move(callback);
    }
  });
}

void RestCall::Finish(const Status& status) {
  OnLoop([status](RestCall& call) { call.FinishNow(status); });
}

void RestCall::Finish(http::MessageBatch last, const Status& status) {
  Send(std::move(last));
  Finish(status);
}

void RestCall::Respond(Result<std::string> answer) {
  if (!answer.ok()) return Finish(answer.status());
  Send(*std::move(answer));
  Finish(Status());
}

void RestCall::OnBody(std::string_view bytes) {
  exchange_->ConsumeBody(bytes.size());
  if (ended_) return;
  if (bytes.size() > options_.body_bytes_max - body_.size()) {
    return RefuseNow(InvalidArgument("Request payload size exceeds the limit: " +
                                     std::to_string(options_.body_bytes_max) + " bytes."),
                     413);
  }
  if (!exchange_->budget().Take(bytes.size())) {
    return RefuseNow(Status(Code::kUnavailable, "too many unfinished requests"));
  }
  budgeted_bytes_ += bytes.size();
  body_.append(bytes);
}

void RestCall::OnBodyEnd() {
  if (ended_) return;
  const bool is_short =
      body_.size() <= options_.loop_body_bytes_max && !head_.Find("content-encoding");
  if (is_short) return StartNow(ReadRequest(std::move(body_)));
  const Status accepted =
      background_([self = shared_from_this(), body = std::move(body_)]() mutable {
        self->OnLoop([message = self->ReadRequest(std::move(body))](RestCall& call) {
          call.StartNow(message);
        });
      });
  if (!accepted.ok()) RefuseNow(accepted);
}

Result<std::string> RestCall::ReadRequest(std::string body) const {
  const std::string_view encoding = head_.Find("content-encoding").value_or("identity");
  if (encoding == "gzip") {
    Result<std::string> plain = http::Gunzip(body, options_.body_bytes_max);
    if (!plain.ok()) return InvalidArgument("the body: " + plain.status().message());
    body = *std::move(plain);
  } else if (encoding != "identity") {
    return InvalidArgument("content-encoding " + std::string(encoding) + " is not supported");
  }
  return MakeRequest(request_.match, request_.parameters, body);
}

void RestCall::StartNow(const Result<std::string>& message) {
  if (ended_) return;
  DropBody();
  if (!message.ok()) return RefuseNow(message.status());
  method_(shared_from_this(), *message);
}

void RestCall::OnWritable() {
  if (const auto callback = std::exchange(on_writable_, nullptr)) callback();
}

void RestCall::OnClosed() {
  const std::shared_ptr<RestCall> self = shared_from_this();
  if (!ended_) {
    MarkEnded();
    cancelled_ = true;
    if (const auto callback = std::exchange(on_cancelled_, nullptr)) callback();
  }
  DropBody();
  exchange_ = nullptr;
}

void RestCall::SendNow(Result<std::string> json) {
  if (ended_) return;
  if (!json.ok()) return FinishNow(json.status());
  if (!answers_with_list()) {
    answer_ = *std::move(json);
    return;
  }
  const bool is_first = !head_sent_;
  SendListHeadNow();
  exchange_->SendBody((is_first ? "[" : kSeparator) + *json);
}

void RestCall::SendListHeadNow() {
  if (std::exchange(head_sent_, true)) return;
  const auto more_headers = CommonHeaders(head_);
  std::vector<http::Header> headers = {{.name = "content-type", .value = kJsonType}};
  for (const auto& [name, value] : more_headers) headers.push_back({.name = name, .value = value});
  exchange_->SendHead(200, headers, http::BodyFollows::kYes);
}

void RestCall::FinishNow(const Status& status) {
  if (ended_) return;
  MarkEnded();
  on_cancelled_ = nullptr;
  if (answers_with_list()) return FinishListNow(status);
  if (!status.ok()) return AnswerNow(ErrorAnswer(head_, status, request_.form.layout));
  AnswerNow({.content_type = kJsonType,
             .body = (answer_.empty() ? "{}" : std::move(answer_)) + "\n",
             .more_headers = CommonHeaders(head_)});
}

void RestCall::FinishListNow(const Status& status) {
  if (!head_sent_) {
    http::PlainAnswer answer{
        .content_type = kJsonType, .body = "[]\n", .more_headers = CommonHeaders(head_)};
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

void RestCall::RefuseNow(const Status& status, int http_status) {
  const std::shared_ptr<RestCall> self = shared_from_this();
  MarkEnded();
  DropBody();
  http::PlainAnswer answer = ErrorAnswer(head_, status, request_.form.layout, http_status);
  if (answers_with_list()) {
    answer.body = "[" + answer.body + "]\n";
  }
  AnswerNow(std::move(answer));
}

void RestCall::MarkEnded() {
  ended_ = true;
  closed_.store(true, std::memory_order_release);
  on_writable_ = nullptr;
}

void RestCall::DropBody() {
  body_ = std::string();
  exchange_->budget().Return(std::exchange(budgeted_bytes_, 0));
}

}  // namespace hearth::doors::rest
