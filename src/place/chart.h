// Simulations as one picture: how much of the fleet each policy has given away as requests arrive.
// SVG without scripts or fonts of its own, readable on light and dark ground; lines differ by dash
// and carry their name, so colour alone says nothing. Pure: the same results give the same bytes.
#pragma once

#include <span>
#include <string>

#include "place/simulate.h"

namespace exa {

// Runs of one policy (other seeds) are drawn as their mean. Empty input gives an empty chart.
std::string chart_of(std::span<const Simulation> runs);

}  // namespace exa
