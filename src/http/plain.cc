#include "http/plain.h"

#include "http/event_loop.h"

namespace hearth::http {
namespace {

// Threads: as PlainCall says; non-const members belong to the loop, except that body_ no longer
// changes once the handler has the call.
class PlainServerCall final : public PlainCall,
                              public ExchangeHandler,
                              public std::enable_shared_from_this<PlainServerCall> {
 public:
  PlainServerCall(Exchange& exchange, const PlainHandler& handler, const PlainOptions& options)
      : loop_(exchange.loop()),
        client_(exchange.client()),
        head_(exchange.TakeHead()),
        handler_(handler),
        options_(options),
        exchange_(&exchange) {}

  const RequestHead& head() const override { return head_; }
  std::string_view body() const override { return body_; }
  const std::shared_ptr<EventLoop>& loop() const override { return loop_; }
  const std::shared_ptr<ConnectedClient>& client() const override { return client_; }
  std::stop_token end_token() const override { return end_.get_token(); }

  void Respond(PlainAnswer answer) override {
    if (loop_->InLoop()) return RespondNow(std::move(answer));
    loop_->Post([self = shared_from_this(), answer = std::move(answer)]() mutable {
      self->RespondNow(std::move(answer));
    });
  }

  void OnBody(std::string_view bytes) override {
    exchange_->ConsumeBody(bytes.size());
    if (answered_) return;
    if (bytes.size() > options_.body_bytes_max - body_.size()) {
      return RespondNow({.status = 413, .body = "the request body is too large\n"});
    }
    if (!exchange_->budget().Take(bytes.size())) {
      return RespondNow({.status = 503, .body = "too many unfinished requests\n"});
    }
    body_.append(bytes);
  }

  void OnBodyEnd() override {
    if (!answered_) handler_(shared_from_this());
  }

  void OnClosed() override {
    answered_ = true;
    exchange_->budget().Return(body_.size());
    exchange_ = nullptr;
    end_.request_stop();
  }

 private:
  void RespondNow(PlainAnswer answer) {
    if (std::exchange(answered_, true)) return;
    AnswerPlain(*exchange_, std::move(answer));
  }

  const std::shared_ptr<EventLoop> loop_;          // Shared: the call may outlive the server.
  const std::shared_ptr<ConnectedClient> client_;  // Shared with the connection.
  const RequestHead head_;
  const PlainHandler& handler_;
  const PlainOptions options_;
  Exchange* exchange_;  // Null once closed.
  std::string body_;
  bool answered_ = false;
  std::stop_source end_;
};

}  // namespace

std::shared_ptr<ExchangeHandler> OpenPlain(Exchange& exchange, const PlainHandler& handler,
                                           const PlainOptions& options) {
  return std::make_shared<PlainServerCall>(exchange, handler, options);
}

void AnswerPlain(Exchange& exchange, PlainAnswer answer) {
  const std::string length = std::to_string(answer.body.size());
  std::vector<Header> headers = {{.name = "content-type", .value = answer.content_type},
                                 {.name = "content-length", .value = length}};
  for (const auto& [name, value] : answer.more_headers) {
    headers.push_back({.name = name, .value = value});
  }
  exchange.SendHead(answer.status, headers, BodyFollows::kYes);
  exchange.SendBody(std::move(answer.body));
  exchange.Finish({});
}

}  // namespace hearth::http
