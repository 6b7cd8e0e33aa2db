// From models and their shapes to what serves them. Pure; byte-identical for equal resources,
// whether a profile or the file itself said them. What an engine has no word for is refused by name
// (invalid_input, pointers "/MODEL/resources/gpu_fraction"), every problem of every model at once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "launch/launch_spec.h"
#include "launch/serving_file.h"

namespace exa {

struct SizedModel {
  ServedModel model;
  Resources resources;  // resources_of(size_model(…))
};

// "serve.yaml" of Ray Serve, `serve deploy` (ray_serve.cc): an application for each model, whose
// deployment gets num_gpus (count × fraction, whole above 1), num_cpus, memory in bytes and the
// accelerator's type. Every model's engine is ray.
Result<Rendered> render_ray(std::span<const SizedModel> models);

// One model as a program of its own: `serve run` of "serve_config.yaml", which starts a Ray for it
// alone. In the file stands what render_ray writes, but for the memory: Ray sets a part of what it
// finds aside for its objects, so that a replica that asks for all of the launch's would wait for
// ever. `port`: 0 is Ray's own.
Result<Rendered> render_ray_run(const SizedModel& model, int64_t port);
inline constexpr std::string_view kRayInstalledBy = "pip install 'ray[serve]'";

// Whose launch this is; what a model does not say itself.
struct ServingLaunch {
  std::string project;
  std::string id;
  SchedulerOptions options;
};

// A model of kubernetes or vllm (or kserve) as a launch, for render_kubernetes and the batch
// schedulers.
Result<LaunchSpec> launch_of(const SizedModel& model, const ServingLaunch& launch);

KServe kserve_of(const Replicas& replicas);

// "inference-service.yaml", `kubectl apply` (kserve.cc), of launch_of.
Result<Rendered> render_kserve(const SizedModel& model, const ServingLaunch& launch);

// `vllm serve MODEL …` (vllm.cc): tensor parallel over the devices of a node, pipeline parallel
// over the nodes. On several nodes every node runs it: the first one answers, the others work for
// it.
CommandLine vllm_command(const ServedModel& model, const Resources& resources);
std::vector<Problem> problems_of_vllm(const ServedModel& model, const Resources& resources);

}  // namespace exa
