#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hearth::kit {

// A cron schedule on the wall clock of a time zone. Five fields: minute, hour, day of month, month,
// day of week (7 is also Sunday). Each is `*`, a number, a range `a-b`, a step `*/n` or `a-b/n`, a
// name (JAN, MON), or a list of those. If both day fields are restricted (not `*`), either one
// suffices, as in cron.
//
// Daylight saving: times in a skipped hour move to the next minute that exists; a repeated hour
// counts once.
//
// Immutable.
class Schedule {
 public:
  // `zone`: "UTC", "Asia/Tehran". InvalidArgument names the field and the error.
  static Result<Schedule> Parse(std::string_view cron, std::string_view zone);

  // The first time after `after`, in microseconds since the epoch. Schedules that never occur ("0 0
  // 30 2 *") do not parse.
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
