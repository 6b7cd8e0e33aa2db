// What a placement costs in money and carbon. Requirement "Per-device accounting"; semantics §5.
//
//   cost    price per device and hour × devices × hours × fraction actually held
//   carbon  factor per device and hour × devices × hours
//
// Exact decimals, rounded once, to the nearest millionth. Unknown stays unknown: a cloud pool
// without a price has no cost, a pool without factor and power no carbon; neither is ever 0. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "base/money.h"
#include "base/time.h"
#include "place/placement.h"

namespace exa {

inline constexpr int64_t kMicrosPerHour = 3'600'000'000;

struct DeviceAccounting {
  Family device = Family::nvidia;
  std::string region;  // empty: not told
  Duration time;
  std::optional<Money> cost;
  bool price_set = true;                     // false: an on-premises pool without price counts as 0
  std::optional<int64_t> carbon_micrograms;  // of CO2-equivalent
  bool carbon_estimate = false;              // from power, not from a factor

  bool operator==(const DeviceAccounting&) const = default;
};

// Fails with invalid_input: a negative time, or amounts beyond what 64 bits hold.
Result<DeviceAccounting> device_accounting(const Placement& placement, Duration time);

// "10", "0.25" to a time, exact to the microsecond. Fails with invalid_input.
Result<Duration> parse_hours(std::string_view text);

// price × devices × held × time, rounded once; nullopt when it does not fit.
std::optional<int64_t> cost_micros(int64_t price_micros, int64_t devices, int64_t held_milli,
                                   Duration time);

// device, region, hours, cost, carbon_g as the document has them; then currency, price_set,
// carbon_estimate. Unknown is null.
json::object to_json(const DeviceAccounting& accounting);

}  // namespace exa
