#include <utility>

#include "cases/runner/doors.h"
#include "cases/runner/rpc.h"
#include "client/remote/grpc_answer.h"
#include "http/testing/test_http2_client.h"

namespace hearth::cases {
namespace {

http::TestHeaders Headers(const std::string& database) {
  return {{"authorization", "Bearer owner"}, {"google-cloud-resource-prefix", database}};
}

Status StatusOf(const http::TestAnswer& answer) {
  if (!answer.closed || answer.grpc_status() < 0) {
    return Status(Code::kUnavailable, "the call broke off, or no answer came in time");
  }
  const auto message = answer.headers.find("grpc-message");
  return Status(static_cast<Code>(answer.grpc_status()),
                message == answer.headers.end() ? "" : client::DecodeGrpcMessage(message->second));
}

class GrpcPending final : public PendingRpc {
 public:
  GrpcPending(http::TestHttp2Client& http, int32_t stream) : http_(http), stream_(stream) {}

  bool IsDone() override {
    http_.RoundTrip();
    return http_.answer(stream_).closed;
  }
  Result<std::vector<std::string>> Wait() override {
    http_.UntilClosed(stream_);
    const http::TestAnswer& answer = http_.answer(stream_);
    if (Status status = StatusOf(answer); !status.ok()) return status;
    return answer.messages();
  }

 private:
  http::TestHttp2Client& http_;
  const int32_t stream_;
};

class GrpcStream final : public RpcStream {
 public:
  GrpcStream(http::TestHttp2Client& http, int32_t stream) : http_(http), stream_(stream) {}
  ~GrpcStream() override { http_.Reset(stream_); }

  void Send(const google::protobuf::Message& message) override {
    http_.SendBody(stream_, http::TestFrame(message.SerializeAsString()));
    http_.Flush();
  }
  Result<std::string> Receive() override {
    const http::TestAnswer& answer = http_.answer(stream_);
    const bool came =
        http_.Until([&] { return answer.closed || answer.messages().size() > received_; });
    const std::vector<std::string> messages = answer.messages();
    if (messages.size() > received_) return messages[received_++];
    if (!came) return OutOfPatience();
    const Status status = StatusOf(answer);
    return status.ok() ? Status(Code::kOutOfRange, "the stream has ended") : status;
  }

 private:
  http::TestHttp2Client& http_;
  const int32_t stream_;
  size_t received_ = 0;
};

class GrpcChannel final : public RpcChannel {
 public:
  GrpcChannel(uint16_t port, std::string database) : http_(port), database_(std::move(database)) {}

  std::unique_ptr<PendingRpc> Start(const Request& request) override {
    const int32_t stream = Open(MethodOf(request), database_);
    http_.SendBody(stream, http::TestFrame(MessageOf(request).SerializeAsString()));
    http_.EndBody(stream);
    http_.Flush();
    return std::make_unique<GrpcPending>(http_, stream);
  }

  std::unique_ptr<RpcStream> OpenStream(const std::string& method,
                                        const std::string& database) override {
    return std::make_unique<GrpcStream>(http_, Open(method, database));
  }

 private:
  int32_t Open(const std::string& method, const std::string& database) {
    return http_.OpenGrpc("/google.firestore.v1.Firestore/" + method, Headers(database));
  }

  http::TestHttp2Client http_;
  const std::string database_;
};

class GrpcDoor final : public Door {
 public:
  explicit GrpcDoor(const ServerAddress& server) : server_(server) {}

  bool is_emulator() const override { return server_.is_emulator; }
  std::optional<std::string> WhyNot(const Operation& operation) const override {
    if (is_emulator() && std::holds_alternative<proto::PartitionQueryRequest>(operation.request)) {
      return "the emulator has no partitions";
    }
    return std::nullopt;
  }
  std::optional<std::string> WhyNotListen(const proto::Target&) const override {
    return std::nullopt;
  }
  bool Shows(Detail) const override { return true; }
  std::unique_ptr<Session> Open(const std::string& database) override {
    return NewRpcSession(std::make_unique<GrpcChannel>(server_.port, database), database);
  }

 private:
  const ServerAddress server_;
};

}  // namespace

std::unique_ptr<Door> NewGrpcDoor(const ServerAddress& server) {
  return std::make_unique<GrpcDoor>(server);
}

}  // namespace hearth::cases
