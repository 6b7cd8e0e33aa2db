#include "api/profile_args.h"

#include <fmt/format.h>

#include "base/text.h"
#include "profile/validate.h"

namespace exa {

void check_project(const json::object& args, std::vector<Problem>& problems) {
  check_with(args, "project", problems, [](auto text) { return check_name(text, "project name"); });
}

// What follows the @ is of two kinds; "not a label" alone would hide the other ("small@-1").
Result<ProfileRef> check_ref(std::string_view text) {
  auto reference = parse_reference(text);
  const std::vector<std::string_view> parts = split(text, '@');
  if (reference || parts.size() != 2 || !check_name(parts[0], "profile name")) return reference;
  const bool digits = parts[1].find_first_not_of("0123456789") == std::string_view::npos;
  if (digits) return reference;
  return fail(Code::invalid_input,
              fmt::format("\"{}\" after the @ is neither a version (1, 2, …) nor a label (a-z, 0-9 "
                          "and '-' inside)",
                          printable(parts[1])));
}

json::object shape_args(const json::object& args) {
  json::object shape;
  for (const std::string_view field : shape_fields()) {
    if (const json::value* value = args.if_contains(field)) shape[field] = *value;
  }
  return shape;
}

std::vector<Param> shape_params() {
  return {
      {.name = "accelerator_family",
       .in = In::body,
       .kind = Kind::choice,
       .flag = "--accelerator-family",
       .help = "accelerator family",
       .choices = family_choices()},
      {.name = "gpu_count",
       .in = In::body,
       .kind = Kind::integer,
       .flag = "--gpu",
       .help = "accelerators per node (default 0)"},
      {.name = "gpu_fraction",
       .in = In::body,
       .kind = Kind::decimal,
       .flag = "--gpu-fraction",
       .help = "share of each accelerator, above 0 and at most 1 (default 1)"},
      {.name = "mig_profile",
       .in = In::body,
       .flag = "--mig-profile",
       .help = "MIG profile, e.g. 1g.10gb"},
      {.name = "cpu",
       .in = In::body,
       .kind = Kind::decimal,
       .flag = "--cpu",
       .help = "cores per node, e.g. 8 or 0.5 (default 0: not asked)"},
      {.name = "memory_gb",
       .in = In::body,
       .kind = Kind::decimal,
       .flag = "--memory-gb",
       .help = "memory per node in GiB (default 0: not asked)"},
      {.name = "nodes",
       .in = In::body,
       .kind = Kind::integer,
       .flag = "--nodes",
       .help = "number of nodes (default 1)"},
      {.name = "accelerator_model_hint",
       .in = In::body,
       .flag = "--accelerator-model-hint",
       .help = "model wanted, e.g. A100-80GB; never trusted without a live check"},
      {.name = "driver_tag",
       .in = In::body,
       .flag = "--driver-tag",
       .help = "driver wanted, e.g. cuda-12.4"},
      {.name = "runtime_tag",
       .in = In::body,
       .flag = "--runtime-tag",
       .help = "runtime wanted, e.g. pytorch-2.4-cu124"},
      {.name = "applicability",
       .in = In::body,
       .kind = Kind::csv,
       .flag = "--applicability",
       .help = "what it may be used for, comma-separated (default any)",
       .choices = {"workbench", "training", "serving", "any"}},
      {.name = "description", .in = In::body, .flag = "--description", .help = "what it is for"},
  };
}

Param version_param() {
  return {.name = "version",
          .kind = Kind::integer,
          .flag = "--version",
          .help = "this version number",
          .completes = "version"};
}

std::optional<int64_t> version_arg(const Call& call) {
  if (!call.has("version")) return std::nullopt;
  return call.integer("version", 0);
}

std::vector<Problem> check_reference(const json::object& args) {
  std::vector<Problem> problems;
  check_with(args, "name", problems, [](auto text) { return check_ref(text); });
  check_project(args, problems);
  return problems;
}

std::vector<Problem> check_new_version(const json::object& args) {
  std::vector<Problem> problems;
  check_with(args, "name", problems, [](auto text) { return check_name(text, "profile name"); });
  check_project(args, problems);
  check_with(args, "label", problems, [](auto text) { return check_label(text); });
  return problems;
}

}  // namespace exa
