#include "discover/kubernetes_nvidia.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "hardware/catalogue.h"

namespace exa::kubernetes {
namespace {

// What the labels say about a node's NVIDIA devices as a whole.
struct Description {
  std::string product;               // without -SHARED and -MIG-…
  std::string mig_profile;           // strategy single: every unit of nvidia.com/gpu is one
  Sharing sharing = Sharing::whole;  // of the plain resource: time_slice, mps, or not shared
  std::optional<int64_t> replicas;   // shares per device, when more than one
  std::optional<int64_t> count;      // devices: cards, or slices with strategy single
  std::optional<int64_t> memory_bytes;
  bool described = false;  // something describes the devices at all
  bool changing = false;   // MIG is being reconfigured: labels and amounts lag
  bool virtual_gpu = false;
};

Sharing sharing_named(std::string_view strategy) {
  return strategy == "mps" ? Sharing::mps : Sharing::time_slice;
}

void cut_suffix(std::string& product, Description& d) {
  constexpr std::string_view kShared = "-SHARED";
  if (product.ends_with(kShared)) {
    product.resize(product.size() - kShared.size());
    d.sharing = Sharing::time_slice;
  }
  if (const size_t at = product.rfind("-MIG-"); at != product.npos) {
    const std::string profile = product.substr(at + 5);
    if (is_mig_profile_name(profile)) {
      d.mig_profile = profile;
      product.resize(at);
    }
  }
}

// GPU feature discovery and the GPU operator.
void read_discovery(const Labels& labels, Description& d) {
  const std::string_view strategy = labels.get("nvidia.com/gpu.sharing-strategy");
  d.product = labels.get("nvidia.com/gpu.product");
  cut_suffix(d.product, d);
  d.described = !d.product.empty() || !strategy.empty();
  d.count = labels.number("nvidia.com/gpu.count");
  if (const auto mib = labels.number("nvidia.com/gpu.memory"); mib && *mib > 0 && *mib < (1 << 24))
    d.memory_bytes = *mib * kMiB;
  if (const auto n = labels.number("nvidia.com/gpu.replicas"); n && *n > 1) d.replicas = n;
  // discovery before 0.15 has no sharing-strategy: replicas and -SHARED mean time-slicing
  const bool shared = (!strategy.empty() && strategy != "none") || d.replicas;
  if (shared || d.sharing != Sharing::whole) d.sharing = sharing_named(strategy);
  const std::string_view state = labels.get("nvidia.com/mig.config.state");
  d.changing = state == "pending" || state == "rebooting";
  d.virtual_gpu = labels.get("nvidia.com/vgpu.present") == "true";
}

// Clouds say less, and only where discovery does not run.
struct CloudLabels {
  std::string_view product, count, memory_mib;
};
constexpr CloudLabels kClouds[] = {
    {"cloud.google.com/gke-accelerator", "cloud.google.com/gke-accelerator-count", ""},
    {"karpenter.k8s.aws/instance-gpu-name", "karpenter.k8s.aws/instance-gpu-count",
     "karpenter.k8s.aws/instance-gpu-memory"},
};

void read_cloud(const Labels& labels, Description& d) {
  for (const CloudLabels& cloud : kClouds) {
    const auto product = labels.find(cloud.product);
    if (!product) continue;
    d.product = *product;
    d.described = true;
    d.count = labels.number(cloud.count);
    if (const auto mib = labels.number(cloud.memory_mib); mib && *mib > 0 && *mib < (1 << 24))
      d.memory_bytes = *mib * kMiB;
    break;
  }
  // GKE: partitions and shares change what a unit of nvidia.com/gpu is, not its name
  const std::string_view partition = labels.get("cloud.google.com/gke-gpu-partition-size");
  if (!partition.empty()) {
    d.mig_profile = partition;
    d.count.reset();  // accelerator-count counts cards, not slices
  }
  const std::string_view sharing = labels.get("cloud.google.com/gke-gpu-sharing-strategy");
  if (!sharing.empty()) {
    d.sharing = sharing_named(sharing);
    d.replicas = labels.number("cloud.google.com/gke-max-shared-clients-per-gpu");
  }
}

Description describe(const Labels& labels) {
  Description d;
  read_discovery(labels, d);
  if (!d.described) read_cloud(labels, d);
  return d;
}

// The parts of a resource name: "nvidia.com/mig-1g.10gb.shared".
struct ResourceName {
  bool plain = false;       // gpu or gpu.shared
  std::string mig_profile;  // mig-…
  bool shared = false;
};

std::optional<ResourceName> parse_name(std::string_view name) {
  constexpr std::string_view kShared = ".shared", kMig = "mig-";
  name.remove_prefix(std::string_view("nvidia.com/").size());
  ResourceName parts;
  if (name.ends_with(kShared)) {
    parts.shared = true;
    name.remove_suffix(kShared.size());
  }
  if (name == "gpu") {
    parts.plain = true;
    return parts;
  }
  if (!name.starts_with(kMig)) return std::nullopt;
  parts.mig_profile = name.substr(kMig.size());
  // '+' may not stand in a resource name: 1g.10gb+me is mig-1g.10gb.me
  if (const size_t at = parts.mig_profile.find(".me"); at != std::string::npos)
    parts.mig_profile[at] = '+';
  if (!is_mig_profile_name(parts.mig_profile)) return std::nullopt;
  return parts;
}

std::string_view strange_reason(std::string_view name) {
  if (name == "nvidia.com/pgpu")
    return "cards passed through to virtual machines, not to containers";
  return "no rule says what a unit of it is";
}

bool slice_is_shared(const Labels& labels, std::string_view resource) {
  const std::string_view strategy = labels.get(fmt::format("{}.sharing-strategy", resource));
  const auto replicas = labels.number(fmt::format("{}.replicas", resource));
  return (!strategy.empty() && strategy != "none") || (replicas && *replicas > 1);
}

// Reading one node: the cards and what is remarkable about them.
struct Reading {
  const Labels& labels;
  const Description& d;
  bool renamed;  // a .shared resource exists: then a plain one is not shared
  CardSet cards;
  Remarks remarks;
  std::optional<int64_t> plain_capacity;

