// Questions for what a compute profile needs and nobody gave: a courtesy to whoever sits at a
// terminal. The same settings drive it as check the values (`exa compute-profile inputs`); nothing
// is decided here, and without a terminal nothing is asked.
#pragma once

#include "cli/environment.h"

namespace exa {

// Appends answers to `args` of `exa instance launch`, as --input would. An answer that the profile
// does not take is told and asked for again, twice. Secrets are not asked for: a terminal shows
// them.
void ask_for_missing_inputs(const Send& send, const Environment& environment, json::object& args);

}  // namespace exa
