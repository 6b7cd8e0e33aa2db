// Files that are there whole or not at all, also after a crash, and with their mode from their
// first moment on. On return they are on the disk, under their name.
//
// Errors: store_full, store_unwritable, in one sentence with the path.
#pragma once

#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/error.h"

namespace exa {

// Never replaces one: conflict where something has the name already.
Result<void> create_file(const std::string& path, std::string_view bytes, mode_t mode);

// In one step. By one process at a time: what another left half done is removed.
Result<void> replace_file(const std::string& path, std::string_view bytes, mode_t mode);

}  // namespace exa
