// Plain HTTP: a whole request in, a whole answer out.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/exchange.h"

namespace hearth::http {

struct PlainAnswer {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> more_headers = {};  // Names in lower case.
};

// One request whose body has arrived.
//
// Threads: every function is safe from any thread. Ownership: shared by the connection and by the
// code that computes the answer. Once the client is gone, answering has no effect.
class PlainCall {
 public:
  virtual ~PlainCall() = default;

  virtual const RequestHead& head() const = 0;
  virtual std::string_view body() const = 0;
  virtual const std::shared_ptr<EventLoop>& loop() const = 0;
  virtual const std::shared_ptr<ConnectedClient>& client() const = 0;
  // Requested when the request is over: it has been answered, or the client is gone. Callbacks run
  // on the loop.
  virtual std::stop_token end_token() const = 0;
  // Only the first answer counts.
  virtual void Respond(PlainAnswer answer) = 0;
};

// Runs on the request's loop, so it must not block; it may answer later.
using PlainHandler = std::function<void(std::shared_ptr<PlainCall> call)>;

struct PlainOptions {
  size_t body_bytes_max = 10 * 1024 * 1024 + 64 * 1024;
};

// Collects the body of `exchange` and passes it to `handler`, which must outlive the exchange. A
// body beyond the limit is answered with 413, one beyond the connection's budget with 503.
std::shared_ptr<ExchangeHandler> OpenPlain(Exchange& exchange, const PlainHandler& handler,
                                           const PlainOptions& options);

// Answers `exchange` immediately, whatever its body.
void AnswerPlain(Exchange& exchange, PlainAnswer answer);

}  // namespace hearth::http
