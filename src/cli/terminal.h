// The real edges of the command line: descriptors, terminal, environment, files, time.
#pragma once

#include "cli/environment.h"

namespace exa {

Environment terminal_environment();

}  // namespace exa
