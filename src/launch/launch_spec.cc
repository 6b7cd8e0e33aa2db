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

std::string_view launch_kind(Surface kind) {
  return kind == Surface::any ? "instance" : name(kind);
}

std::optional<Surface> find_launch_kind(std::string_view word) {
  for (const Surface kind : {Surface::workbench, Surface::training, Surface::serving, Surface::any})
    if (launch_kind(kind) == word) return kind;
  return std::nullopt;
}

std::string job_name(const LaunchSpec& spec) {
  return fmt::format("exa-{}-{}", launch_kind(spec.kind), spec.name);
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

std::vector<Problem> problems_of(const std::vector<RenderedFile>& files) {
  constexpr size_t kMostOfAName = 64;
  const auto is_alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  std::vector<Problem> problems;
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string& name = files[i].name;
    const bool fine = !name.empty() && name.size() <= kMostOfAName &&
                      is_alphanumeric(name.front()) && std::ranges::all_of(name, [&](char c) {
                        return is_alphanumeric(c) || c == '.' || c == '_' || c == '-';
                      });
    const auto same = [&](const RenderedFile& file) { return file.name == name; };
    if (!fine) {
      problems.push_back({fmt::format("/files/{}", i),
                          fmt::format("\"{}\" is no name of a file: letters, digits and . _ -, "
                                      "beginning with a letter or digit",
                                      printable(name)),
                          ""});
    } else if (std::any_of(files.begin(), files.begin() + static_cast<ptrdiff_t>(i), same)) {
      problems.push_back({fmt::format("/files/{}", i), fmt::format("{} stands twice", name), ""});
    }
  }
  return problems;
}

std::string without_its_program(const LaunchSpec& spec, std::string_view where) {
  const std::string program = spec.command.empty() ? "" : literal(spec.command[0]).value_or("");
  return fmt::format("{}: not found on {}; {} there", printable(program), where, spec.installed_by);
}

std::string launch_tag(const LaunchSpec& spec) {
  return fmt::format("{} {}/{} {}", launch_kind(spec.kind), spec.project, spec.name, spec.id);
}

}  // namespace exa
