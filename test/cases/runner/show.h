// Prints values for failure messages, in the notation of cases, and compares values.
#pragma once

#include <string>
#include <string_view>

#include "cases/runner/values.h"
#include "google/firestore/v1/document.pb.h"

namespace hearth::cases {

using Fields = google::protobuf::Map<std::string, proto::Value>;

std::string ShowText(std::string_view text);
std::string ShowTime(const Time& time);
std::string ShowValue(const proto::Value& value, const Scope& scope);
std::string ShowFields(const Fields& fields, const Scope& scope);

// Same type and equal: 1 is not 1.0, and 0.0 is not -0.0. NaN equals NaN.
bool SameValue(const proto::Value& a, const proto::Value& b);
bool SameFields(const Fields& a, const Fields& b);

// `text` without its middle, if it is very long.
std::string Shorten(std::string text);

}  // namespace hearth::cases
