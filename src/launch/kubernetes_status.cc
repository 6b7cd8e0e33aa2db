#include "launch/kubernetes_status.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace exa::kubernetes {
namespace {

const json::value kNothing = nullptr;

const json::value& at(const json::value& value, std::string_view pointer) {
  boost::system::error_code error;
  const json::value* found = value.find_pointer(pointer, error);
  return found == nullptr ? kNothing : *found;
}

std::string_view text_at(const json::value& value, std::string_view pointer) {
  const json::value& found = at(value, pointer);
  return found.is_string() ? std::string_view(found.get_string()) : std::string_view();
}

int64_t number_at(const json::value& value, std::string_view pointer) {
  const json::value& found = at(value, pointer);
  return found.is_int64() ? found.get_int64() : 0;
}

std::span<const json::value> list_at(const json::value& value, std::string_view pointer) {
  const json::value& found = at(value, pointer);
  if (!found.is_array()) return {};
  return {found.get_array().data(), found.get_array().size()};
}

std::optional<Time> time_at(const json::value& value, std::string_view pointer) {
  const auto time = parse_rfc3339(text_at(value, pointer));
  return time ? std::optional(*time) : std::nullopt;
}

void earliest(std::optional<Time>& kept, std::optional<Time> time) {
  if (time && (!kept || *time < *kept)) kept = time;
}
void latest(std::optional<Time>& kept, std::optional<Time> time) {
  if (time && (!kept || *kept < *time)) kept = time;
}

const json::value& condition(const json::value& object, std::string_view type) {
  for (const json::value& one : list_at(object, "/status/conditions"))
    if (text_at(one, "/type") == type) return one;
  return kNothing;
}

bool holds(const json::value& object, std::string_view type) {
  return text_at(condition(object, type), "/status") == "True";
}

// "Reason: message", whichever of them there is.
std::string words(std::string_view reason, std::string_view message) {
  const std::string said = printable(trim(message));
  if (reason.empty() || said.empty() || reason == said)
    return said.empty() ? printable(reason) : said;
  return fmt::format("{}: {}", printable(reason), said);
}
std::string words_of(const json::value& said) {
  return words(text_at(said, "/reason"), text_at(said, "/message"));
}

// --- one pod -------------------------------------------------------------------------------------

struct PodView {
  std::string_view name;
  std::string_view phase;
  std::string_view node;
  std::string_view index;  // of an indexed job
  std::string waits;       // why it does not run now; empty: it does, or it is over
  std::string failure;     // how it ended, when it failed
  std::optional<Time> started;
  std::optional<Time> ended;
  std::optional<int> exit_code;
  bool ready = false;
};

// Waiting in these words is the way of things, not a reason.
bool is_progress(std::string_view reason) {
  return reason == "ContainerCreating" || reason == "PodInitializing";
}

void look_at_container(const json::value& container, PodView& view) {
  if (const json::value& waiting = at(container, "/state/waiting"); waiting.is_object()) {
    const std::string_view reason = text_at(waiting, "/reason");
    view.waits = is_progress(reason) ? printable(reason) : words_of(waiting);
    // between two tries: how the last one ended says more than that another will come
    const json::value& last = at(container, "/lastState/terminated");
    if (last.is_object())
      view.waits += fmt::format(" (it ended with {}, {})", number_at(last, "/exitCode"),
                                printable(text_at(last, "/reason")));
    earliest(view.started, time_at(last, "/startedAt"));
  }
  earliest(view.started, time_at(container, "/state/running/startedAt"));
  const json::value& over = at(container, "/state/terminated");
  if (!over.is_object()) return;
  earliest(view.started, time_at(over, "/startedAt"));
  latest(view.ended, time_at(over, "/finishedAt"));
  const int64_t code = number_at(over, "/exitCode");
  if (!view.exit_code || *view.exit_code == 0) view.exit_code = static_cast<int>(code);
  // "Error" says no more than the exit code
  const std::string_view reason = text_at(over, "/reason");
  if (code != 0) {
    view.failure = reason.empty() || reason == "Error" ? fmt::format("exit code {}", code)
                                                       : words(reason, text_at(over, "/message"));
  }
}

PodView view_of(const json::value& pod) {
  PodView view;
  view.name = text_at(pod, "/metadata/name");
  view.phase = text_at(pod, "/status/phase");
  view.node = text_at(pod, "/spec/nodeName");
  // an annotation from 1.21 on, a label too from 1.28 on
  view.index = text_at(pod, "/metadata/annotations/batch.kubernetes.io~1job-completion-index");
  view.ready = holds(pod, "Ready");
  for (const json::value& container : list_at(pod, "/status/containerStatuses"))
    look_at_container(container, view);
  const json::value& scheduled = condition(pod, "PodScheduled");
  if (view.phase == "Pending" && text_at(scheduled, "/status") == "False")
    view.waits = words_of(scheduled);
  // evicted, lost its node, ran into its deadline
  const std::string of_pod = words_of(at(pod, "/status"));
  if (view.phase == "Failed" && !of_pod.empty()) view.failure = of_pod;
  return view;
}

bool is_over(const PodView& pod) {
  return pod.phase == "Succeeded" || pod.phase == "Failed";
}
bool runs(const PodView& pod) {
  return pod.phase == "Running" && pod.waits.empty();
}

// While a job or a deployment goes on, pods that were told to go have been given up: others take
// their place.
std::vector<PodView> views_of(const json::value& main, const json::array& pods) {
  const bool replaces = text_at(main, "/kind") != "Pod" && !has_ended(main);
  std::vector<PodView> views;
  for (const json::value& pod : pods)
    if (!replaces || !at(pod, "/metadata/deletionTimestamp").is_string())
      views.push_back(view_of(pod));
  std::ranges::stable_sort(views, {}, [](const PodView& view) {
    return std::tuple(view.index.size(), view.index, view.name);
  });
  return views;
}

void add_nodes_and_start(const std::vector<PodView>& pods, Observed& seen) {
  for (const PodView& pod : pods) {
    earliest(seen.started, pod.started);
    const bool known =
        pod.node.empty() || std::ranges::find(seen.nodes, pod.node) != seen.nodes.end();
    if (!known) seen.nodes.emplace_back(pod.node);
  }
}

std::string first_wait(const std::vector<PodView>& pods) {
  for (const PodView& pod : pods)
    if (!is_over(pod) && !pod.waits.empty() && !is_progress(pod.waits)) return pod.waits;
  for (const PodView& pod : pods)
    if (!is_over(pod) && !pod.waits.empty()) return pod.waits;
  return {};
}

// The pod that failed first: the others of a job follow it.
const PodView* first_failure(const std::vector<PodView>& pods) {
  const PodView* first = nullptr;
  for (const PodView& pod : pods) {
    if (pod.phase != "Failed") continue;
    if (first == nullptr || (pod.ended && (!first->ended || *pod.ended < *first->ended)))
      first = &pod;
  }
  return first;
}

// --- the kinds -----------------------------------------------------------------------------------

void observe_pod(const std::vector<PodView>& pods, Observed& seen) {
  if (pods.empty()) return;
  const PodView& pod = pods.front();
  if (is_over(pod)) {
    seen.state = pod.phase == "Failed" ? JobState::failed : JobState::succeeded;
    seen.reason = pod.failure;
    seen.ended = pod.ended;
    seen.exit_code = pod.exit_code;
  } else if (pod.phase == "Unknown") {
    seen.state = JobState::unknown;
    seen.reason = pod.failure.empty() ? "its node does not answer" : pod.failure;
  } else {
    seen.state = runs(pod) ? JobState::running : JobState::pending;
    seen.reason = pod.waits;
  }
}

void observe_end_of_job(const json::value& job, const std::vector<PodView>& pods, Observed& seen) {
  for (const PodView& pod : pods) latest(seen.ended, pod.ended);
  if (holds(job, "Complete")) {
    seen.state = JobState::succeeded;
    seen.exit_code = 0;
    if (const auto time = time_at(job, "/status/completionTime")) seen.ended = time;
    return;
  }
  const json::value& failed = condition(job, "Failed");
  seen.state = JobState::failed;
  seen.reason = words_of(failed);
  if (const auto time = time_at(failed, "/lastTransitionTime")) seen.ended = time;
  if (const PodView* pod = first_failure(pods)) {
    seen.exit_code = pod->exit_code;
    if (!pod->failure.empty()) seen.reason = fmt::format("{} ({})", pod->failure, seen.reason);
  }
}

void observe_job(const json::value& job, const std::vector<PodView>& pods, Observed& seen) {
  if (holds(job, "Complete") || holds(job, "Failed")) return observe_end_of_job(job, pods, seen);
  const auto running = std::ranges::count_if(pods, runs);
  const auto waiting =
      std::ranges::count_if(pods, [](const PodView& pod) { return !is_over(pod) && !runs(pod); });
  seen.state = running > 0 && waiting == 0 ? JobState::running : JobState::pending;
  seen.reason = first_wait(pods);
  if (seen.state == JobState::pending && running > 0)
    seen.reason = fmt::format("{} of {} pods run: {}", running, running + waiting, seen.reason);
}

void observe_deployment(const json::value& deployment, const std::vector<PodView>& pods,
                        Observed& seen) {
  const int64_t wanted = number_at(deployment, "/spec/replicas");
  const auto ready = std::ranges::count_if(pods, &PodView::ready);
  seen.state = ready > 0 ? JobState::running : JobState::pending;
  if (ready >= wanted) return;
  std::string why = first_wait(pods);
  const json::value& failure = condition(deployment, "ReplicaFailure");
  if (why.empty() && text_at(failure, "/status") == "True") why = words_of(failure);
  seen.reason =
      fmt::format("{} of {} replicas are ready{}{}", ready, wanted, why.empty() ? "" : ": ", why);
}

// Of conditions that do not hold, the one that says most: Ready sums up the others.
std::string words_of_conditions(const json::value& object) {
  std::string why = words_of(condition(object, "Ready"));
  for (const json::value& one : list_at(object, "/status/conditions"))
    if (why.empty() && text_at(one, "/status") == "False") why = words_of(one);
  return why;
}

// What KServe says; its pods say why when it does not.
void observe_inference_service(const json::value& service, const std::vector<PodView>& pods,
                               Observed& seen) {
  seen.url = printable(text_at(service, "/status/url"));
  const int64_t looked_at = number_at(service, "/status/observedGeneration");
  if (looked_at != 0 && looked_at < number_at(service, "/metadata/generation")) {
    seen.state = JobState::pending;
    seen.reason = "KServe has not looked at the change yet";
    return;
  }
  seen.state = holds(service, "Ready") ? JobState::running : JobState::pending;
  if (seen.state == JobState::running) return;
  seen.reason = words_of_conditions(service);
  if (seen.reason.empty()) seen.reason = first_wait(pods);
  if (seen.reason.empty() && list_at(service, "/status/conditions").empty())
    seen.reason = "KServe has not said anything of it yet";
}

}  // namespace

