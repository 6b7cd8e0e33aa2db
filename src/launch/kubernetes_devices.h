// The devices of a launch in Kubernetes' words: whole numbers of extended resources, and where they
// may come from. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "launch/launch_spec.h"

namespace exa::kubernetes {

struct DeviceAsk {
  std::vector<std::pair<std::string, std::string>> limits;  // resource name, quantity
  json::object node_selector;
  json::object node_affinity;             // empty: any node
  json::array tolerations;                // of the taints that keep others off such nodes
  std::vector<std::string> capabilities;  // Linux's, that the devices' libraries need
  std::vector<std::string> notes;
};

// Problems are appended; the ask is meant only when there were none.
//
// A model hint admits every node that is not known to have another model, and prefers those known
// to have it: a node without labels is taken (a profile may be `degraded` there and still start),
// an L4 is not taken for an A100. A whole card is never taken from a node whose units are known to
// be slices or shares; a fraction prefers one whose units are shares.
DeviceAsk device_ask(const Resources& resources, std::vector<Problem>& problems);

}  // namespace exa::kubernetes
