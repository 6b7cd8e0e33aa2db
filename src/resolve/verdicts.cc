// What was seen of every claimed field, and whether it bears the claim out.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/plural.h"
#include "base/quantity.h"
#include "base/text.h"
#include "resolve/fit.h"

namespace exa {
namespace {

constexpr size_t kMostObserved = 4;

bool is_claimed(const Shape& shape, std::string_view field) {
  if (field == "nodes") return true;
  const ClaimSet claims = claims_of(shape);
  for (size_t i = 0; i < kClaims; ++i)
    if (field_of(static_cast<Claim>(i)) == field) return (claims >> i & 1U) != 0;
  return false;  // applicability and description claim nothing about hardware
}

std::vector<FieldVerdict> claimed_fields(const Shape& shape) {
  std::vector<FieldVerdict> verdicts;
  for (const std::string_view field : shape_fields())
    if (is_claimed(shape, field))
      verdicts.push_back(
          {std::string(field), field_to_json(shape, field), Match::not_reported, {}});
  return verdicts;
}

std::optional<Claim> claim_of(std::string_view field) {
  for (size_t i = 0; i < kClaims; ++i)
    if (field_of(static_cast<Claim>(i)) == field) return static_cast<Claim>(i);
  return std::nullopt;
}

// Texts with the number of nodes that show each: most nodes first.
class Observed {
 public:
  void add(const std::string& text, int64_t nodes) {
    if (!text.empty()) nodes_[text] += nodes;
  }

  // `first` leads, however few nodes show it.
  std::string text(std::string_view first = {}) const {
    std::vector<std::pair<std::string, int64_t>> rows(nodes_.begin(), nodes_.end());
    std::ranges::stable_sort(rows, std::greater<>(), &std::pair<std::string, int64_t>::second);
    // not std::ranges: clang 14 cannot read that of libstdc++ 12
    std::stable_partition(rows.begin(), rows.end(),
                          [&](const auto& row) { return row.first == first; });
    std::vector<std::string> parts;
    for (const auto& [text, nodes] : rows) {
      if (parts.size() == kMostObserved) {
        parts.push_back(fmt::format("{} others", rows.size() - kMostObserved));
        break;
      }
      parts.push_back(fmt::format("{} ({})", text, counted(nodes, "node")));
    }
    return join(parts, ", ");
  }

