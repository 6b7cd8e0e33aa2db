// What a cluster's snapshot says of a pool that is backed by it: the nodes of its partition or with
// its labels, alike ones together. Pure. Semantics §2 (counting) and §5.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/inventory.h"
#include "place/lease.h"
#include "place/pool.h"

namespace exa {

// "gpu=a100,zone!=b,team in (x, y),!spot,ssd": equality, sets and existence as Kubernetes label
// selectors, all of which must hold. Slurm features are labels without a value.
class NodeSelector {
 public:
  static Result<NodeSelector> parse(std::string_view text);  // empty: every node
  bool matches(const Node& node) const;

 private:
  enum class Op { in, not_in, exists, absent };
  struct Requirement {
    std::string key;
    Op op = Op::exists;
    std::vector<std::string> values;
  };
  std::vector<Requirement> requirements_;
};

// Nodes and shares of the pool's accelerator (and model, if it names one) on the usable nodes that
// the pool takes in. Shares that open leases hold are no longer free. The snapshot's identity and
// age are the caller's to fill in.
PoolSnapshot seen_by(const Pool& pool, const Inventory& inventory,
                     std::span<const Lease> open_leases);

}  // namespace exa
