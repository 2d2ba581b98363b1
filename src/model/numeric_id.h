#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::model {

// What "__id<N>__" looks like: N is decimal, without leading zeros, and not 0.
bool LooksNumericId(std::string_view id);

// The N of a numeric document id; nullopt when `id` is not one, or N has more than 64 bits.
std::optional<int64_t> NumericId(std::string_view id);

// "__id7__" for 7.
std::string NumericIdText(int64_t number);

}  // namespace hearth::model
