#include "catalogue/cron.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <vector>

#include <date/tz.h>
#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

struct Field {
  std::string_view name;
  int least;
  int most;
  std::span<const std::string_view> words;  // of `least` and those after it
};

constexpr std::string_view kMonths[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                        "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::string_view kWeekdays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
const Field kFields[] = {{"minute", 0, 59, {}},
                         {"hour", 0, 23, {}},
                         {"day of the month", 1, 31, {}},
                         {"month", 1, 12, kMonths},
                         {"day of the week", 0, 7, kWeekdays}};
constexpr int kDaysAhead = 8 * 366;  // a 29th of February may be eight years away

Failure bad_field(const Field& field, std::string_view text) {
  return fail(Code::invalid_input,
              fmt::format("{} \"{}\" is not *, a number from {} to {}, a range, a list or a step",
                          field.name, printable(text), field.least, field.most),
              "minute hour day month weekday, such as \"0 8 * * 1-5\"");
}

std::optional<int> number_of(const Field& field, std::string_view text) {
  for (size_t i = 0; i < field.words.size(); ++i)
    if (lower(text) == field.words[i]) return field.least + static_cast<int>(i);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  if (value < field.least || value > field.most) return {};
  return value;
}

// One part of a list: "*", "5", "1-5", "*/15", "1-5/2".
Result<void> add_part(const Field& field, std::string_view text, std::string_view part,
                      std::bitset<64>& set) {
  int step = 1;
  const size_t slash = part.find('/');
  const std::string_view range = part.substr(0, slash);
  if (slash != std::string_view::npos) {
    const Field steps{"step", 1, field.most, {}};
    const auto found = number_of(steps, part.substr(slash + 1));
    if (!found) return bad_field(field, text);
    step = *found;
  }
  int from = field.least;
  int to = field.most;
  if (range != "*") {
    const size_t dash = range.find('-');
    const auto first = number_of(field, range.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : number_of(field, range.substr(dash + 1));
    if (!first || !last || *last < *first) return bad_field(field, text);
    from = *first;
    to = dash == std::string_view::npos && step > 1 ? field.most : *last;
  }
  for (int at = from; at <= to; at += step) set.set(static_cast<size_t>(at));
  return {};
}

Result<std::bitset<64>> set_of(const Field& field, std::string_view text) {
  std::bitset<64> set;
  for (const std::string_view part : split(text, ',')) EXA_TRY(add_part(field, text, part, set));
  return set;
}

template <size_t Size>
std::bitset<Size> cut(const std::bitset<64>& set) {
  return std::bitset<Size>(set.to_ullong());
}

using Micros = std::chrono::microseconds;

date::sys_time<Micros> instant(Time time) {
  return date::sys_time<Micros>{Micros(time.micros)};
}

bool on_day(const CronTimes& cron, date::local_days day) {
  const date::year_month_day ymd{day};
  if (!cron.months[static_cast<unsigned>(ymd.month())]) return false;
  const bool by_day = cron.days[static_cast<unsigned>(ymd.day())];
  const bool by_weekday = cron.weekdays[date::weekday(day).c_encoding()];
  if (cron.any_day || cron.any_weekday) return by_day && by_weekday;
  return by_day || by_weekday;
}

Time moment(const date::time_zone& zone, date::local_time<Micros> local) {
  const auto info = zone.get_info(date::floor<std::chrono::seconds>(local));
  if (info.result == date::local_info::nonexistent)
    return {std::chrono::duration_cast<Micros>(info.second.begin.time_since_epoch()).count()};
  return {(local.time_since_epoch() - Micros(info.first.offset)).count()};
}

// Every moment of a day, in order; of a gap there is one.
std::vector<Time> moments_of(const CronTimes& cron, const date::time_zone& zone,
                             date::local_days day) {
  std::vector<Time> moments;
  if (!on_day(cron, day)) return moments;
  for (int hour = 0; hour < 24; ++hour) {
    if (!cron.hours[static_cast<size_t>(hour)]) continue;
    for (int minute = 0; minute < 60; ++minute) {
      if (!cron.minutes[static_cast<size_t>(minute)]) continue;
      moments.push_back(moment(zone, date::local_time<Micros>(day) + std::chrono::hours(hour) +
                                         std::chrono::minutes(minute)));
    }
  }
  std::ranges::sort(moments);
  const auto twice = std::ranges::unique(moments);
  moments.erase(twice.begin(), twice.end());
  return moments;
}

const date::time_zone* zone_named(std::string_view name) {
  // the library throws for names that it does not know
  for (const date::time_zone& zone : date::get_tzdb().zones)
    if (zone.name() == name) return &zone;
  try {
    return date::locate_zone(std::string(name));  // links, such as "US/Pacific"
  } catch (const std::exception&) {
    return nullptr;
  }
}

// In whole days, so that a day in which clocks change is looked at from its beginning.
date::local_days day_of(const date::time_zone& zone, Time time) {
  return date::floor<date::days>(zone.to_local(instant(time)));
}

}  // namespace

Result<CronTimes> parse_cron(std::string_view text) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(text, ' '))
    if (!word.empty()) words.push_back(word);
  if (words.size() != std::size(kFields)) {
    return fail(Code::invalid_input,
                fmt::format("\"{}\" has {} fields instead of five", printable(text), words.size()),
                "minute hour day month weekday, such as \"0 8 * * 1-5\"");
  }
  std::array<std::bitset<64>, std::size(kFields)> sets;
  for (size_t i = 0; i < words.size(); ++i) {
    EXA_ASSIGN(sets[i], set_of(kFields[i], words[i]));
  }
  CronTimes cron;
  cron.text = join(std::vector<std::string>(words.begin(), words.end()), " ");
  cron.minutes = cut<60>(sets[0]);
  cron.hours = cut<24>(sets[1]);
  cron.days = cut<32>(sets[2]);
  cron.months = cut<13>(sets[3]);
  if (sets[4][7]) sets[4].set(0);
  sets[4].reset(7);
  cron.weekdays = cut<7>(sets[4]);
  cron.any_day = words[2].starts_with('*');
  cron.any_weekday = words[4].starts_with('*');
  if (!next_after(cron, "UTC", {0}))
    return fail(Code::invalid_input, fmt::format("\"{}\" never happens", cron.text));
  return cron;
}

