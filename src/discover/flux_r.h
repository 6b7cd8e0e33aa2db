// R, version 1: how Flux writes a set of resources (`flux resource R`, `flux kvs get resource.R`).
// R knows ranks, host names, core ids and gpu ids; a model only if the administrator set a
// property.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "discover/idset.h"

namespace exa {

// What one broker rank holds of a set of resources.
struct RankResources {
  int64_t rank = 0;
  std::string host;
  IdSet cores;
  IdSet gpus;
  std::vector<std::string> properties;  // sorted
};

struct FluxR {
  std::vector<RankResources> ranks;         // by rank
  std::vector<std::string> other_children;  // kinds beside core and gpu, which nothing here counts
  bool lent = false;  // has a start and an end: what one job holds, or an instance inside a job
};

// `what` names the text in errors (unreadable_output, with the JSON pointer of the place).
Result<FluxR> parse_flux_r(std::string_view text, std::string_view what);

}  // namespace exa
