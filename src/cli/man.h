// exa(1) in roff, from the rows.
#pragma once

#include "cli/command_tree.h"

namespace exa {

std::string man_page(CommandTable commands);

}  // namespace exa
