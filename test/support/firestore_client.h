#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "google/firestore/v1/firestore.pb.h"
#include "http/testing/test_http2_client.h"

namespace hearth::support {

namespace proto = google::firestore::v1;

inline constexpr char kDatabase[] = "projects/test/databases/(default)";

// Converts "rooms/r1" to the document's full name, and back.
std::string FullName(std::string_view path);
std::string PathOf(std::string_view full_name);

// A blocking Firestore client over real gRPC: one connection, one call at a time.
//
// Threads: one at a time. Errors: the server's, or Unavailable if it did not answer: then is_lost()
// is true, it is unknown whether the call took effect, and every later call fails.
class FirestoreClient {
 public:
  explicit FirestoreClient(uint16_t port) : http_(port) {}

  bool is_connected() { return http_.socket().connected(); }
  bool is_lost() const { return is_lost_; }

  Result<proto::CommitResponse> Commit(const proto::CommitRequest& request);
  Result<std::vector<proto::BatchGetDocumentsResponse>> BatchGet(
      const proto::BatchGetDocumentsRequest& request);
  Result<proto::Document> Get(const std::string& path);
  Result<proto::ListDocumentsResponse> List(const proto::ListDocumentsRequest& request);

  // For what the calls above cannot do: requests in pieces, aborted connections.
  http::TestHttp2Client& http() { return http_; }

 private:
  Result<std::vector<std::string>> Call(std::string_view method,
                                        const google::protobuf::MessageLite& request);
  template <typename Response>
  Result<std::vector<Response>> CallStream(std::string_view method,
                                           const google::protobuf::MessageLite& request);
  template <typename Response>
  Result<Response> CallUnary(std::string_view method, const google::protobuf::MessageLite& request);

  http::TestHttp2Client http_;
  bool is_lost_ = false;
};

// The path of a method, as gRPC spells it.
std::string MethodPath(std::string_view method);

}  // namespace hearth::support
