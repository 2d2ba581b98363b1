#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "base/status.h"
#include "wire/json.h"

namespace hearth::wire {

// Appends `message` as JSON, with sorted map keys. Internal for values that JSON cannot express,
// such as a time outside the years 1 to 9999.
Status WriteJson(const google::protobuf::Message& message, const JsonForm& form, std::string* json);

}  // namespace hearth::wire
