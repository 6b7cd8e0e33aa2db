// A discovered cluster as a fleet to place on: `exa hardware place --cluster`. What the inventory
// does not say is never guessed: such a node is left out, with the reason. Pure.
#pragma once

#include <string>
#include <vector>

#include "hardware/inventory.h"
#include "place/device_fleet.h"

namespace exa {

struct LeftOutNode {
  std::string name;
  std::string why;
  bool operator==(const LeftOutNode&) const = default;
};

struct FleetReading {
  DeviceFleet fleet;
  std::vector<LeftOutNode> left_out;  // by name
};

// Takes usable nodes whose free cpu, memory and cards are known and whose cards are of one model
// and asked for whole. Capabilities come from the catalogue. Resource groups are the labels
// palette.ai.rg/GROUP as "GROUP" and "GROUP=VALUE", and partitions as "partition/NAME".
//
// Which of a node's cards are free no scheduler says: the card numbers of an assignment count
// devices, they do not name them.
Result<FleetReading> fleet_of(const Inventory& inventory);

}  // namespace exa
