// ray_actor_options, alone or in a deployment of a Ray Serve config.
#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "hardware/catalogue.h"
#include "launch/vocabulary_table.h"
#include "launch/vocabulary_text.h"

namespace exa::vocabulary {
namespace {

constexpr std::string_view kOptions = "ray_actor_options";

// Ray's constants for accelerator_type, and what they mean as a hint. A type that no node has makes
// an actor wait for ever, so only those are written that Ray gives nodes by itself.
struct Constant {
  std::string_view type;
  std::string_view hint;
  bool is_detected = true;
};
constexpr Constant kConstants[] = {
    {"K80", "K80"},
    {"P100", "P100"},
    {"V100", "V100"},
    {"T4", "T4"},
    {"A10G", "A10G"},
    {"A100", "A100"},
    {"A100-40G", "A100-40GB", false},
    {"A100-80G", "A100-80GB", false},
    {"L4", "L4"},
    {"L40S", "L40S"},
    {"H20", "H20"},
    {"H100", "H100"},
    {"H200", "H200"},
    {"B200", "B200"},
    {"AMD-Instinct-MI100", "MI100"},
    {"AMD-Instinct-MI210", "MI210"},
    {"AMD-Instinct-MI250X-MI250", "MI250"},
    {"AMD-Instinct-MI250X", "MI250X"},
    {"AMD-Instinct-MI300A", "MI300A"},
    {"AMD-Instinct-MI300X-OAM", "MI300X"},
    {"AMD-Instinct-MI325X-OAM", "MI325X"},
    {"Intel-GAUDI", "Gaudi-1"},
    {"TPU-V2", "TPU-v2"},
    {"TPU-V3", "TPU-v3"},
    {"TPU-V4", "TPU-v4"},
    {"TPU-V5LITEPOD", "TPU-v5e"},
    {"TPU-V5P", "TPU-v5p"},
    {"TPU-V6E", "TPU-v6e"},
};

// The narrowest that takes in all that the hint can mean.
const Constant* constant_of(std::string_view hint) {
  const auto wanted = models_meant(hint);
  const Constant* best = nullptr;
  for (const Constant& row : kConstants) {
    const auto offered = models_meant(row.hint);
    const bool takes_in = std::ranges::all_of(wanted, [&](const DeviceModel* model) {
      return std::ranges::find(offered, model) != offered.end();
    });
    const bool is_narrower = best == nullptr || offered.size() < models_meant(best->hint).size();
    if (row.is_detected && !wanted.empty() && takes_in && is_narrower) best = &row;
  }
  return best;
}

// GPUs have a word of their own; these are resources.
std::string_view resource_of(Family family) {
  if (family == Family::intel_gaudi) return "HPU";
  if (family == Family::tpu) return "TPU";
  return "";
}

// --- reading

// Where options may stand, in the order in which they are looked for.
std::vector<Node> options_in(const Node& root) {
  if (root.peek("apiVersion") != "") return {};
  std::vector<Node> found;
  if (root[kOptions]) found.push_back(root[kOptions]);
  std::vector<Node> deployments = root["deployments"].elements();
  for (const Node& application : root["applications"].elements())
    for (const Node& deployment : application["deployments"].elements())
      deployments.push_back(deployment);
  for (const Node& deployment : deployments)
    if (deployment[kOptions]) found.push_back(deployment[kOptions]);
  return found;
}

bool is_bare(const json::value& root) {
  return find(root, "num_gpus") != nullptr || find(root, "num_cpus") != nullptr;
}

std::optional<int64_t> read_milli(const Node& node, std::string_view what) {
  return read_amount(node, [&](std::string_view text) { return parse_milli(text, what); });
}

void say_count(const Node& node, int64_t milli, Reading& reading) {
  if (milli == 0) return;
  if (milli > 1000 && milli % 1000 != 0)
    return node.problem(
        fmt::format("{} devices: above 1 Ray takes whole numbers only", format_milli(milli)));
  reading.say("gpu_count", node.where()).gpu_count = std::max<int64_t>(milli / 1000, 1);
  if (milli < 1000) reading.say("gpu_fraction", node.where()).gpu_fraction_milli = milli;
}

void read_type(const Node& node, Reading& reading) {
  const auto type = node.scalar();
  if (!type) return;
  const auto* known = std::ranges::find(kConstants, *type, &Constant::type);
  const std::string hint(known == std::end(kConstants) ? *type : std::string(known->hint));
  reading.say("accelerator_model_hint", node.where()).accelerator_model_hint = hint;
  const auto family = family_meant(hint);
  if (family && !reading.said("accelerator_family"))
    reading.say("accelerator_family", node.where()).accelerator_family = *family;
}

void read_options(const Node& options, Reading& reading) {
  if (const auto cpu = read_milli(options["num_cpus"], "num_cpus"))
    reading.say("cpu", options["num_cpus"].where()).cpu_milli = *cpu;
  const Node memory = options["memory"];
  if (const auto bytes = read_amount(memory, [](std::string_view text) {
        return parse_count(text, "memory, which counts bytes");
      }))
    reading.say("memory_gb", memory.where()).memory_bytes = *bytes;
  bool asks = false;
  if (const auto gpus = read_milli(options["num_gpus"], "num_gpus"); gpus && *gpus > 0) {
    asks = true;
    say_count(options["num_gpus"], *gpus, reading);
  }
  for (const Family family : {Family::intel_gaudi, Family::tpu}) {
    const Node amount = options["resources"][resource_of(family)];
    const auto count = read_milli(amount, resource_of(family));
    if (!count || *count == 0) continue;
    if (std::exchange(asks, true))
      amount.problem("other devices than are asked for already; a profile has one kind");
    reading.say("accelerator_family", amount.where()).accelerator_family = family;
    say_count(amount, *count, reading);
  }
  read_type(options["accelerator_type"], reading);
  if (!asks && !reading.said("accelerator_model_hint")) return reading.say_no_devices();
  if (!asks && !reading.said("accelerator_family"))
    options["accelerator_type"].note("says of what kind a node is, and asks for no device");
  if (asks && !reading.said("accelerator_family"))
    reading.leave_open("accelerator_family", options["num_gpus"].where(),
                       "num_gpus does not say whose they are");
}

// --- writing

json::object& options_of(Source& target) {
  if (target.documents.empty()) new_document(target);
  json::value& root = target.documents.front().value;
  if (is_bare(root)) return as_object(root);
  std::vector<json::value*> deployments;
  const auto add_deployments = [&](json::value& parent) {
    if (!parent.is_object() || !parent.get_object().contains("deployments")) return;
    json::value& list = parent.get_object()["deployments"];
    if (!list.is_array()) return;
    for (json::value& deployment : list.get_array()) deployments.push_back(&deployment);
  };
  add_deployments(root);
  if (root.is_object() && root.get_object().contains("applications") &&
      root.get_object()["applications"].is_array())
    for (json::value& application : root.get_object()["applications"].get_array())
      add_deployments(application);
  for (json::value* deployment : deployments)
    if (find(*deployment, kOptions) != nullptr) return object_at(*deployment, {kOptions});
  if (deployments.size() == 1) return object_at(*deployments.front(), {kOptions});
  return object_at(root, {kOptions});
}

void note_devices(const Writing& writing, const Constant* constant) {
  const Shape& shape = writing.shape;
  const std::string& hint = shape.accelerator_model_hint;
  if (!hint.empty() && constant == nullptr)
    writing.note("accelerator_model_hint", "Ray has no accelerator_type for it");
  else if (!hint.empty() && !same_models(constant->hint, hint))
    writing.note(
        "accelerator_model_hint",
        fmt::format("Ray tells nodes apart as {} only, which is asked for", constant->type));
  note_without_words(writing, {{"mig_profile", "Ray counts devices: whole ones are asked for"}});
  if (shape.gpu_fraction_milli != 1000 && shape.gpu_count > 1)
    writing.note("gpu_fraction",
                 "above one device Ray takes whole numbers only: whole devices are asked for");
  if (shape.accelerator_family == Family::cpu) return;
  if (resource_of(shape.accelerator_family).empty() && constant == nullptr)
    writing.note("accelerator_family", "num_gpus does not say whose they are");
  if (!resource_of(shape.accelerator_family).empty() && shape.gpu_count == 0 && constant == nullptr)
    writing.note("accelerator_family", "no device is asked for, so nothing says whose");
}

json::value device_number(const Shape& shape) {
  if (shape.gpu_count == 1) return number_from_milli(shape.gpu_fraction_milli);
  return shape.gpu_count;
}

void write_devices(const Shape& shape, const Constant* constant, json::object& options) {
  drop(options, "num_gpus");
  if (options.contains("resources")) {
    json::object& resources = as_object(options["resources"]);
    for (const Family family : {Family::intel_gaudi, Family::tpu})
      drop(resources, resource_of(family));
    if (resources.empty()) drop(options, "resources");
  }
  drop(options, "accelerator_type");
  const std::string_view resource = resource_of(shape.accelerator_family);
  if (shape.gpu_count > 0 && resource.empty()) put(options, "num_gpus", device_number(shape));
  if (shape.gpu_count > 0 && !resource.empty())
    put(as_object(options["resources"]), resource, device_number(shape));
  if (constant != nullptr) put(options, "accelerator_type", json::string(constant->type));
}

}  // namespace

bool recognises_ray(const Source& source) {
  if (source.documents.size() != 1) return false;
  const json::value& root = source.documents[0].value;
  if (find(root, kOptions) != nullptr || is_bare(root)) return true;
  const json::value* applications = find(root, "applications");
  return applications != nullptr && applications->is_array();
}

void read_ray(const Source& source, Reading& reading) {
  if (source.documents.size() != 1) return reading.problem(source.file, "one document is read");
  const Node root = Node::root(reading, source, 0);
  if (root && is_bare(root.value())) return read_options(root, reading);
  const std::vector<Node> found = options_in(root);
  if (found.empty()) return reading.problem(source.file, fmt::format("there are no {}", kOptions));
  if (found.size() > 1)
    return found[1].problem(
        fmt::format("are options as at {}; a profile is of one actor", found[0].where()));
  if (found.front().value().is_object() && found.front().value().get_object().empty())
    found.front().take();
  read_options(found.front(), reading);
}

void write_ray(const Writing& writing, Source& target) {
  const Shape& shape = writing.shape;
  note_without_words(
      writing,
      {{"nodes", "an actor is on one node"}, kNoDriver, kNoRuntime, kNoUse, kNoDescription});
  const Constant* constant =
      shape.accelerator_model_hint.empty() ? nullptr : constant_of(shape.accelerator_model_hint);
  note_devices(writing, constant);
  json::object& options = options_of(target);
  if (writing.parts.cpu) {
    if (shape.cpu_milli == 0)
      drop(options, "num_cpus");
    else
      put(options, "num_cpus", number_from_milli(shape.cpu_milli));
  }
  if (writing.parts.memory) {
    if (shape.memory_bytes == 0)
      drop(options, "memory");
    else
      put(options, "memory", shape.memory_bytes);
  }
  if (writing.parts.devices) write_devices(shape, constant, options);
}

}  // namespace exa::vocabulary
