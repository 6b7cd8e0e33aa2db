// What time does to an instance: what it costs, when it ends, starts and stops.
#include <algorithm>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "catalogue/instance.h"

namespace exa {
namespace {

constexpr int64_t kHour = hours(1).micros;
constexpr Duration kTryAgain = minutes(10);

// The last word of the schedule between when it was looked at and now.
std::optional<Due> due_by_schedule(const ComputeInstance& instance, Time now) {
  const InstanceSchedule& schedule = instance.schedule;
  const auto last = [&](const std::optional<CronTimes>& cron) -> std::optional<Time> {
    if (!cron) return std::nullopt;
    const auto moment = last_until(*cron, schedule.time_zone, now);
    return moment && *moment > instance.schedule_seen ? moment : std::nullopt;
  };
  const auto start = last(schedule.start);
  const auto stop = last(schedule.stop);
  if (!start && !stop) return std::nullopt;
  // at the same moment: stopped costs nothing
  const bool starts = start && (!stop || *start > *stop);
  return Due{starts ? DueAction::start : DueAction::stop, starts ? *start : *stop,
             "by its schedule"};
}

// A template that could not take it down is not asked at every look.
bool failed_lately(const ComputeInstance& instance, Time now) {
  const auto& run = instance.last_run;
  return instance.state == InstanceState::failed && run && run->action == "destroy" &&
         run->ended_at && now - *run->ended_at < kTryAgain;
}

bool can(const ComputeInstance& instance, DueAction action) {
  using enum InstanceState;
  switch (action) {
    case DueAction::start:
      return instance.state == stopped;
    case DueAction::stop:
      return instance.state == running;
    case DueAction::remove:
      return !is_busy(instance.state);
  }
  return false;
}

}  // namespace

Duration ran_for(const ComputeInstance& instance, Time now) {
  const int64_t open =
      instance.running_since ? std::max<int64_t>(0, (now - *instance.running_since).micros) : 0;
  return {instance.ran_micros + open};
}

std::optional<Money> cost_of(const ComputeInstance& instance, Time now) {
  if (!instance.price_per_hour) return std::nullopt;
  const auto micros = scale(instance.price_per_hour->micros, ran_for(instance, now).micros, kHour);
  if (!micros) return std::nullopt;
  return Money{*micros, instance.price_per_hour->currency};
}

void starts_running(ComputeInstance& instance, Time at) {
  if (!instance.running_since) instance.running_since = at;
}

void ends_running(ComputeInstance& instance, Time at) {
  instance.ran_micros = ran_for(instance, at).micros;
  instance.running_since.reset();
}

json::object shown(const ComputeInstance& instance, Time now) {
  json::object object = to_json(instance);
  for (const std::string_view internal : {"schedule_seen", "ran_micros", "request_digest"})
    object.erase(internal);
  object["hours"] =
      number_from_micros(scale(ran_for(instance, now).micros, kMicro, kHour).value_or(0));
  object["cost"] = price_or_null(cost_of(instance, now));
  object["next_start"] = time_or_null(next_start(instance, now));
  object["next_stop"] = time_or_null(next_stop(instance, now));
  return object;
}

std::optional<Due> due(const ComputeInstance& instance, Time now) {
  if (is_busy(instance.state)) return std::nullopt;
  if (instance.expires_at && *instance.expires_at <= now) {
    const DueAction action = instance.at_end == AtEnd::remove ? DueAction::remove : DueAction::stop;
    if (!can(instance, action) || failed_lately(instance, now)) return std::nullopt;
    return Due{action, *instance.expires_at, "its time to live ended"};
  }
  const auto scheduled = due_by_schedule(instance, now);
  if (!scheduled || !can(instance, scheduled->action)) return std::nullopt;
  return scheduled;
}

std::optional<Time> next_start(const ComputeInstance& instance, Time now) {
  const InstanceSchedule& schedule = instance.schedule;
  if (!schedule.start) return std::nullopt;
  const auto moment = next_after(*schedule.start, schedule.time_zone, now);
  const bool over = moment && instance.expires_at && *instance.expires_at <= *moment;
  return over ? std::nullopt : moment;
}

std::optional<Time> next_stop(const ComputeInstance& instance, Time now) {
  const InstanceSchedule& schedule = instance.schedule;
  std::optional<Time> moment;
  if (schedule.stop) moment = next_after(*schedule.stop, schedule.time_zone, now);
  if (!instance.expires_at || *instance.expires_at <= now) return moment;
  return moment ? std::min(*moment, *instance.expires_at) : instance.expires_at;
}

}  // namespace exa
