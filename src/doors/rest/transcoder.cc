#include "doors/rest/transcoder.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/message.h>

#include "base/check.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "wire/json_reader.h"

namespace hearth::doors::rest {
namespace {

using google::protobuf::Message;
using google::protobuf::MessageFactory;

Status ReadBody(const Binding& binding, std::string_view body, Message* request,
                MemoryClaim* claim) {
  if (binding.body.empty()) return Status();  // Some clients send one anyway.
  Message* target = request;
  std::string_view location;
  if (binding.body != "*") {
    location = binding.body;
    const auto* field = request->GetDescriptor()->FindFieldByName(binding.body);
    CHECK(field != nullptr && field->message_type() != nullptr && !field->is_repeated());
    target = request->GetReflection()->MutableMessage(request, field);
  }
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return Status();
  return wire::ReadJson(body, target, location, claim);
}

}  // namespace

Result<std::string> MakeRequest(const Match& match, const QueryParameters& parameters,
                                std::string_view body, MemoryClaim* claim) {
  google::protobuf::Arena arena;
  const auto* type = match.binding->method->input_type();
  Message* request = MessageFactory::generated_factory()->GetPrototype(type)->New(&arena);
  RETURN_IF_ERROR(ReadBody(*match.binding, body, request, claim));
  for (const auto& [name, value] : parameters) {
    if (IsSystemParameter(name)) continue;
    if (!IsValidUtf8(value)) return InvalidArgument("The query is not valid UTF-8.");
    RETURN_IF_ERROR(BindParameter(name, value, request));
  }
  for (const auto& [field_path, value] : match.values) {
    if (!IsValidUtf8(value)) return InvalidArgument("The path is not valid UTF-8.");
    RETURN_IF_ERROR(BindParameter(field_path, value, request));
  }
  return request->SerializeAsString();
}

}  // namespace hearth::doors::rest
