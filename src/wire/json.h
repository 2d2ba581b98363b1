// Messages as JSON, by protobuf's documented mapping, and errors in the form of Google's APIs.
#pragma once

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hearth::wire {

enum class JsonEnums : uint8_t { kNames, kNumbers };
enum class JsonLayout : uint8_t { kCompact, kIndented };

struct JsonForm {
  JsonEnums enums = JsonEnums::kNames;
  JsonLayout layout = JsonLayout::kCompact;
};

// The bytes of a message of `type`. InvalidArgument, with the reason, if `json` does not describe
// one.
Result<std::string> MessageFromJson(const google::protobuf::Descriptor& type,
                                    std::string_view json);

// The inverse. Fields with their default value are omitted.
Result<std::string> JsonFromMessage(const google::protobuf::Descriptor& type,
                                    std::string_view message, const JsonForm& form);
// The same, without white space.
Result<std::string> JsonFromMessage(const google::protobuf::Descriptor& type,
                                    std::string_view message, JsonEnums enums);

// {"error":{"code":404,"message":"…","status":"NOT_FOUND"}}
std::string JsonFromError(const Status& status, JsonLayout layout = JsonLayout::kCompact);
// With an HTTP status other than the code's own.
std::string JsonFromError(int http_status, const Status& status, JsonLayout layout);

}  // namespace hearth::wire
