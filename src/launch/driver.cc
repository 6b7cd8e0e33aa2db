#include "launch/driver.h"

#include <algorithm>

#include <fmt/format.h>

namespace exa {

std::string_view name(JobState state) {
  constexpr std::string_view kNames[] = {"pending", "running",   "succeeded",
                                         "failed",  "cancelled", "unknown"};
  return kNames[static_cast<size_t>(state)];
}

Result<std::optional<Observed>> explained(const LaunchSpec& spec,
                                          Result<std::optional<Observed>> seen,
                                          std::string_view where) {
  if (!seen || !*seen || spec.installed_by.empty()) return seen;
  Observed& observed = **seen;
  if (observed.state == JobState::failed && observed.exit_code == kNoSuchProgram) {
    observed.reason = without_its_program(spec, observed.nodes.empty() ? where : observed.nodes[0]);
  }
  return seen;
}

bool is_refusal(const Error& error) {
  switch (error.code) {
    case Code::unresolvable:   // the scheduler answered no
    case Code::invalid_input:  // it was never asked
    case Code::not_found:      // there is no such program
    case Code::blocked:
    case Code::forbidden:
    case Code::conflict:  // something else has the name there
      return true;
    default:
      return false;
  }
}

Result<std::unique_ptr<Driver>> driver_for(const ClusterAddress& address, Progress& progress) {
  using enum ClusterKind;
  switch (address.kind) {
    case host:
      return local_driver(transport_to(address, progress));
    case slurm:
      return slurm_driver(transport_to(address, progress));
    case flux:
      return flux_driver(transport_to(address, progress));
    case kubernetes:
      return kubernetes_driver(address, progress);
  }
  return fail(Code::unexpected, "a kind of cluster without a driver");
}

}  // namespace exa
