// The query of a URL: fields of the request, and what every Google API understands besides.
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

// "a=1&b=x+y" with its escapes decoded; nullopt when one of them is no byte.
std::optional<QueryParameters> ParseQuery(std::string_view query);

// True for what is about the answer's form, the caller or the transport, and so never a field.
bool IsSystemParameter(std::string_view name);

// The form of the answer that the parameters ask for. InvalidArgument for one that there is not.
Result<wire::JsonForm> ReadAnswerForm(const QueryParameters& parameters);

// Sets the field at the dotted path `name`, or adds to it where it is repeated. InvalidArgument,
// in Google's words, when there is no such field, or `value` is none of its values.
Status BindParameter(std::string_view name, std::string value, google::protobuf::Message* request);

}  // namespace hearth::doors::rest
