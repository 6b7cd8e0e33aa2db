// Commands on whole installations, for whoever runs them.
#pragma once

#include "cli/local_commands.h"

namespace exa {

// exa admin copy: an installation from one store to another, with its audit log.
Route admin_copy_row();
Result<LocalText> admin_copy(const LocalCall& call);

// exa restore: the way back from a folder of `exa backup`.
Route restore_row();
Result<LocalText> restore(const LocalCall& call);

}  // namespace exa
