// Pools and engines in memory, for programs that use exa as a library and for the Python module.
// The service keeps its own in the store; both decide through the same functions. Not thread-safe:
// guard it, or copy it (it is a value).
#pragma once

#include <string_view>
#include <vector>

#include "place/placement.h"
#include "place/pool_place.h"

namespace exa {

class PoolRegistry {
 public:
  explicit PoolRegistry(PlaceRules rules = {});

  // As `add-pool`: what is given, over the pool of that name if there is one (merge_pool). The
  // pointer holds until the next change. Fails with invalid_input, all problems at once.
  Result<const Pool*> add(const json::object& given);
  Result<void> remove(std::string_view name);  // fails with not_found, close names
  Result<void> drain(std::string_view name, std::string_view reason);
  Result<void> resume(std::string_view name);
  Result<void> add_engine(Engine engine);  // with_engine's failures
  void clear();                            // pools only

  const Pool* find(std::string_view name) const;  // nullptr: none such
  std::vector<Pool> pools() const;                // cheapest first
  const PlaceRules& rules() const { return rules_; }
  void set_policy(BurstPolicy policy);
  Result<void> set_region(std::string_view region, std::string_view jurisdiction);

  // Fails with invalid_input when the workload breaks a rule.
  Result<Decision> decide(const PlaceAsk& ask, Time now = {}) const;

 private:
  Result<Pool*> find_or_fail(std::string_view name);

  std::vector<Pool> pools_;  // by name
  PlaceRules rules_;
  // laid out on the first decision after a change
  mutable Pools laid_out_;
};

// Place one workload among pools, without a registry.
Result<PlaceAnswer> place(const Workload& workload, std::vector<Pool> pools, PlaceRules rules = {},
                          Time now = {});

}  // namespace exa
