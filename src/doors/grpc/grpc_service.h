#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "base/memory_budget.h"
#include "http/exchange.h"
#include "rpc/methods.h"

namespace hearth::doors::grpc {

struct GrpcOptions {
  // Firestore accepts requests of 10 MiB; the slack is for the message around them.
  size_t message_bytes_max = 10 * 1024 * 1024 + 64 * 1024;
  // Longer messages, and compressed ones, are handled off the loop.
  size_t loop_message_bytes_max = 64 * 1024;
  rpc::Background background = {};  // Must outlive the calls. Empty: everything runs on the loop.
  MemoryBudget* memory = nullptr;   // For decompression. Must outlive the calls. Null: unlimited.
};

// gRPC on top of the HTTP/2 server: five-byte frames, trailers, deadlines, cancellation. gRPC-Web
// on either version.
//
// Threads: Open runs on several loops at once. Ownership: borrows the methods; must outlive the
// server and the calls it opened.
// Errors: client errors are answered with the status that the gRPC specification names.
class GrpcService final : public http::ChoosingService {
 public:
  explicit GrpcService(const rpc::Methods& methods, GrpcOptions options = {})
      : methods_(methods), options_(std::move(options)) {}

  bool Wants(const http::RequestHead& head) const override;

  std::shared_ptr<http::ExchangeHandler> Open(http::Exchange& exchange) override;

 private:
  // Null if it has already been answered.
  std::shared_ptr<http::ExchangeHandler> OpenCall(http::Exchange& exchange) const;

  const rpc::Methods& methods_;
  const GrpcOptions options_;
};

}  // namespace hearth::doors::grpc
