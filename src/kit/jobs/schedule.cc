#include "kit/jobs/schedule.h"

#include <date/tz.h>

#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/check.h"
#include "base/status_macros.h"
#include "base/text.h"

namespace hearth::kit {
namespace {

using std::chrono::microseconds;
using SysMicros = date::sys_time<microseconds>;
using LocalMinutes = date::local_time<std::chrono::minutes>;

constexpr std::array<std::string_view, 12> kMonths = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                      "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<std::string_view, 7> kWeekdays = {"SUN", "MON", "TUE", "WED",
                                                       "THU", "FRI", "SAT"};
// The maximum length of each month, including 29 February.
constexpr std::array<size_t, 13> kMonthDays = {0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
// 29 February can be eight years away, around a century without a leap day.
constexpr int kSearchDaysMax = 9 * 366;

struct FieldRule {
  std::string_view name;
  int min;
  int max;
  std::span<const std::string_view> names = {};  // The first one stands for `min`.
};

constexpr FieldRule kMinute = {.name = "minute", .min = 0, .max = 59};
constexpr FieldRule kHour = {.name = "hour", .min = 0, .max = 23};
constexpr FieldRule kDay = {.name = "day of month", .min = 1, .max = 31};
constexpr FieldRule kMonth = {.name = "month", .min = 1, .max = 12, .names = kMonths};
constexpr FieldRule kWeekday = {.name = "day of week", .min = 0, .max = 7, .names = kWeekdays};

Status Wrong(const FieldRule& rule, std::string_view text, std::string_view why) {
  return InvalidArgument("schedule: " + std::string(rule.name) + " \"" + std::string(text) +
                         "\": " + std::string(why));
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> SplitFields(std::string_view text) {
  std::vector<std::string_view> fields;
  while (true) {
    const size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return fields;
    text.remove_prefix(begin);
    const size_t end = text.find_first_of(" \t");
    fields.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return fields;
    text.remove_prefix(end);
  }
}

std::optional<int> ParseNumber(std::string_view text) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return number;
}

Result<int> ParseValue(const FieldRule& rule, std::string_view text) {
  for (size_t i = 0; i < rule.names.size(); ++i) {
    if (EqualsIgnoringCase(text, rule.names[i])) return rule.min + static_cast<int>(i);
  }
  const std::optional<int> number = ParseNumber(text);
  if (!number) return Wrong(rule, text, "not a number or name");
  if (*number < rule.min || *number > rule.max) {
    return Wrong(rule, text,
                 "must be from " + std::to_string(rule.min) + " to " + std::to_string(rule.max));
  }
  return *number;
}

struct Range {
  int first;
  int last;
};

Result<Range> ParseRange(const FieldRule& rule, std::string_view text) {
  if (text == "*") return Range{rule.min, rule.max};
  const size_t dash = text.find('-');
  ASSIGN_OR_RETURN(const int first, ParseValue(rule, text.substr(0, dash)));
  if (dash == std::string_view::npos) return Range{first, first};
  ASSIGN_OR_RETURN(int last, ParseValue(rule, text.substr(dash + 1)));
  // A range of weekdays may end with Sunday.
  if (&rule == &kWeekday && last == 0 && first > 0) last = 7;
  if (last < first) return Wrong(rule, text, "the range ends before it begins");
  return Range{first, last};
}

// One element of a list: a range and a step.
Result<std::vector<int>> ParseElement(const FieldRule& rule, std::string_view text) {
  const size_t slash = text.find('/');
  const std::string_view range_text = text.substr(0, slash);
  ASSIGN_OR_RETURN(const Range range, ParseRange(rule, range_text));
  int step = 1;
  if (slash != std::string_view::npos) {
    if (range_text != "*" && range_text.find('-') == std::string_view::npos) {
      return Wrong(rule, text, "a step needs a range or *");
    }
    const std::optional<int> number = ParseNumber(text.substr(slash + 1));
    if (!number || *number < 1 || *number > rule.max) {
      return Wrong(rule, text, "the step must be from 1 to " + std::to_string(rule.max));
    }
    step = *number;
  }
  std::vector<int> values;
  for (int value = range.first; value <= range.last; value += step) values.push_back(value);
  return values;
}

template <size_t kSize>
Status ParseField(const FieldRule& rule, std::string_view text, std::bitset<kSize>& set) {
  for (const std::string_view element : Split(text, ',')) {
    ASSIGN_OR_RETURN(const std::vector<int> values, ParseElement(rule, element));
    // Only weekdays exceed their set: 7 is also Sunday.
    for (const int value : values) set.set(static_cast<size_t>(value) % kSize);
  }
  return Status();
}

// The time at which the wall clock of `zone` shows `local`. If it never does, the first moment
// after the gap. If it does twice, the first time.
SysMicros ToSys(const date::time_zone& zone, LocalMinutes local) {
  const date::local_info info = zone.get_info(local);
  if (info.result == date::local_info::nonexistent) return info.first.end;
  return SysMicros(local.time_since_epoch() - info.first.offset);
}

}  // namespace

Result<Schedule> Schedule::Parse(std::string_view cron, std::string_view zone) {
  const std::vector<std::string_view> fields = SplitFields(cron);
  if (fields.size() != 5) {
    return InvalidArgument("schedule \"" + std::string(cron) + "\": has " +
                           std::to_string(fields.size()) +
                           " fields instead of minute, hour, day of month, month, day of week");
  }
  Schedule schedule;
  RETURN_IF_ERROR(ParseField(kMinute, fields[0], schedule.minutes_));
  RETURN_IF_ERROR(ParseField(kHour, fields[1], schedule.hours_));
  RETURN_IF_ERROR(ParseField(kDay, fields[2], schedule.days_));
  RETURN_IF_ERROR(ParseField(kMonth, fields[3], schedule.months_));
  RETURN_IF_ERROR(ParseField(kWeekday, fields[4], schedule.weekdays_));
  schedule.any_day_ = fields[2] == "*";
  schedule.any_weekday_ = fields[4] == "*";
  if (!schedule.EverHappens()) {
    return Wrong(kDay, fields[2], "no month of \"" + std::string(fields[3]) + "\" has such a day");
  }
  try {
    schedule.zone_ = date::locate_zone(zone)->name();
  } catch (const std::runtime_error&) {
    return InvalidArgument("schedule: no time zone \"" + std::string(zone) + "\"");
  }
  return schedule;
}

bool Schedule::EverHappens() const {
  if (any_day_ || !any_weekday_) return true;
  for (size_t month = 1; month <= 12; ++month) {
    if (!months_.test(month)) continue;
    for (size_t day = 1; day <= kMonthDays[month]; ++day) {
      if (days_.test(day)) return true;
    }
  }
  return false;
}

bool Schedule::IsOnDay(size_t month, size_t day, size_t weekday) const {
  if (!months_.test(month)) return false;
  if (any_day_) return any_weekday_ || weekdays_.test(weekday);
  if (any_weekday_) return days_.test(day);
  return days_.test(day) || weekdays_.test(weekday);
}

int64_t Schedule::NextAfter(int64_t after_micros) const {
  const date::time_zone& zone = *date::locate_zone(zone_);
  const SysMicros after{microseconds(after_micros)};
  // No earlier wall clock time can lie after `after`: in a repeated hour only the first occurrence
  // counts.
  const auto start = date::floor<std::chrono::minutes>(zone.to_local(after));
  date::local_days day = date::floor<date::days>(start);
  for (int searched = 0; searched < kSearchDaysMax; ++searched, day += date::days(1)) {
    const date::year_month_day date(day);
    if (!IsOnDay(static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                 date::weekday(day).c_encoding())) {
      continue;
    }
    for (size_t hour = 0; hour < hours_.size(); ++hour) {
      if (!hours_.test(hour)) continue;
      for (size_t minute = 0; minute < minutes_.size(); ++minute) {
        if (!minutes_.test(minute)) continue;
        const LocalMinutes local = day + std::chrono::hours(hour) + std::chrono::minutes(minute);
        if (local < start) continue;
        const SysMicros next = ToSys(zone, local);
        if (next > after) return next.time_since_epoch().count();
      }
    }
  }
  const bool never_happens = true;  // Parse rejects such schedules.
  CHECK(!never_happens);
  return 0;
}

}  // namespace hearth::kit
