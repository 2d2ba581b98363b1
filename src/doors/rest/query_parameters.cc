#include "doors/rest/query_parameters.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>

#include "doors/rest/path_template.h"
#include "wire/json_scalar.h"

namespace hearth::doors::rest {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

Status CannotBind(std::string_view name, const std::string& why) {
  return wire::UnknownJsonName(name, "", "Cannot bind query parameter. " + why);
}

std::string_view WithoutDollar(std::string_view name) {
  if (name.starts_with('$')) name.remove_prefix(1);
  return name;
}

}  // namespace

std::optional<QueryParameters> ParseQuery(std::string_view query) {
  QueryParameters parameters;
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    std::string part(query.substr(0, end));
    query.remove_prefix(std::min(end + 1, query.size()));
    if (part.empty()) continue;
    std::ranges::replace(part, '+', ' ');
    const std::string_view view = part;
    const size_t equals = std::min(view.find('='), view.size());
    auto name = http::DecodePercent(view.substr(0, equals));
    auto value = http::DecodePercent(view.substr(std::min(equals + 1, view.size())));
    if (!name || !value) return std::nullopt;
    parameters.emplace_back(*std::move(name), *std::move(value));
  }
  return parameters;
}

bool IsSystemParameter(std::string_view name) {
  static constexpr std::array<std::string_view, 13> kNames = {
      "access_token", "alt", "bearer_token", "callback",  "fields",     "key",
      "oauth_token",  "pp",  "prettyPrint",  "quotaUser", "uploadType", "upload_protocol",
      "userIp"};
  return name.starts_with('$') || std::ranges::find(kNames, name) != kNames.end();
}

Result<wire::JsonForm> ReadAnswerForm(const QueryParameters& parameters) {
  wire::JsonForm form{.layout = wire::JsonLayout::kIndented};
  for (const auto& [name, value] : parameters) {
    if (WithoutDollar(name) == "prettyPrint" || name == "pp") {
      if (value == "false" || value == "0") form.layout = wire::JsonLayout::kCompact;
    } else if (WithoutDollar(name) == "alt") {
      const size_t end = std::min(value.find(';'), value.size());
      if (value.substr(0, end) != "json") {
        return InvalidArgument("The value '" + value + "' of 'alt' is not supported. Use 'json'.");
      }
      if (value.substr(end) == ";enum-encoding=int") form.enums = wire::JsonEnums::kNumbers;
    }
  }
  return form;
}

Status BindParameter(std::string_view name, std::string value, Message* request) {
  std::string location;
  std::string_view rest = name;
  while (true) {
    const size_t dot = rest.find('.');
    const std::string_view part = rest.substr(0, dot);
    const FieldDescriptor* field = wire::FindJsonField(*request->GetDescriptor(), part);
    if (field == nullptr) {
      return CannotBind(name,
                        "Field '" + std::string(name) + "' could not be found in request message.");
    }
    if (!location.empty()) location += '.';
    location += field->name();
    const bool is_message =
        field->message_type() != nullptr && !wire::IsJsonScalarType(*field->message_type());
    if (dot == std::string_view::npos) {
      if (is_message) {
        return CannotBind(name, "'" + std::string(name) +
                                    "' is a message type. Parameters can only be bound to "
                                    "primitive types.");
      }
      wire::JsonScalar scalar = std::move(value);
      if (wire::SetJsonScalar(request, *field, scalar)) return Status();
      return wire::InvalidJsonScalar(location, *field, scalar);
    }
    if (field->message_type() == nullptr || field->is_repeated()) {
      return CannotBind(name, "Field '" + std::string(part) + "' is not a message type.");
    }
    request = request->GetReflection()->MutableMessage(request, field);
    rest.remove_prefix(dot + 1);
  }
}

}  // namespace hearth::doors::rest
