// What manifests refer to, and what refers to them.
#pragma once

#include "service/manifests.h"

namespace exa {

// invalid_input naming every reference of the manifest that leads nowhere in its project.
Result<void> check_references(Transaction& tx, const std::string& project,
                              const Manifest& manifest);
// in_use naming what refers to it.
Result<void> check_unreferenced(Transaction& tx, const std::string& project,
                                const Manifest& manifest);

}  // namespace exa
