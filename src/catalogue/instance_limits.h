// How many instances a project and each of its people may have, at what price and for how long; and
// whether more than that is refused, or waits for an admin. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/money.h"
#include "base/time.h"

namespace exa {

// nullopt: no limit.
struct InstanceLimits {
  std::optional<int64_t> instances;           // of the project
  std::optional<int64_t> instances_per_user;  // of each owner
  std::optional<Money> price_per_hour;        // of all that hold resources
  std::optional<Money> price_per_hour_per_user;
  std::optional<Duration> time_to_live;  // of each; one without an end is beyond it
  bool approve = false;                  // above a limit: waits for an admin rather than is refused

  bool operator==(const InstanceLimits&) const = default;
};

json::object to_json(const InstanceLimits& limits);
Result<InstanceLimits> instance_limits_from_json(const json::object& stored);

// What is there already; a price that is not known counts as beyond any limit on prices.
struct InstancesHeld {
  int64_t instances = 0;
  int64_t instances_of_owner = 0;
  std::vector<std::optional<Money>> prices;
  std::vector<std::optional<Money>> prices_of_owner;
};
struct InstanceAsk {
  std::string owner;
  std::optional<Money> price_per_hour;
  std::optional<Duration> time_to_live;
};

// A sentence for each limit that it is above, with the limit, what is held and what is asked;
// empty: it is within them all.
std::vector<std::string> beyond(const InstanceLimits& limits, const InstancesHeld& held,
                                const InstanceAsk& ask);
// The same of starting again what is there: prices only.
std::vector<std::string> beyond_price(const InstanceLimits& limits, const InstancesHeld& held,
                                      const InstanceAsk& ask);

}  // namespace exa
