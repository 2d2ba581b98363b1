#include "doors/rest/rest_service.h"

#include <string>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/status_macros.h"
#include "doors/rest/answers.h"
#include "google/firestore/v1/firestore.pb.h"
#include "http/cors.h"

namespace hearth::doors::rest {
namespace {

const google::protobuf::ServiceDescriptor& FirestoreDescriptor() {
  const auto* file = google::firestore::v1::GetDocumentRequest::descriptor()->file();
  const auto* service = file->FindServiceByName("Firestore");
  CHECK(service != nullptr);
  return *service;
}

// HEAD is a GET whose body the protocols drop. A client behind a proxy that allows only POST names
// its method in a header field.
std::string_view MethodOf(const http::RequestHead& head) {
  if (head.method() == "HEAD") return "GET";
  if (head.method() == "POST") return head.Find("x-http-method-override").value_or("POST");
  return head.method();
}

}  // namespace

RestService::RestService(const rpc::Methods& methods, rpc::Background background,
                         RestOptions options)
    : methods_(methods),
      background_(std::move(background)),
      options_(options),
      bindings_(std::make_shared<const Bindings>(FirestoreDescriptor())) {}

std::shared_ptr<http::ExchangeHandler> RestService::Open(http::Exchange& exchange) {
  const http::RequestHead& head = exchange.head();
  if (head.method() == "OPTIONS") {
    http::AnswerPlain(exchange, http::PreflightAnswer(head));
    return nullptr;
  }
  const auto refuse = [&](const Status& status) {
    http::AnswerPlain(exchange, ErrorAnswer(head, status, wire::JsonLayout::kIndented));
    return nullptr;
  };
  Result<RestRequest> request = Read(head);
  if (!request.ok()) return refuse(request.status());
  const auto method = FindMethod(*request->match.binding);
  if (!method.ok()) return refuse(method.status());
  return std::make_shared<RestCall>(exchange, **method, *std::move(request), background_, options_);
}

Result<RestRequest> RestService::Read(const http::RequestHead& head) const {
  std::optional<Match> match = bindings_->Find(MethodOf(head), head.path());
  if (!match) return Status(Code::kNotFound, "Method not found.");
  std::optional<QueryParameters> parameters = ParseQuery(head.query());
  if (!parameters) return InvalidArgument("The query of the URL is not correctly percent-encoded.");
  ASSIGN_OR_RETURN(const wire::JsonForm form, ReadAnswerForm(*parameters));
  return RestRequest{bindings_, *std::move(match), *std::move(parameters), form};
}

Result<const rpc::SingleRequestMethod*> RestService::FindMethod(const Binding& binding) const {
  const auto& method = *binding.method;
  const std::string name = method.service()->full_name() + "/" + method.name();
  if (method.client_streaming()) {
    return Status(Code::kUnimplemented,
                  "Method " + name + " is only available via gRPC or WebChannel, not REST.");
  }
  const rpc::Method* found = methods_.Find("/" + name);
  const auto* single = found == nullptr ? nullptr : std::get_if<rpc::SingleRequestMethod>(found);
  if (single == nullptr) {
    return Status(Code::kUnimplemented, "Method " + name + " is unimplemented");
  }
  return single;
}

}  // namespace hearth::doors::rest
