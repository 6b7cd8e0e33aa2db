// Usage: what ran, from when to when, at the price and factor of its placement; and its sums by
// project, profile version, device, region, pool or workload. Semantics §5. Pure: "now" is passed
// in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "account/accounting.h"

namespace exa {

// One lease or launch. Price and factor are those of the placement, copied then.
struct UsageRecord {
  std::string id;
  std::string project;
  std::string workload;
  std::string profile;  // "train-2gpu@3"; empty: from raw flags
  std::string pool;
  Family device = Family::nvidia;
  std::string model;   // empty: not told
  std::string region;  // empty: not told
  Time started;
  std::optional<Time> ended;  // nullopt: still running
  int64_t devices = 1;
  int64_t held_milli = 1000;
  std::optional<Money> price;        // per device and hour; nullopt: unknown
  bool price_set = true;             // false: none was set; with a price of 0 it counts as 0
  std::optional<CarbonRate> carbon;  // per device; nullopt: unknown

  bool operator==(const UsageRecord&) const = default;
};

json::object to_json(const UsageRecord& record);

enum class UsageKey { project, profile, device, region, pool, workload };
std::string_view name(UsageKey key);
std::optional<UsageKey> find_usage_key(std::string_view name);
std::vector<std::string> usage_key_names();

// Only what lies in [from, to) is counted; what still runs counts to `now`.
struct UsageWindow {
  std::optional<Time> from;
  std::optional<Time> to;
  Time now;
};

// One group. One unknown part makes a sum unknown, since a sum without it would be a claim; the
// known part is there beside it.
struct UsageSum {
  std::vector<std::string> values;  // of the keys asked for, in their order
  int64_t runs = 0;
  int64_t running = 0;
  int64_t device_hours_micros = 0;  // millionths of an hour, devices × time; saturates
  std::optional<Money> cost;        // nullopt: some part unknown, or several currencies
  std::vector<Money> known_cost;    // one a currency, by currency
  int64_t hours_without_price = 0;  // device-hours in millionths of which the price is unknown
  bool price_set = true;  // false: for some part no price was set: it counts as 0, or is unknown
  std::optional<int64_t> carbon_micrograms;
  int64_t known_carbon_micrograms = 0;
  int64_t hours_without_carbon = 0;
  bool carbon_estimate = false;  // some part is from power

  bool operator==(const UsageSum&) const = default;
};

// By the keys in the order given (none: one sum of everything); sorted by values. Records that lie
// outside the window, or end before they start, are left out.
std::vector<UsageSum> sum_usage(std::span<const UsageRecord> records,
                                std::span<const UsageKey> keys, const UsageWindow& window);

json::object to_json(const UsageSum& sum, std::span<const UsageKey> keys);

}  // namespace exa
