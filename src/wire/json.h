// Messages as JSON, by protobuf's documented mapping, and errors in the form of Google's APIs.
#pragma once

#include <google/protobuf/descriptor.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/memory_budget.h"
#include "base/status.h"

namespace hearth::wire {

enum class JsonEnums : uint8_t { kNames, kNumbers };
enum class JsonLayout : uint8_t { kCompact, kIndented };

// Texts that would be longer are written without white space, even if it is requested: in deeply
// nested lists it would be a hundred times as long as the values.
inline constexpr size_t kIndentedBytesMax = 256 * 1024;

struct JsonForm {
  JsonEnums enums = JsonEnums::kNames;
  JsonLayout layout = JsonLayout::kCompact;
};

// The bytes of a message of `type`. InvalidArgument, with the reason, if `json` does not describe
// one.
//
// `claim`, if there is one, grows by the memory that the conversion takes, and then covers the
// result; ResourceExhausted if there is not enough. The same below.
Result<std::string> MessageFromJson(const google::protobuf::Descriptor& type, std::string_view json,
                                    MemoryClaim* claim = nullptr);

// The inverse. Fields with their default value are omitted.
Result<std::string> JsonFromMessage(const google::protobuf::Descriptor& type,
                                    std::string_view message, const JsonForm& form,
                                    MemoryClaim* claim = nullptr);
// The same, without white space.
Result<std::string> JsonFromMessage(const google::protobuf::Descriptor& type,
                                    std::string_view message, JsonEnums enums,
                                    MemoryClaim* claim = nullptr);

// {"error":{"code":404,"message":"…","status":"NOT_FOUND"}}
std::string JsonFromError(const Status& status, JsonLayout layout = JsonLayout::kCompact);
// With an HTTP status other than the code's own.
std::string JsonFromError(int http_status, const Status& status, JsonLayout layout);

}  // namespace hearth::wire
