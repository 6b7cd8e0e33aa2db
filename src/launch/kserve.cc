// KServe's InferenceService: the pod of a service on Kubernetes, as its predictor.
#include <fmt/format.h>

#include "base/yaml.h"
#include "launch/kubernetes_pod.h"
#include "launch/refusals.h"
#include "launch/renderers.h"
#include "launch/serving.h"

namespace exa {
namespace {

using namespace kubernetes;

void refuse_for_kserve(const LaunchSpec& spec, std::vector<Problem>& problems) {
  refuse_for_kubernetes(spec, problems);
  refuse_files(spec, "KServe", problems);
  if (spec.port == 0)
    problems.push_back({"/port", "is missing: a service is reached at a port", "such as 8080"});
  if (spec.resources.nodes > 1) {
    problems.push_back(
        {"/resources/nodes",
         fmt::format("a replica is one pod on one node, not {}", spec.resources.nodes), "1"});
  }
  if (spec.options.time_limit.micros > 0)
    problems.push_back(
        {"/options/time_limit", "a service has no end on Kubernetes", "leave it out"});
}

// Knative, which KServe may run on, reads the protocol out of a port's name and takes no other.
void name_port_for_knative(json::object& pod) {
  json::value& container = pod["containers"].get_array()[0];
  json::value& ports = container.get_object()["ports"];
  ports.get_array()[0].get_object()["name"] = "http1";
}

}  // namespace

Result<Rendered> render_kserve(const LaunchSpec& spec) {
  EXA_ASSERT(spec.kserve && spec.kind == Surface::serving);
  std::vector<Problem> problems;
  refuse_for_kserve(spec, problems);
  Pod pod = pod_of(spec, kKServeContainer, problems);
  if (!problems.empty())
    return fail(invalid(fmt::format("the model {} on KServe", spec.name), std::move(problems)));
  name_port_for_knative(pod.spec);

  json::object predictor{{"minReplicas", spec.replicas}, {"maxReplicas", spec.kserve->most}};
  if (spec.kserve->target > 0) {
    predictor["scaleMetric"] = "concurrency";
    predictor["scaleTarget"] = spec.kserve->target;
  }
  for (const auto& member : pod.spec) predictor[member.key()] = member.value();
  const bool picks_nodes = predictor.contains("affinity") || predictor.contains("nodeSelector");
  const json::object service{{"apiVersion", "serving.kserve.io/v1beta1"},
                             {"kind", "InferenceService"},
                             {"metadata", metadata_of(spec, job_name(spec))},
                             {"spec", json::object{{"predictor", std::move(predictor)}}}};
  Rendered rendered;
  rendered.command = {"kubectl", "apply", "--filename", "inference-service.yaml"};
  rendered.files.push_back({"inference-service.yaml", to_yaml(service)});
  rendered.notes = std::move(pod.notes);
  if (picks_nodes) {
    rendered.notes.emplace_back(
        "Where KServe runs on Knative, config-features must allow node selectors, affinity, "
        "tolerations and security contexts of pods.");
  }
  return rendered;
}

Result<Rendered> render_kserve(const SizedModel& sized, const ServingLaunch& launch) {
  EXA_ASSERT(sized.model.engine == ServingEngine::kserve);
  EXA_ASSIGN(const LaunchSpec spec, launch_of(sized, launch));
  auto rendered = render_kserve(spec);
  if (rendered) return rendered;
  Error error = rendered.error();
  for (Problem& problem : error.problems) problem.where.insert(0, pointer("", sized.model.name));
  return fail(std::move(error));
}

}  // namespace exa