 private:
  std::map<std::string, int64_t> nodes_;
};

// The nodes and ways behind an answer.
struct Evidence {
  const Shape& shape;
  const Fleet& fleet;
  const Comparisons& comparisons;
  const Fit& fit;
  ClaimSet claims;  // borne out together by all of them
};

std::string devices_seen(const Evidence& e, const Way& way) {
  if (way.group == nullptr) return {};
  const std::string model = describe(e.fleet.models[way.group->model]);
  if (way.unread) {
    return way.group->physical ? fmt::format("{} × {} present, not said how to ask for them",
                                             *way.group->physical, model)
                               : fmt::format("{} present, not said how to ask for it", model);
  }
  if (way.offer == nullptr) return model;
  if (way.offer->sharing == Sharing::whole) return fmt::format("{} × {}", way.offer->units, model);
  return fmt::format("{} × {} of {}", way.offer->units, describe(*way.offer), model);
}

std::string family_seen(const Evidence& e, const Way& way) {
  if (way.group == nullptr) return {};
  if (!way.group->family_unread) return std::string(info(way.group->family).name);
  const std::string& text = e.fleet.models[way.group->model].text;
  return text.empty() ? "device of unknown family"
                      : fmt::format("{}, whose family is not known", text);
}

std::string amount_seen(int64_t most, std::string_view unit, const std::string& amount) {
  return most == kNotSaid ? std::string() : fmt::format("at most {} {}", amount, unit);
}

std::string claim_seen(const Evidence& e, const ClassFit& row, const Way& way, size_t variant,
                       Claim claim) {
  const bool tagged = covers(tagged_claims(variant), bit(claim));
  switch (claim) {
    case Claim::family:
      return family_seen(e, way);
    case Claim::gpu_count:
      return devices_seen(e, way);
    case Claim::model_hint:
      return way.group == nullptr ? std::string() : e.fleet.models[way.group->model].text;
    case Claim::fraction:
    case Claim::mig:
      return way.offer == nullptr ? std::string() : describe(*way.offer);
    case Claim::cpu:
      return amount_seen(row.nodes->most_cpu_milli, "cores",
                         format_milli(std::max<int64_t>(0, row.nodes->most_cpu_milli)));
    case Claim::memory:
      return row.nodes->most_memory_bytes == kNotSaid
                 ? std::string()
                 : "at most " + format_bytes(row.nodes->most_memory_bytes);
    case Claim::driver:
      return tagged ? "feature " + e.shape.driver_tag
                    : e.comparisons.drivers[row.nodes->provision].observed;
    case Claim::runtime:
      return tagged ? e.shape.runtime_tag : std::string();
  }
  return {};
}

template <typename Text>
std::string observed(const Evidence& e, Text text_of) {
  Observed result;
  for (const ClassFit& row : e.fit.classes) {
    for (size_t variant = 0; variant < kVariants; ++variant) {
      if (row.holding.at(variant) == 0) continue;
      std::vector<std::string> said;  // two ways of one node that show the same count it once
      for (const Way& way : row.ways) {
        if (!covers(borne_out(way, variant), e.claims)) continue;
        std::string text = text_of(row, way, variant);
        if (std::ranges::find(said, text) != said.end()) continue;
        result.add(text, row.holding.at(variant));
        said.push_back(std::move(text));
      }
    }
  }
  return result.text();
}

// Distinct nodes of the evidence that leave the claim possible.
int64_t nodes_not_contradicting(const Evidence& e, Claim claim) {
  int64_t nodes = 0;
  for (const ClassFit& row : e.fit.classes) {
    for (size_t variant = 0; variant < kVariants; ++variant) {
      const bool tagged = covers(tagged_claims(variant), bit(claim));
      const bool open = std::ranges::any_of(row.ways, [&](const Way& way) {
        if (!covers(borne_out(way, variant), e.claims)) return false;
        return tagged || way.match.at(static_cast<size_t>(claim)) != Match::contradicted;
      });
      if (open) nodes += row.holding.at(variant);
    }
  }
  return nodes;
}

void judge_claim(const Evidence& e, Claim claim, FieldVerdict& verdict) {
  if (covers(e.claims, bit(claim)))
    verdict.verdict = Match::confirmed;
  else if (nodes_not_contradicting(e, claim) < e.shape.nodes)
    verdict.verdict = Match::contradicted;
  verdict.observed = observed(e, [&](const ClassFit& row, const Way& way, size_t variant) {
    const bool silent = covers(silent_claims(variant), bit(claim));
    return silent ? std::string() : claim_seen(e, row, way, variant, claim);
  });
}

// The claims of an ask that does not fit, judged on whatever the usable nodes carry.
Shape without_amounts(const Shape& shape, int64_t gpu_count, int64_t nodes) {
  Shape relaxed = shape;
  relaxed.gpu_count = gpu_count;
  relaxed.cpu_milli = 0;
  relaxed.memory_bytes = 0;
  relaxed.nodes = nodes;
  return relaxed;
}

// Nodes, usable or not, by the families that they carry: the claimed one first.
std::string families_seen(const Fleet& fleet, Family claimed) {
  Observed seen;
  for (const FleetClass& nodes : fleet.classes) {
    std::vector<std::string> said;
    for (const FleetGroup& group : nodes.groups) {
      std::string text(group.family_unread ? "device of unknown family" : info(group.family).name);
      if (std::ranges::find(said, text) == said.end()) said.push_back(std::move(text));
    }
    for (const std::string& text : said) seen.add(text, static_cast<int64_t>(nodes.count));
  }
  return seen.text(info(claimed).name);
}

void judge_family(const Shape& shape, const Fleet& fleet, FieldVerdict& verdict) {
  if (shape.accelerator_family == Family::cpu) {
    verdict.verdict = Match::confirmed;
    verdict.observed = info(Family::cpu).name;
    return;
  }
  if (fleet.has_family(shape.accelerator_family))
    verdict.verdict = Match::confirmed;
  else if (!fleet.may_have_family(shape.accelerator_family))
    verdict.verdict = Match::contradicted;
  verdict.observed = families_seen(fleet, shape.accelerator_family);
  if (verdict.observed.empty() && verdict.verdict == Match::contradicted)
    verdict.observed = "no device on any node";
}

// Number of devices that enough nodes were seen to have, though they lack something else.
void judge_count(const Shape& shape, const Fleet& fleet, const Comparisons& comparisons,
                 FieldVerdict& verdict) {
  const Shape relaxed = without_amounts(shape, shape.gpu_count, shape.nodes);
  const Fit devices = fit(relaxed, fleet, comparisons);
  const bool seen = nodes_bearing_out(devices, bit(Claim::gpu_count)) >= shape.nodes;
  const Evidence evidence{relaxed, fleet, comparisons, devices,
                          seen ? bit(Claim::gpu_count) : ClaimSet{0}};
  judge_claim(evidence, Claim::gpu_count, verdict);
}

void judge_missing(const Dimension& dimension, FieldVerdict& verdict) {
  verdict.verdict = Match::contradicted;
  if (dimension.name == "nodes")
    verdict.observed = fmt::format("{} fit", dimension.nodes_that_have);
  else
    verdict.observed = fmt::format("enough on {} of {} asked", dimension.nodes_that_have,
                                   counted(dimension.nodes_asked, "node"));
}

int64_t nodes_known_to_have(const Fleet& fleet, const std::vector<int64_t>& column, int64_t asked) {
  int64_t count = 0;
  for (const FleetClass& nodes : fleet.classes) {
    if (!nodes.usable()) continue;
    for (size_t i = nodes.first; i < nodes.first + nodes.count; ++i)
      if (column[i] >= asked) ++count;
  }
  return count;
}

}  // namespace

std::vector<FieldVerdict> verdicts_of(const Shape& shape, const Fleet& fleet,
                                      const Comparisons& comparisons, const Fit& fit,
                                      ClaimSet claims) {
  const Evidence evidence{shape, fleet, comparisons, fit, claims};
  std::vector<FieldVerdict> verdicts = claimed_fields(shape);
  for (FieldVerdict& verdict : verdicts) {
    if (const auto claim = claim_of(verdict.field)) {
      judge_claim(evidence, *claim, verdict);
    } else {
      verdict.verdict = Match::confirmed;
      verdict.observed = fmt::format("{} fit", nodes_bearing_out(fit, claims));
    }
    const bool family = verdict.field == "accelerator_family";
    if (family && verdict.verdict == Match::confirmed)
      verdict.observed = info(shape.accelerator_family).name;
  }
  return verdicts;
}

std::vector<FieldVerdict> verdicts_of_unchecked(const Shape& shape) {
  return claimed_fields(shape);
}

std::vector<FieldVerdict> verdicts_of_missing(const Shape& shape, const Fleet& fleet,
                                              const Comparisons& comparisons,
                                              const std::vector<Dimension>& missing,
                                              int64_t fitting_nodes) {
  const Shape relaxed = without_amounts(shape, std::min<int64_t>(1, shape.gpu_count), 1);
  const Fit any = fit(relaxed, fleet, comparisons);
  std::vector<FieldVerdict> verdicts = claimed_fields(shape);
  for (FieldVerdict& verdict : verdicts) {
    const auto dimension = std::ranges::find(missing, verdict.field, &Dimension::name);
    const auto claim = claim_of(verdict.field);
    if (dimension != missing.end()) {
      judge_missing(*dimension, verdict);
    } else if (!claim) {  // nodes: too few of them hold the ask, whatever it is that they lack
      verdict.verdict = Match::contradicted;
      verdict.observed = fmt::format("{} fit", fitting_nodes);
    } else if (claim == Claim::family) {
      judge_family(shape, fleet, verdict);
    } else if (claim == Claim::gpu_count) {
      judge_count(shape, fleet, comparisons, verdict);
    } else if (claim == Claim::cpu || claim == Claim::memory) {
      const bool cpu = claim == Claim::cpu;
      const int64_t nodes = nodes_known_to_have(fleet, cpu ? fleet.cpu_milli : fleet.memory_bytes,
                                                cpu ? shape.cpu_milli : shape.memory_bytes);
      if (nodes >= shape.nodes) verdict.verdict = Match::confirmed;
      verdict.observed = fmt::format("enough on {}", counted(nodes, "usable node"));
    } else if (!any.classes.empty()) {
      const bool seen = nodes_bearing_out(any, bit(*claim)) > 0;
      const Evidence evidence{relaxed, fleet, comparisons, any, seen ? bit(*claim) : ClaimSet{0}};
      judge_claim(evidence, *claim, verdict);
    }
  }
  return verdicts;
}

}  // namespace exa
