#include "resolve/fit.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

namespace exa {
namespace {

struct Needs {
  int64_t cpu = 0;
  int64_t memory = 0;
};

bool holds(int64_t has, int64_t needs) {
  return has >= needs || has == kNotSaid;
}

// Nothing is claimed about an amount that is not asked for, so silence about it does not matter.
size_t silence_of(int64_t cpu, int64_t memory, const Needs& needs) {
  return (cpu == kNotSaid && needs.cpu > 0 ? kSilentOnCpu : 0) |
         (memory == kNotSaid && needs.memory > 0 ? kSilentOnMemory : 0);
}

// The common case: every node says both, so the columns are compared without a branch.
int64_t count_telling(std::span<const int64_t> cpu, std::span<const int64_t> memory,
                      const Needs& needs) {
  int64_t count = 0;
  for (size_t i = 0; i < cpu.size(); ++i)
    count +=
        static_cast<int64_t>(cpu[i] >= needs.cpu) & static_cast<int64_t>(memory[i] >= needs.memory);
  return count;
}

std::array<int64_t, kVariants> count_holding(const Fleet& fleet, const FleetClass& nodes,
                                             const Comparisons& comparisons, const Needs& needs) {
  const std::span cpu(fleet.cpu_milli.data() + nodes.first, nodes.count);
  const std::span memory(fleet.memory_bytes.data() + nodes.first, nodes.count);
  std::array<int64_t, kVariants> holding{};
  if (nodes.says_cpu && nodes.says_memory && comparisons.tagged.empty()) {
    holding[0] = count_telling(cpu, memory, needs);
    return holding;
  }
  for (size_t i = 0; i < nodes.count; ++i) {
    if (holds(cpu[i], needs.cpu) && holds(memory[i], needs.memory))
      ++holding.at(silence_of(cpu[i], memory[i], needs) |
                   tagged_variant(comparisons, nodes.first + i));
  }
  return holding;
}

int64_t sum(const std::array<int64_t, kVariants>& holding) {
  return std::accumulate(holding.begin(), holding.end(), int64_t{0});
}

// Claims earlier in the document weigh more.
unsigned weight(ClaimSet claims) {
  unsigned weight = 0;
  for (size_t i = 0; i < kClaims; ++i)
    if ((claims >> i & 1U) != 0) weight |= 1U << (kClaims - 1 - i);
  return weight;
}

ClaimSet borne_out_by_all(const Fit& fit) {
  ClaimSet claims = kAllClaims;
  for (const ClassFit& row : fit.classes)
    for (size_t variant = 0; variant < kVariants; ++variant)
      if (row.holding.at(variant) > 0)
        for (const Way& way : row.ways) claims &= borne_out(way, variant);
  return claims;
}

}  // namespace

ClaimSet silent_claims(size_t variant) {
  ClaimSet claims = 0;
  if ((variant & kSilentOnCpu) != 0) claims |= bit(Claim::cpu);
  if ((variant & kSilentOnMemory) != 0) claims |= bit(Claim::memory);
  return claims;
}

ClaimSet tagged_claims(size_t variant) {
  ClaimSet claims = 0;
  if ((variant & kDriverTagged) != 0) claims |= bit(Claim::driver);
  if ((variant & kRuntimeTagged) != 0) claims |= bit(Claim::runtime);
  return claims;
}

size_t tagged_variant(const Comparisons& comparisons, size_t node) {
  if (comparisons.tagged.empty()) return 0;
  const ClaimSet claims = comparisons.tagged[node];
  return ((claims & bit(Claim::driver)) != 0 ? kDriverTagged : 0) |
         ((claims & bit(Claim::runtime)) != 0 ? kRuntimeTagged : 0);
}

Fit fit(const Shape& shape, const Fleet& fleet, const Comparisons& comparisons) {
  const Needs needs{shape.cpu_milli, shape.memory_bytes};
  Fit result;
  for (const FleetClass& nodes : fleet.classes) {
    if (!nodes.usable()) continue;
    ClassFit row{&nodes, ways_of(shape, fleet, nodes, comparisons), {}};
    std::erase_if(row.ways, [&](const Way& way) {
      return (way.offer != nullptr || way.unread) && way.devices < shape.gpu_count;
    });
    if (row.ways.empty()) continue;
    row.holding = count_holding(fleet, nodes, comparisons, needs);
    const int64_t count = sum(row.holding);
    if (count == 0) continue;
    result.nodes += count;
    result.classes.push_back(std::move(row));
  }
  return result;
}

int64_t nodes_bearing_out(const Fit& fit, ClaimSet claims) {
  int64_t count = 0;
  for (const ClassFit& row : fit.classes) {
    for (size_t variant = 0; variant < kVariants; ++variant) {
      if (row.holding.at(variant) == 0) continue;
      const bool any = std::ranges::any_of(
          row.ways, [&](const Way& way) { return covers(borne_out(way, variant), claims); });
      if (any) count += row.holding.at(variant);
    }
  }
  return count;
}

ClaimSet best_claims(const Fit& fit, ClaimSet claimed, int64_t nodes) {
  if (nodes_bearing_out(fit, claimed) >= nodes) return claimed;
  ClaimSet best = 0;
  const auto rank = [](ClaimSet claims) {
    return std::pair(std::popcount(claims), weight(claims));
  };
  // What every way bears out belongs to the best set whatever else does; of the rest, every subset.
  const ClaimSet always = borne_out_by_all(fit) & claimed;
  const auto open = static_cast<ClaimSet>(claimed & ~always);
  best = always;
  for (unsigned part = open; part != 0; part = (part - 1) & open) {
    const auto claims = static_cast<ClaimSet>(part | always);
    if (rank(claims) > rank(best) && nodes_bearing_out(fit, claims) >= nodes) best = claims;
  }
  return best;
}

}  // namespace exa
