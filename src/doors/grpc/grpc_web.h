// gRPC-Web: gRPC for clients that cannot read trailers, such as pages in a browser.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/exchange.h"

namespace hearth::doors::grpc {

// kText: both bodies are in base64.
enum class GrpcWebForm : uint8_t { kNone, kBinary, kText };

// By the request's content type.
GrpcWebForm FindGrpcWebForm(const http::RequestHead& head);

// Standard base64, padded.
std::string EncodeBase64(std::string_view bytes);
// Decodes all whole groups at the front of `text` and removes them; any of them may end with
// padding. nullopt for invalid base64.
std::optional<std::string> TakeBase64(std::string* text);

// An exchange that a gRPC call sees as HTTP/2: its trailers become the last frame of the body.
//
// Threads: as Exchange says. Ownership: is the handler of `inner`, which keeps it until OnClosed;
// keeps the call.
class GrpcWebExchange final : public http::Exchange, public http::ExchangeHandler {
 public:
  GrpcWebExchange(http::Exchange& inner, GrpcWebForm form);

  void set_handler(std::shared_ptr<http::ExchangeHandler> handler) {
    handler_ = std::move(handler);
  }

  const http::RequestHead& head() const override { return inner_.head(); }
  http::RequestHead TakeHead() override { return inner_.TakeHead(); }
  const std::shared_ptr<http::EventLoop>& loop() const override { return inner_.loop(); }
  http::BufferBudget& budget() override { return inner_.budget(); }
  const std::string& peer() const override { return inner_.peer(); }
  const std::shared_ptr<ConnectedClient>& client() const override { return inner_.client(); }
  void SendHead(int status, std::span<const http::Header> headers, http::BodyFollows body) override;
  void SendBody(std::string bytes) override;
  void Finish(std::span<const http::Header> trailers) override;
  void Abort() override { inner_.Abort(); }
  // The body of a call that cannot send while it receives is short: it is accepted without flow
  // control.
  void ConsumeBody(size_t) override {}
  size_t unsent_bytes() const override { return inner_.unsent_bytes(); }

  void OnBody(std::string_view bytes) override;
  void OnBodyEnd() override;
  void OnInputEnd() override;
  void OnDrain() override;
  void OnWritable() override;
  void OnClosed() override;

 private:
  http::Exchange& inner_;
  const GrpcWebForm form_;
  // Kept here, because the call takes the head.
  std::vector<std::pair<std::string, std::string>> cors_headers_;
  std::shared_ptr<http::ExchangeHandler> handler_;  // Shared with the answering code.
  std::string undecoded_;                           // Less than a group of base64.
};

}  // namespace hearth::doors::grpc
