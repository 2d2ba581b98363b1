#pragma once

#include "doors/grpc/grpc_service.h"
#include "http/testing/test_server.h"
#include "rpc/methods.h"

namespace hearth::doors::grpc {

// A test server that answers gRPC calls with the methods that the test adds to `methods` before
// Start.
struct GrpcTestServer : http::TestServer {
  explicit GrpcTestServer(GrpcOptions grpc_options = {}) : grpc(methods, grpc_options) {
    router.SetFirst(grpc);
  }
  ~GrpcTestServer() { server.reset(); }  // Its loops use what follows.

  rpc::Methods methods;
  GrpcService grpc;
};

}  // namespace hearth::doors::grpc
