// How a placement policy is asked: it prices the ways of putting one ask on a node, and the placer
// does the rest (who fits, the cheapest, ties, gangs). Adding a policy is a file and a row in
// policies.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "place/ask_mix.h"
#include "place/device_fleet.h"

namespace exa {

// An ask as policies see it: resolved against the kinds of one fleet.
struct AskShape {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int32_t devices = 0;
  int32_t share_milli = 0;  // 0 without devices
  int32_t total_milli = 0;  // on one node
  std::optional<MigSlices> mig;

  bool shares_a_card() const { return devices == 1 && !mig && share_milli < kWholeDevice; }
};

// The price of one node. Lower is better; equal costs go to the lower tie.
struct Offered {
  int32_t cost = 0;
  uint32_t tie = 0;
  // The ask takes as many cards as it asks for from this place in NodeClass::cards on; all of them
  // must hold it. MIG instances are put by the placer.
  uint8_t card = 0;
};

enum class Ties {
  by_state,  // cost, tie, then a fixed order of free vectors, then name
  by_name,   // cost, tie, then name
  by_lot,    // all nodes that fit are equal: one is drawn (needs a seed)
};

class DevicePolicy {
 public:
  DevicePolicy() = default;
  DevicePolicy(const DevicePolicy&) = delete;
  DevicePolicy& operator=(const DevicePolicy&) = delete;
  virtual ~DevicePolicy() = default;

  virtual std::string_view name() const = 0;
  virtual Ties ties() const { return Ties::by_state; }
  // What to prepare for. Called before the first price, and again when the mix has changed much.
  virtual void learn(const DeviceFleet& fleet, const AskMix& mix);
  // Prices every class; all of them hold the ask. The result may depend on nothing but the
  // arguments and what was learned: prices are kept while a class lives.
  virtual void price(const AskShape& ask, std::span<const NodeClass* const> classes,
                     std::span<Offered> out) const = 0;
};

// "exa" is the default. Others: "best-fit", "packing", "spread", "dot-product", "fgd", "random".
Result<std::unique_ptr<DevicePolicy>> make_policy(std::string_view name);
std::span<const std::string_view> policy_names();
inline constexpr std::string_view kDefaultPolicy = "exa";

}  // namespace exa
