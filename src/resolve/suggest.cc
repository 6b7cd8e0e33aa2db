#include "resolve/suggest.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "profile/validate.h"

namespace exa {
namespace {

constexpr size_t kLongestModel = 48;  // leaves room for the cut in a name of 63

// What the nodes of one kind have at least; nullopt: some node does not say.
struct Least {
  std::optional<int64_t> cpu_milli;
  std::optional<int64_t> memory_bytes;
  int64_t nodes = 0;

  void take(int64_t cpu, int64_t memory) {
    keep(cpu_milli, cpu);
    keep(memory_bytes, memory);
    ++nodes;
  }

 private:
  void keep(std::optional<int64_t>& least, int64_t value) const {
    if (nodes == 0)
      least = value;
    else if (least)
      least = std::min(*least, value);
    if (least == kNotSaid) least.reset();
  }
};

struct Kind {
  Family family = Family::cpu;
  std::string model;        // as a hint; empty: unknown
  std::string mig_profile;  // empty: whole devices
  int64_t devices = 0;      // per node
  int64_t cores = 0;        // for nodes without devices: what tells them apart

  auto operator<=>(const Kind&) const = default;
};

std::string slug(std::string_view text) {
  std::string name;
  for (const char c : lower(text)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain)
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
    if (name.size() == kLongestModel) break;
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

int64_t free_of_overhead_cpu(int64_t cpu_milli) {
  return cpu_milli > 2 * kReservedCpuMilli ? cpu_milli - kReservedCpuMilli : cpu_milli / 2;
}

int64_t free_of_overhead_memory(int64_t bytes) {
  const int64_t reserved =
      std::max(bytes / 100 * kReservedMemoryPercent, kLeastReservedMemoryBytes);
  return bytes > 2 * reserved ? bytes - reserved : bytes / 2;
}

// Whole cores and GiB where there are any: people read them.
int64_t rounded_down(int64_t amount, int64_t unit) {
  return amount >= unit ? amount / unit * unit : amount;
}

struct Cut {
  int64_t devices = 0;
  int64_t parts = 1;  // of the node
};

void set_amounts(const Least& least, int64_t parts, Shape& shape) {
  if (least.cpu_milli)
    shape.cpu_milli = rounded_down(free_of_overhead_cpu(*least.cpu_milli) / parts, 1000);
  if (least.memory_bytes)
    shape.memory_bytes = rounded_down(free_of_overhead_memory(*least.memory_bytes) / parts, kGiB);
}

std::string name_of(const Kind& kind, const Cut& cut, const Shape& shape) {
  if (kind.family == Family::cpu) return fmt::format("cpu-{}c", shape.cpu_milli / 1000);
  std::string model = slug(kind.model);
  if (model.empty()) model = info(kind.family).name;
  if (kind.mig_profile.empty()) return fmt::format("{}-x{}", model, cut.devices);
  return fmt::format("{}-{}", model, slug(kind.mig_profile));
}

std::string why(const Kind& kind, const Least& least) {
  std::vector<std::string> has;
  if (kind.devices > 0) {
    const std::string model =
        kind.model.empty() ? std::string(info(kind.family).name) + " devices" : kind.model;
    has.push_back(kind.mig_profile.empty()
                      ? fmt::format("{} × {}", kind.devices, model)
                      : fmt::format("{} × MIG {} of {}", kind.devices, kind.mig_profile, model));
  }
  if (least.cpu_milli)
    has.push_back(fmt::format("at least {} cores", format_milli(*least.cpu_milli)));
  if (least.memory_bytes)
    has.push_back(fmt::format("at least {} of memory", format_bytes(*least.memory_bytes)));
  return fmt::format("{} usable {} {}", least.nodes, least.nodes == 1 ? "node has" : "nodes have",
                     has.empty() ? "said nothing of their size" : join(has, ", "));
}

// Texts of tools are untrusted: a hint that a profile may not carry is left out.
bool is_acceptable(Shape& shape) {
  if (problems_of_shape(shape_to_json(shape)).empty()) return true;
  shape.accelerator_model_hint.clear();
  return problems_of_shape(shape_to_json(shape)).empty();
}

void propose(const Kind& kind, const Least& least, const Cut& cut, std::vector<Suggestion>& list) {
  Suggestion suggestion;
  Shape& shape = suggestion.shape;
  shape.accelerator_family = kind.family;
  shape.accelerator_model_hint = kind.model;
  shape.mig_profile = kind.mig_profile;
  shape.gpu_count = cut.devices;
  set_amounts(least, cut.parts, shape);
  suggestion.name = name_of(kind, cut, shape);
  suggestion.why = why(kind, least);
  const bool taken = std::ranges::find(list, suggestion.name, &Suggestion::name) != list.end();
  const bool empty = shape.gpu_count == 0 && shape.cpu_milli < 1000;
  if (!taken && !empty && is_acceptable(shape)) list.push_back(std::move(suggestion));
}

using Kinds = std::map<Kind, Least>;

// The devices of one group and way of sharing as a kind; nullopt: not something a profile asks for.
std::optional<Kind> kind_of(const Fleet& fleet, const FleetGroup& group, const FleetOffer& offer) {
  const bool cut = offer.sharing == Sharing::whole || offer.sharing == Sharing::mig;
  if (offer.units <= 0 || !cut || !info(group.family).askable || group.family == Family::cpu)
    return std::nullopt;
  return Kind{group.family, fleet.models[group.model].text, offer.mig_profile,
              std::min(offer.units, kMostGpusPerNode), 0};
}

Kinds kinds_of(const Fleet& fleet) {
  Kinds kinds;
  for (const FleetClass& nodes : fleet.classes) {
    if (!nodes.usable()) continue;
    for (size_t i = nodes.first; i < nodes.first + nodes.count; ++i) {
      const int64_t cpu = fleet.cpu_milli[i];
      const int64_t memory = fleet.memory_bytes[i];
      for (const FleetGroup& group : nodes.groups)
        for (const FleetOffer& offer : group.offers)
          if (const auto kind = kind_of(fleet, group, offer)) kinds[*kind].take(cpu, memory);
      if (nodes.groups.empty() && cpu != kNotSaid)
        kinds[{Family::cpu, "", "", 0, cpu / 1000}].take(cpu, memory);
    }
  }
  return kinds;
}

void propose_whole_nodes(const Kinds& kinds, std::vector<Suggestion>& list) {
  for (const auto& [kind, least] : kinds)
    if (kind.mig_profile.empty()) propose(kind, least, {kind.devices, 1}, list);
}

void propose_halves(const Kinds& kinds, std::vector<Suggestion>& list) {
  for (const auto& [kind, least] : kinds) {
    if (!kind.mig_profile.empty()) continue;
    if (kind.devices == 0 || (kind.devices >= 2 && kind.devices % 2 == 0))
      propose(kind, least, {kind.devices / 2, 2}, list);
  }
}

void propose_single_devices(const Kinds& kinds, std::vector<Suggestion>& list) {
  for (const auto& [kind, least] : kinds)
    if (kind.devices > 0) propose(kind, least, {1, kind.devices}, list);
}

}  // namespace

std::vector<Suggestion> suggest(const Inventory& inventory) {
  const Kinds kinds = kinds_of(build_fleet(inventory));
  std::vector<Suggestion> list;
  propose_whole_nodes(kinds, list);
  propose_halves(kinds, list);
  propose_single_devices(kinds, list);
  return list;
}

std::vector<NeverFits> never_fits(std::span<const HardwareProfile> profiles,
                                  const Observation& seen, const std::string& target, Time now) {
  std::vector<NeverFits> list;
  for (const HardwareProfile& profile : profiles) {
    ResolveInput input;
    input.shape = profile.shape;
    input.target = target;
    input.seen = seen;
    input.now = now;
    Resolution answer = resolve(input);
    if (answer.status == Status::unresolvable)
      list.push_back({profile.project, profile.name, profile.version, std::move(answer.reason)});
  }
  return list;
}

}  // namespace exa
