// `exa doctor`: what an operator would look at one after the other, in one answer.
#pragma once

#include "cli/local_commands.h"

namespace exa {

Route doctor_row();
// Exit code 1 when something is broken; what could be better does not count.
Result<LocalText> doctor(const LocalCall& call);

}  // namespace exa
