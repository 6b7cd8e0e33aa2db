// What a cluster's snapshot says of a pool that is backed by it: the nodes of its partition or with
// its labels, alike ones together. Pure. Semantics §2 (counting) and §5.
#pragma once

#include <span>
#include <vector>

#include "hardware/inventory.h"
#include "place/lease.h"
#include "place/node_selector.h"
#include "place/pool.h"

namespace exa {

// Nodes and shares of the pool's accelerator (and model, if it names one) on the usable nodes that
// the pool takes in. What open leases hold is no longer free; they are those of every pool of the
// cluster, since pools may share nodes. The snapshot's identity and age are the caller's to fill
// in.
PoolSnapshot seen_by(const Pool& pool, const Inventory& inventory,
                     std::span<const Lease> open_leases);

// The nodes that can be promised to the workload now: everything it asks for is known to be free on
// each. The fullest first, then by name. Empty: nothing can be promised.
std::vector<LeasedNode> nodes_for(const Pool& pool, const Inventory& inventory,
                                  std::span<const Lease> open_leases, const Workload& workload);

}  // namespace exa
