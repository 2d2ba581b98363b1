// Values for people who read a failure, in the notation of cases; and whether two are the same.
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

// Of one type and equal: 1 is not 1.0, and 0.0 is not -0.0. NaN is NaN.
bool SameValue(const proto::Value& a, const proto::Value& b);
bool SameFields(const Fields& a, const Fields& b);

// `text` without its middle, where it is very long.
std::string Shorten(std::string text);

}  // namespace hearth::cases
