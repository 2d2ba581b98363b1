// The query of a URL: fields of the request, and the parameters that every Google API has.
#pragma once

#include <google/protobuf/message.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "wire/json.h"

namespace hearth::doors::rest {

using QueryParameters = std::vector<std::pair<std::string, std::string>>;

// "a=1&b=x+y" with its escapes decoded; nullopt if one of them is invalid.
std::optional<QueryParameters> ParseQuery(std::string_view query);

// True for parameters about the answer's form, the caller or the transport, which are never fields.
bool IsSystemParameter(std::string_view name);

// The form of the answer that the parameters request. InvalidArgument for an unknown one.
Result<wire::JsonForm> ReadAnswerForm(const QueryParameters& parameters);

// Sets the field at the dotted path `name`, or appends to it if it is repeated. InvalidArgument, in
// Google's words, if there is no such field, or `value` is not valid for it.
Status BindParameter(std::string_view name, std::string value, google::protobuf::Message* request);

}  // namespace hearth::doors::rest
