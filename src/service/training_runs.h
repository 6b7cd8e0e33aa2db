// Training runs, on one node or many. Requirement Phase 3.
#pragma once

#include "launch/training.h"
#include "service/launch.h"

namespace exa {

struct RunTraining {
  LaunchRequest launch;  // without a name: one is made of the model and an id
  std::string model;
  std::string dataset;
  std::vector<std::string> command;  // instead of python3 SCRIPT
  std::string script;
  Variables environment;
};
Result<Answer> run_training(Service& service, const Caller& caller, RunTraining what);

struct LaunchDistributed {
  LaunchRequest launch;  // likewise
  std::string model;
  std::string dataset;
  TrainingJob job;  // nodes and processes per node are the shape's; see processes_per_node
  std::optional<int64_t> processes_per_node;  // instead of one for each GPU, or one without any
  Variables environment;
};
Result<Answer> launch_distributed(Service& service, const Caller& caller, LaunchDistributed what);

}  // namespace exa
