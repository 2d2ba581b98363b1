#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "http/exchange.h"
#include "http/grpc.h"

namespace hearth::http {

struct GrpcOptions {
  // Firestore takes requests of 10 MiB; the slack is for what the message wraps around them.
  size_t message_bytes_max = 10 * 1024 * 1024 + 64 * 1024;
};

// The gRPC methods of a server, by full path: "/package.Service/Method".
//
// Threads: methods are added before the server starts; Open then runs on several loops at once.
// Ownership: owns the methods; must outlive the server and the calls it opened.
// Errors: what a client does wrong is answered with the status that the gRPC specification names.
class GrpcService final : public Service {
 public:
  explicit GrpcService(GrpcOptions options = {}) : options_(options) {}

  void Add(std::string path, SingleRequestMethod method);
  void Add(std::string path, StreamMethod method);

  // True for a request that is to be answered here, be it with an error.
  bool Wants(const RequestHead& head) const;

  std::shared_ptr<ExchangeHandler> Open(Exchange& exchange) override;

 private:
  using Method = std::variant<SingleRequestMethod, StreamMethod>;
  struct PathHash : std::hash<std::string_view> {
    using is_transparent = void;  // So that looking a view up makes no string.
  };

  const GrpcOptions options_;
  std::unordered_map<std::string, Method, PathHash, std::equal_to<>> methods_;
};

}  // namespace hearth::http
