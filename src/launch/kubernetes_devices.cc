#include "launch/kubernetes_devices.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "hardware/catalogue.h"

namespace exa::kubernetes {
namespace {

// --- model hints ---------------------------------------------------------------------------------

struct ModelLabel {
  Family family;
  std::string_view key;
  std::vector<std::string_view> values;  // as found on real nodes
};

// Labels that name the model. GPU feature discovery writes the driver's name with '-' for blanks
// (and -SHARED behind it on nodes that share cards), AMD's labeller with '_'; GKE has its own list.
std::span<const ModelLabel> model_labels() {
  static const std::vector<ModelLabel> labels = {
      {Family::nvidia,
       "nvidia.com/gpu.product",
       {"Tesla-K80",
        "Tesla-P100-PCIE-12GB",
        "Tesla-P100-PCIE-16GB",
        "Tesla-P100-SXM2-16GB",
        "Tesla-V100-PCIE-16GB",
        "Tesla-V100-PCIE-32GB",
        "Tesla-V100-SXM2-16GB",
        "Tesla-V100-SXM2-32GB",
        "Tesla-T4",
        "NVIDIA-A2",
        "NVIDIA-A10",
        "NVIDIA-A10G",
        "NVIDIA-A16",
        "NVIDIA-A30",
        "NVIDIA-A40",
        "NVIDIA-A100-PCIE-40GB",
        "NVIDIA-A100-80GB-PCIe",
        "NVIDIA-A100-SXM4-40GB",
        "NVIDIA-A100-SXM4-80GB",
        "NVIDIA-A800-80GB-PCIe",
        "NVIDIA-A800-SXM4-80GB",
        "NVIDIA-L4",
        "NVIDIA-L40",
        "NVIDIA-L40S",
        "NVIDIA-H100-PCIe",
        "NVIDIA-H100-80GB-HBM3",
        "NVIDIA-H100-NVL",
        "NVIDIA-H800",
        "NVIDIA-H800-PCIe",
        "NVIDIA-H20",
        "NVIDIA-H200",
        "NVIDIA-H200-NVL",
        "NVIDIA-GH200-480GB",
        "NVIDIA-GH200-96GB-HBM3",
        "NVIDIA-B200",
        "NVIDIA-B300-SXM6-AC",
        "NVIDIA-GB200",
        "NVIDIA-GeForce-RTX-3090",
        "NVIDIA-GeForce-RTX-4090",
        "NVIDIA-RTX-A6000",
        "NVIDIA-RTX-4000-Ada-Generation",
        "NVIDIA-RTX-6000-Ada-Generation",
        "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition",
        "NVIDIA-RTX-PRO-6000-Blackwell-Workstation-Edition",
        "NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition"}},
      {Family::nvidia,
       "cloud.google.com/gke-accelerator",
       {"nvidia-tesla-p100", "nvidia-tesla-v100", "nvidia-tesla-t4", "nvidia-tesla-a100",
        "nvidia-a100-80gb", "nvidia-l4", "nvidia-h100-80gb", "nvidia-h100-mega-80gb",
        "nvidia-h200-141gb", "nvidia-b200", "nvidia-gb200", "nvidia-rtx-pro-6000"}},
      {Family::amd,
       "amd.com/gpu.product-name",
       {"AMD_Instinct_MI100", "AMD_Instinct_MI210", "AMD_Instinct_MI250X_MI250",
        "AMD_Instinct_MI300A", "AMD_Instinct_MI300X_OAM", "AMD_Instinct_MI308X_OAM",
        "AMD_Instinct_MI325X_OAM", "AMD_Instinct_MI350X_OAM", "AMD_Instinct_MI355X_OAM"}},
  };
  return labels;
}

json::object expression(std::string_view key, std::string_view op, json::array values = {}) {
  json::object e{{"key", key}, {"operator", op}};
  if (!values.empty()) e["values"] = std::move(values);
  return e;
}

// The values of a label that may be the model meant.
json::array values_meant(const ModelLabel& label, const Resources& resources) {
  const bool may_be_shared =
      label.key == "nvidia.com/gpu.product" && resources.fraction_milli < 1000;
  json::array values;
  for (const std::string_view value : label.values) {
    // GKE's name for it is from before there was one of 80 GB
    const std::string_view means = value == "nvidia-tesla-a100" ? "A100-40GB" : value;
    if (match_model(resources.model, means) == Match::contradicted) continue;
    values.emplace_back(value);
    if (may_be_shared) values.emplace_back(fmt::format("{}-SHARED", value));
  }
  return values;
}

// --- what a unit is ------------------------------------------------------------------------------

// Only labels tell whether a unit of nvidia.com/gpu is a card: a slice carries its size, a share
// the way it is shared (discover/kubernetes_nvidia.cc reads the same labels).
json::array unit_is_a_card() {
  return {expression("nvidia.com/gpu.sharing-strategy", "NotIn", {"time-slicing", "mps"}),
          expression("nvidia.com/gpu.slices.gi", "DoesNotExist"),
          expression("cloud.google.com/gke-gpu-sharing-strategy", "DoesNotExist"),
          expression("cloud.google.com/gke-gpu-partition-size", "DoesNotExist")};
}

json::array unit_is_a_share(std::string_view key) {
  return {expression(key, "Exists"), expression(key, "NotIn", {"none"})};
}

json::object preference(json::array expressions) {
  return {{"weight", 100},
          {"preference", json::object{{"matchExpressions", std::move(expressions)}}}};
}

// --- the affinity --------------------------------------------------------------------------------

// Terms of a node selector are alternatives, and expressions within one hold together.
struct Nodes {
  std::vector<json::array> alternatives;  // of the model; empty: any
  json::array always;
  json::array preferred;

