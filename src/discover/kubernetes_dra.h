// Dynamic resource allocation: devices that drivers publish as ResourceSlices (resource.k8s.io) and
// that show in no node's allocatable.
#pragma once

#include <string_view>

#include "discover/capture.h"
#include "hardware/inventory.h"

namespace exa::kubernetes {

inline constexpr std::string_view kSlices = "GET resourceslices";
inline constexpr std::string_view kClaims = "GET resourceclaims";

// Adds what the captured slices publish to the nodes they name, each way of asking as an offer with
// the resource "driver/deviceclass". The device class is the driver's conventional one (its own
// name, or for NVIDIA's MIG slices mig.nvidia.com): classes select by CEL, which is not evaluated
// here.
//
//  - Devices that draw on the same counters are alternatives: an offer's units are how many of them
//    fit at once on free counters, and cards are counted once however they can be cut.
//  - What is used comes from ResourceClaims; where those could not be read it is unknown.
//  - Only the newest generation of a pool counts, and only when all its slices are there.
//  - Where the node's device plugin offers cards of the same family, both offer the same cards: the
//    offers are joined and what is free is unknown.
//
// Absent answers (an older server) change nothing. Throws Unreadable naming slice and device.
void add_dynamic_resources(const Capture& capture, Inventory& inventory);

}  // namespace exa::kubernetes
