// What a platform asks for, read and checked before machines are looked at: GPUs, limits, the least
// number of workers.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "compute/machine_selection.h"

namespace exa {
namespace {

constexpr int64_t kMostAsked = 1'000'000;  // more than any fleet has
constexpr std::string_view kDigits = "0123456789";

struct CountOfFamily {
  std::string_view family;
  std::string_view count;
};

// "H100=8" and "NVIDIA-H100: 8" say the family first, "8 H100" the count.
std::optional<CountOfFamily> parted(std::string_view text) {
  if (const size_t at = text.find_last_of("=:"); at != std::string_view::npos)
    return CountOfFamily{trim(text.substr(0, at)), trim(text.substr(at + 1))};
  const size_t end = text.find_first_not_of(kDigits);
  if (end == 0 || end == std::string_view::npos || text[end] != ' ') return std::nullopt;
  return CountOfFamily{trim(text.substr(end)), text.substr(0, end)};
}

bool has_letter(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
}

Result<void> check_minimum(const std::optional<int64_t>& minimum, std::string_view from) {
  if (minimum.value_or(0) >= 0) return {};
  return fail(Code::invalid_input,
              fmt::format("{} is {}: write a whole number from 0 on", from, *minimum));
}

}  // namespace

Result<std::pair<GpuFamily, int64_t>> parse_gpu_request(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return fail(
        Code::invalid_input,
        fmt::format("\"{}\" {}; write for example H100=8 or \"8 H100\"", printable(text), why));
  };
  const auto parts = parted(trim(text));
  if (!parts || !has_letter(parts->family))
    return refuse("does not say how many GPUs of which family");
  const GpuFamily family = gpu_family(parts->family);
  if (family.empty()) return refuse("names no family of GPUs");
  const auto count = parse_count(parts->count, "GPUs");
  if (!count || *count < 1 || *count > kMostAsked)
    return refuse(fmt::format("does not ask for 1 to {} GPUs", kMostAsked));
  return std::pair{family, *count};
}

Result<MinimumWorkers> minimum_workers(const MinimumSources& sources) {
  const std::string label = fmt::format("the label palette.ai/min-nodes of workload profile {}",
                                        printable(sources.workload_profile));
  const std::string override_ = fmt::format("minWorkerNodes in the override of compute profile {}",
                                            printable(sources.compute_profile));
  const std::string profile =
      fmt::format("minWorkerNodes of compute profile {}", printable(sources.compute_profile));
  EXA_TRY(check_minimum(sources.override_count, override_));
  EXA_TRY(check_minimum(sources.profile, profile));
  MinimumWorkers minimum;
  if (sources.label) {
    const auto count = parse_count(*sources.label, "workers");
    if (!count)
      return fail(Code::invalid_input, fmt::format("{} is \"{}\": write a whole number from 0 on",
                                                   label, printable(*sources.label)));
    minimum = {*count, label, {}};
  } else if (sources.override_count) {
    minimum = {*sources.override_count, override_, {}};
  } else if (sources.profile) {
    minimum = {*sources.profile, profile, {}};
  }
  if (sources.profile && minimum.count < *sources.profile)
    minimum.warnings.push_back(
        fmt::format("{} lowers the least number of workers from {} to {}: "
                    "{} says {}",
                    minimum.from, *sources.profile, minimum.count, profile, *sources.profile));
  return minimum;
}

std::vector<Problem> beyond_limits(std::span<const std::pair<GpuFamily, int64_t>> gpus,
                                   std::span<const std::pair<GpuFamily, int64_t>> limits,
                                   std::string_view compute_profile) {
  std::vector<Problem> problems;
  for (const auto& [family, count] : gpus) {
    const auto limit = std::ranges::find(limits, family, &std::pair<GpuFamily, int64_t>::first);
    if (limit == limits.end() || count <= limit->second) continue;
    const std::string where = pointer("/gpus", family.shown);
    if (limit->second == 0)
      problems.push_back({where,
                          fmt::format("{} {} are asked for; compute profile {} allows none of them",
                                      count, family.shown, printable(compute_profile)),
                          "ask for another family, or have the limit raised"});
    else
      problems.push_back(
          {where,
           fmt::format("{} {} are asked for; compute profile {} allows {} at most", count,
                       family.shown, printable(compute_profile), limit->second),
           fmt::format("ask for {} or fewer", limit->second)});
  }
  return problems;
}

}  // namespace exa
