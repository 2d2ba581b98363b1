#pragma once

#include <google/protobuf/message.h>

#include <string_view>

#include "base/memory_budget.h"
#include "base/status.h"

namespace hearth::wire {

// Firestore's deepest value, in its outermost request, takes two thirds of this.
inline constexpr size_t kJsonDepthMax = 100;

// Merges the object `json` into `message`, by protobuf's documented mapping. Builds no tree of the
// text. Does not support fields of the types Any, Struct and FieldMask, which no request has.
// InvalidArgument in the words of Google's APIs, where `location` is the path of `message` itself.
//
// `claim`, if there is one, grows by about what the message takes, and its serialized form;
// ResourceExhausted as soon as there is not enough memory.
Status ReadJson(std::string_view json, google::protobuf::Message* message,
                std::string_view location = "", MemoryClaim* claim = nullptr);

}  // namespace hearth::wire
