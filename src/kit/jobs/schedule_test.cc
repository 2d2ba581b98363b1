#include "kit/jobs/schedule.h"

#include <date/tz.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/testing/test_seed.h"

namespace hearth::kit {
namespace {

using std::chrono::microseconds;
using SysMicros = date::sys_time<microseconds>;

// "2026-03-29 01:00" in UTC.
int64_t Utc(const std::string& text) {
  int year = 0;
  unsigned month = 0, day = 0;
  int hour = 0, minute = 0;
  EXPECT_EQ(std::sscanf(text.c_str(), "%d-%u-%u %d:%d", &year, &month, &day, &hour, &minute), 5);
  const date::sys_days days = date::year(year) / date::month(month) / date::day(day);
  return microseconds(
             (days + std::chrono::hours(hour) + std::chrono::minutes(minute)).time_since_epoch())
      .count();
}

std::string ToText(int64_t micros) {
  return date::format("%F %R", date::floor<std::chrono::seconds>(SysMicros(microseconds(micros))));
}

Schedule Parse(const std::string& cron, const std::string& zone = "UTC") {
  Result<Schedule> schedule = Schedule::Parse(cron, zone);
  EXPECT_TRUE(schedule.ok()) << cron << ": " << schedule.status().ToString();
  return *schedule;
}

struct Case {
  const char* cron;
  const char* zone;
  const char* after;
  std::vector<const char*> next;  // In UTC, consecutive.
};

class ScheduleCases : public testing::TestWithParam<Case> {};

TEST_P(ScheduleCases, HappensWhenItShould) {
  const Schedule schedule = Parse(GetParam().cron, GetParam().zone);
  int64_t now = Utc(GetParam().after);
  for (const char* next : GetParam().next) {
    now = schedule.NextAfter(now);
    EXPECT_EQ(ToText(now), next) << GetParam().cron << " in " << GetParam().zone;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Fields, ScheduleCases,
    testing::Values(
        Case{"* * * * *", "UTC", "2026-01-01 00:00", {"2026-01-01 00:01", "2026-01-01 00:02"}},
        Case{"*/10 * * * *", "UTC", "2026-01-01 00:05", {"2026-01-01 00:10", "2026-01-01 00:20"}},
        Case{"10-30/10 5 * * *",
             "UTC",
             "2026-01-01 05:10",
             {"2026-01-01 05:20", "2026-01-01 05:30", "2026-01-02 05:10"}},
        Case{"0,30 8-9 * * *",
             "UTC",
             "2026-01-01 08:00",
             {"2026-01-01 08:30", "2026-01-01 09:00", "2026-01-01 09:30", "2026-01-02 08:00"}},
        Case{" \t0  0\t1 1 * ", "UTC", "2026-01-01 00:00", {"2027-01-01 00:00"}},
        Case{
            "0 0 * FEB,dec *", "UTC", "2026-02-27 12:00", {"2026-02-28 00:00", "2026-12-01 00:00"}},
        Case{"0 9 * * MON-WED",
             "UTC",
             "2026-11-15 00:00",  // A Sunday.
             {"2026-11-16 09:00", "2026-11-17 09:00", "2026-11-18 09:00", "2026-11-23 09:00"}},
        Case{"0 0 * * 7", "UTC", "2026-11-14 00:00", {"2026-11-15 00:00", "2026-11-22 00:00"}},
        Case{"0 0 * * 0", "UTC", "2026-11-14 00:00", {"2026-11-15 00:00", "2026-11-22 00:00"}},
        Case{"0 0 * * fri-sun",
             "UTC",
             "2026-11-13 12:00",
             {"2026-11-14 00:00", "2026-11-15 00:00", "2026-11-20 00:00"}},
        Case{"0 0 * * 5-7", "UTC", "2026-11-14 12:00", {"2026-11-15 00:00", "2026-11-20 00:00"}}));

INSTANTIATE_TEST_SUITE_P(
    Days, ScheduleCases,
    testing::Values(
        // Month ends and leap days.
        Case{"0 0 31 * *",
             "UTC",
             "2026-01-31 00:00",
             {"2026-03-31 00:00", "2026-05-31 00:00", "2026-07-31 00:00", "2026-08-31 00:00"}},
        Case{"0 0 29 2 *", "UTC", "2026-01-01 00:00", {"2028-02-29 00:00", "2032-02-29 00:00"}},
        Case{"0 0 29 2 *", "UTC", "2096-03-01 00:00", {"2104-02-29 00:00"}},
        Case{"59 23 31 12 *", "UTC", "2026-12-31 23:59", {"2027-12-31 23:59"}},
        // If both day fields are restricted, either one suffices.
        Case{"0 0 13 * FRI",
             "UTC",
             "2026-11-10 00:00",
             {"2026-11-13 00:00", "2026-11-20 00:00", "2026-11-27 00:00", "2026-12-04 00:00",
              "2026-12-11 00:00", "2026-12-13 00:00"}},
        Case{"0 0 13 * *", "UTC", "2026-11-10 00:00", {"2026-11-13 00:00", "2026-12-13 00:00"}},
        // A day of month that never occurs does not matter if weekdays are given.
        Case{"0 0 30 2 MON", "UTC", "2026-02-01 00:00", {"2026-02-02 00:00", "2026-02-09 00:00"}}));

INSTANTIATE_TEST_SUITE_P(
    Zones, ScheduleCases,
    testing::Values(Case{"0 9 * * *", "Asia/Tokyo", "2026-11-15 00:00", {"2026-11-16 00:00"}},
                    Case{"0 8 * * *", "Asia/Tehran", "2026-11-15 00:00", {"2026-11-15 04:30"}},
                    Case{"*/10 8-13 * * MON-WED",
                         "Asia/Tehran",
                         "2026-11-15 21:00",  // Already Monday in that zone.
                         {"2026-11-16 04:30", "2026-11-16 04:40"}},
                    // Tehran had daylight saving until 2022: midnight of 22 March did not exist.
                    Case{"0 0 * * *",
                         "Asia/Tehran",
                         "2022-03-20 20:30",
                         {"2022-03-21 20:30", "2022-03-22 19:30"}},
                    // Berlin, 29 March 2026: 02:00 to 03:00 does not exist; 01:00 UTC is 03:00.
                    Case{"30 2 * * *",
                         "Europe/Berlin",
                         "2026-03-28 02:00",
                         {"2026-03-29 01:00", "2026-03-30 00:30"}},
                    Case{"*/20 * * * *",
                         "Europe/Berlin",
                         "2026-03-29 00:30",
                         {"2026-03-29 00:40", "2026-03-29 01:00", "2026-03-29 01:20"}},
                    // Berlin, 25 October 2026: 02:00 to 03:00 occurs twice, first from 00:00 UTC.
                    Case{"30 2 * * *",
                         "Europe/Berlin",
                         "2026-10-24 12:00",
                         {"2026-10-25 00:30", "2026-10-26 01:30"}},
                    Case{"*/30 * * * *",
                         "Europe/Berlin",
                         "2026-10-24 23:45",
                         {"2026-10-25 00:00", "2026-10-25 00:30", "2026-10-25 02:00"}},
                    Case{"30 2 * * *", "Europe/Berlin", "2026-10-25 01:15", {"2026-10-26 01:30"}},
                    // A whole day that Samoa skipped.
                    Case{
                        "0 12 30 12 *", "Pacific/Apia", "2011-12-29 00:00", {"2011-12-30 10:00"}}));

TEST(ScheduleTest, StartsFromAnyMicrosecondAndComesOutOnTheMinute) {
  const Schedule schedule = Parse("* * * * *");
  const int64_t minute = Utc("2026-01-01 00:01");
  EXPECT_EQ(schedule.NextAfter(minute - 1), minute);
  EXPECT_EQ(schedule.NextAfter(minute - 59'999'999), minute);
  EXPECT_EQ(schedule.NextAfter(minute), minute + 60'000'000);
}

TEST(ScheduleTest, WorksBeforeTheEpoch) {
  EXPECT_EQ(ToText(Parse("0 0 1 1 *").NextAfter(Utc("1965-06-01 00:00"))), "1966-01-01 00:00");
}

TEST(ScheduleTest, BadInputNamesTheFieldAndTheReason) {
  const struct {
    const char* cron;
    const char* part;  // Of the message.
  } cases[] = {
      {"", "0 fields"},
      {"* * * *", "4 fields"},
      {"* * * * * *", "6 fields"},
      {"@daily", "1 fields"},
      {"60 * * * *", "minute \"60\""},
      {"-1 * * * *", "minute"},
      {"+1 * * * *", "minute"},
      {"1.5 * * * *", "minute \"1.5\""},
      {"x * * * *", "minute \"x\": not a number"},
      {"* 24 * * *", "hour \"24\""},
      {"* * 0 * *", "day of month \"0\""},
      {"* * 32 * *", "day of month \"32\""},
      {"* * * 0 *", "month \"0\""},
      {"* * * 13 *", "month \"13\""},
      {"* * * JANUARY *", "month \"JANUARY\""},
      {"* * * MON *", "month \"MON\""},
      {"* * * * 8", "day of week \"8\""},
      {"* * * * JAN", "day of week \"JAN\""},
      {"MON * * * *", "minute \"MON\""},
      {"5-3 * * * *", "ends before it begins"},
      {"* * * * WED-MON", "ends before it begins"},
      {"1- * * * *", "minute"},
      {"1-2-3 * * * *", "minute"},
      {"*/0 * * * *", "step"},
      {"*/60 * * * *", "step"},
      {"*/ * * * *", "step"},
      {"*/-1 * * * *", "step"},
      {"*/x * * * *", "step"},
      {"5/10 * * * *", "needs a range"},
      {"*/2/2 * * * *", "step"},
      {"1, * * * *", "minute"},
      {",1 * * * *", "minute"},
      {"1,,2 * * * *", "minute"},
      {"** * * * *", "minute"},
      {"*-5 * * * *", "minute"},
      {"? * * * *", "minute"},
      {"99999999999999999999 * * * *", "minute"},
      {"0 0 30 2 *", "no month"},
      {"0 0 31 2,4,6,9,11 *", "no month"},
  };
  for (const auto& each : cases) {
    const Result<Schedule> schedule = Schedule::Parse(each.cron, "UTC");
    ASSERT_EQ(schedule.status().code(), Code::kInvalidArgument) << each.cron;
    EXPECT_NE(schedule.status().message().find(each.part), std::string::npos)
        << each.cron << ": " << schedule.status().message();
  }
}

TEST(ScheduleTest, ZonesThatAreNone) {
  for (const char* zone : {"", "Mars/Olympus", "../UTC", "utc+3", "/etc/localtime"}) {
    const Result<Schedule> schedule = Schedule::Parse("* * * * *", zone);
    EXPECT_EQ(schedule.status().code(), Code::kInvalidArgument) << zone;
  }
}

// The same schedules, evaluated minute by minute on the wall clock.
class Oracle {
 public:
  struct Field {
    std::vector<int> values;  // Empty: any.
    std::string ToText() const {
      if (values.empty()) return "*";
      std::string text;
      for (const int value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
      return text;
    }
    bool Has(int value) const {
      return values.empty() || std::ranges::find(values, value) != values.end();
    }
  };

  explicit Oracle(Dice& dice)
      : fields_{Draw(dice, 2, 0, 60), Draw(dice, 2, 0, 24), Draw(dice, 3, 1, 28),
                Draw(dice, 2, 1, 12), Draw(dice, 2, 0, 7)} {}

  std::string ToText() const {
    std::string text;
    for (const Field& field : fields_) text += (text.empty() ? "" : " ") + field.ToText();
    return text;
  }

  bool Matches(date::local_time<std::chrono::minutes> local) const {
    const auto day = date::floor<date::days>(local);
    const date::year_month_day date(day);
    const date::hh_mm_ss<std::chrono::minutes> time(local - day);
    const bool is_day = fields_[2].Has(static_cast<int>(static_cast<unsigned>(date.day())));
    const bool is_weekday = fields_[4].Has(static_cast<int>(date::weekday(day).c_encoding()));
    const bool both_restricted = !fields_[2].values.empty() && !fields_[4].values.empty();
    return fields_[0].Has(static_cast<int>(time.minutes().count())) &&
           fields_[1].Has(static_cast<int>(time.hours().count())) &&
           fields_[3].Has(static_cast<int>(static_cast<unsigned>(date.month()))) &&
           (both_restricted ? is_day || is_weekday : is_day && is_weekday);
  }

  // Walks through time: a minute occurs when the wall clock first shows it, or when the clock skips
  // it.
  std::optional<int64_t> NextAfter(const date::time_zone& zone, SysMicros after,
                                   int64_t minutes_max) const {
    auto now = date::floor<std::chrono::minutes>(after);
    // The latest time shown so far: repeated times do not count again.
    auto shown = date::floor<std::chrono::minutes>(zone.to_local(now));
    for (auto earlier = now - std::chrono::hours(3); earlier < now;
         earlier += std::chrono::minutes(1)) {
      shown = std::max(shown, date::floor<std::chrono::minutes>(zone.to_local(earlier)));
    }
    for (int64_t i = 0; i < minutes_max; ++i) {
      now += std::chrono::minutes(1);
      const auto local = date::floor<std::chrono::minutes>(zone.to_local(now));
      for (; shown < local;) {
        shown += std::chrono::minutes(1);
        if (Matches(shown)) return microseconds(now.time_since_epoch()).count();
      }
    }
    return std::nullopt;
  }

 private:
  static Field Draw(Dice& dice, size_t chances, int min, int count) {
    Field field;
    if (dice.OneIn(chances)) return field;
    const size_t values = 1 + dice.Below(4);
    for (size_t i = 0; i < values; ++i) {
      field.values.push_back(min + static_cast<int>(dice.Below(static_cast<size_t>(count))));
    }
    return field;
  }

  std::array<Field, 5> fields_;
};

TEST(ScheduleTest, AgreesWithTryingEveryMinute) {
  Dice dice(TestSeed());
  const std::vector<std::string> zones = {
      "UTC",           "Asia/Tehran",         "Asia/Tokyo",
      "Europe/Berlin", "Australia/Lord_Howe", "America/St_Johns"};
  const std::vector<std::string> starts = {"2026-03-27 00:00", "2026-10-23 00:00",
                                           "2024-02-27 12:00", "2022-03-20 00:00",
                                           "2022-09-20 00:00", "2026-12-30 00:00"};
  size_t compared = 0;
  for (int round = 0; round < 60; ++round) {
    const Oracle oracle(dice);
    const std::string zone = zones[dice.Below(zones.size())];
    const Schedule schedule = Parse(oracle.ToText(), zone);
    int64_t after = Utc(starts[dice.Below(starts.size())]) +
                    static_cast<int64_t>(dice.Below(5 * 24 * 60)) * 60'000'000 +
                    static_cast<int64_t>(dice.Below(60'000'000));
    for (int step = 0; step < 5; ++step) {
      const int64_t next = schedule.NextAfter(after);
      const std::optional<int64_t> expected = oracle.NextAfter(
          *date::locate_zone(zone), SysMicros(microseconds(after)), int64_t{10} * 24 * 60);
      if (!expected) {
        EXPECT_GT(next, after + int64_t{10} * 24 * 60 * 60'000'000 - 60'000'000);
        break;
      }
      ASSERT_EQ(ToText(next), ToText(*expected))
          << oracle.ToText() << " in " << zone << " after " << ToText(after);
      after = next;
      ++compared;
    }
  }
  EXPECT_GT(compared, 50u);
}

}  // namespace
}  // namespace hearth::kit
