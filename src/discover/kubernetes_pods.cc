#include "discover/kubernetes_pods.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "discover/kubernetes_json.h"

namespace exa::kubernetes {
namespace {

int64_t sum(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? std::numeric_limits<int64_t>::max() : result;
}

struct Container {
  std::vector<std::pair<std::string_view, std::string_view>> requests;
  std::vector<std::pair<std::string_view, std::string_view>> limits;
  bool sidecar = false;  // an init container that stays
};

struct Pod {
  std::string_view name, name_space, node, phase, kind;
  std::vector<Container> containers, init_containers;
  Container whole;     // spec.resources: amounts for the pod as a whole
  Container overhead;  // of its runtime class
};

void read_amounts(od::value value,
                  std::vector<std::pair<std::string_view, std::string_view>>& out) {
  each_field(value, [&](std::string_view key, od::value amount) {
    out.emplace_back(key, quantity_text(amount));
  });
}

void read_resources(od::value value, Container& container) {
  each_field(value, [&](std::string_view key, od::value amounts) {
    if (key == "requests") read_amounts(amounts, container.requests);
    if (key == "limits") read_amounts(amounts, container.limits);
  });
}

Container read_container(od::value value) {
  Container container;
  each_field(value, [&](std::string_view key, od::value part) {
    if (key == "resources") read_resources(part, container);
    if (key == "restartPolicy") container.sidecar = text_of(part) == "Always";
  });
  return container;
}

void read_spec(od::value value, Pod& pod) {
  each_field(value, [&](std::string_view key, od::value part) {
    if (key == "nodeName") {
      pod.node = text_of(part);
    } else if (key == "containers") {
      each_element(part, [&](od::value c) { pod.containers.push_back(read_container(c)); });
    } else if (key == "initContainers") {
      each_element(part, [&](od::value c) { pod.init_containers.push_back(read_container(c)); });
    } else if (key == "overhead") {
      read_amounts(part, pod.overhead.requests);
    } else if (key == "resources") {
      read_resources(part, pod.whole);
    }
  });
}

Pod read_pod(od::object object) {
  Pod pod;
  each_field(object, [&](std::string_view key, od::value part) {
    if (key == "kind") {
      pod.kind = text_of(part);
    } else if (key == "metadata") {
      each_field(part, [&](std::string_view name, od::value text) {
        if (name == "name") pod.name = text_of(text);
        if (name == "namespace") pod.name_space = text_of(text);
      });
    } else if (key == "spec") {
      read_spec(part, pod);
    } else if (key == "status") {
      each_field(part, [&](std::string_view name, od::value text) {
        if (name == "phase") pod.phase = text_of(text);
      });
    }
  });
  return pod;
}

// Malformed amounts of what is not read here (ephemeral-storage) are nobody's problem.
bool is_read(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource.find('/') != resource.npos;
}

int64_t amount(const Pod& pod, std::string_view resource, std::string_view text) {
  const auto quantity = parse_kubernetes_quantity(text);
  if (!quantity)
    throw Unreadable(fmt::format("pod {}/{}: request of {}: {}", printable(pod.name_space),
                                 printable(pod.name), printable(resource),
                                 quantity.error().message));
  return resource == "cpu" ? quantity->milli : quantity->whole;
}

// What one container asks for: its requests, and its limits where it has no request (the API server
// fills requests in from limits; a file may come from before that).
void collect(const Pod& pod, const Container& container, Amounts& out) {
  out.clear();
  for (const auto& [resource, text] : container.limits)
    if (is_read(resource)) out.set(resource, amount(pod, resource, text));
  for (const auto& [resource, text] : container.requests)
    if (is_read(resource)) out.set(resource, amount(pod, resource, text));
}

// Per resource the larger of (containers and sidecars together) and (each init container with the
// sidecars started before it), then the overhead: KEP-753 and the scheduler's PodRequests.
Amounts requests_of(const Pod& pod) {
  Amounts one, together, sidecars, peak;
  for (const Container& container : pod.containers) {
    collect(pod, container, one);
    for (const auto& [resource, n] : one.all()) together.add(resource, n);
  }
  for (const Container& container : pod.init_containers) {
    collect(pod, container, one);
    if (container.sidecar) {
      for (const auto& [resource, n] : one.all()) {
        together.add(resource, n);
        sidecars.add(resource, n);
      }
      for (const auto& [resource, n] : sidecars.all()) peak.raise(resource, n);
    } else {
      for (const auto& [resource, n] : sidecars.all())
        peak.raise(resource, sum(n, one.of(resource)));
      for (const auto& [resource, n] : one.all())
        peak.raise(resource, sum(n, sidecars.of(resource)));
    }
  }
  for (const auto& [resource, n] : peak.all()) together.raise(resource, n);
  collect(pod, pod.whole, one);
  for (const auto& [resource, n] : one.all()) together.set(resource, n);
  collect(pod, pod.overhead, one);
  for (const auto& [resource, n] : one.all()) together.add(resource, n);
  return together;
}

void add_pod(const Pod& pod, PodUse& use) {
  if (!pod.kind.empty() && pod.kind != "Pod") return;
  use.any_pods = true;
  if (!use.namespaces.contains(pod.name_space)) use.namespaces.emplace(pod.name_space);
  if (pod.node.empty() || pod.phase == "Succeeded" || pod.phase == "Failed") return;
  Amounts& node = use.by_node[std::string(pod.node)];
  const Amounts asked = requests_of(pod);
  for (const auto& [resource, n] : asked.all()) node.add(resource, n);
}

}  // namespace

int64_t& Amounts::slot(std::string_view name) {
  for (auto& [known, amount] : all_)
    if (known == name) return amount;
  return all_.emplace_back(name, 0).second;
}

void Amounts::add(std::string_view name, int64_t amount) {
  int64_t& present = slot(name);
  present = sum(present, amount);
}

void Amounts::raise(std::string_view name, int64_t amount) {
  int64_t& present = slot(name);
  present = std::max(present, amount);
}

void Amounts::set(std::string_view name, int64_t amount) {
  slot(name) = amount;
}

int64_t Amounts::of(std::string_view name) const {
  for (const auto& [known, amount] : all_)
    if (known == name) return amount;
  return 0;
}

void add_pods(od::parser& parser, const CapturedOutput& output, PodUse& use) {
  walk_list(
      parser, output, [&](od::object item) { add_pod(read_pod(item), use); }, use.more);
}

}  // namespace exa::kubernetes
