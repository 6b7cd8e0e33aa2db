#include "account/usage.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/quantity.h"
#include "base/text.h"

namespace exa {
namespace {

constexpr std::array<std::string_view, 6> kKeys = {"project", "profile", "device",
                                                   "region",  "pool",    "workload"};
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

std::string value_of(const UsageRecord& record, UsageKey key) {
  switch (key) {
    case UsageKey::project:
      return record.project;
    case UsageKey::profile:
      return record.profile;
    case UsageKey::device:
      return std::string(info(record.device).name);
    case UsageKey::region:
      return record.region;
    case UsageKey::pool:
      return record.pool;
    case UsageKey::workload:
      return record.workload;
  }
  EXA_ASSERT(false && "every key has its value");
}

// The time of a record within the window; nullopt: none of it.
std::optional<Duration> time_within(const UsageRecord& record, const UsageWindow& window) {
  Time begin = record.started;
  Time end = record.ended.value_or(window.now);
  if (window.from) begin = std::max(begin, *window.from);
  if (window.to) end = std::min(end, *window.to);
  if (end <= begin) return std::nullopt;
  return end - begin;
}

int64_t saturating_sum(int64_t a, int64_t b) {
  int64_t total = 0;
  return __builtin_add_overflow(a, b, &total) ? kMost : total;
}

// A group while it is added up.
struct Tally {
  UsageSum sum;
  std::map<std::string, int64_t> cost;  // by currency
  bool cost_known = true;
  bool carbon_known = true;

  void add(const UsageRecord& record, Duration time) {
    const int64_t hours =
        cost_micros(kMicro, record.devices, 1000, time).value_or(kMost);  // device-hours
    ++sum.runs;
    if (!record.ended) ++sum.running;
    sum.device_hours_micros = saturating_sum(sum.device_hours_micros, hours);
    add_cost(record, time, hours);
    add_carbon(record, time, hours);
  }

  UsageSum finish() {
    for (const auto& [currency, micros] : cost) sum.known_cost.push_back({micros, currency});
    if (cost_known && sum.known_cost.size() == 1) sum.cost = sum.known_cost.front();
    if (carbon_known) sum.carbon_micrograms = sum.known_carbon_micrograms;
    return std::move(sum);
  }

 private:
  void add_cost(const UsageRecord& record, Duration time, int64_t hours) {
    const auto part =
        record.price ? cost_micros(record.price->micros, record.devices, record.held_milli, time)
                     : std::nullopt;
    sum.price_set = sum.price_set && record.price_set;
    int64_t total = 0;
    // what does not fit is as little known as what has no price
    if (!part || __builtin_add_overflow(cost[record.price->currency], *part, &total)) {
      cost_known = false;
      sum.hours_without_price = saturating_sum(sum.hours_without_price, hours);
      return;
    }
    cost[record.price->currency] = total;
  }

  void add_carbon(const UsageRecord& record, Duration time, int64_t hours) {
    const auto part =
        record.carbon ? cost_micros(record.carbon->micrograms_per_hour, record.devices, 1000, time)
                      : std::nullopt;
    int64_t total = 0;
    if (!part || __builtin_add_overflow(sum.known_carbon_micrograms, *part, &total)) {
      carbon_known = false;
      sum.hours_without_carbon = saturating_sum(sum.hours_without_carbon, hours);
      return;
    }
    sum.known_carbon_micrograms = total;
    sum.carbon_estimate = sum.carbon_estimate || record.carbon->estimate;
  }
};

}  // namespace

std::string_view name(UsageKey key) {
  return kKeys.at(static_cast<size_t>(key));
}

std::optional<UsageKey> find_usage_key(std::string_view name) {
  for (size_t i = 0; i < kKeys.size(); ++i)
    if (kKeys[i] == name) return static_cast<UsageKey>(i);
  return std::nullopt;
}

std::vector<std::string> usage_key_names() {
  return {kKeys.begin(), kKeys.end()};
}

std::vector<UsageSum> sum_usage(std::span<const UsageRecord> records,
                                std::span<const UsageKey> keys, const UsageWindow& window) {
  std::map<std::vector<std::string>, Tally> groups;
  for (const UsageRecord& record : records) {
    const auto time = time_within(record, window);
    if (!time) continue;
    std::vector<std::string> values;
    for (const UsageKey key : keys) values.push_back(value_of(record, key));
    Tally& group = groups[values];
    group.sum.values = std::move(values);
    group.add(record, *time);
  }
  std::vector<UsageSum> sums;
  for (auto& [values, group] : groups) sums.push_back(group.finish());
  return sums;
}

json::object to_json(const UsageRecord& record) {
  // amounts as whole millionths, so that a record is read back to the last digit
  json::value ended = nullptr;
  if (record.ended) ended = json::string(format_rfc3339(*record.ended));
  return {{"id", record.id},
          {"project", record.project},
          {"workload", record.workload},
          {"profile", text_or_null(record.profile)},
          {"pool", record.pool},
          {"device", info(record.device).name},
          {"model", text_or_null(record.model)},
          {"region", text_or_null(record.region)},
          {"started", format_rfc3339(record.started)},
          {"ended", std::move(ended)},
          {"devices", record.devices},
          {"held_milli", record.held_milli},
          {"price_micros", record.price ? json::value(record.price->micros) : nullptr},
          {"currency", record.price ? json::value(record.price->currency) : nullptr},
          {"price_set", record.price_set},
          {"carbon_micrograms",
           record.carbon ? json::value(record.carbon->micrograms_per_hour) : nullptr},
          {"carbon_estimate", record.carbon && record.carbon->estimate}};
}

json::object to_json(const UsageSum& sum, std::span<const UsageKey> keys) {
  json::object out;
  for (size_t i = 0; i < keys.size(); ++i) out.emplace(name(keys[i]), text_or_null(sum.values[i]));
  json::object known;
  for (const Money& money : sum.known_cost)
    known.emplace(money.currency, number_from_micros(money.micros));
  out.emplace("runs", sum.runs);
  out.emplace("running", sum.running);
  out.emplace("device_hours", number_from_micros(sum.device_hours_micros));
  out.emplace("cost", sum.cost ? number_from_micros(sum.cost->micros) : nullptr);
  out.emplace("currency", sum.cost ? json::value(sum.cost->currency) : nullptr);
  out.emplace("known_cost", std::move(known));
  out.emplace("device_hours_without_price", number_from_micros(sum.hours_without_price));
  out.emplace("price_set", sum.price_set);
  out.emplace("carbon_g",
              sum.carbon_micrograms ? number_from_micros(*sum.carbon_micrograms) : nullptr);
  out.emplace("known_carbon_g", number_from_micros(sum.known_carbon_micrograms));
  out.emplace("device_hours_without_carbon", number_from_micros(sum.hours_without_carbon));
  out.emplace("carbon_estimate", sum.carbon_estimate);
  return out;
}

}  // namespace exa
