// Which nodes and devices of one discovered cluster a workload should get: the neutral ask of a
// workload, put to the device engine over what a snapshot saw. Pure; advice, since the cluster's
// own scheduler has the last word. Semantics §5.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "hardware/inventory.h"
#include "place/device_placer.h"
#include "place/fleet_of.h"
#include "place/workload.h"

namespace exa {

struct ClusterPlaceOptions {
  std::string policy = "exa";
  std::string group;            // resource group, label or "partition/NAME"; empty: none
  bool group_required = false;  // else only preferred
  std::string mig_profile;      // instances of it instead of whole devices; "1g.10gb"
  AskMix mix;                   // what was asked for before: what the policy prepares for
};

// Which of its devices are free no snapshot says for sure, so they are counted and not named.
struct ChosenNode {
  std::string node;
  int64_t devices = 0;
};

struct ClusterDecision {
  Workload workload;
  std::string cluster;
  std::string policy;
  DeviceAsk ask;
  std::vector<ChosenNode> nodes;      // empty: it does not fit now
  std::string model;                  // of the devices chosen; empty: none
  NodeRefusals refusals;              // of all nodes that could be judged
  std::vector<LeftOutNode> left_out;  // that could not, with why
  bool fraction_honored = true;       // false: a share was asked, whole devices are taken
  std::string reason;                 // why it does not fit; empty when it does
  bool impossible = false;            // no node could hold its part even when empty

  bool placed() const { return !nodes.empty(); }
};

// Fails with invalid_input: an ask that no node can hold in principle, an unknown policy or MIG
// profile.
Result<ClusterDecision> place_on_cluster(const Workload& workload, std::string_view cluster,
                                         const Inventory& inventory,
                                         const ClusterPlaceOptions& options);

// The ask of a workload; `models` are those of the fleet that bear it out. For the mix, too.
DeviceAsk device_ask_of(const Workload& workload);

json::object to_json(const ClusterDecision& decision);
// "✓ train → 4 devices of gpu-001, 4 devices of gpu-002 of hpc" or "✗ Rejected: …".
std::string to_text(const ClusterDecision& decision);

}  // namespace exa
