// Manifests: one object for what runs, and those that it needs before it.
#include <fmt/format.h>

#include "base/yaml.h"
#include "launch/kubernetes_pod.h"
#include "launch/refusals.h"
#include "launch/renderers.h"

namespace exa {
namespace {

using namespace kubernetes;

json::object object_of(std::string_view version, std::string_view kind, json::object metadata) {
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

// Limits are whole seconds; less than one would be none.
int64_t whole_seconds(Duration limit) {
  return (limit.micros + 999'999) / 1'000'000;
}

json::object service_of(const LaunchSpec& spec) {
  json::object service = object_of("v1", "Service", metadata_of(spec, job_name(spec)));
  service["spec"] = json::object{{"selector", selector_of(spec)},
                                 {"ports", json::array{json::object{{"name", "main"},
                                                                    {"port", spec.port},
                                                                    {"targetPort", spec.port},
                                                                    {"protocol", "TCP"}}}}};
  return service;
}

// Gives the pods of a job names; they must be found before they are ready, as each waits for the
// others.
json::object names_of_nodes(const LaunchSpec& spec) {
  json::object service = object_of("v1", "Service", metadata_of(spec, job_name(spec)));
  service["spec"] = json::object{
      {"clusterIP", "None"}, {"publishNotReadyAddresses", true}, {"selector", selector_of(spec)}};
  return service;
}

json::object files_of(const LaunchSpec& spec) {
  json::object data;
  for (const RenderedFile& file : spec.files) data[file.name] = file.text;
  json::object files = object_of("v1", "ConfigMap", metadata_of(spec, job_name(spec)));
  files["data"] = std::move(data);
  return files;
}

json::object claim_of(const LaunchSpec& spec) {
  json::object claim =
      object_of("v1", "PersistentVolumeClaim", metadata_of(spec, volume_name(spec), false));
  claim["spec"] = json::object{
      {"accessModes", json::array{"ReadWriteOnce"}},
      {"resources",
       json::object{{"requests", json::object{{"storage", bytes_quantity(spec.volume.bytes)}}}}}};
  return claim;
}

std::vector<json::object> workbench(const LaunchSpec& spec, Pod pod) {
  std::vector<json::object> objects;
  if (needs_claim(spec)) objects.push_back(claim_of(spec));
  if (spec.port > 0) objects.push_back(service_of(spec));
  json::object main = object_of("v1", "Pod", metadata_of(spec, job_name(spec)));
  pod.spec["restartPolicy"] = spec.restarts > 0 ? "OnFailure" : "Never";
  if (spec.options.time_limit.micros > 0)
    pod.spec["activeDeadlineSeconds"] = whole_seconds(spec.options.time_limit);
  main["spec"] = std::move(pod.spec);
  objects.push_back(std::move(main));
  return objects;
}

// A failure of the whole job is a failure of each of its pods, and those are what Kubernetes
// counts.
std::vector<json::object> training(const LaunchSpec& spec, Pod pod) {
  const int64_t nodes = spec.resources.nodes;
  std::vector<json::object> objects;
  if (nodes > 1 || mentions(spec.command, RunTime::head_node)) {
    objects.push_back(names_of_nodes(spec));
    pod.spec["subdomain"] = job_name(spec);
  }
  json::object job{{"completionMode", "Indexed"},
                   {"completions", nodes},
                   {"parallelism", nodes},
                   {"backoffLimit", spec.restarts * nodes}};
  if (spec.options.time_limit.micros > 0)
    job["activeDeadlineSeconds"] = whole_seconds(spec.options.time_limit);
  job["template"] = template_of(spec, std::move(pod.spec), "Never");
  json::object main = object_of("batch/v1", "Job", metadata_of(spec, job_name(spec)));
  main["spec"] = std::move(job);
  objects.push_back(std::move(main));
  return objects;
}

std::vector<json::object> serving(const LaunchSpec& spec, Pod pod) {
  json::object main = object_of("apps/v1", "Deployment", metadata_of(spec, job_name(spec)));
  main["spec"] = json::object{{"replicas", spec.replicas},
                              {"selector", json::object{{"matchLabels", selector_of(spec)}}},
                              {"template", template_of(spec, std::move(pod.spec), "Always")}};
  std::vector<json::object> objects{service_of(spec)};
  objects.push_back(std::move(main));
  return objects;
}

void refuse_by_kind(const LaunchSpec& spec, std::vector<Problem>& problems) {
  if (spec.kind != Surface::training && spec.resources.nodes > 1) {
    problems.push_back({"/resources/nodes",
                        fmt::format("a {} is one pod on one node here, not {}",
                                    launch_kind(spec.kind), spec.resources.nodes),
                        spec.kind == Surface::serving
                            ? "ask for replicas, or run it as a job of a batch scheduler"
                            : "1"});
  }
  if (spec.kind != Surface::serving) return;
  if (spec.port == 0)
    problems.push_back({"/port", "is missing: a service is reached at a port", "such as 8000"});
  if (spec.options.time_limit.micros > 0) {
    problems.push_back({"/options/time_limit", "a service has no end on Kubernetes",
                        "leave it out, and stop it when it is not needed"});
  }
}

void add_notes(const LaunchSpec& spec, std::vector<std::string>& notes) {
  if (spec.kind != Surface::training && spec.kind != Surface::serving && spec.restarts > 0)
    notes.emplace_back("Kubernetes starts a pod that failed again without counting how often.");
  if (spec.kind == Surface::serving && spec.restarts > 0)
    notes.emplace_back("Kubernetes starts a replica that ended again, however often.");
  if (spec.kind == Surface::training && mentions(spec.command, RunTime::node_rank))
    notes.emplace_back("Ranks come from indexed jobs, which Kubernetes has from 1.22 on.");
}

}  // namespace

Result<Rendered> render_kubernetes(const LaunchSpec& spec) {
  std::vector<Problem> problems;
  refuse_for_kubernetes(spec, problems);
  refuse_kserve(spec, "a Deployment", problems);
  refuse_by_kind(spec, problems);
  Pod pod = pod_of(spec, kContainer, problems);
  if (!problems.empty()) return fail(invalid("the launch on Kubernetes", std::move(problems)));

  Rendered rendered;
  rendered.command = {"kubectl", "apply", "--filename", "manifest.yaml"};
  rendered.notes = pod.notes;
  add_notes(spec, rendered.notes);
  const std::vector<json::object> objects =
      spec.kind == Surface::training  ? training(spec, std::move(pod))
      : spec.kind == Surface::serving ? serving(spec, std::move(pod))
                                      : workbench(spec, std::move(pod));
  std::string text;
  for (const json::object& object : objects) {
    if (!text.empty()) text += "---\n";
    text += to_yaml(object);
  }
  if (!spec.files.empty()) text = to_yaml(files_of(spec)) + "---\n" + text;
  rendered.files.push_back({"manifest.yaml", std::move(text)});
  return rendered;
}

}  // namespace exa
