#include "apps/hackernews/timespan.h"

#include "base/check.h"

namespace hearth::hackernews {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr hours kDayLength{24};
constexpr hours kWeekLength = 7 * kDayLength;
constexpr hours kMonthLength = 28 * kDayLength;
constexpr hours kYearLength = 365 * kDayLength;

}  // namespace

std::string_view NameOf(Timespan timespan) {
  switch (timespan) {
    case Timespan::kDay:
      return "Day";
    case Timespan::kWeek:
      return "Week";
    case Timespan::kMonth:
      return "Month";
    case Timespan::kYear:
      return "Year";
    case Timespan::kAll:
      return "All";
  }
  CHECK(false);
}

Timespan ParseTimespan(std::string_view name) {
  for (const Timespan timespan : kTimespans) {
    if (NameOf(timespan) == name) return timespan;
  }
  return Timespan::kAll;
}

std::optional<std::chrono::milliseconds> LengthOf(Timespan timespan) {
  switch (timespan) {
    case Timespan::kDay:
      return kDayLength;
    case Timespan::kWeek:
      return kWeekLength;
    case Timespan::kMonth:
      return kMonthLength;
    case Timespan::kYear:
      return kYearLength;
    case Timespan::kAll:
      return std::nullopt;
  }
  CHECK(false);
}

std::chrono::milliseconds TimeToLiveOf(Timespan timespan) {
  switch (timespan) {
    case Timespan::kDay:
      return minutes(30);
    case Timespan::kWeek:
      return 2 * kDayLength;
    case Timespan::kMonth:
      return kWeekLength;
    case Timespan::kYear:
    case Timespan::kAll:
      return kMonthLength;
  }
  CHECK(false);
}

}  // namespace hearth::hackernews
