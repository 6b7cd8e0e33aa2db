// A served model as a launch.
#include <fmt/format.h>

#include "launch/serving.h"

namespace exa {

KServe kserve_of(const Replicas& replicas) {
  return {replicas.most, replicas.target.value_or(0)};
}

Result<LaunchSpec> launch_of(const SizedModel& sized, const ServingLaunch& launch) {
  const ServedModel& model = sized.model;
  EXA_ASSERT(model.engine != ServingEngine::ray);
  std::vector<Problem> problems;
  LaunchSpec spec;
  spec.kind = Surface::serving;
  spec.project = launch.project;
  spec.name = model.name;
  spec.id = launch.id;
  spec.options = launch.options;
  spec.resources = sized.resources;
  spec.environment = model.environment;
  spec.image = model.image;
  spec.port = model.port;
  spec.replicas = model.replicas.least;
  if (model.engine == ServingEngine::kserve) spec.kserve = kserve_of(model.replicas);
  if (model.engine == ServingEngine::vllm) {
    problems = problems_of_vllm(model, sized.resources);
    if (problems.empty()) spec.command = vllm_command(model, sized.resources);
  } else {
    spec.command.assign(model.words.begin(), model.words.end());
  }
  if (problems.empty()) {
    problems = problems_of(spec.command, spec.environment);
    for (Problem& problem : problems) problem.where.insert(0, pointer("", model.name));
  }
  if (!problems.empty())
    return fail(invalid(fmt::format("the model {}", model.name), std::move(problems)));
  return spec;
}

}  // namespace exa
