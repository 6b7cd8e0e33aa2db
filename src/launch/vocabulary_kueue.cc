// Kueue: the flavor of nodes, a queue with room for one such job, and the workload whose Pods are
// the nodes.
#include <algorithm>

#include <fmt/format.h>

#include "launch/vocabulary_kubernetes_pod.h"
#include "launch/vocabulary_kubernetes_words.h"
#include "launch/vocabulary_table.h"

namespace exa::vocabulary {
namespace {

constexpr std::string_view kVersion = "kueue.x-k8s.io/v1beta1";

bool is_kueue(const json::value& document) {
  return text_or(document, "apiVersion", "").starts_with("kueue.x-k8s.io/");
}

bool is_kind(const json::value& document, std::string_view kind) {
  return is_kueue(document) && text_or(document, "kind", "") == kind;
}

json::value object_of(const Writing& writing, std::string_view kind) {
  return {{"apiVersion", kVersion}, {"kind", kind}, {"metadata", {{"name", writing.name}}}};
}

// The amount on all nodes; more than can be counted stays the most that can.
int64_t on_all(int64_t amount, int64_t nodes) {
  return amount > INT64_MAX / nodes ? INT64_MAX : amount * nodes;
}

json::value new_queue(const Writing& writing) {
  const Shape& shape = writing.shape;
  json::value queue = object_of(writing, "ClusterQueue");
  json::array names;
  json::array quotas;
  const auto add = [&](std::string_view name, json::value quota) {
    names.push_back(json::string(name));
    quotas.push_back({{"name", name}, {"nominalQuota", std::move(quota)}});
  };
  if (shape.cpu_milli > 0)
    add("cpu", json::string(cpu_quantity(on_all(shape.cpu_milli, shape.nodes))));
  if (shape.memory_bytes > 0)
    add("memory", json::string(memory_quantity(on_all(shape.memory_bytes, shape.nodes))));
  if (shape.gpu_count > 0) add(device_resource(shape), on_all(shape.gpu_count, shape.nodes));
  object_at(queue, {"spec", "namespaceSelector"});
  if (names.empty()) return queue;
  json::array flavors;
  flavors.push_back({{"name", writing.name}, {"resources", std::move(quotas)}});
  array_at(queue, {"spec", "resourceGroups"})
      .push_back({{"coveredResources", std::move(names)}, {"flavors", std::move(flavors)}});
  return queue;
}

json::value new_workload(const Writing& writing) {
  json::value workload = object_of(writing, "Workload");
  array_at(workload, {"spec", "podSets"}).push_back({{"name", "main"}, {"count", 1}});
  return workload;
}

json::value* find_kind(Source& target, std::string_view kind) {
  const auto found = std::ranges::find_if(target.documents, [&](const YamlDocument& document) {
    return is_kind(document.value, kind);
  });
  return found == target.documents.end() ? nullptr : &found->value;
}

void write_pod_set(const Writing& writing, json::value& workload) {
  json::array& sets = array_at(workload, {"spec", "podSets"});
  if (sets.empty()) put_text(as_object(sets.emplace_back(nullptr)), "name", "main");
  if (writing.parts.nodes) put(as_object(sets[0]), "count", writing.shape.nodes);
  write_containers(writing, object_at(sets[0], {"template", "spec"}));
}

}  // namespace

bool recognises_kueue(const Source& source) {
  return std::ranges::any_of(source.documents,
                             [](const YamlDocument& document) { return is_kueue(document.value); });
}

void read_kueue(const Source& source, Reading& reading) {
  size_t workloads = 0;
  for (size_t i = 0; i < source.documents.size(); ++i) {
    if (!is_kueue(source.documents[i].value)) continue;
    const Node root = Node::root(reading, source, i);
    for (const char* key : {"apiVersion", "kind"}) root[key].take();
    root["metadata"]["name"].take();
    if (is_kind(root.value(), "ResourceFlavor"))
      KubernetesReader(reading).read_selector(root["spec"]["nodeLabels"]);
    if (!is_kind(root.value(), "Workload")) continue;
    if (workloads++ > 0) return root.problem("a second workload; a profile is of one");
    const auto sets = root["spec"]["podSets"].elements();
    if (sets.size() != 1)
      return root["spec"]["podSets"].problem(
          fmt::format("{} sets of Pods; a profile is of one", sets.size()));
    sets[0]["name"].take();
    if (const auto count = read_count(sets[0]["count"]))
      reading.say("nodes", sets[0]["count"].where()).nodes = *count;
    read_pod(sets[0]["template"]["spec"], reading);
  }
  if (workloads == 0)
    reading.problem(source.file,
                    "there is no Workload in it: a quota is a queue's, which says nothing of one "
                    "node");
}

void write_kueue(const Writing& writing, Source& target) {
  note_without_words(writing, {kNoDriver, kNoRuntime, kNoUse, kNoDescription});
  if (target.documents.empty()) {
    new_document(target) = object_of(writing, "ResourceFlavor");
    if (writing.is_new) new_document(target) = new_queue(writing);
    new_document(target) = new_workload(writing);
  }
  if (json::value* flavor = find_kind(target, "ResourceFlavor")) {
    write_selector(writing, object_at(*flavor, {"spec", "nodeLabels"}));
    if (object_at(*flavor, {"spec", "nodeLabels"}).empty())
      drop_at(*flavor, {"spec", "nodeLabels"});
    if (json::value* workload = find_kind(target, "Workload")) write_pod_set(writing, *workload);
    return;
  }
  json::value* workload = find_kind(target, "Workload");
  json::array& sets = array_at(*workload, {"spec", "podSets"});
  if (writing.parts.nodes) put(as_object(sets[0]), "count", writing.shape.nodes);
  write_pod(writing, object_at(sets[0], {"template", "spec"}));
}

}  // namespace exa::vocabulary
