#pragma once

#include <google/protobuf/message.h>

#include <string_view>

#include "base/status.h"

namespace hearth::wire {

// A message of Firestore's deepest value, in its outermost request, has two thirds of these.
inline constexpr size_t kJsonDepthMax = 100;

// Adds what the object `json` says to `message`, by the mapping that protobuf documents. Keeps no
// tree of the text. Fields of the types Any, Struct and FieldMask, which no request has, are not
// understood. InvalidArgument in the words of Google's APIs, where `location` is the path of
// `message` itself.
Status ReadJson(std::string_view json, google::protobuf::Message* message,
                std::string_view location = "");

}  // namespace hearth::wire
