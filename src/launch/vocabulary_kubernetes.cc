// A Pod, or the Pod in a Deployment, Job, …: what its container asks for, and which nodes it takes.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "launch/vocabulary_kubernetes_pod.h"
#include "launch/vocabulary_kubernetes_words.h"
#include "launch/vocabulary_table.h"

namespace exa::vocabulary {
namespace {

constexpr std::string_view kDescription = "kubernetes.io/description";

// Where the Pod's spec stands in an object of the kind; empty: nowhere.
Path pod_path(const json::value& object) {
  const std::string_view kind = text_or(object, "kind", "");
  if (kind == "Pod") return {"spec"};
  if (kind == "PodTemplate") return {"template", "spec"};
  if (kind == "CronJob") return {"spec", "jobTemplate", "spec", "template", "spec"};
  constexpr std::string_view kWithTemplate[] = {
      "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "ReplicationController"};
  if (std::ranges::find(kWithTemplate, kind) != std::end(kWithTemplate))
    return {"spec", "template", "spec"};
  return {};
}

}  // namespace

bool recognises_kubernetes(const Source& source) {
  return std::ranges::any_of(source.documents, [](const YamlDocument& document) {
    return !pod_path(document.value).empty();
  });
}

void read_kubernetes(const Source& source, Reading& reading) {
  size_t pods = 0;
  for (size_t i = 0; i < source.documents.size(); ++i) {
    const Path path = pod_path(source.documents[i].value);
    if (path.empty()) continue;
    const Node root = Node::root(reading, source, i);
    if (pods++ > 0) return root.problem("a second object with a Pod; a profile is of one");
    for (const char* key : {"apiVersion", "kind"}) root[key].take();
    root["metadata"]["name"].take();
    const Node description = root["metadata"]["annotations"][kDescription];
    if (const auto text = description.scalar())
      reading.say("description", description.where()).description = *text;
    read_pod(root.at(path), reading);
  }
  if (pods == 0)
    reading.problem(source.file, "there is no Pod in it, nor anything with a template of Pods");
}

void write_kubernetes(const Writing& writing, Source& target) {
  note_without_words(writing, {kNoNodes, kNoDriver, kNoRuntime, kNoUse});
  const auto has_pod = [](const YamlDocument& document) {
    return !pod_path(document.value).empty();
  };
  auto found = std::ranges::find_if(target.documents, has_pod);
  if (found == target.documents.end()) {
    json::value& root = new_document(target);
    root = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", writing.name}}}};
    found = target.documents.end() - 1;
    if (writing.is_new) {
      writing.note("/spec/containers/0/image",
                   "a Pod needs an image and a profile names none: write it in, or render over a "
                   "Pod that has one");
    }
  }
  json::value& root = found->value;
  if (writing.parts.description)
    put_text_at(root, {"metadata", "annotations", kDescription}, writing.shape.description);
  write_pod(writing, object_at(root, pod_path(root)));
}

}  // namespace exa::vocabulary
