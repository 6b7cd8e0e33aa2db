// Landlock: what a program may change, said by the program that starts it and never taken back.
#pragma once

#include <memory>
#include <string>

#include "base/descriptor.h"

namespace exa {

// A rule set for a program that may write in `folder` and to the devices that every program needs.
// nullptr where the kernel has no Landlock that could say it.
std::unique_ptr<Descriptor> writes_only_in(const std::string& folder);

// Puts the calling process under it for ever, and what it starts. False: it is not. Nothing but
// system calls: it runs between fork and exec.
bool confine_to(int rules);

}  // namespace exa
