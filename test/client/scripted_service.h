#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http/exchange.h"
#include "http/testing/test_server.h"

namespace hearth::client {

// A request as a ScriptedService received it.
struct ScriptedRequest {
  std::string path;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;

  std::string Header(const std::string& name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return "(none)";
  }
};

// Answers each request, once it is complete, with the result of its script.
//
// Threads: the script runs on the server's loop; set it only while no call is in progress.
class ScriptedService final : public http::Service {
 public:
  using Script = std::function<void(http::Exchange&, const ScriptedRequest&)>;

  std::shared_ptr<http::ExchangeHandler> Open(http::Exchange& exchange) override {
    return std::make_shared<Handler>(exchange, *this);
  }

  Script script;
  std::function<void(http::Exchange&)> on_writable;  // Optional.
  http::Watched<std::vector<ScriptedRequest>> requests;
  http::Watched<size_t> closed;

 private:
  struct Handler final : http::ExchangeHandler {
    Handler(http::Exchange& the_exchange, ScriptedService& the_service)
        : exchange(the_exchange), service(the_service) {
      request.path = exchange.head().path();
      for (size_t i = 0; i < exchange.head().header_count(); ++i) {
        const http::Header header = exchange.head().header(i);
        request.headers.emplace_back(header.name, header.value);
      }
    }
    void OnBody(std::string_view bytes) override {
      request.body += bytes;
      exchange.ConsumeBody(bytes.size());
    }
    void OnBodyEnd() override {
      service.requests.Update([&](auto& all) { all.push_back(request); });
      service.script(exchange, request);
    }
    void OnWritable() override {
      if (service.on_writable) service.on_writable(exchange);
    }
    void OnClosed() override {
      service.closed.Update([](size_t& count) { ++count; });
    }
    http::Exchange& exchange;
    ScriptedService& service;
    ScriptedRequest request;
  };
};

// A loopback server that answers every request with a script.
class ScriptedServer {
 public:
  // `port` 0: a free one.
  explicit ScriptedServer(ScriptedService& service, uint16_t port = 0)
      : server_({.listen = {{.host = "127.0.0.1", .port = port}}}, service) {
    const Status started = server_.Start();
    EXPECT_TRUE(started.ok()) << started.ToString();
  }

  uint16_t port() const { return server_.addresses().front().port; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port()); }
  size_t connection_count() const { return server_.connection_count(); }
  // Closes all connections.
  void Stop() { server_.Drain(std::chrono::milliseconds(0)); }

 private:
  http::Server server_;
};

inline void SendGrpcHead(http::Exchange& exchange) {
  const http::Header headers[] = {{"content-type", "application/grpc"}};
  exchange.SendHead(200, headers, http::BodyFollows::kYes);
}

inline void FinishGrpc(http::Exchange& exchange, const std::string& status = "0",
                       const std::string& message = "") {
  const http::Header trailers[] = {{"grpc-status", status}, {"grpc-message", message}};
  exchange.Finish(trailers);
}

// Only an error, in the headers.
inline void RefuseGrpc(http::Exchange& exchange, const std::string& status,
                       const std::string& message) {
  const http::Header headers[] = {
      {"content-type", "application/grpc"}, {"grpc-status", status}, {"grpc-message", message}};
  exchange.SendHead(200, headers, http::BodyFollows::kNo);
}

}  // namespace hearth::client