Observed observed_of(const json::value& main, const json::array& pods) {
  const std::string_view kind = text_at(main, "/kind");
  const std::vector<PodView> views = views_of(main, pods);
  Observed seen;
  add_nodes_and_start(views, seen);
  if (kind == "Job") {
    observe_job(main, views, seen);
  } else if (kind == "Deployment") {
    observe_deployment(main, views, seen);
  } else if (kind == "InferenceService") {
    observe_inference_service(main, views, seen);
  } else {
    observe_pod(views, seen);
  }
  const bool goes = at(main, "/metadata/deletionTimestamp").is_string();
  const bool over = seen.state == JobState::succeeded || seen.state == JobState::failed;
  if (goes && !over) {
    seen.state = JobState::cancelled;
    seen.reason = "it was told to end";
  }
  return seen;
}

std::string pod_with_the_log(const json::array& pods) {
  const json::value* best = nullptr;
  const auto rank = [](const json::value& pod) {
    const PodView view = view_of(pod);
    const bool first_node = view.index.empty() || view.index == "0";
    // text of one form, in UTC: the later is the greater
    return std::tuple(first_node, view.started.has_value(),
                      text_at(pod, "/metadata/creationTimestamp"));
  };
  for (const json::value& pod : pods)
    if (best == nullptr || rank(*best) < rank(pod)) best = &pod;
  return best == nullptr ? std::string() : std::string(text_at(*best, "/metadata/name"));
}

bool has_ended(const json::value& object) {
  const std::string_view phase = text_at(object, "/status/phase");
  return phase == "Succeeded" || phase == "Failed" || holds(object, "Complete") ||
         holds(object, "Failed");
}

}  // namespace exa::kubernetes
