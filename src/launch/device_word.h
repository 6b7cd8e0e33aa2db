// What a cluster itself calls the devices that are asked for, from what was seen of it. Pure.
#pragma once

#include "hardware/inventory.h"
#include "launch/launch_spec.h"

namespace exa {

struct DeviceWord {
  std::string device;               // "gpu:a100"; empty: none is needed, or none is known
  int64_t shares_per_device = 0;    // of a fraction; 0: not known
  std::vector<std::string> others;  // words that would do as well
};

// Without a model hint any device of the family will do, and none is named, except where instances
// or a mixed kind must be. The word that most devices answer to comes first.
DeviceWord device_word(const Inventory& inventory, const Resources& resources,
                       const std::string& partition);

}  // namespace exa
