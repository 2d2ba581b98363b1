#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::model {

// True for "__id<N>__", where N is a decimal number other than 0, without leading zeros.
bool LooksNumericId(std::string_view id);

// The N of a numeric document id; nullopt if `id` is not one, or if N does not fit in 64 bits.
std::optional<int64_t> NumericId(std::string_view id);

// "__id7__" for 7.
std::string NumericIdText(int64_t number);

}  // namespace hearth::model
