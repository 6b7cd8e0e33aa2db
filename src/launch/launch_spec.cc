#include "launch/launch_spec.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {

Resources resources_of(const Shape& shape) {
  return {shape.accelerator_family, shape.accelerator_model_hint,
          shape.gpu_count,          shape.gpu_fraction_milli,
          shape.mig_profile,        shape.cpu_milli,
          shape.memory_bytes,       shape.nodes};
}

std::string job_name(const LaunchSpec& spec) {
  return fmt::format("exa-{}-{}", name(spec.kind), spec.name);
}

Result<void> check_launch_name(std::string_view name) {
  const auto is_alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  const bool fine =
      !name.empty() && name.size() <= 40 && is_alphanumeric(name.front()) &&
      is_alphanumeric(name.back()) &&
      std::ranges::all_of(name, [&](char c) { return is_alphanumeric(c) || c == '-'; });
  if (fine) return {};
  return fail(invalid("name", {{"/name",
                                fmt::format("\"{}\" is no name: 1 to 40 lower-case letters, digits "
                                            "and '-', beginning and ending with a letter or digit",
                                            printable(name)),
                                ""}}));
}

std::string launch_tag(const LaunchSpec& spec) {
  return fmt::format("{} {}/{} {}", name(spec.kind), spec.project, spec.name, spec.id);
}

}  // namespace exa
