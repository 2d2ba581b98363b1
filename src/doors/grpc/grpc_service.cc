#include "doors/grpc/grpc_service.h"

#include <array>
#include <string>

#include "doors/grpc/grpc_call.h"
#include "doors/grpc/grpc_web.h"
#include "http/cors.h"
#include "http/plain.h"

namespace hearth::doors::grpc {
namespace {

constexpr std::string_view kGrpcContentType = "application/grpc";

// "application/grpc", "application/grpc+proto", "application/grpc;charset=utf-8"; not grpc-web.
bool IsGrpc(const http::RequestHead& head) {
  const std::string_view type = head.Find("content-type").value_or("");
  if (!type.starts_with(kGrpcContentType)) return false;
  const std::string_view rest = type.substr(kGrpcContentType.size());
  return rest.empty() || rest[0] == '+' || rest[0] == ';';
}

void Refuse(http::Exchange& exchange, int status, std::span<const http::Header> headers) {
  exchange.SendHead(status, headers, http::BodyFollows::kNo);
}

}  // namespace

bool GrpcService::Wants(const http::RequestHead& head) const {
  return IsGrpc(head) || methods_.Find(head.path()) || FindGrpcWebForm(head) != GrpcWebForm::kNone;
}

std::shared_ptr<http::ExchangeHandler> GrpcService::Open(http::Exchange& exchange) {
  const http::RequestHead& head = exchange.head();
  if (head.method() == "OPTIONS") {
    AnswerPlain(exchange, PreflightAnswer(head));
    return nullptr;
  }
  if (head.method() != "POST") {
    const http::Header allow = {"allow", "POST", http::HeaderText::kStatic};
    Refuse(exchange, 405, {&allow, 1});
    return nullptr;
  }
  if (const GrpcWebForm form = FindGrpcWebForm(head); form != GrpcWebForm::kNone) {
    auto web = std::make_shared<GrpcWebExchange>(exchange, form);
    std::shared_ptr<http::ExchangeHandler> call = OpenCall(*web);
    if (!call) return nullptr;
    web->set_handler(std::move(call));
    return web;
  }
  if (!IsGrpc(head)) {
    Refuse(exchange, 415, {});
    return nullptr;
  }
  if (head.version() != http::HttpVersion::kHttp2) {
    // gRPC needs trailers and bidirectional streams.
    const http::Header upgrade = {"upgrade", "h2c", http::HeaderText::kStatic};
    Refuse(exchange, 426, {&upgrade, 1});
    return nullptr;
  }
  return OpenCall(exchange);
}

std::shared_ptr<http::ExchangeHandler> GrpcService::OpenCall(http::Exchange& exchange) const {
  const http::RequestHead& head = exchange.head();
  const rpc::Method* method = methods_.Find(head.path());
  if (!method) {
    AnswerGrpcError(exchange, Status(Code::kUnimplemented,
                                     "Method not found: " + std::string(head.path().substr(
                                                                head.path().starts_with('/')))));
    return nullptr;
  }
  const auto call = std::make_shared<GrpcServerCall>(exchange, options_);
  if (!call->Negotiate()) return nullptr;
  if (const auto* single = std::get_if<rpc::SingleRequestMethod>(method)) {
    call->AnswerWith(*single);
  } else {
    call->AnswerWith(std::get<rpc::StreamMethod>(*method));
  }
  return call;
}

}  // namespace hearth::doors::grpc
