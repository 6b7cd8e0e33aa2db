// What the manifests of every kind of launch have in common: names, labels, and the pod. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "launch/launch_spec.h"

namespace exa::kubernetes {

// Of every object of a launch. The volume of a workbench outlives the launch, so it has no id.
inline constexpr std::string_view kLaunchLabel = "exa/launch-id";
inline constexpr std::string_view kTagAnnotation = "exa/launch";  // launch_tag

// The container whose output is the launch's; KServe knows its own by this name.
inline constexpr std::string_view kContainer = "main";
inline constexpr std::string_view kKServeContainer = "kserve-container";
// That KServe gives the pods of an InferenceService, with its name.
inline constexpr std::string_view kKServeLabel = "serving.kserve.io/inferenceservice";

json::object labels_of(const LaunchSpec& spec, bool with_id = true);
json::object metadata_of(const LaunchSpec& spec, const std::string& name, bool with_id = true);
// Of the pods: what does not change when a service is launched anew.
json::object selector_of(const LaunchSpec& spec);

std::string namespace_of(const LaunchSpec& spec);
std::string volume_name(const LaunchSpec& spec);  // of the claim
bool needs_claim(const LaunchSpec& spec);

// Text that Kubernetes hands on as it is, in commands, arguments and values of variables: it reads
// "$(NAME)" there, and "$$" as one '$'.
std::string literal(std::string_view text);

// Memory and storage: "32Gi", "1536Mi", "1000"; cpu: "8", "500m".
std::string bytes_quantity(int64_t bytes);
std::string cpu_quantity(int64_t milli);

struct Pod {
  json::object spec;  // without restartPolicy
  std::vector<std::string> notes;
};

// `container` is its name; `head_node` is where the first node is found, spelt for Kubernetes.
// Problems are appended; the pod is meant only when there were none.
Pod pod_of(const LaunchSpec& spec, std::string_view container, std::vector<Problem>& problems);

// {"metadata": …, "spec": …} of a Job or a Deployment.
json::object template_of(const LaunchSpec& spec, json::object pod_spec,
                         std::string_view restart_policy);

// What any manifest refuses: names, options, text, image.
void refuse_for_kubernetes(const LaunchSpec& spec, std::vector<Problem>& problems);

std::string name_of_head(const LaunchSpec& spec);  // "JOB-0.JOB"

}  // namespace exa::kubernetes
