#include "launch/vocabulary_kubernetes_words.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "hardware/catalogue.h"

namespace exa::vocabulary {
namespace {

constexpr std::string_view kMigPrefix = "nvidia.com/mig-";

// Labels whose value names a model.
constexpr std::string_view kModelLabels[] = {
    kProductLabel,
    "amd.com/gpu.product-name",
    "beta.amd.com/gpu.product-name",
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-tpu-accelerator",
    "k8s.amazonaws.com/accelerator",
    "karpenter.k8s.aws/instance-gpu-name",
};

// What GPU feature discovery labels nodes with: the name that the driver prints, blanks as '-'.
struct Product {
  std::string_view model;
  std::string_view label;
};
constexpr Product kProducts[] = {
    {"P100-PCIE-16GB", "Tesla-P100-PCIE-16GB"},
    {"V100-PCIE-16GB", "Tesla-V100-PCIE-16GB"},
    {"V100-PCIE-32GB", "Tesla-V100-PCIE-32GB"},
    {"V100-SXM2-16GB", "Tesla-V100-SXM2-16GB"},
    {"V100-SXM2-32GB", "Tesla-V100-SXM2-32GB"},
    {"T4", "Tesla-T4"},
    {"A2", "NVIDIA-A2"},
    {"A10", "NVIDIA-A10"},
    {"A10G", "NVIDIA-A10G"},
    {"A16", "NVIDIA-A16"},
    {"A30", "NVIDIA-A30"},
    {"A40", "NVIDIA-A40"},
    {"A100-PCIE-40GB", "NVIDIA-A100-PCIE-40GB"},
    {"A100-PCIE-80GB", "NVIDIA-A100-80GB-PCIe"},
    {"A100-SXM4-40GB", "NVIDIA-A100-SXM4-40GB"},
    {"A100-SXM4-80GB", "NVIDIA-A100-SXM4-80GB"},
    {"L4", "NVIDIA-L4"},
    {"L40", "NVIDIA-L40"},
    {"L40S", "NVIDIA-L40S"},
    {"H100-PCIE-80GB", "NVIDIA-H100-PCIe"},
    {"H100-SXM5-80GB", "NVIDIA-H100-80GB-HBM3"},
    {"H100-NVL-94GB", "NVIDIA-H100-NVL"},
    {"H200-SXM5-141GB", "NVIDIA-H200"},
    {"H200-NVL-141GB", "NVIDIA-H200-NVL"},
    {"GH200-96GB", "NVIDIA-GH200-480GB"},
    {"B200", "NVIDIA-B200"},
    {"RTX-3090", "NVIDIA-GeForce-RTX-3090"},
    {"RTX-4090", "NVIDIA-GeForce-RTX-4090"},
    {"RTX-A6000", "NVIDIA-RTX-A6000"},
    {"RTX-6000-Ada", "NVIDIA-RTX-6000-Ada-Generation"},
};

std::string model_of_label(std::string_view value) {
  const auto* known = std::ranges::find(kProducts, value, &Product::label);
  if (known != std::end(kProducts)) return std::string(known->model);
  const DeviceModel* model = single_model(value);
  return std::string(model == nullptr ? value : model->name);
}

std::optional<Family> family_of_resource(std::string_view name) {
  if (name.starts_with(kMigPrefix)) return Family::nvidia;
  for (const FamilyInfo& row : families())
    if (std::ranges::find(row.kubernetes_resources, name) != row.kubernetes_resources.end())
      return row.family;
  return std::nullopt;
}

// nvidia.com/gpu.shared, amd.com/cpx_nps4, …: devices cut in a way of the cluster's own.
bool is_strange_device(std::string_view name) {
  return std::ranges::any_of(families(), [&](const FamilyInfo& row) {
    return std::ranges::any_of(row.kubernetes_resources, [&](std::string_view whole) {
      return name.starts_with(whole.substr(0, whole.find('/') + 1));
    });
  });
}

}  // namespace

std::string cpu_quantity(int64_t milli) {
  return milli % 1000 == 0 ? std::to_string(milli / 1000) : fmt::format("{}m", milli);
}

std::string memory_quantity(int64_t bytes) {
  constexpr std::pair<int64_t, std::string_view> kUnits[] = {
      {1024 * kGiB, "Ti"}, {kGiB, "Gi"}, {kMiB, "Mi"}, {kKiB, "Ki"}};
  for (const auto& [unit, name] : kUnits)
    if (bytes % unit == 0 && bytes >= unit) return fmt::format("{}{}", bytes / unit, name);
  return std::to_string(bytes);
}

std::string device_resource(const Shape& shape) {
  if (shape.mig_profile.empty())
    return std::string(info(shape.accelerator_family).kubernetes_resources.front());
  std::string profile = shape.mig_profile;  // names of resources hold no '+'
  std::ranges::replace(profile, '+', '.');
  return fmt::format("{}{}", kMigPrefix, profile);
}

bool is_device_resource(std::string_view name) {
  return family_of_resource(name).has_value();
}

// --- reading

void KubernetesReader::read_device(std::string_view name, const Node& amount) {
  const auto milli = read_amount(amount, [](std::string_view text) -> Result<int64_t> {
    EXA_ASSIGN(const KubernetesQuantity quantity, parse_kubernetes_quantity(text));
    return quantity.milli;
  });
  if (!milli || *milli == 0) return;
  if (*milli % 1000 != 0)
    return amount.problem(fmt::format("{} of {}: Kubernetes gives whole devices only",
                                      format_milli(*milli), printable(name)));
  const int64_t count = *milli / 1000;
  if (!device_.empty() && (device_ != name || reading_.shape().gpu_count != count))
    return amount.problem(fmt::format("{} of {} beside {} of {}; a profile asks for one kind",
                                      count, printable(name), reading_.shape().gpu_count, device_));
  device_ = name;
  const Family family = *family_of_resource(name);
  if (!info(family).askable)
    return amount.problem(fmt::format("{} is of no family that a profile may ask for", name));
  reading_.say("accelerator_family", amount.where()).accelerator_family = family;
  reading_.say("gpu_count", amount.where()).gpu_count = count;
  if (!name.starts_with(kMigPrefix)) return;
  std::string profile(name.substr(kMigPrefix.size()));
  if (const size_t suffix = profile.find("gb."); suffix != profile.npos) profile[suffix + 2] = '+';
  reading_.say("mig_profile", amount.where()).mig_profile = profile;
}

bool KubernetesReader::read_amount_of(std::string_view name, const Node& amount) {
  const auto quantity = [](bool milli) {
    return [milli](std::string_view text) -> Result<int64_t> {
      EXA_ASSIGN(const KubernetesQuantity read, parse_kubernetes_quantity(text));
      return milli ? read.milli : read.whole;
    };
  };
  if (name == "cpu") {
    if (const auto milli = read_amount(amount, quantity(true)))
      reading_.say("cpu", amount.where()).cpu_milli = *milli;
  } else if (name == "memory") {
    if (const auto bytes = read_amount(amount, quantity(false)))
      reading_.say("memory_gb", amount.where()).memory_bytes = *bytes;
  } else if (is_device_resource(name)) {
    read_device(name, amount);
  } else if (is_strange_device(name)) {
    asks_for_strange_devices_ = true;
    amount.take();
    reading_.leave_open(
        "gpu_count", amount.where(),
        fmt::format("what {} is stands in the cluster's configuration", printable(name)));
    reading_.leave_open("accelerator_family", amount.where(), "and how much of a device it is");
  } else {
    return false;
  }
  return true;
}

void KubernetesReader::read_selector(const Node& labels) {
  constexpr std::string_view kShared = "-SHARED";
  for (const auto& [key, label] : labels.members()) {
    if (std::ranges::find(kModelLabels, key) == std::end(kModelLabels)) continue;
    const auto text = label.scalar();
    if (!text) continue;
    std::string_view value = *text;
    if (value.ends_with(kShared)) {
      label.note("how many share a device stands in the cluster's configuration");
      value.remove_suffix(kShared.size());
    }
    if (const size_t mig = value.rfind("-MIG-"); mig != value.npos) {
      reading_.say("mig_profile", label.where()).mig_profile = value.substr(mig + 5);
      value = value.substr(0, mig);
    }
    reading_.say("accelerator_model_hint", label.where()).accelerator_model_hint =
        model_of_label(value);
  }
}

void KubernetesReader::finish() {
  if (device_.empty() && !asks_for_strange_devices_) reading_.say_no_devices();
}

// --- writing

std::optional<std::string> product_label(const Writing& writing) {
  const Shape& shape = writing.shape;
  if (shape.accelerator_family == Family::cpu) return std::nullopt;
  if (shape.gpu_count == 0)
    writing.note("accelerator_family", "no device is asked for, so nothing says whose");
  if (shape.gpu_fraction_milli != 1000)
    writing.note("gpu_fraction", "Kubernetes gives whole devices only, which are asked for");
  if (shape.accelerator_model_hint.empty()) return std::nullopt;
  const DeviceModel* model = single_model(shape.accelerator_model_hint);
  const auto* known = model == nullptr ? std::end(kProducts)
                                       : std::ranges::find(kProducts, model->name, &Product::model);
  if (known != std::end(kProducts)) return std::string(known->label);
  if (shape.accelerator_family == Family::nvidia)
    writing.note("accelerator_model_hint",
                 fmt::format("{} selects one exact product, which this is not", kProductLabel));
  else if (shape.accelerator_family == Family::tpu)
    writing.note("accelerator_model_hint",
                 "GKE selects TPUs by gke-tpu-accelerator and gke-tpu-topology together");
  else
    writing.note("accelerator_model_hint", "no label of nodes that clusters agree on names models");
  return std::nullopt;
}

void write_selector(const Writing& writing, json::object& labels) {
  const auto label = product_label(writing);
  if (!writing.parts.devices) return;
  for (const std::string_view key : kModelLabels)
    if (!label || key != kProductLabel) drop(labels, key);
  if (label) put_text(labels, kProductLabel, *label);
}

namespace {

void write_amount(json::object& resources, std::string_view name, const std::string& amount) {
  for (const std::string_view list : {"requests", "limits"}) {
    if (amount.empty()) {
      if (resources.contains(list)) drop(as_object(resources[list]), name);
    } else {
      put_text(as_object(resources[list]), name, amount);
    }
  }
}

void drop_devices(json::object& resources) {
  for (const std::string_view list : {"requests", "limits"}) {
    if (!resources.contains(list)) continue;
    json::object& amounts = as_object(resources[list]);
    std::vector<std::string> names;
    for (const auto& member : amounts)
      if (is_device_resource(member.key())) names.emplace_back(member.key());
    for (const std::string& name : names) drop(amounts, name);
  }
}

}  // namespace

void write_resources(const Writing& writing, json::object& resources) {
  const Shape& shape = writing.shape;
  if (writing.parts.cpu)
    write_amount(resources, "cpu", shape.cpu_milli == 0 ? "" : cpu_quantity(shape.cpu_milli));
  if (writing.parts.memory)
    write_amount(resources, "memory",
                 shape.memory_bytes == 0 ? "" : memory_quantity(shape.memory_bytes));
  if (writing.parts.devices) {
    const std::string name = shape.gpu_count == 0 ? "" : device_resource(shape);
    drop_devices(resources);
    if (!name.empty()) put(as_object(resources["limits"]), name, shape.gpu_count);
  }
  for (const std::string_view list : {"requests", "limits"})
    if (resources.contains(list) && as_object(resources[list]).empty()) drop(resources, list);
}

}  // namespace exa::vocabulary
