#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "base/status.h"
#include "wire/json.h"

namespace hearth::wire {

// Appends `message` as JSON. Keys of maps come sorted. Internal for what JSON cannot say, such as
// a time outside the years 1 to 9999.
Status WriteJson(const google::protobuf::Message& message, const JsonForm& form, std::string* json);

}  // namespace hearth::wire
