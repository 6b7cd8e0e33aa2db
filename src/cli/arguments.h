// Words to values: each by its parameter's kind. What is no number stays text, so that the route's
// own check names it together with every other problem.
#pragma once

#include "cli/command_tree.h"
#include "cli/environment.h"

namespace exa {

Result<json::object> collect_arguments(const Invocation& invocation,
                                       const Environment& environment);

}  // namespace exa
