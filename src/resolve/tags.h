// Whether a driver or runtime tag is borne out by what a node says about its software.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hardware/catalogue.h"
#include "hardware/inventory.h"

namespace exa {

struct TagVerdict {
  Match match = Match::not_reported;
  std::string observed;  // "cuda 12.2"; empty: nothing about it was seen
};

// A tag is PRODUCT-VERSION ("cuda-12.4"), or a product alone. A driver runs what was built for an
// older version, so a version seen that is equal or newer confirms, an older one contradicts, and
// one that is less exact ("12" for 12.4) leaves it open. A node's feature of the same name confirms
// it too; that is judged node by node (fit.h). No scheduler reports runtimes: only a feature or
// runtime label of exactly this name confirms one.
TagVerdict match_driver(std::string_view tag, const std::vector<Software>& software);

}  // namespace exa
