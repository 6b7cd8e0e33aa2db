// The ways in which a node of one class could serve an ask, and which finer claims each way bears
// out. Inside resolve/ only.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "profile/hardware_profile.h"
#include "resolve/fleet.h"
#include "resolve/tags.h"

namespace exa {

// The claims that can stay unconfirmed while the coarse ask is satisfiable, in the document's
// order. Of two answers with equally many confirmed, the one that confirms an earlier claim wins.
enum class Claim { family, model_hint, gpu_count, fraction, mig, cpu, memory, driver, runtime };
inline constexpr size_t kClaims = 9;
using ClaimSet = uint16_t;  // bit i: the i-th claim

constexpr ClaimSet bit(Claim claim) {
  return static_cast<ClaimSet>(1U << static_cast<unsigned>(claim));
}
inline constexpr ClaimSet kAllClaims = (1U << kClaims) - 1;

std::string_view field_of(Claim claim);  // "accelerator_model_hint", …
ClaimSet claims_of(const Shape& shape);  // those that the shape makes

// What each distinct model and provision of a fleet says about the shape: compared once, however
// many nodes share them.
struct Comparisons {
  std::vector<Match> models;        // by Fleet::models
  std::vector<TagVerdict> drivers;  // by Fleet::provisions, of the software alone
  // By node: Claim::driver and Claim::runtime where a tag of the node confirms them. Empty: on
  // none.
  std::vector<ClaimSet> tagged;
};
Comparisons compare(const Shape& shape, const Fleet& fleet);

// Way::devices: as many as one likes, for nobody has seen how many there are.
inline constexpr int64_t kNotCounted = std::numeric_limits<int64_t>::max();

// Devices of one group, asked for through one offer.
struct Way {
  const FleetGroup* group = nullptr;   // nullptr: the cpu family, or devices that were not read
  const FleetOffer* offer = nullptr;   // nullptr: no device is asked for, or the offer was not read
  bool unread = false;                 // how many devices can be asked for was not read
  int64_t units_each = 1;              // units that one asked device takes
  int64_t devices = 0;                 // how many could be asked for in total
  std::array<Match, kClaims> match{};  // cpu and memory are judged node by node; others here
  ClaimSet confirmed = kAllClaims;     // claims not made count as confirmed
};

// Every way that the class has for the shape's kind of device, whatever the number asked for.
std::vector<Way> ways_of(const Shape& shape, const Fleet& fleet, const FleetClass& nodes,
                         const Comparisons& comparisons);

std::string describe(
    const FleetModel& model);  // "A100-SXM4-80GB", "nvidia device of unknown model"
std::string describe(
    const FleetOffer& offer);  // "whole devices", "MIG 1g.10gb", "time-slice shares"

}  // namespace exa
