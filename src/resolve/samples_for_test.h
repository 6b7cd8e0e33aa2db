// Small fleets for the tests of resolve/: the shortest way to write down a node.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "resolve/resolve.h"

namespace exa::sample {

inline constexpr Time kNow{1'800'000'000'000'000};

inline Offer offer(Sharing sharing, int64_t units, int64_t free, std::string mig = {}) {
  Offer result;
  result.sharing = sharing;
  result.mig_profile = std::move(mig);
  result.units = units;
  result.used = units - free;
  result.free = free;
  return result;
}

// `count` whole cards of a model, all free.
inline CardSet cards(std::string model, int64_t count, Family family = Family::nvidia) {
  CardSet set;
  set.family = family;
  set.reported = std::move(model);
  set.physical = count;
  set.offers = {offer(Sharing::whole, count, count)};
  return set;
}

// A usable node of 64 cores and 256 GiB, all free.
inline Node node(std::string name, std::vector<CardSet> sets = {}) {
  Node result;
  result.name = std::move(name);
  result.health = Health::usable;
  result.cpu_milli = result.cpu_free_milli = 64'000;
  result.memory_bytes = result.memory_free_bytes = 256 * kGiB;
  result.cards = std::move(sets);
  return result;
}

inline Node with_health(Node n, Health health) {
  n.health = health;
  return n;
}

inline Inventory inventory(std::vector<Node> nodes) {
  Inventory result;
  result.kind = ClusterKind::slurm;
  result.nodes = std::move(nodes);
  return result;
}

inline Shape gpus(int64_t count, int64_t nodes = 1, std::string hint = {}) {
  Shape shape;
  shape.accelerator_family = Family::nvidia;
  shape.gpu_count = count;
  shape.nodes = nodes;
  shape.accelerator_model_hint = std::move(hint);
  return shape;
}

struct Look {
  Duration age = minutes(1);
  bool declared = false;
};

inline Resolution resolve_on(const Shape& shape, const Inventory& seen, Look look = {}) {
  const Fleet fleet = build_fleet(seen);
  ResolveInput input;
  input.shape = shape;
  input.target = "hpc";
  input.seen = {&fleet, "snap-1", Time{kNow.micros - look.age.micros}, look.declared};
  input.now = kNow;
  return resolve(input);
}

inline const FieldVerdict* find_verdict(const Resolution& answer, std::string_view field) {
  for (const FieldVerdict& verdict : answer.verdicts)
    if (verdict.field == field) return &verdict;
  return nullptr;
}

}  // namespace exa::sample
