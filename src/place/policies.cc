// The table of policies.
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "place/policy_parts.h"

namespace exa {
namespace {

struct Row {
  std::string_view name;
  std::unique_ptr<DevicePolicy> (*make)();
};

constexpr Row kRows[] = {
    {"exa", make_exa},
    {"fgd", make_fgd},
    {"best-fit", make_best_fit},
    {"packing", make_packing},
    {"dot-product", make_dot_product},
    {"spread", make_spread},
    {"random", make_random},
};

constexpr auto kNames = [] {
  std::array<std::string_view, std::size(kRows)> names;
  for (size_t i = 0; i < names.size(); ++i) names.at(i) = kRows[i].name;
  return names;
}();

}  // namespace

void DevicePolicy::learn(const DeviceFleet& /*fleet*/, const AskMix& /*mix*/) {}

std::span<const std::string_view> policy_names() {
  return kNames;
}

Result<std::unique_ptr<DevicePolicy>> make_policy(std::string_view name) {
  for (const Row& row : kRows)
    if (row.name == name) return row.make();
  const std::vector<std::string> names(kNames.begin(), kNames.end());
  Error error;
  error.code = Code::invalid_input;
  error.message = fmt::format("no placement policy is called \"{}\"; there are {}", printable(name),
                              join(names, ", "));
  error.problems = {{"/policy", "unknown policy", did_you_mean(name, names)}};
  return fail(std::move(error));
}

}  // namespace exa
