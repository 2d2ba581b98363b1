// Bytes from a client, HTTP/1.1 and HTTP/2 with gRPC on top, without a socket. The connection must
// neither crash nor buffer more than its limits allow.
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/check.h"
#include "doors/grpc/grpc_service.h"
#include "http/event_loop.h"
#include "http/http1_protocol.h"
#include "http/http2_protocol.h"
#include "http/protocol.h"
#include "http/router.h"
#include "rpc/call.h"
#include "rpc/methods.h"

namespace hearth::http {
namespace {

constexpr size_t kBufferedBytesMax = 1024 * 1024;
constexpr size_t kOutputBytesMax = 64 * 1024;

// Echoes every message until it receives "end".
class Echo final : public rpc::Receiver {
 public:
  explicit Echo(std::shared_ptr<rpc::Call> call) : call_(std::move(call)) {}
  void OnMessage(std::string_view message) override {
    if (message == "end") return call_->Finish(Status(Code::kOutOfRange, "end"));
    call_->Send(std::string(message));
  }
  void OnHalfClose() override { call_->Finish(Status()); }

 private:
  std::shared_ptr<rpc::Call> call_;
};

// An event loop on its own thread, and the services that inputs reach.
class Target final : public ProtocolHost {
 public:
  Target() {
    methods_.Add("/s/Unary", [](const std::shared_ptr<rpc::Call>& call, std::string_view request) {
      call->Respond(std::string(request));
    });
    methods_.Add("/s/Stream", rpc::StreamMethod([](std::shared_ptr<rpc::Call> call) {
                   return std::make_unique<Echo>(std::move(call));
                 }));
    router_.SetFirst(grpc_);
    router_.AddPlain("GET", "/", [](const std::shared_ptr<PlainCall>& call) {
      call->Respond({.body = "Ok\n"});
    });
    router_.AddPlain("POST", "/", [](const std::shared_ptr<PlainCall>& call) {
      call->Respond({.body = std::string(call->body())});
    });
    thread_ = std::thread([loop = loop_] { loop->Run(); });
  }
  ~Target() override {
    loop_->Stop();
    thread_.join();
  }

  void Feed(bool is_http2, std::string_view bytes) {
    std::promise<void> done;
    loop_->Post([&] {
      FeedOnLoop(is_http2, bytes);
      done.set_value();
    });
    done.get_future().wait();
  }

  const std::shared_ptr<EventLoop>& loop() const override { return loop_; }
  BufferBudget& budget() override { return budget_; }
  const std::shared_ptr<ConnectedClient>& client() const override { return client_; }
  const std::string& peer() const override { return peer_; }
  void OutputReady() override {}
  void InputWanted() override {}
  void CheckAt(TimePoint) override {}

 private:
  void FeedOnLoop(bool is_http2, std::string_view bytes) {
    std::unique_ptr<Protocol> protocol;
    if (is_http2) {
      protocol = std::make_unique<Http2Protocol>(*this, limits_, router_);
      // Without these an input would be refused at its first byte.
      constexpr std::string_view kEmptySettings("\0\0\0\4\0\0\0\0\0", 9);
      (void)protocol->Receive(std::string(kHttp2Preface).append(kEmptySettings));
    } else {
      protocol = std::make_unique<Http1Protocol>(*this, limits_, router_);
    }
    std::string output;
    while (!bytes.empty() && !protocol->done()) {
      const size_t taken = protocol->Receive(bytes);
      bytes.remove_prefix(taken);
      output.clear();
      protocol->Produce(output, kOutputBytesMax);
      CHECK(budget_.used_bytes() <= kBufferedBytesMax);
      if (taken == 0 && output.empty()) break;
    }
    protocol->OnInputEnd();
    protocol->OnLost();
    CHECK(budget_.used_bytes() == 0);
  }

  const ConnectionLimits limits_;
  BufferBudget budget_{kBufferedBytesMax};
  const std::shared_ptr<ConnectedClient> client_ = std::make_shared<ConnectedClient>(ClientKey{1});
  const std::string peer_ = "127.0.0.1";
  rpc::Methods methods_;
  doors::grpc::GrpcService grpc_{methods_,
                                 doors::grpc::GrpcOptions{.message_bytes_max = 64 * 1024}};
  Router router_;
  std::shared_ptr<EventLoop> loop_ = std::make_shared<EventLoop>();
  std::thread thread_;
};

}  // namespace
}  // namespace hearth::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static hearth::http::Target target;
  if (size == 0) return 0;
  target.Feed(data[0] % 2 == 0, {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
