#include "discover/kubernetes_nodes.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "discover/kubernetes_cards.h"

namespace exa::kubernetes {
namespace {

using Pairs = Labels::Pairs;

// What is kept of the JSON before anything is concluded; the texts point into the parser's buffers.
struct RawNode {
  std::string_view kind, name;
  Pairs labels, capacity, allocatable;
  std::vector<Taint> taints;
  bool unschedulable = false;
  std::optional<std::string_view> ready;  // True, False, Unknown
  std::string_view ready_reason, ready_message;

  void clear() {
    kind = name = ready_reason = ready_message = {};
    labels.clear();
    capacity.clear();
    allocatable.clear();
    taints.clear();
    unschedulable = false;
    ready.reset();
  }
};

void read_metadata(od::value value, RawNode& node) {
  each_field(value, [&](std::string_view key, od::value part) {
    if (key == "name") {
      node.name = text_of(part);
    } else if (key == "labels") {
      each_field(part, [&](std::string_view label, od::value text) {
        node.labels.emplace_back(label, text_of(text));
      });
    }
  });
}

Taint read_taint(od::value value) {
  Taint taint;
  each_field(value, [&](std::string_view key, od::value text) {
    if (key == "key") taint.key = text_of(text);
    if (key == "value") taint.value = text_of(text);
    if (key == "effect") taint.effect = text_of(text);
  });
  return taint;
}

void read_spec(od::value value, RawNode& node) {
  each_field(value, [&](std::string_view key, od::value part) {
    if (key == "taints") {
      each_element(part, [&](od::value taint) { node.taints.push_back(read_taint(taint)); });
    } else if (key == "unschedulable") {
      node.unschedulable = !part.is_null() && part.get_bool();
    }
  });
}

void read_condition(od::value value, RawNode& node) {
  std::string_view type, status, reason, message;
  each_field(value, [&](std::string_view key, od::value text) {
    if (key == "type") type = text_of(text);
    if (key == "status") status = text_of(text);
    if (key == "reason") reason = text_of(text);
    if (key == "message") message = text_of(text);
  });
  if (type != "Ready") return;
  node.ready = status;
  node.ready_reason = reason;
  node.ready_message = message;
}

void read_amounts(od::value value, Pairs& out) {
  each_field(value, [&](std::string_view key, od::value amount) {
    if (key == "cpu" || key == "memory" || is_device_resource(key))
      out.emplace_back(key, quantity_text(amount));
  });
}

void read_status(od::value value, RawNode& node) {
  each_field(value, [&](std::string_view key, od::value part) {
    if (key == "capacity") {
      read_amounts(part, node.capacity);
    } else if (key == "allocatable") {
      read_amounts(part, node.allocatable);
    } else if (key == "conditions") {
      each_element(part, [&](od::value condition) { read_condition(condition, node); });
    }
  });
}

void read_raw(od::object object, RawNode& node) {
  each_field(object, [&](std::string_view key, od::value part) {
    if (key == "kind") {
      node.kind = text_of(part);
    } else if (key == "metadata") {
      read_metadata(part, node);
    } else if (key == "spec") {
      read_spec(part, node);
    } else if (key == "status") {
      read_status(part, node);
    }
  });
}

KubernetesQuantity quantity(const RawNode& node, std::string_view list, std::string_view name,
                            std::string_view text) {
  const auto amount = parse_kubernetes_quantity(text);
  if (!amount)
    throw Unreadable(fmt::format("node {}: status.{}: {}: {}", printable(node.name), list,
                                 printable(name), amount.error().message));
  return *amount;
}

int64_t units(const RawNode& node, std::string_view list, std::string_view name,
              std::string_view text) {
  const int64_t whole = quantity(node, list, name, text).whole;
  if (whole <= kMostUnits) return whole;
  throw Unreadable(fmt::format("node {}: status.{}: {}: {} is out of range", printable(node.name),
                               list, printable(name), printable(text)));
}

std::optional<std::string_view> amount_of(const Pairs& amounts, std::string_view name) {
  for (const auto& [key, text] : amounts)
    if (key == name) return text;
  return std::nullopt;
}

std::vector<Resource> resources_of(const RawNode& node, const Amounts* used) {
  std::vector<Resource> resources;
  const auto at = [&](std::string_view name) -> Resource& {
    for (Resource& known : resources)
      if (known.name == name) return known;
    return resources.emplace_back(Resource{name, 0, 0, {}});
  };
  const auto is_cpu_or_memory = [](std::string_view name) {
    return name == "cpu" || name == "memory";
  };
  for (const auto& [name, text] : node.capacity)
    if (!is_cpu_or_memory(name)) at(name).capacity = units(node, "capacity", name, text);
  for (const auto& [name, text] : node.allocatable)
    if (!is_cpu_or_memory(name)) at(name).allocatable = units(node, "allocatable", name, text);
  for (Resource& resource : resources) {
    // a list cut down to allocatable (as in guides): nothing is known to be unhealthy
    if (node.capacity.empty()) resource.capacity = resource.allocatable;
    if (used) resource.used = used->of(resource.name);
  }
  std::ranges::sort(resources, {}, &Resource::name);
  return resources;
}

void set_cpu_and_memory(const RawNode& raw, const Amounts* used, Node& node) {
  const auto left = [](std::optional<int64_t> total, int64_t asked) {
    return total ? std::optional(std::max<int64_t>(0, *total - asked)) : std::nullopt;
  };
  if (const auto text = amount_of(raw.allocatable, "cpu"))
    node.cpu_milli = quantity(raw, "allocatable", "cpu", *text).milli;
  if (const auto text = amount_of(raw.allocatable, "memory"))
    node.memory_bytes = quantity(raw, "allocatable", "memory", *text).whole;
  if (!used) return;
  node.cpu_free_milli = left(node.cpu_milli, used->of("cpu"));
  node.memory_free_bytes = left(node.memory_bytes, used->of("memory"));
}

void set_health(const RawNode& raw, Node& node) {
  const bool ready = raw.ready == "True";
  if (!raw.ready) {
    node.health = Health::unknown;
    node.state = "Unknown";
    node.reason = "the node has no Ready condition";
  } else if (!ready) {
    node.health = Health::not_ready;
    node.state = "NotReady";  // as kubectl prints False and Unknown
    node.reason = fmt::format("Ready is {}", *raw.ready);
    if (!raw.ready_reason.empty()) node.reason += fmt::format(" ({})", raw.ready_reason);
    if (!raw.ready_message.empty()) node.reason += fmt::format(": {}", raw.ready_message);
  } else {
    node.health = raw.unschedulable ? Health::cordoned : Health::usable;
    node.state = "Ready";
  }
  if (!raw.unschedulable) return;
  node.state += ",SchedulingDisabled";
  if (node.reason.empty()) node.reason = "cordoned (spec.unschedulable)";
}

// Node feature discovery prints a hundred facts per node that nobody selects by here; the time of
// the last GPU discovery would make every snapshot differ.
bool is_noise(std::string_view key) {
  return key.starts_with("feature.node.kubernetes.io/") || key == "nvidia.com/gfd.timestamp";
}

std::string_view first_of(const Labels& labels, std::string_view a, std::string_view b) {
  const auto text = labels.find(a);
  return text ? *text : labels.get(b);
}

void set_labels(const RawNode& raw, const Labels& labels, Node& node) {
  node.labels.reserve(raw.labels.size());
  for (const auto& [key, value] : raw.labels)
    if (!is_noise(key)) node.labels.emplace_back(key, value);
  node.zone =
      first_of(labels, "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone");
  node.region =
      first_of(labels, "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region");
}

}  // namespace

std::optional<Node> read_node(od::object object, const PodUse* use) {
  static thread_local RawNode raw;  // 10,000 nodes: its lists are allocated once
  raw.clear();
  read_raw(object, raw);
  if (!raw.kind.empty() && raw.kind != "Node") return std::nullopt;
  if (raw.name.empty()) throw Unreadable("a node without metadata.name");
  std::ranges::sort(raw.labels, {}, &Pairs::value_type::first);
  const Labels labels(raw.labels);

  static const Amounts kNothing;
  const Amounts* used = nullptr;
  Node node;
  node.name = raw.name;
  if (use) {
    const auto found = use->by_node.find(node.name);
    used = found == use->by_node.end() ? &kNothing : &found->second;
  }
  set_labels(raw, labels, node);
  node.taints = std::move(raw.taints);
  set_health(raw, node);
  set_cpu_and_memory(raw, used, node);
  node.cards = cards_of(labels, resources_of(raw, used));
  node.software = software_of(labels);
  return node;
}

}  // namespace exa::kubernetes
