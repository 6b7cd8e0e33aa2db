// Workbenches: a Jupyter server on a shape, that can be stopped, started and resized. Requirement
// Phase 2.
#pragma once

#include "service/launch.h"

namespace exa {

struct CreateWorkbench {
  LaunchRequest launch;
  std::vector<std::string> command;  // instead of Jupyter
  Variables environment;
};
Result<Answer> create_workbench(Service& service, const Caller& caller, CreateWorkbench what);

// To another profile, version or amount: what is not given stays as it is. It is stopped, and
// started again on the new shape; a shape that is refused leaves it as it was.
struct ResizeWorkbench {
  std::string project;
  std::string name;
  std::string hardware_profile;  // empty: the one that it has
  json::object given;
  std::string require;
};
Result<Answer> resize_workbench(Service& service, const Caller& caller,
                                const ResizeWorkbench& what);

}  // namespace exa
