// Arguments that every launch takes, and what they come to.
#pragma once

#include "api/handlers.h"
#include "service/launch.h"

namespace exa {

struct GpuFlag {
  std::string_view flag;  // "--gpu", "--gpus-per-node": as the documents call it for this command
  std::string_view help;
};
// Fields of a shape: each given one wins over the profile's.
std::vector<Param> shape_params(const GpuFlag& gpu, bool with_nodes);
// Where and how: cluster, folder, environment, the scheduler's own options.
std::vector<Param> target_params();
std::vector<Param> joined(std::vector<std::vector<Param>> groups);

Param lines_param();
Param launch_name_param(std::string_view what, std::string_view completes);

// The request that these arguments come to. Fails with invalid_input, all problems at once.
Result<LaunchRequest> launch_request(const Call& call);
Result<Variables> environment_arg(const Call& call);
json::object shape_args_of(const Call& call);  // the fields that were given
// The reply; of a dry run with an id under which `exa apply --plan` does it.
Result<Reply> reply_with_plan(Service& service, const Call& call, Result<Answer> answer);
// Does what a plan said, or nothing (`exa apply --plan`).
Result<Reply> apply_plan(Service& service, const Call& call);
// Of arguments that need no store to be wrong.
std::vector<Problem> check_launch(const json::object& args);

}  // namespace exa
