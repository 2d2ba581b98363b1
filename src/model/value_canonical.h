#pragma once

#include <string>
#include <string_view>

namespace hearth::model {

// The stored form of bytes that ValueValidator has accepted: names sorted, the last of equal names
// kept, times truncated to microseconds, one NaN, shortest varints.
std::string CanonicalFields(std::string_view encoded);
std::string CanonicalValue(std::string_view encoded);

}  // namespace hearth::model
