// Files and folders where a launch works, through a transport. Paths are absolute.
#pragma once

#include <span>
#include <string>

#include "discover/transport.h"
#include "launch/launch_spec.h"

namespace exa {

Result<std::string> home_on(Transport& transport);  // of whoever the transport is there
// With its parents; nobody else may look into it, since a program prints what opens it.
Result<void> make_folder(Transport& transport, const std::string& folder);
// Byte for byte, each whole or not at all, for their owner alone: they may hold what a program is
// told in secret.
Result<void> write_files(Transport& transport, const std::string& folder,
                         std::span<const RenderedFile> files);
// The last lines; not_found when the file is not there yet.
Result<std::string> tail(Transport& transport, const std::string& path, int64_t lines);

}  // namespace exa
