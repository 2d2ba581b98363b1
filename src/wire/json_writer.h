#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "base/memory_budget.h"
#include "base/status.h"
#include "wire/json.h"

namespace hearth::wire {

// Appends `message` as JSON, with sorted map keys. Internal for values that JSON cannot express,
// such as a time outside the years 1 to 9999. `claim`, if there is one, grows with the text;
// ResourceExhausted as soon as there is not enough memory.
Status WriteJson(const google::protobuf::Message& message, const JsonForm& form, std::string* json,
                 MemoryClaim* claim = nullptr);

}  // namespace hearth::wire
