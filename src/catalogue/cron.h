// Times of day in a time zone, as crontab(5) writes them: "0 8 * * 1-5" in Europe/Berlin. Pure but
// for the zones, which the system's tzdata holds.
//
// Five fields: minute, hour, day of the month, month, day of the week. A field is *, numbers,
// ranges and lists of them, with steps ("*/15", "1-5/2"); months and weekdays also by their first
// three letters; 7 is Sunday. Where both days are told, either of them is enough, as in crontab(5).
//
// When clocks change: a time that a day does not have happens at the first moment after the gap,
// one that a day has twice happens the first time.
#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"

namespace exa {

struct CronTimes {
  std::string text;  // as it was written, spaces made single
  std::bitset<60> minutes;
  std::bitset<24> hours;
  std::bitset<32> days;     // from 1
  std::bitset<13> months;   // from 1
  std::bitset<7> weekdays;  // from Sunday
  bool any_day = true;
  bool any_weekday = true;

  bool operator==(const CronTimes&) const = default;
};

// Fails with invalid_input, naming the field and what it may hold; also where it never happens ("0
// 0 30 2 *").
Result<CronTimes> parse_cron(std::string_view text);

// Fails with invalid_input and close spellings unless tzdata knows the zone ("Europe/Berlin").
Result<void> check_time_zone(std::string_view zone);

// The first moment after `time`, and the last one up to and with it; nullopt: none within eight
// years. The zone was checked.
std::optional<Time> next_after(const CronTimes& cron, const std::string& zone, Time time);
std::optional<Time> last_until(const CronTimes& cron, const std::string& zone, Time time);

}  // namespace exa
