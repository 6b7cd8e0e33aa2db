// What the rest of a shared card is worth: the shares of it that the asks to come can use.
//
// Shares are cut from cards as stock is cut from rolls. The dual prices of that cutting problem
// (Gilmore and Gomory, Operations Research 9(6), 1961) say what each share size costs when the
// whole mix is packed on as few cards as possible; a remainder is worth the best knapsack of these
// prices. So 190 thousandths beside an 810 are worth nothing where nearly nobody asks for so
// little, and 350 beside a 650 are worth a third of a card where 320s are common. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "place/device_ask.h"

namespace exa {

struct ShareDemand {
  int64_t share_milli = 0;  // 1 to 999
  int64_t count = 0;        // how often it is asked for
};

// By free thousandths, in millionths of a card: [0] is 0, [1000] is 1,000,000, never falling.
using CardValue = std::array<int32_t, kWholeDevice + 1>;

// `demand`: distinct shares. Without any, a remainder is worth its size.
CardValue card_value(std::span<const ShareDemand> demand);

}  // namespace exa
