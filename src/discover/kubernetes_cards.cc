#include "discover/kubernetes_cards.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "discover/kubernetes_nvidia.h"
#include "hardware/catalogue.h"

namespace exa::kubernetes {
namespace {

using Resources = std::vector<Resource>;

std::string canonical(std::string_view reported, std::optional<int64_t> memory = {}) {
  const DeviceModel* model = single_model(reported, memory);
  return model ? std::string(model->name) : std::string();
}

// PCI device ids for which AMD's labeller may print no product name.
struct AmdDevice {
  std::string_view id;
  std::string_view name;
};
constexpr AmdDevice kAmdDevices[] = {
    {"738c", "MI100"},  {"7408", "MI250X"}, {"740c", "MI250X"}, {"740f", "MI210"},
    {"74a0", "MI300A"}, {"74a1", "MI300X"}, {"74a2", "MI308X"}, {"74a5", "MI325X"},
};

// Cards per PCI device id: labels "amd.com/gpu.device-id.74a1" = "8", older ones with beta. before.
std::vector<std::pair<std::string, int64_t>> amd_devices(const Labels& labels) {
  std::vector<std::pair<std::string, int64_t>> found;
  for (const std::string_view prefix : {"amd.com/gpu.device-id.", "beta.amd.com/gpu.device-id."}) {
    for (const auto& [key, value] : labels.pairs()) {
      if (!key.starts_with(prefix)) continue;
      if (const auto n = labels.number(key)) found.emplace_back(key.substr(prefix.size()), *n);
    }
    if (!found.empty()) return found;
  }
  return found;
}

std::string_view amd_label(const Labels& labels, std::string_view name) {
  const auto plain = labels.find(fmt::format("amd.com/gpu.{}", name));
  return plain ? *plain : labels.get(fmt::format("beta.amd.com/gpu.{}", name));
}

void describe_amd(const Labels& labels, CardSet& cards, Remarks& remarks) {
  const auto devices = amd_devices(labels);
  int64_t total = 0;
  std::vector<std::string> kinds;
  for (const auto& [id, n] : devices) {
    total += n;
    kinds.push_back(fmt::format("{} of {}", n, id));
  }
  if (devices.size() > 1) {
    // one resource name for several models: which one a pod gets is decided on the node
    cards.physical = total;
    remarks.add("several models behind one resource: " + join(kinds, ", "));
    return;
  }
  if (!devices.empty()) cards.physical = total;
  const std::string_view vram = amd_label(labels, "vram");
  if (vram.ends_with('G'))
    if (const auto gib = parse_count(vram.substr(0, vram.size() - 1), "vram"); gib && *gib < 10'000)
      cards.memory_bytes = *gib * kGiB;
  const std::string_view id =
      devices.empty() ? amd_label(labels, "device-id") : std::string_view(devices.front().first);
  cards.reported = amd_label(labels, "product-name");
  cards.model = canonical(cards.reported, cards.memory_bytes);
  if (!cards.model.empty()) return;
  if (cards.reported.empty()) cards.reported = id;
  for (const AmdDevice& known : kAmdDevices)
    if (known.id == id) cards.model = canonical(known.name, cards.memory_bytes);
}

void amd_cards(const Labels& labels, const Resources& resources, std::vector<CardSet>& out) {
  CardSet cards;
  cards.family = Family::amd;
  Remarks remarks;
  describe_amd(labels, cards, remarks);
  const bool described = cards.physical || !cards.reported.empty();
  for (const Resource& resource : resources) {
    if (!resource.name.starts_with("amd.com/") || !is_offered(resource)) continue;
    const std::string_view unit = resource.name.substr(8);
    if (unit != "gpu") {
      out.push_back(strange_resource(resource, "a partition whose size no label tells"));
      continue;
    }
    Offer offer = offer_of(resource);
    remarks.unhealthy(resource);
    if (!cards.physical) {
      offer.sharing = Sharing::unread;
      remarks.add(
          "no label tells how many cards there are, or whether a unit of amd.com/gpu is a "
          "card or a partition of one");
    } else if (resource.capacity > *cards.physical) {
      offer.sharing = Sharing::time_slice;
      remarks.add(fmt::format("{} units on {} cards: partitions, not cards", resource.capacity,
                              *cards.physical));
    }
    cards.offers.push_back(std::move(offer));
  }
  if (cards.offers.empty()) {
    if (!described) return;
    remarks.add("labelled, but no device plugin offers them");
  }
  cards.remark = remarks.text();
  out.push_back(std::move(cards));
}

// Gaudi cards are never divided by Intel's plugin: one unit is one card.
void gaudi_cards(const Labels& labels, const Resources& resources, std::vector<CardSet>& out) {
  CardSet cards;
  cards.family = Family::intel_gaudi;
  Remarks remarks;
  cards.reported = labels.get("habana.ai/hpu.type");
  cards.model = canonical(cards.reported);
  for (const Resource& resource : resources) {
    if (resource.name != "habana.ai/gaudi" || !is_offered(resource)) continue;
    cards.physical = resource.capacity;
    cards.offers.push_back(offer_of(resource));
    remarks.unhealthy(resource);
  }
  if (cards.offers.empty()) {
    if (cards.reported.empty()) return;
    remarks.add("labelled, but no device plugin offers them");
  }
  cards.remark = remarks.text();
  out.push_back(std::move(cards));
}

// "2x4" -> 8; nullopt when it has another form.
std::optional<int64_t> chips_of(std::string_view topology) {
  int64_t product = 1;
  for (const std::string_view side : split(topology, 'x')) {
    const auto n = parse_count(side, "topology");
    if (!n || *n < 1 || *n > 100'000 || product > 1'000'000'000) return std::nullopt;
    product *= *n;
  }
  return product;
}

void tpu_cards(const Labels& labels, const Resources& resources, std::vector<CardSet>& out) {
  CardSet cards;
  cards.family = Family::tpu;
  Remarks remarks;
  cards.reported = labels.get("cloud.google.com/gke-tpu-accelerator");
  cards.model = canonical(cards.reported);
  const std::string_view topology = labels.get("cloud.google.com/gke-tpu-topology");
  for (const Resource& resource : resources) {
    if (resource.name != "google.com/tpu" || !is_offered(resource)) continue;
    cards.physical = resource.capacity;
    cards.offers.push_back(offer_of(resource));
    remarks.unhealthy(resource);
    const auto chips = chips_of(topology);
    // The chips of a slice over several hosts are had together or not at all.
    if (!topology.empty() && chips && resource.capacity > 0 && *chips > resource.capacity) {
      cards.offers.back().sharing = Sharing::unread;
      remarks.add(
          fmt::format("one of {} hosts of a {} slice of {} chips: this host alone cannot "
                      "serve the slice",
                      (*chips + resource.capacity - 1) / resource.capacity, topology, *chips));
    }
  }
  if (cards.offers.empty()) {
    if (cards.reported.empty()) return;
    remarks.add("labelled, but no device plugin offers them");
  }
  cards.remark = remarks.text();
  out.push_back(std::move(cards));
}

// Intel's GPU plugin: i915 and xe are devices (or shares of them, with sharedDevNum, which no label
// tells); *_monitoring opens all devices for metrics; tiles, millicores and memory are fractions.
void intel_gpu_cards(const Labels& labels, const Resources& resources, std::vector<CardSet>& out) {
  CardSet cards;
  cards.family = Family::other;
  Remarks remarks;
  cards.reported = labels.get("gpu.intel.com/product");
  constexpr std::string_view kPrefix = "gpu.intel.com/device-id.";
  for (const auto& [key, value] : labels.pairs())
    if (key.starts_with(kPrefix) && key.ends_with(".count"))
      if (const auto n = labels.number(key)) cards.physical = cards.physical.value_or(0) + *n;
  for (const Resource& resource : resources) {
    if (!is_offered(resource)) continue;
    if (resource.name != "gpu.intel.com/i915" && resource.name != "gpu.intel.com/xe") continue;
    Offer offer = offer_of(resource);
    remarks.unhealthy(resource);
    if (!cards.physical) {
      offer.sharing = Sharing::unread;
      remarks.add("no label tells how many cards there are, or whether a unit is a share");
    } else if (resource.capacity > *cards.physical) {
      offer.sharing = Sharing::time_slice;
      remarks.add(fmt::format("{} units on {} cards: shares, not cards", resource.capacity,
                              *cards.physical));
    }
    cards.offers.push_back(std::move(offer));
  }
  if (cards.offers.empty()) {
    if (cards.reported.empty() && !cards.physical) return;
    remarks.add("labelled, but no device plugin offers them");
  }
  cards.remark = remarks.text();
  out.push_back(std::move(cards));
}

void neuron_cards(const Labels& labels, const Resources& resources, std::vector<CardSet>& out) {
  for (const Resource& resource : resources) {
    if (resource.name != "aws.amazon.com/neuron" || !is_offered(resource)) continue;
    CardSet cards;
    cards.family = Family::other;
    cards.reported = labels.get("karpenter.k8s.aws/instance-accelerator-name");
    cards.physical = resource.capacity;
    cards.offers.push_back(offer_of(resource));
    Remarks remarks;
    remarks.unhealthy(resource);
    cards.remark = remarks.text();
    out.push_back(std::move(cards));
  }
}

// Adding a vendor is adding a row.
struct Vendor {
  std::string_view prefix;  // of its resource names
  void (*read)(const Labels&, const Resources&, std::vector<CardSet>&);
};
constexpr Vendor kVendors[] = {
    {"nvidia.com/", nvidia_cards},       {"amd.com/", amd_cards},
    {"habana.ai/", gaudi_cards},         {"google.com/tpu", tpu_cards},
    {"gpu.intel.com/", intel_gpu_cards}, {"aws.amazon.com/neuron", neuron_cards},
};

struct SoftwareLabel {
  std::string_view product;
  std::string_view full;                  // one label with the whole version
  std::array<std::string_view, 3> parts;  // or its parts, in labels of older releases
};
constexpr SoftwareLabel kSoftware[] = {
    {"nvidia-driver",
     "nvidia.com/cuda.driver-version.full",
     {"nvidia.com/cuda.driver.major", "nvidia.com/cuda.driver.minor",
      "nvidia.com/cuda.driver.rev"}},
    {"cuda",
     "nvidia.com/cuda.runtime-version.full",
     {"nvidia.com/cuda.runtime.major", "nvidia.com/cuda.runtime.minor", ""}},
    {"nvidia-vgpu-host-driver", "nvidia.com/vgpu.host-driver-version", {}},
    {"amdgpu-driver", "amd.com/gpu.driver-version", {}},
    {"amdgpu-driver", "beta.amd.com/gpu.driver-version", {}},
};

std::string version_of(const Labels& labels, const SoftwareLabel& row) {
  if (const std::string_view full = labels.get(row.full); !full.empty()) return std::string(full);
  std::vector<std::string> parts;
  for (const std::string_view key : row.parts) {
    const std::string_view part = key.empty() ? key : labels.get(key);
    if (part.empty()) break;
    parts.emplace_back(part);
  }
  return join(parts, ".");
}

}  // namespace

std::optional<std::string_view> Labels::find(std::string_view key) const {
  const auto at = std::ranges::lower_bound(pairs_, key, {}, &Pairs::value_type::first);
  if (at == pairs_.end() || at->first != key) return std::nullopt;
  return at->second;
}

std::optional<int64_t> Labels::number(std::string_view key) const {
  const auto text = find(key);
  if (!text) return std::nullopt;
  const auto value = parse_count(*text, key);
  return value && *value <= kMostUnits ? std::optional(*value) : std::nullopt;
}

bool is_device_resource(std::string_view name) {
  return std::ranges::any_of(kVendors,
                             [&](const Vendor& row) { return name.starts_with(row.prefix); });
}

std::vector<CardSet> cards_of(const Labels& labels, const std::vector<Resource>& resources) {
  std::vector<CardSet> cards;
  for (const Vendor& vendor : kVendors) vendor.read(labels, resources, cards);
  return cards;
}

std::vector<Software> software_of(const Labels& labels) {
  std::vector<Software> found;
  for (const SoftwareLabel& row : kSoftware) {
    std::string version = version_of(labels, row);
    if (version.empty()) continue;
    if (std::ranges::find(found, row.product, &Software::product) != found.end()) continue;
    found.push_back({std::string(row.product), std::move(version)});
  }
  return found;
}

bool is_offered(const Resource& resource) {
  return resource.capacity > 0 || resource.allocatable > 0;
}

Offer offer_of(const Resource& resource) {
  Offer offer;
  offer.resource = resource.name;
  offer.units = resource.allocatable;
  offer.used = resource.used;
  if (offer.used) offer.free = std::max<int64_t>(0, offer.units - *offer.used);
  return offer;
}

CardSet strange_resource(const Resource& resource, std::string_view why) {
  CardSet cards;
  cards.family = Family::other;
  cards.reported = resource.name;
  cards.offers.push_back(offer_of(resource));
  cards.offers.back().sharing = Sharing::time_slice;
  cards.remark = fmt::format("{}: {}", resource.name, why);
  return cards;
}

void Remarks::add(std::string text) {
  if (std::ranges::find(texts_, text) == texts_.end()) texts_.push_back(std::move(text));
}

void Remarks::unhealthy(const Resource& resource) {
  if (resource.capacity > resource.allocatable)
    add(fmt::format("{} of {} unhealthy", resource.capacity - resource.allocatable,
                    resource.capacity));
}

std::string Remarks::text() const {
  return join(texts_, "; ");
}

}  // namespace exa::kubernetes
