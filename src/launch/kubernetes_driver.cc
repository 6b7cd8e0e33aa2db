#include "launch/kubernetes_driver.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/encoding.h"
#include "base/quantity.h"
#include "base/text.h"
#include "base/yaml.h"
#include "launch/kubernetes_api.h"
#include "launch/kubernetes_pod.h"
#include "launch/kubernetes_status.h"
#include "launch/outputs.h"
#include "launch/renderers.h"

namespace exa {
namespace {

using namespace kubernetes;

std::string_view main_kind(const LaunchSpec& spec) {
  switch (spec.kind) {
    case Surface::workbench:
    case Surface::any:
      return "Pod";
    case Surface::training:
      return "Job";
    default:
      return spec.kserve ? "InferenceService" : "Deployment";
  }
}

std::string label_selector(const LaunchSpec& spec) {
  return fmt::format("{}={}", kLaunchLabel, spec.id);
}

std::string_view text_at(const json::value& value, std::string_view pointer) {
  boost::system::error_code error;
  const json::value* found = value.find_pointer(pointer, error);
  return found != nullptr && found->is_string() ? std::string_view(found->get_string())
                                                : std::string_view();
}

std::string_view label(const json::value& object, std::string_view key) {
  return text_at(object, pointer("/metadata/labels", key));
}

// Of this launch's project, kind and name: an earlier launch, or this one.
bool is_ours(const json::value& object, const LaunchSpec& spec) {
  const json::object labels = labels_of(spec, false);
  return std::ranges::all_of(labels, [&](const auto& member) {
    return label(object, member.key()) == member.value().get_string();
  });
}

// --- submitting ----------------------------------------------------------------------------------

enum class Way {
  make,     // there is none
  change,   // apply to what is there, or make it
  replace,  // one that is over gives way
  keep,     // it is there already
};

struct Step {
  const KindRow* kind;
  json::value object;
  std::string name;
  std::string path;
  Way way = Way::make;
  std::string old_uid;
  std::string new_uid;
};

Result<std::vector<Step>> steps_of(const LaunchSpec& spec, const Rendered& rendered) {
  YamlLimits limits;
  limits.each.max_bytes = limits.max_scalar_bytes = size_t{8} << 20;
  std::vector<Step> steps;
  EXA_ASSERT(rendered.files.size() == 1);
  EXA_ASSIGN(const auto documents,
             parse_yaml(rendered.files[0].text, rendered.files[0].name, limits));
  for (const YamlDocument& document : documents) {
    Step step;
    step.kind = find_kind(text_at(document.value, "/kind"));
    step.object = document.value;
    step.name = text_at(document.value, "/metadata/name");
    EXA_ASSERT(step.kind != nullptr && !step.name.empty());
    step.path = path_of(*step.kind, namespace_of(spec), step.name);
    steps.push_back(std::move(step));
  }
  EXA_ASSERT(!steps.empty() && steps.back().kind->kind == main_kind(spec));
  return steps;
}

Failure taken(const Api& api, const Step& step, std::string why, std::string next) {
  return fail(Code::conflict,
              fmt::format("{}: the {} {} {}", api.describe(), step.kind->kind, step.name, why),
              std::move(next));
}

Result<void> check_volume(const Api& api, const Step& step, const json::value& there) {
  const auto has = parse_kubernetes_quantity(text_at(there, "/spec/resources/requests/storage"));
  const auto wants =
      parse_kubernetes_quantity(text_at(step.object, "/spec/resources/requests/storage"));
  if (!has || !wants || has->whole >= wants->whole) return {};
  return taken(api, step,
               fmt::format("has {}, and {} are asked for", format_bytes(has->whole),
                           format_bytes(wants->whole)),
               "ask for no more than it has, or enlarge it with kubectl");
}

// What has to be done for one object, as things stand.
Result<void> plan(Api& api, const LaunchSpec& spec, Step& step) {
  const std::string_view kind = step.kind->kind;
  const bool is_changed = kind == "Service" || kind == "ConfigMap" || kind == "Deployment" ||
                          kind == "InferenceService";
  const bool is_volume = kind == "PersistentVolumeClaim";
  if (is_changed || is_volume) step.way = Way::change;
  EXA_ASSIGN(const auto there, api.get(step.path));
  if (!there) return {};
  step.old_uid = text_at(*there, "/metadata/uid");
  if (!is_ours(*there, spec)) {
    return taken(api, step, "is there already and is not of this project",
                 "choose another name or namespace");
  }
  if (is_volume) {
    step.way = Way::keep;
    return check_volume(api, step, *there);
  }
  if (is_changed) return {};
  const bool goes = !text_at(*there, "/metadata/deletionTimestamp").empty();
  if (label(*there, kLaunchLabel) == spec.id && !goes) {
    step.way = Way::keep;
  } else if (has_ended(*there) || goes) {
    step.way = Way::replace;
  } else {
    return taken(api, step, fmt::format("of launch {} still runs", label(*there, kLaunchLabel)),
                 "stop it first");
  }
  return {};
}

Result<json::value> put(Api& api, const LaunchSpec& spec, const Step& step, Trial trial) {
  return step.way == Way::change
             ? api.apply(step.path, step.object, trial)
             : api.create(path_of(*step.kind, namespace_of(spec)), step.object, trial);
}

Result<void> try_step(Api& api, const LaunchSpec& spec, const Step& step) {
  if (step.way == Way::keep) return {};
  const auto tried = put(api, spec, step, Trial::yes);
  // that the name is taken is found out last, when all else was right
  const bool is_there_yet =
      !tried && step.way == Way::replace && tried.error().code == Code::conflict;
  if (tried || is_there_yet) return {};
  return fail(tried.error());
}

// An object lives on after its deletion until what depends on it is gone.
Result<void> make_room(Api& api, Progress& progress, const Step& step) {
  constexpr int kTries = 150;
  EXA_TRY(api.remove(step.path, step.old_uid));
  for (int i = 0; i < kTries; ++i) {
    EXA_ASSIGN(const auto there, api.get(step.path));
    if (!there || text_at(*there, "/metadata/uid") != step.old_uid) return {};
    EXA_TRY(progress.step("tries", i, 0));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  return taken(api, step, "was deleted and does not go", "look at its finalizers with kubectl");
}

// Nothing of a launch that was refused stays.
void take_back(Api& api, const std::vector<Step>& steps) {
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    if (!step->new_uid.empty() && step->new_uid != step->old_uid)
      (void)api.remove(step->path, step->new_uid);  // best effort: the refusal is what is told
}

Result<void> carry_out(Api& api, Progress& progress, const LaunchSpec& spec,
                       std::vector<Step>& steps) {
  for (Step& step : steps) {
    if (step.way == Way::keep) continue;
    if (step.way == Way::replace) {
      EXA_TRY(make_room(api, progress, step));
    }
    const auto made = put(api, spec, step, Trial::no);
    if (!made) {
      const Code code = made.error().code;
      const bool refused =
          code == Code::unresolvable || code == Code::forbidden || code == Code::conflict;
      if (refused) take_back(api, steps);
      return fail(made.error());
    }
    step.new_uid = text_at(*made, "/metadata/uid");
  }
  return {};
}

// An older server drops the words that it does not know: each pod would be a job of its own.
Result<void> check_version(Api& api, const LaunchSpec& spec) {
  const bool needs_index =
      spec.kind == Surface::training &&
      (spec.resources.nodes > 1 || mentions(spec.command, RunTime::node_rank) ||
       mentions(spec.command, RunTime::head_node));
  if (!needs_index) return {};
  EXA_ASSIGN(const auto version, api.get("/version"));
  if (!version) return {};
  std::string_view minor = text_at(*version, "/minor");
  minor = minor.substr(0, minor.find_first_not_of("0123456789"));  // "27+"
  const auto number = parse_count(minor, "minor version");
  if (text_at(*version, "/major") != "1" || !number || *number >= 22) return {};
  return fail(Code::unresolvable,
              fmt::format("{} is version {}: ranks of a job's nodes come from indexed jobs, which "
                          "Kubernetes has from 1.22 on",
                          api.describe(), printable(text_at(*version, "/gitVersion"))),
              "run it on one node, or on a newer cluster");
}

// Where the resource is not known, an answer to its objects would only be that they are not there.
Result<void> check_kserve(Api& api, const LaunchSpec& spec) {
  if (!spec.kserve) return {};
  const KindRow& kind = *find_kind(main_kind(spec));
  EXA_ASSIGN(const auto group, api.get(std::string(kind.api)));
  const json::value* resources = group ? find(*group, "resources") : nullptr;
  if (resources != nullptr && resources->is_array())
    for (const json::value& each : resources->get_array())
      if (text_at(each, "/name") == kind.plural) return {};
  return fail(Code::unresolvable,
              fmt::format("serving.kserve.io/v1beta1 is not installed on {}", api.describe()),
              "install KServe there, name another cluster, or serve it with engine kubernetes");
}

// All that is to be done, once the server would do it.
Result<std::vector<Step>> tried(Api& api, const LaunchSpec& spec, const Rendered& rendered) {
  EXA_ASSIGN(std::vector<Step> steps, steps_of(spec, rendered));
  EXA_TRY(check_version(api, spec));
  EXA_TRY(check_kserve(api, spec));
  for (Step& step : steps) EXA_TRY(plan(api, spec, step));
  for (const Step& step : steps) EXA_TRY(try_step(api, spec, step));
  return steps;
}

// --- observing -----------------------------------------------------------------------------------

// KServe makes pods with a label of its own, whatever becomes of exa's.
Result<json::array> pods_of(Api& api, const LaunchSpec& spec) {
  return api.labelled(
      path_of(*find_kind("Pod"), namespace_of(spec)),
      spec.kserve ? fmt::format("{}={}", kKServeLabel, job_name(spec)) : label_selector(spec));
}

// The newest warning about an object: some reasons (a quota, a volume) stand nowhere else.
std::string last_warning(Api& api, const LaunchSpec& spec, std::string_view kind,
                         std::string_view name) {
  const std::string fields =
      fmt::format("involvedObject.kind={},involvedObject.name={},type=Warning", kind, name);
  const auto events = api.list(fmt::format("/api/v1/namespaces/{}/events", namespace_of(spec)),
                               fmt::format("fieldSelector={}&limit=100", percent_encode(fields)));
  if (!events) return {};  // who may not read events still learns the state
  const json::value* newest = nullptr;
  for (const json::value& event : *events)
    if (newest == nullptr || text_at(*newest, "/lastTimestamp") <= text_at(event, "/lastTimestamp"))
      newest = &event;
  if (newest == nullptr) return {};
  return printable(
      fmt::format("{}: {}", text_at(*newest, "/reason"), text_at(*newest, "/message")));
}

// A pod that is being made, or none at all: the reason may stand in an event.
void add_warning(Api& api, const LaunchSpec& spec, const json::array& pods, Observed& seen) {
  const bool says_why =
      !seen.reason.empty() && seen.reason.find("ContainerCreating") == std::string::npos;
  if (seen.state != JobState::pending || says_why) return;
  const std::string warning =
      pods.empty() ? last_warning(api, spec, main_kind(spec), job_name(spec))
                   : last_warning(api, spec, "Pod", text_at(pods.front(), "/metadata/name"));
  if (!warning.empty()) seen.reason = warning;
}

}  // namespace

Result<std::string> KubernetesDriver::home() {
  return std::string();
}

Result<Rendered> KubernetesDriver::render(const LaunchSpec& spec) {
  return spec.kserve ? render_kserve(spec) : render_kubernetes(spec);
}

Result<void> KubernetesDriver::rehearse(const LaunchSpec& spec, const Rendered& rendered) {
  EXA_ASSIGN(Api api, Api::connect(address_, progress_));
  EXA_TRY(tried(api, spec, rendered));
  return {};
}

Result<std::string> KubernetesDriver::submit(const LaunchSpec& spec, const Rendered& rendered) {
  EXA_ASSIGN(Api api, Api::connect(address_, progress_));
  EXA_ASSIGN(std::vector<Step> steps, tried(api, spec, rendered));
  EXA_TRY(carry_out(api, progress_, spec, steps));
  return fmt::format("{}/{}", steps.back().kind->kubectl, steps.back().name);
}

Result<std::optional<Observed>> KubernetesDriver::find(const LaunchSpec& spec, const std::string&) {
  EXA_ASSIGN(Api api, Api::connect(address_, progress_));
  const KindRow& kind = *find_kind(main_kind(spec));
  EXA_ASSIGN(json::array found,
             api.labelled(path_of(kind, namespace_of(spec)), label_selector(spec)));
  if (found.empty()) return std::optional<Observed>();
  json::value main = std::move(found.front());
  if (!main.is_object())
    return fail(Code::unreadable_output, "a list of something else than objects");
  main.get_object()["kind"] = kind.kind;  // objects in lists do not say
  EXA_ASSIGN(const json::array pods, pods_of(api, spec));
  Observed seen = observed_of(main, pods);
  seen.job = fmt::format("{}/{}", kind.kubectl, text_at(main, "/metadata/name"));
  add_warning(api, spec, pods, seen);
  return std::optional(std::move(seen));
}

Result<void> KubernetesDriver::cancel(const LaunchSpec& spec, const std::string&) {
  EXA_ASSIGN(Api api, Api::connect(address_, progress_));
  // pods of a job or deployment go with it, and all that KServe made for an InferenceService
  std::vector<std::string_view> kinds{main_kind(spec)};
  if (!spec.kserve) kinds.emplace_back("Service");
  if (!spec.files.empty()) kinds.emplace_back("ConfigMap");
  for (const std::string_view name : kinds) {
    const KindRow& kind = *find_kind(name);
    EXA_ASSIGN(const json::array found,
               api.labelled(path_of(kind, namespace_of(spec)), label_selector(spec)));
    for (const json::value& object : found) {
      EXA_TRY(api.remove(path_of(kind, namespace_of(spec), text_at(object, "/metadata/name")),
                         text_at(object, "/metadata/uid")));
    }
  }
  return {};
}

Result<std::string> KubernetesDriver::log_of(const LaunchSpec& spec, std::string_view query) {
  EXA_ASSIGN(Api api, Api::connect(address_, progress_));
  EXA_ASSIGN(const json::array pods, pods_of(api, spec));
  const std::string pod = pod_with_the_log(pods);
  if (pod.empty()) {
    return fail(Code::not_found, fmt::format("no pod of {} is there", job_name(spec)),
                "look at its state");
  }
  return api.text(fmt::format("{}/log?container={}&{}",
                              path_of(*find_kind("Pod"), namespace_of(spec), pod),
                              spec.kserve ? kKServeContainer : kContainer, query));
}

Result<std::string> KubernetesDriver::logs(const LaunchSpec& spec, const std::string&,
                                           int64_t tail_lines) {
  return log_of(spec, fmt::format("tailLines={}", tail_lines));
}

// A service prints for weeks; what it puts out it says when it starts, or again when it changes.
Result<std::string> KubernetesDriver::outputs(const LaunchSpec& spec, const std::string&) {
  constexpr size_t kBeginning = size_t{1} << 20;
  EXA_ASSIGN(const std::string end, log_of(spec, "tailLines=1000"));
  auto said = outputs_in_log(end, false);
  if (said || said.error().code != Code::not_found) return said;
  EXA_ASSIGN(const std::string beginning, log_of(spec, fmt::format("limitBytes={}", kBeginning)));
  return outputs_in_log(beginning, beginning.size() >= kBeginning);
}

Result<void> KubernetesDriver::delete_volume(const LaunchSpec& spec) {
  EXA_ASSIGN(Api api, Api::connect(address_, progress_));
  const std::string path =
      path_of(*find_kind("PersistentVolumeClaim"), namespace_of(spec), volume_name(spec));
  EXA_ASSIGN(const auto there, api.get(path));
  if (!there || !is_ours(*there, spec)) return {};
  return api.remove(path, text_at(*there, "/metadata/uid"));
}

Result<std::unique_ptr<Driver>> kubernetes_driver(const ClusterAddress& address,
                                                  Progress& progress) {
  return std::make_unique<KubernetesDriver>(address, progress);
}

}  // namespace exa
