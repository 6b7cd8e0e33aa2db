// `exa serve`: this program as a server on its data folder, until it is told to stop.
#pragma once

#include "cli/local_commands.h"

namespace exa {

// Ends with SIGTERM or SIGINT, after requests that had begun; SIGHUP reads certificates again and
// opens the access log anew.
Result<LocalText> serve(const LocalCall& call);

}  // namespace exa