  json::object affinity() const {
    json::array terms;
    const auto add = [&](json::array expressions) {
      for (const json::value& one : always) expressions.push_back(one);
      if (!expressions.empty())
        terms.push_back(json::object{{"matchExpressions", std::move(expressions)}});
    };
    for (const json::array& alternative : alternatives) add(alternative);
    if (alternatives.empty()) add({});
    json::object rules;
    if (!terms.empty()) {
      rules["requiredDuringSchedulingIgnoredDuringExecution"] =
          json::object{{"nodeSelectorTerms", std::move(terms)}};
    }
    if (!preferred.empty()) rules["preferredDuringSchedulingIgnoredDuringExecution"] = preferred;
    return rules;
  }
};

// A node that carries a label for the model must carry one that fits; one that carries none is
// admitted.
void add_model(const Resources& resources, Nodes& nodes, DeviceAsk& ask) {
  json::array unlabelled;
  for (const ModelLabel& label : model_labels()) {
    if (label.family != resources.family) continue;
    unlabelled.push_back(expression(label.key, "DoesNotExist"));
    json::array values = values_meant(label, resources);
    if (values.empty()) continue;
    nodes.alternatives.push_back({expression(label.key, "In", std::move(values))});
    nodes.preferred.push_back(preference(nodes.alternatives.back()));
  }
  if (nodes.alternatives.empty()) {
    ask.notes.push_back(fmt::format("No label of a node says \"{}\": any {} device may be given.",
                                    printable(resources.model), info(resources.family).vendor));
    return;
  }
  nodes.alternatives.push_back(std::move(unlabelled));
  ask.notes.push_back(
      fmt::format("Nodes labelled with another model than {} are left out; nodes without a label "
                  "that names their model are not.",
                  printable(resources.model)));
}

void add_nodes(const Resources& resources, DeviceAsk& ask) {
  Nodes nodes;
  if (!resources.model.empty()) add_model(resources, nodes, ask);
  if (resources.family == Family::nvidia && resources.mig_profile.empty()) {
    if (resources.fraction_milli == 1000) {
      nodes.always = unit_is_a_card();
    } else {
      nodes.preferred.push_back(preference(unit_is_a_share("nvidia.com/gpu.sharing-strategy")));
      nodes.preferred.push_back(
          preference({expression("cloud.google.com/gke-gpu-sharing-strategy", "Exists")}));
    }
  }
  ask.node_affinity = nodes.affinity();
}

// --- TPU slices ----------------------------------------------------------------------------------

// GKE places a TPU pod only where both labels are asked for, and a slice takes all chips of its
// nodes. cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus
constexpr std::string_view kFlat[] = {"2x4", "4x4", "4x8", "8x8", "8x16", "16x16"};
constexpr std::string_view kCube[] = {"2x2x1", "2x2x2", "2x2x4", "2x4x4",
                                      "4x4x4", "4x4x8", "4x8x8", "8x8x8"};

struct TpuKind {
  std::string_view model;
  std::string_view accelerator;
  bool flat;
};
constexpr TpuKind kTpus[] = {
    {"TPU-v4", "tpu-v4-podslice", false}, {"TPU-v5e", "tpu-v5-lite-podslice", true},
    {"TPU-v5p", "tpu-v5p-slice", false},  {"TPU-v6e", "tpu-v6e-slice", true},
    {"TPU-v7x", "tpu7x", false},
};

// Empty: no such slice. Two-dimensional ones of one node have 1, 4 or 8 chips; every node of a
// larger one has 4, and each row of the lists twice the nodes of the row before.
std::string_view topology_of(const TpuKind& kind, int64_t chips, int64_t nodes) {
  if (kind.flat && nodes == 1) {
    if (chips == 1) return "1x1";
    if (chips == 4) return "2x2";
    return chips == 8 ? "2x4" : "";
  }
  if (chips != 4) return "";
  int64_t of_row = kind.flat ? 2 : 1;
  const std::span<const std::string_view> rows = kind.flat
                                                     ? std::span<const std::string_view>(kFlat)
                                                     : std::span<const std::string_view>(kCube);
  for (const std::string_view row : rows) {
    if (of_row == nodes) return row;
    of_row *= 2;
  }
  return "";
}

void add_tpu(const Resources& resources, DeviceAsk& ask, std::vector<Problem>& problems) {
  const DeviceModel* model = single_model(resources.model);
  const auto* kind = std::ranges::find(kTpus, model == nullptr ? "" : model->name, &TpuKind::model);
  if (kind == std::end(kTpus)) {
    problems.push_back({"/resources/model",
                        "a TPU is placed by its kind and topology, so one kind must be named",
                        "TPU-v5e, for example"});
    return;
  }
  const std::string_view topology = topology_of(*kind, resources.gpus, resources.nodes);
  if (topology.empty()) {
    problems.push_back({"/resources/gpus",
                        fmt::format("there is no {} slice of {} nodes with {} chips each",
                                    kind->model, resources.nodes, resources.gpus),
                        kind->flat ? "1, 4 or 8 chips on one node; 4 on each of 2, 4, 8, …"
                                   : "4 chips on each of 1, 2, 4, 8, …"});
    return;
  }
  ask.node_selector["cloud.google.com/gke-tpu-accelerator"] = kind->accelerator;
  ask.node_selector["cloud.google.com/gke-tpu-topology"] = topology;
}

// --- Gaudi ---------------------------------------------------------------------------------------

// Its libraries pin host memory in huge pages: 95,000 MiB for the eight cards of a server (Intel's
// own manifests), in pages of 2 MiB. Kubernetes gives them only beside cpu or memory.
void add_gaudi(const Resources& resources, DeviceAsk& ask, std::vector<Problem>& problems) {
  constexpr int64_t kMibOfEight = 95'000;
  const int64_t pages = (kMibOfEight * resources.gpus + 15) / 16;
  ask.limits.emplace_back("hugepages-2Mi", fmt::format("{}Mi", pages * 2));
  ask.capabilities.emplace_back("SYS_NICE");
  if (resources.cpu_milli == 0 && resources.memory_bytes == 0) {
    problems.push_back(
        {"/resources/memory_bytes",
         "Gaudi cards need huge pages, which Kubernetes gives only beside cpu or memory",
         "ask for memory"});
  }
}

// Kubernetes' names hold no '+': 1g.10gb+me is mig-1g.10gb.me.
std::string mig_resource(std::string_view profile) {
  std::string name = fmt::format("nvidia.com/mig-{}", profile);
  std::ranges::replace(name, '+', '.');
  return name;
}

}  // namespace

DeviceAsk device_ask(const Resources& resources, std::vector<Problem>& problems) {
  DeviceAsk ask;
  if (resources.gpus == 0) return ask;
  const FamilyInfo& family = info(resources.family);
  if (family.kubernetes_resources.empty()) {
    problems.push_back({"/resources/gpus",
                        fmt::format("the {} family has no devices to ask for", family.name), ""});
    return ask;
  }
  const std::string whole(family.kubernetes_resources.front());
  const std::string resource =
      resources.mig_profile.empty() ? whole : mig_resource(resources.mig_profile);
  ask.limits.emplace_back(resource, std::to_string(resources.gpus));
  // GKE and many owners taint nodes with the name of the resource, so that only who asks comes
  ask.tolerations.push_back(
      json::object{{"key", whole}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
  if (!resources.mig_profile.empty()) {
    ask.notes.push_back(fmt::format(
        "Nodes that offer every MIG instance as {} (strategy `single`) are not found by {}.", whole,
        resource));
  }
  if (resources.fraction_milli < 1000) {
    ask.notes.push_back(fmt::format(
        "Kubernetes counts units of {} and knows no {} of one: {} whole {} asked for. Where the "
        "cluster shares its cards, a unit is a share; elsewhere the rest of the card lies idle.",
        whole, format_milli(resources.fraction_milli), resources.gpus,
        resources.gpus == 1 ? "unit is" : "units are"));
  }
  if (resources.family == Family::tpu) {
    add_tpu(resources, ask, problems);
  } else {
    add_nodes(resources, ask);
  }
  if (resources.family == Family::intel_gaudi) add_gaudi(resources, ask, problems);
  return ask;
}

}  // namespace exa::kubernetes
