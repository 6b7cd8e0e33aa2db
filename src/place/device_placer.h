// Decides which nodes and devices of a fleet get an ask. One policy prices; prices are kept per
// (ask, class of nodes) and only classes that are new since the ask was last seen are priced, so a
// decision costs what has changed, not what there is.
//
// The same fleet (in any order of nodes), policy, mix and calls give the same answers anywhere.
// Not thread-safe; it does not own the fleet, which must outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "place/ask_mix.h"
#include "place/device_fleet.h"
#include "place/policy.h"

namespace exa {

struct PlacerOptions {
  AskMix mix;          // what to prepare for
  bool learns = true;  // adds every decided ask to the mix and prepares anew as it grows
  uint64_t seed = 0;   // for policies that draw
};

// Why nodes cannot hold an ask now, in the order of checks; a node counts under each that applies.
struct NodeRefusals {
  int64_t nodes = 0;  // all
  int64_t fit = 0;
  int64_t model = 0;
  int64_t capability = 0;
  int64_t group = 0;    // not in the required resource group
  int64_t mode = 0;     // cards in MIG mode and no instance asked for, or the other way round
  int64_t devices = 0;  // too few cards, or shares or slices of cards, are free
  int64_t cpu = 0;
  int64_t memory = 0;
  // Of those that lack devices, cpu or memory: nodes that could not hold the ask even when empty.
  int64_t never = 0;
};

class DevicePlacer {
 public:
  DevicePlacer(DeviceFleet& fleet, std::unique_ptr<DevicePolicy> policy,
               PlacerOptions options = {});

  // A number for an ask, for deciding it often. Errors: invalid_input with all problems of the ask.
  Result<uint32_t> prepare(const DeviceAsk& ask);

  // The nodes and devices that the ask should get, or nullopt when it does not fit now. A gang gets
  // all its nodes or none. Changes nothing but what is kept for speed (and the draw, and the mix).
  std::optional<DeviceAssignment> choose(uint32_t ask);
  // choose and take.
  std::optional<DeviceAssignment> place(uint32_t ask);

  NodeRefusals refusals(uint32_t ask) const;
  const AskMix& mix() const { return options_.mix; }
  std::string_view policy() const { return policy_->name(); }
  size_t asks() const { return asks_.size(); }  // prepared
  size_t bytes() const;                         // memory held, about

 private:
  struct Entry {
    uint64_t price = 0;  // not preferred group, cost, tie
    uint32_t id = 0;
    uint32_t generation = 0;
  };
  struct Prepared {
    DeviceAsk ask;
    AskShape shape;
    std::vector<uint8_t> kinds;  // how each kind suits
    std::vector<Entry> heap;     // cheapest first
    uint64_t seen = 0;           // births of the fleet
    uint64_t epoch = 0;
  };

  void refresh(Prepared& prepared);
  void price(Prepared& prepared, bool whole_heap);
  bool holds(const Prepared& prepared, const NodeClass& node) const;
  void drop_stale(Prepared& prepared);
  bool take_cheapest(Prepared& prepared, Entry& out);
  void gather(Prepared& prepared, std::vector<uint32_t>& nodes);
  void gather_by_lot(Prepared& prepared, std::vector<uint32_t>& nodes);
  NodeShare share_on(const Prepared& prepared, uint32_t node) const;
  void learn_now();
  auto after() const;

  DeviceFleet& fleet_;
  std::unique_ptr<DevicePolicy> policy_;
  PlacerOptions options_;
  std::vector<Prepared> asks_;
  uint64_t epoch_ = 1;
  int64_t learn_at_ = 0;
  uint64_t draws_ = 0;
  std::vector<const NodeClass*> batch_;
  std::vector<uint32_t> batch_ids_;
  std::vector<Offered> offers_;
  std::vector<Entry> popped_;
};

}  // namespace exa
