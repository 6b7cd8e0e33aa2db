// `exa watch`: what changes, a line at a time, until it is interrupted.
#pragma once

#include "cli/local_commands.h"

namespace exa {

Route watch_row();
Result<LocalText> watch(const LocalCall& call);

}  // namespace exa
