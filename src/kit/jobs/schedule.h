#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hearth::kit {

// When something happens, as cron says it, on the wall clock of a time zone: five fields (minute,
// hour, day of month, month, day of week; 7 is Sunday too), each `*`, a number, a range `a-b`, a
// step `*/n` or `a-b/n`, names (JAN, MON), or a list of those. Where both days are restricted
// (anything but `*`), one of them suffices, as in cron.
//
// Daylight saving: an hour that does not exist is skipped to the next minute that does; an hour
// that comes twice counts once.
//
// Immutable.
class Schedule {
 public:
  // `zone`: "UTC", "Asia/Tehran". InvalidArgument that names the field and what is wrong with it.
  static Result<Schedule> Parse(std::string_view cron, std::string_view zone);

  // The first moment after `after`, in microseconds since the epoch. Schedules that never happen
  // ("0 0 30 2 *") do not parse.
  int64_t NextAfter(int64_t after_micros) const;

 private:
  Schedule() = default;

  bool EverHappens() const;
  // Sunday is 0.
  bool IsOnDay(size_t month, size_t day, size_t weekday) const;

  std::string zone_;
  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;
  std::bitset<13> months_;
  std::bitset<7> weekdays_;
  bool any_day_ = true;
  bool any_weekday_ = true;
};

}  // namespace hearth::kit
