// What Docker calls a launch, and what it says of its container. Pure.
#pragma once

#include "base/json.h"
#include "launch/launch_spec.h"
#include "launch/observed.h"

namespace exa {

inline constexpr std::string_view kLaunchLabel = "exa.launch";  // holds launch_tag

// "exa_vision_workbench_notebook": of every start of the same launch, so that its disk is found
// again. No name of a project, kind or launch has a '_', so it is of that launch alone.
std::string compose_project(const LaunchSpec& spec);

// One member of the list that `docker inspect` prints. unreadable_output when it is no container,
// or in a state that is not known.
Result<Observed> observed_of_container(const json::value& inspected);

}  // namespace exa
