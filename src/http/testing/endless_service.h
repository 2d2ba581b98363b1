#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "http/exchange.h"
#include "http/testing/test_server.h"

namespace hearth::http {

// Answers without end, in pieces of 10,000 bytes, as fast as the client reads. For tests.
class EndlessService final : public Service {
 public:
  std::shared_ptr<ExchangeHandler> Open(Exchange& exchange) override {
    exchange.SendHead(200, {}, BodyFollows::kYes);
    return std::make_shared<Endless>(exchange, *this);
  }

  Watched<size_t> unsent_bytes_most;
  Watched<bool> closed;

 private:
  struct Endless final : ExchangeHandler {
    Endless(Exchange& the_exchange, EndlessService& the_service)
        : exchange(the_exchange), service(the_service) {}
    void OnBody(std::string_view bytes) override { exchange.ConsumeBody(bytes.size()); }
    void OnBodyEnd() override { OnWritable(); }
    void OnWritable() override {
      while (exchange.unsent_bytes() < kSendBufferLowBytes) {
        exchange.SendBody(std::string(10'000, 'x'));
      }
      service.unsent_bytes_most.Update(
          [&](size_t& most) { most = std::max(most, exchange.unsent_bytes()); });
    }
    void OnClosed() override {
      service.closed.Update([](bool& value) { value = true; });
    }
    Exchange& exchange;
    EndlessService& service;
  };
};

}  // namespace hearth::http
