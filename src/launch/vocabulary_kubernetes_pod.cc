#include "launch/vocabulary_kubernetes_pod.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "launch/vocabulary_kubernetes_words.h"

namespace exa::vocabulary {
namespace {

bool asks(const json::value& container) {
  const json::value* resources = find(container, "resources");
  const bool is_empty = resources == nullptr || resources->is_null() ||
                        (resources->is_object() && resources->get_object().empty());
  return !is_empty;
}

bool is_same_amount(const json::value& a, const json::value& b) {
  const auto milli = [](const json::value& value) {
    const auto read = parse_kubernetes_quantity(value.is_string() ? std::string(value.get_string())
                                                                  : exa::to_text(value));
    return read ? read->milli : -1;
  };
  return milli(a) == milli(b);
}

// What is reserved counts, not how much more may be used.
void read_container(const Node& container, Reading& reading) {
  KubernetesReader reader(reading);
  const Node requests = container["resources"]["requests"];
  const Node limits = container["resources"]["limits"];
  for (const auto& [name, amount] : requests.members()) reader.read_amount_of(name, amount);
  for (const auto& [name, amount] : limits.members()) {
    const bool is_share = name == "cpu" || name == "memory";
    if (!is_share || !requests[name])
      reader.read_amount_of(name, amount);
    else if (amount && !is_same_amount(amount.value(), requests[name].value()))
      amount.note("is another amount than is requested, which is what counts");
    else
      amount.take();
  }
  container["name"].take();
  reader.finish();
}

}  // namespace

void read_pod(const Node& spec, Reading& reading) {
  KubernetesReader(reading).read_selector(spec["nodeSelector"]);
  const std::vector<Node> containers = spec["containers"].elements();
  std::vector<Node> asking;
  for (const Node& container : containers)
    if (container && asks(container.value())) asking.push_back(container);
  if (asking.size() > 1) {
    return asking[1].problem(
        fmt::format("asks for resources as {} does; a profile is of one "
                    "container",
                    asking[0].where()));
  }
  if (asking.empty()) {
    for (const Node& container : containers) container["name"].take();
    reading.note(spec.where(), "no container asks for resources");
    return reading.say_no_devices();
  }
  read_container(asking.front(), reading);
}

void write_pod(const Writing& writing, json::object& spec) {
  json::object selector;
  if (const json::value* known = spec.if_contains("nodeSelector"); known && known->is_object())
    selector = known->get_object();
  write_selector(writing, selector);
  if (selector.empty())
    drop(spec, "nodeSelector");
  else
    put(spec, "nodeSelector", std::move(selector));
  write_containers(writing, spec);
}

void write_containers(const Writing& writing, json::object& spec) {
  json::value& list = spec["containers"];
  if (!list.is_array()) list = json::array();
  json::array& containers = list.get_array();
  if (containers.empty())
    put_text(as_object(containers.emplace_back(nullptr)), "name", writing.name);
  auto* container = std::ranges::find_if(containers, asks);
  if (container == containers.end()) container = containers.begin();
  json::object& resources = as_object(as_object(*container)["resources"]);
  write_resources(writing, resources);
  if (resources.empty()) drop(as_object(*container), "resources");
}

}  // namespace exa::vocabulary
