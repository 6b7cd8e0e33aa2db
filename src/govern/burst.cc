#include "govern/burst.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

constexpr std::array<std::string_view, 8> kRules = {
    "allowed", "not-opted-in",   "cloud-off", "class-forbids",
    "outside", "unknown-region", "narrowed",  "nothing-judged"};

const BurstNarrowing* narrowing_of(const BurstPolicy& policy, Residency residency) {
  const auto row = std::ranges::find(policy.narrowed, residency, &BurstNarrowing::residency);
  return row == policy.narrowed.end() ? nullptr : &*row;
}

EgressRule judge_cloud(const EgressQuestion& question, const BurstPolicy& policy) {
  if (!question.opted_in) return EgressRule::not_opted_in;
  if (!policy.cloud) return EgressRule::cloud_off;
  if (question.residency >= Residency::no_egress) return EgressRule::class_forbids;
  const bool open = question.residency == Residency::open;
  const BurstNarrowing* narrowed = narrowing_of(policy, question.residency);
  if (!question.jurisdiction) {
    // a list of jurisdictions cannot hold one that nobody knows
    const bool let_go = open && policy.open_to_unknown && narrowed == nullptr;
    return let_go ? EgressRule::allowed : EgressRule::unknown_region;
  }
  if (!open && *question.jurisdiction != kEu) return EgressRule::outside;
  if (narrowed != nullptr && std::ranges::find(narrowed->jurisdictions, *question.jurisdiction) ==
                                 narrowed->jurisdictions.end())
    return EgressRule::narrowed;
  return EgressRule::allowed;
}

// Nothing leaves the site, but eu-only data may not be brought to a site outside the EU either.
EgressRule judge_on_premises(const EgressQuestion& question) {
  if (question.residency != Residency::eu_only) return EgressRule::allowed;
  if (!question.jurisdiction) return EgressRule::unknown_region;
  return *question.jurisdiction == kEu ? EgressRule::allowed : EgressRule::outside;
}

std::string class_text(const EffectiveResidency& residency) {
  std::string text = fmt::format("data-residency {}", name(residency.residency));
  if (!residency.unknown.empty())
    text += fmt::format(" (as the {}'s unknown class '{}' is taken)", residency.source,
                        printable(residency.unknown));
  return text;
}

std::string region_text(std::string_view region) {
  return region.empty() ? "a region that is not named" : fmt::format("region '{}'", region);
}

}  // namespace

std::string_view name(EgressRule rule) {
  return kRules.at(static_cast<size_t>(rule));
}

EgressRule judge_egress(const EgressQuestion& question, const BurstPolicy& policy) {
  return question.cloud ? judge_cloud(question, policy) : judge_on_premises(question);
}

std::string why_blocked(EgressRule rule, const EffectiveResidency& residency, bool cloud,
                        std::string_view region, const BurstPolicy& policy) {
  const std::string_view way = cloud ? "egress to " : "";
  switch (rule) {
    case EgressRule::allowed:
      return {};
    case EgressRule::not_opted_in:
      return "bursting to the cloud is opt-in; add --allow-burst";
    case EgressRule::cloud_off:
      return "the burst policy lets nothing go to the cloud";
    case EgressRule::class_forbids:
    case EgressRule::outside:
      return fmt::format("{} forbids {}{}", class_text(residency), way, region_text(region));
    case EgressRule::unknown_region:
      return fmt::format("{} forbids {}{}, whose jurisdiction is unknown", class_text(residency),
                         way, region_text(region));
    case EgressRule::narrowed: {
      const BurstNarrowing* row = narrowing_of(policy, residency.residency);
      const bool none = row == nullptr || row->jurisdictions.empty();
      return fmt::format("the burst policy lets {} go to {} only, not to {}", class_text(residency),
                         none ? std::string("no jurisdiction") : join(row->jurisdictions, ", "),
                         region_text(region));
    }
    case EgressRule::nothing_judged:
      return "no pool that could hold it was there to be judged";
  }
  EXA_ASSERT(false && "every rule has its sentence");
}

BurstVerdict judge_burst(const BurstAttempt& attempt, const BurstPolicy& policy,
                         const JurisdictionTable& jurisdictions) {
  const auto jurisdiction = jurisdiction_of(jurisdictions, attempt.region);
  BurstVerdict verdict;
  verdict.rule = judge_egress(
      {attempt.residency.residency, attempt.cloud, jurisdiction, attempt.opted_in}, policy);
  verdict.allowed = verdict.rule == EgressRule::allowed;
  verdict.reason =
      why_blocked(verdict.rule, attempt.residency, attempt.cloud, attempt.region, policy);
  verdict.workload = attempt.workload;
  verdict.pool = attempt.pool;
  verdict.region = attempt.region;
  verdict.jurisdiction = std::string(jurisdiction.value_or(""));
  verdict.residency = attempt.residency;
  verdict.policy_revision = policy.revision;
  return verdict;
}

std::string message(const BurstVerdict& verdict) {
  if (!verdict.allowed) return "Burst blocked: " + verdict.reason;
  return fmt::format("Burst allowed: data-residency {} permits {} ({})",
                     name(verdict.residency.residency), region_text(verdict.region),
                     verdict.jurisdiction.empty() ? "jurisdiction unknown" : verdict.jurisdiction);
}

}  // namespace exa
