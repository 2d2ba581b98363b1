#include "doors/control/emulator_service.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "doors/control/json_answers.h"
#include "doors/control/request_check.h"
#include "engine/clearing.h"
#include "http/cors.h"
#include "http/event_loop.h"
#include "model/names.h"

namespace hearth::doors::control {
namespace {

using http::PlainAnswer;
using http::PlainCall;
using Call = std::shared_ptr<PlainCall>;
using Parts = std::vector<std::string>;

constexpr size_t kBodyBytesMax = 64 * 1024;  // Bodies are ignored.
constexpr size_t kNameBegin = 2;             // After "emulator/v1".
constexpr size_t kDocumentsPart = 6;         // "documents".

struct ClearRequest {
  model::DatabaseName database;
  engine::ClearScope scope;
};

std::string Joined(const Parts& parts, size_t begin, size_t end) {
  std::string text;
  for (size_t i = begin; i < end; ++i) text.append(text.empty() ? "" : "/").append(parts[i]);
  return text;
}

bool IsOfDocuments(const Parts& parts) {
  return parts.size() > kDocumentsPart && parts[0] == "emulator" && parts[1] == "v1" &&
         parts[2] == "projects" && parts[4] == "databases" && parts[kDocumentsPart] == "documents";
}

Result<ClearRequest> ReadRequest(const http::RequestHead& head) {
  // As in REST, an encoded slash does not separate segments.
  const std::optional<Parts> parts = SplitPath(head.path(), {.keeps_slashes = true});
  if (!parts) return InvalidArgument("the path has a '%' without two hex digits");
  if (head.method() != "DELETE" || !IsOfDocuments(*parts)) {
    return Status(Code::kNotFound, "Method not found.");
  }
  const bool is_collection =
      (parts->size() - kDocumentsPart - 1) % 2 == 1 && !parts->back().empty();
  const size_t end = parts->size() - (is_collection ? 1 : 0);
  ASSIGN_OR_RETURN(model::ParentName parent,
                   model::ParentName::Parse(Joined(*parts, kNameBegin, end)));
  ClearRequest request{parent.database, engine::AllDocuments()};
  if (is_collection) {
    ASSIGN_OR_RETURN(request.scope, parent.Collection(parts->back()));
  } else if (!parent.document_path.empty()) {
    ASSIGN_OR_RETURN(request.scope, model::DocumentPath::Parse(parent.document_path));
  }
  return request;
}

void Respond(const Call& call, const Status& status) {
  // Same bytes and content type as the emulator.
  PlainAnswer answer = status.ok()
                           ? PlainAnswer{.content_type = "application/json", .body = "{\n}\n"}
                           : ErrorAnswer(status);
  http::AppendCorsHeaders(call->head(), &answer.more_headers);
  call->Respond(std::move(answer));
}

Status Start(engine::Engine& engine, const access::AccessPolicy& policy, const Call& call) {
  ASSIGN_OR_RETURN(const ClearRequest request, ReadRequest(call->head()));
  RETURN_IF_ERROR(policy.CheckDatabase(call->head(), request.database));
  engine::Clear(engine, *engine.OpenDatabase(request.database), request.scope, *call->loop(),
                [call](const Status& status) { Respond(call, status); },
                {call->client()->key(), call->end_token()});
  return Status();
}

}  // namespace

EmulatorService::EmulatorService(engine::Engine& engine, const access::AccessPolicy& policy)
    : handler_([&engine, &policy](const Call& call) {
        if (const Status status = Start(engine, policy, call); !status.ok()) Respond(call, status);
      }) {}

std::shared_ptr<http::ExchangeHandler> EmulatorService::Open(http::Exchange& exchange) {
  if (exchange.head().method() == "OPTIONS") {
    http::AnswerPlain(exchange, http::PreflightAnswer(exchange.head()));
    return nullptr;
  }
  return http::OpenPlain(exchange, handler_, {.body_bytes_max = kBodyBytesMax});
}

}  // namespace hearth::doors::control
