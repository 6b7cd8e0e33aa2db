// Figures of the installation and of this process, read when Prometheus scrapes.
#pragma once

#include "server/metrics.h"
#include "service/service.h"

namespace exa {

// One transaction of a few counts, the same on every replica. A count that cannot be read keeps its
// last value, an age is left out; the store's trouble shows in exa_ready.
void read_gauges(Service& service, Metrics& metrics);

}  // namespace exa
