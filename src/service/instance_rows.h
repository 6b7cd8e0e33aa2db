// Instances as they are kept, and what projects may have of them. The rows; what changes them is
// instances.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalogue/instance.h"
#include "service/service.h"

namespace exa {

Result<std::optional<ComputeInstance>> load_instance(Transaction& tx, const std::string& project,
                                                     const std::string& name);
// not_found names close spellings.
Result<ComputeInstance> find_instance(Transaction& tx, const std::string& project,
                                      const std::string& name);
Result<std::vector<ComputeInstance>> load_instances(Transaction& tx);  // of all projects, by key
Result<std::vector<ComputeInstance>> load_instances_of(Transaction& tx, const std::string& project);
Result<void> put_instance(Transaction& tx, const ComputeInstance& instance);
Result<void> drop_instance(Transaction& tx, const ComputeInstance& instance);

Result<InstanceLimits> load_instance_limits(Transaction& tx, const std::string& project);
// What there is among them beside one of that name.
InstancesHeld held_among(const std::vector<ComputeInstance>& all, const std::string& owner,
                         const std::string& but);
// What the project has beside one of that name. Locks the project's row, so that two replicas count
// one after the other.
Result<InstancesHeld> instances_held(Transaction& tx, const std::string& project,
                                     const std::string& owner, const std::string& but);

// Stores an instance as it is now, and fills in the deed.
Result<void> keep_instance(Transaction& tx, Deed& deed,
                           const std::optional<ComputeInstance>& before,
                           const ComputeInstance& instance);

}  // namespace exa
