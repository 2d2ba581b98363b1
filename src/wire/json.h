// Messages as JSON, by the mapping that protobuf documents, and errors as Google's APIs write them.
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

// The bytes of a message of `type`. InvalidArgument where `json` is none, with what is wrong.
Result<std::string> MessageFromJson(const google::protobuf::Descriptor& type,
                                    std::string_view json);

// The other way round. Fields that have their default value are left out.
Result<std::string> JsonFromMessage(const google::protobuf::Descriptor& type,
                                    std::string_view message, const JsonForm& form);
// The same, without white space.
Result<std::string> JsonFromMessage(const google::protobuf::Descriptor& type,
                                    std::string_view message, JsonEnums enums);

// {"error":{"code":404,"message":"…","status":"NOT_FOUND"}}
std::string JsonFromError(const Status& status, JsonLayout layout = JsonLayout::kCompact);
// With another HTTP status than the code's own.
std::string JsonFromError(int http_status, const Status& status, JsonLayout layout);

}  // namespace hearth::wire
