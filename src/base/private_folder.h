// A folder that only its owner may enter.
#pragma once

#include <filesystem>

#include "base/error.h"

namespace exa {

// Made with its parents, unless it is there: then its mode is its owner's business. store_full or
// store_unwritable, saying why.
Result<void> make_private_folder(const std::filesystem::path& folder);

}  // namespace exa
