// The real edges of the command line: descriptors, terminal, environment, files, time.
#pragma once

#include "cli/environment.h"

namespace exa {

// Before anything is opened: a closed standard descriptor would be given to the next file, and what
// is printed would land in the database. Also turns SIGPIPE into a failed write.
void guard_descriptors();

Environment terminal_environment();

}  // namespace exa
