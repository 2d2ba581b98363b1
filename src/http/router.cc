#include "http/router.h"

#include <algorithm>

namespace hearth::http {

void Router::AddPlain(std::string method, std::string path, PlainHandler handler) {
  plain_[std::move(path)].emplace_back(std::move(method), std::move(handler));
}

void Router::AddService(std::string path_prefix, Service& service) {
  services_.emplace_back(std::move(path_prefix), &service);
  std::ranges::stable_sort(services_, [](const auto& left, const auto& right) {
    return left.first.size() > right.first.size();
  });
}

void Router::AddExactService(std::string path, Service& service) {
  exact_[std::move(path)] = &service;
}

std::shared_ptr<ExchangeHandler> Router::Open(Exchange& exchange) {
  const RequestHead& head = exchange.head();
  if (first_ != nullptr && first_->Wants(head)) return first_->Open(exchange);
  const std::string_view path = head.path();
  if (const auto found = plain_.find(path); found != plain_.end()) {
    return OpenPlainRoute(exchange, found->second);
  }
  if (const auto found = exact_.find(path); found != exact_.end()) {
    return found->second->Open(exchange);
  }
  for (const auto& [prefix, service] : services_) {
    if (path.starts_with(prefix)) return service->Open(exchange);
  }
  AnswerPlain(exchange, {.status = 404, .body = "not found\n"});
  return nullptr;
}

std::shared_ptr<ExchangeHandler> Router::OpenPlainRoute(Exchange& exchange,
                                                        const Methods& methods) const {
  // The protocols drop the body of an answer to HEAD.
  const std::string_view asked =
      exchange.head().method() == "HEAD" ? "GET" : exchange.head().method();
  std::string allowed;
  for (const auto& [method, handler] : methods) {
    if (method == asked) return OpenPlain(exchange, handler, options_);
    allowed += (allowed.empty() ? "" : ", ") + method;
  }
  AnswerPlain(exchange, {.status = 405,
                         .body = "method not allowed\n",
                         .more_headers = {{"allow", std::move(allowed)}}});
  return nullptr;
}

}  // namespace hearth::http
