#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hearth::hackernews {

// How far back a list of stories goes.
enum class Timespan : uint8_t { kDay, kWeek, kMonth, kYear, kAll };

inline constexpr std::array kTimespans = {Timespan::kDay, Timespan::kWeek, Timespan::kMonth,
                                          Timespan::kYear, Timespan::kAll};

// "Day" and so on: used in requests and as ids of the cache's documents.
std::string_view NameOf(Timespan timespan);
// Unknown names mean all.
Timespan ParseTimespan(std::string_view name);
// Nullopt: unlimited. A month has 28 days.
std::optional<std::chrono::milliseconds> LengthOf(Timespan timespan);
// How long a list may be served before it is computed again.
std::chrono::milliseconds TimeToLiveOf(Timespan timespan);

}  // namespace hearth::hackernews