Result<void> check_time_zone(std::string_view zone) {
  if (zone_named(zone) != nullptr) return {};
  std::vector<std::string> names;
  for (const date::time_zone& each : date::get_tzdb().zones) names.push_back(each.name());
  return fail(Error{Code::invalid_input,
                    fmt::format("there is no time zone \"{}\"", printable(zone)),
                    {},
                    "a name of the time zone database, such as Europe/Berlin or UTC",
                    close_matches(zone, names)});
}

std::optional<Time> next_after(const CronTimes& cron, const std::string& zone, Time time) {
  const date::time_zone* where = zone_named(zone);
  EXA_ASSERT(where != nullptr);
  // a day before: a gap at midnight makes a moment of the day before happen in the next
  const date::local_days first = day_of(*where, time) - date::days(1);
  for (int day = 0; day <= kDaysAhead; ++day)
    for (const Time moment : moments_of(cron, *where, first + date::days(day)))
      if (moment > time) return moment;
  return std::nullopt;
}

std::optional<Time> last_until(const CronTimes& cron, const std::string& zone, Time time) {
  const date::time_zone* where = zone_named(zone);
  EXA_ASSERT(where != nullptr);
  const date::local_days first = day_of(*where, time) + date::days(1);
  for (int day = 0; day <= kDaysAhead; ++day) {
    const auto moments = moments_of(cron, *where, first - date::days(day));
    for (auto at = moments.rbegin(); at != moments.rend(); ++at)
      if (*at <= time) return *at;
  }
  return std::nullopt;
}

}  // namespace exa
