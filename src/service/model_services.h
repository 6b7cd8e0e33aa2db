// Services: models that answer requests, each sized by its own profile. Requirement Phase 3.
#pragma once

#include "launch/serving.h"
#include "service/launch.h"

namespace exa {

struct DeployService {
  LaunchRequest launch;             // what is given here wins over the file
  std::optional<std::string> file;  // content: serving_file.h; the model called as the launch is
  std::string file_name;
  std::optional<int64_t> replicas;
  std::vector<std::string> command;  // without a file
  Variables environment;
};
// Starts a service, or puts a new one in the place of the one that runs. What is refused leaves it
// running as it was.
Result<Answer> deploy_service(Service& service, const Caller& caller, DeployService what);

// The same service on so many replicas.
Result<Answer> scale_service(Service& service, const Caller& caller, const std::string& project,
                             const std::string& name, int64_t replicas);

struct RenderServices {
  std::string project;
  std::string file;
  std::string file_name;
};
// What each model of a file comes to, with its profile resolved: for `serve deploy`, `kubectl
// apply` or a shell. Nothing is kept.
Result<Answer> render_services(Service& service, const RenderServices& what);

}  // namespace exa