  void add(const Resource& resource, const ResourceName& name) {
    Offer offer = offer_of(resource);
    if (name.plain) {
      offer.mig_profile = d.mig_profile;
      const bool shared = name.shared || (!renamed && d.sharing != Sharing::whole);
      classify(offer, shared);
      if (offer.sharing == Sharing::whole && !d.described) offer.sharing = Sharing::unread;
      plain_capacity = plain_capacity.value_or(0) + resource.capacity;
    } else {
      offer.mig_profile = name.mig_profile;
      classify(offer, name.shared || slice_is_shared(labels, resource.name));
    }
    if (d.changing) offer.free.reset();
    remarks.unhealthy(resource);
    cards.offers.push_back(std::move(offer));
  }

  void classify(Offer& offer, bool shared) {
    if (shared) {
      offer.sharing = d.sharing == Sharing::mps ? Sharing::mps : Sharing::time_slice;
      if (!offer.mig_profile.empty())
        remarks.add(fmt::format("shares of {} slices", offer.mig_profile));
      offer.mig_profile.clear();
    } else if (!offer.mig_profile.empty()) {
      offer.sharing = Sharing::mig;
    }
    if (d.virtual_gpu) offer.sharing = Sharing::vgpu;
  }

  void count_cards() {
    if (d.virtual_gpu) {
      remarks.add("virtual GPU: a share of a card that the host holds");
    } else if (!d.mig_profile.empty()) {
      remarks.add(fmt::format("{} slices; the labels count slices, not cards", d.mig_profile));
    } else if (d.changing) {
      remarks.add("MIG is being reconfigured: labels and amounts lag behind");
    } else if (d.count) {
      compare_with_count();
    } else if (d.described && plain_capacity) {
      const int64_t shares = d.sharing == Sharing::whole ? 1 : d.replicas.value_or(0);
      if (shares > 0 && *plain_capacity % shares == 0 && cards.offers.size() == 1)
        cards.physical = *plain_capacity / shares;
    } else if (plain_capacity) {
      remarks.add("no label tells whether a unit of nvidia.com/gpu is a card, a slice or a share");
    }
  }

  void compare_with_count() {
    const bool whole = d.sharing == Sharing::whole && !renamed;
    if (whole && plain_capacity && *plain_capacity > *d.count) {
      remarks.add(
          fmt::format("the label counts {} cards and the plugin offers {}: labels lag behind",
                      *d.count, *plain_capacity));
      return;
    }
    cards.physical = d.count;
  }
};

// NFD sees the PCI device even where no driver and no plugin run.
bool pci_present(const Labels& labels) {
  for (const std::string_view key : {"feature.node.kubernetes.io/pci-10de.present",
                                     "feature.node.kubernetes.io/pci-0302_10de.present",
                                     "feature.node.kubernetes.io/pci-0300_10de.present"})
    if (labels.get(key) == "true") return true;
  return false;
}

}  // namespace

void nvidia_cards(const Labels& labels, const std::vector<Resource>& resources,
                  std::vector<CardSet>& out) {
  const Description d = describe(labels);
  const bool renamed = std::ranges::any_of(resources, [](const Resource& r) {
    return r.name == "nvidia.com/gpu.shared" && is_offered(r);
  });
  Reading reading{labels, d, renamed, {}, {}, {}};
  std::vector<CardSet> strange;
  for (const Resource& resource : resources) {
    if (!resource.name.starts_with("nvidia.com/") || !is_offered(resource)) continue;
    if (const auto name = parse_name(resource.name)) {
      reading.add(resource, *name);
    } else {
      strange.push_back(strange_resource(resource, strange_reason(resource.name)));
    }
  }
  CardSet& cards = reading.cards;
  const bool labelled = d.described || labels.get("nvidia.com/gpu.present") == "true";
  if (cards.offers.empty() && !labelled && (!strange.empty() || !pci_present(labels))) {
    std::ranges::move(strange, std::back_inserter(out));
    return;
  }
  cards.family = Family::nvidia;
  cards.reported = d.product;
  const bool slices = !d.mig_profile.empty();
  if (!slices) cards.memory_bytes = d.memory_bytes;
  if (!d.virtual_gpu)
    if (const DeviceModel* model = single_model(d.product, cards.memory_bytes))
      cards.model = model->name;
  reading.count_cards();
  if (cards.offers.empty())
    reading.remarks.add(labelled ? "labelled, but no device plugin offers them"
                                 : "an NVIDIA PCI device; no driver and no device plugin show it");
  cards.remark = reading.remarks.text();
  out.push_back(std::move(cards));
  std::ranges::move(strange, std::back_inserter(out));
}

}  // namespace exa::kubernetes
