#include "govern/residency.h"

#include <array>

namespace exa {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"open", "eu-only", "no-egress", "restricted"};

EffectiveResidency judge_claim(const ResidencyClaim& claim) {
  const auto known = find_residency(claim.written);
  return {known.value_or(Residency::restricted), std::string(claim.source),
          known ? std::string() : std::string(claim.written)};
}

bool outweighs(const EffectiveResidency& a, const EffectiveResidency& b) {
  if (a.residency != b.residency) return a.residency > b.residency;
  return a.unknown.empty() && !b.unknown.empty();
}

}  // namespace

std::string_view name(Residency residency) {
  return kNames.at(static_cast<size_t>(residency));
}

std::optional<Residency> find_residency(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<Residency>(i);
  return std::nullopt;
}

std::vector<std::string> residency_names() {
  return {kNames.begin(), kNames.end()};
}

EffectiveResidency effective_residency(std::span<const ResidencyClaim> claims,
                                       Residency otherwise) {
  std::optional<EffectiveResidency> strictest;
  for (const ResidencyClaim& claim : claims) {
    if (claim.written.empty()) continue;
    EffectiveResidency said = judge_claim(claim);
    if (!strictest || outweighs(said, *strictest)) strictest = std::move(said);
  }
  return strictest.value_or(EffectiveResidency{otherwise, "default", {}});
}

json::object to_json(const EffectiveResidency& residency) {
  return {{"class", name(residency.residency)},
          {"source", residency.source},
          {"unknown",
           residency.unknown.empty() ? json::value(nullptr) : json::value(residency.unknown)}};
}

}  // namespace exa
