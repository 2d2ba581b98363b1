#include "support/firestore_client.h"

#include <utility>

#include "base/check.h"
#include "base/status_macros.h"

namespace hearth::support {
namespace {

const std::string& NamePrefix() {
  // Not with operator+, for which GCC 12 reports a false out-of-bounds copy.
  static const std::string prefix = std::string(kDatabase).append("/documents/");
  return prefix;
}

}  // namespace

std::string FullName(std::string_view path) { return NamePrefix() + std::string(path); }

std::string PathOf(std::string_view full_name) {
  CHECK(full_name.starts_with(NamePrefix()));
  return std::string(full_name.substr(NamePrefix().size()));
}

std::string MethodPath(std::string_view method) {
  return "/google.firestore.v1.Firestore/" + std::string(method);
}

Result<std::vector<std::string>> FirestoreClient::Call(
    std::string_view method, const google::protobuf::MessageLite& request) {
  const Status lost(Code::kUnavailable, "the connection ended before the answer");
  if (is_lost_) return lost;
  const int32_t stream = http_.OpenGrpc(MethodPath(method), {{"authorization", "Bearer owner"}});
  if (stream > 0) {
    http_.SendBody(stream, http::TestFrame(request.SerializeAsString()));
    http_.EndBody(stream);
    http_.UntilClosed(stream);
  }
  const http::TestAnswer answer = stream > 0 ? http_.answer(stream) : http::TestAnswer();
  if (!answer.closed || answer.grpc_status() < 0) {
    is_lost_ = true;
    return lost;
  }
  if (answer.grpc_status() != 0) {
    const auto message = answer.headers.find("grpc-message");
    return Status(static_cast<Code>(answer.grpc_status()),
                  message == answer.headers.end() ? std::string() : message->second);
  }
  return answer.messages();
}

template <typename Response>
Result<std::vector<Response>> FirestoreClient::CallStream(
    std::string_view method, const google::protobuf::MessageLite& request) {
  ASSIGN_OR_RETURN(const std::vector<std::string> messages, Call(method, request));
  std::vector<Response> responses(messages.size());
  for (size_t i = 0; i < messages.size(); ++i) {
    if (!responses[i].ParseFromString(messages[i])) {
      return Status(Code::kInternal, "an answer that does not parse");
    }
  }
  return responses;
}

template <typename Response>
Result<Response> FirestoreClient::CallUnary(std::string_view method,
                                            const google::protobuf::MessageLite& request) {
  ASSIGN_OR_RETURN(std::vector<Response> responses, CallStream<Response>(method, request));
  if (responses.size() != 1) return Status(Code::kInternal, "not one answer to a unary call");
  return std::move(responses[0]);
}

Result<proto::CommitResponse> FirestoreClient::Commit(const proto::CommitRequest& request) {
  return CallUnary<proto::CommitResponse>("Commit", request);
}

Result<std::vector<proto::BatchGetDocumentsResponse>> FirestoreClient::BatchGet(
    const proto::BatchGetDocumentsRequest& request) {
  return CallStream<proto::BatchGetDocumentsResponse>("BatchGetDocuments", request);
}

Result<proto::Document> FirestoreClient::Get(const std::string& path) {
  proto::GetDocumentRequest request;
  request.set_name(FullName(path));
  return CallUnary<proto::Document>("GetDocument", request);
}

Result<proto::ListDocumentsResponse> FirestoreClient::List(
    const proto::ListDocumentsRequest& request) {
  return CallUnary<proto::ListDocumentsResponse>("ListDocuments", request);
}

}  // namespace hearth::support
