// What an environment template and a compute profile must agree in, and what each driver takes.
// Pure.
#include <algorithm>

#include <fmt/format.h>

#include "base/kubernetes_names.h"
#include "base/text.h"
#include "launch/renderers.h"
#include "profile/validate.h"
#include "service/environment_templates.h"

namespace exa {
namespace {

using Problems = std::vector<Problem>;

bool is_submitted(TemplateDriver driver) {
  return !provision_driver(driver);
}

// --- one template

struct OptionRow {
  std::string_view where;
  const std::string& (*of)(const EnvironmentTemplate&);
  bool of_slurm;
  bool of_kubernetes;
  bool required;  // where it is taken
};
constexpr OptionRow kOptions[] = {
    {"/cluster", [](const EnvironmentTemplate& t) -> const std::string& { return t.cluster; }, true,
     true, true},
    {"/image", [](const EnvironmentTemplate& t) -> const std::string& { return t.image; }, false,
     true, true},
    {"/partition",
     [](const EnvironmentTemplate& t) -> const std::string& { return t.options.partition; }, true,
     false, false},
    {"/account",
     [](const EnvironmentTemplate& t) -> const std::string& { return t.options.account; }, true,
     false, false},
    {"/qos", [](const EnvironmentTemplate& t) -> const std::string& { return t.options.qos; }, true,
     false, false},
    {"/namespace",
     [](const EnvironmentTemplate& t) -> const std::string& { return t.options.name_space; }, false,
     true, false},
};

void check_options(const EnvironmentTemplate& what, Problems& problems) {
  for (const OptionRow& row : kOptions) {
    const bool takes = (what.driver == TemplateDriver::slurm && row.of_slurm) ||
                       (what.driver == TemplateDriver::kubernetes && row.of_kubernetes);
    const bool given = !row.of(what).empty();
    if (given && !takes)
      problems.push_back({std::string(row.where),
                          fmt::format("is nothing that the driver {} takes", name(what.driver)),
                          "leave it out"});
    if (!given && takes && row.required)
      problems.push_back({std::string(row.where),
                          fmt::format("is missing: the driver {} needs it", name(what.driver)),
                          ""});
  }
}

// Whether the scheduler takes what is given, by the renderer that will write it.
void check_job(const EnvironmentTemplate& what, Problems& problems) {
  LaunchSpec spec;
  spec.kind = Surface::workbench;
  spec.project = spec.name = spec.id = "template";
  spec.command = {"sh", "run", "apply"};
  spec.options = what.options;
  spec.image = what.image;
  const bool on_slurm = what.driver == TemplateDriver::slurm;
  if (on_slurm) spec.folder = "/exa";
  const auto rendered = on_slurm ? render_slurm(spec) : render_kubernetes(spec);
  if (rendered) return;
  for (const Problem& problem : rendered.error().problems) {
    std::string where = problem.where;
    if (where.starts_with("/options")) where = where.substr(std::string_view("/options").size());
    if (where == "/name_space") where = "/namespace";
    // those that do not belong to the driver were told
    const auto same = [&](const Problem& told) { return told.where == where; };
    if (!std::ranges::any_of(problems, same))
      problems.push_back({where, problem.message, problem.suggestion});
  }
}

// A job's inputs lie where its scheduler and whoever shares its account read them, and what a
// container puts out is a line of its log.
void check_secrets(const EnvironmentTemplate& what, Problems& problems) {
  for (const DeclaredInput& input : what.inputs)
    if (input.type == InputType::secret && is_submitted(what.driver))
      problems.push_back(
          {fmt::format("{}/inputs/{}/type", kTemplateFile, input.name),
           fmt::format("is secret, and what {} carries can be read there", name(what.driver)),
           "let the program fetch it where it runs"});
  for (const DeclaredOutput& output : what.outputs)
    if (output.is_secret && what.driver == TemplateDriver::kubernetes)
      problems.push_back({fmt::format("{}/outputs/{}/secret", kTemplateFile, output.name),
                          "would stand in the log of the pod", "keep it where the program runs"});
}

// --- a template and a compute profile

// Of the type that the template reads. One of a list of texts is a text.
bool suits(InputType given, InputType declared) {
  return given == declared || (given == InputType::choice && declared == InputType::text);
}

// Why a launch may lack a value, or nothing.
std::string why_not_always(const InputSetting& setting) {
  if (setting.depends_on)
    return fmt::format("is there only with some values of {}", setting.depends_on->input);
  if (setting.default_value || setting.required) return "";
  return "may be left out: it is not required and has no default";
}

void check_given(const ComputeSku& sku, const EnvironmentTemplate& what, Problems& problems) {
  std::vector<std::string> names;
  for (const DeclaredInput& input : what.inputs) names.push_back(input.name);
  for (const InputSetting& setting : sku.inputs) {
    const std::string where = pointer("/inputs", setting.name);
    const auto declared = std::ranges::find(what.inputs, setting.name, &DeclaredInput::name);
    if (setting.type == InputType::secret && is_submitted(what.driver))
      problems.push_back({where,
                          fmt::format("is secret, and {} is submitted to {}, where it can be read",
                                      what.key(), name(what.driver)),
                          ""});
    if (declared == what.inputs.end()) {
      problems.push_back(
          {where, fmt::format("is no input of {}", what.key()), did_you_mean(setting.name, names)});
    } else if (!suits(setting.type, declared->type)) {
      problems.push_back({where,
                          fmt::format("is of type {}, and {} in {}", name(setting.type),
                                      name(declared->type), what.key()),
                          ""});
    }
  }
}

void check_needed(const ComputeSku& sku, const EnvironmentTemplate& what, Problems& problems) {
  for (const DeclaredInput& input : what.inputs) {
    if (!input.required) continue;
    const auto setting = std::ranges::find(sku.inputs, input.name, &InputSetting::name);
    const std::string why =
        setting == sku.inputs.end() ? std::string("is missing") : why_not_always(*setting);
    if (!why.empty())
      problems.push_back({pointer("/inputs", input.name),
                          fmt::format("{}, and {} needs it", why, what.key()), ""});
  }
}

void check_put_out(const ComputeSku& sku, const EnvironmentTemplate& what, Problems& problems) {
  std::vector<std::string> names;
  for (const DeclaredOutput& output : what.outputs) names.push_back(output.name);
  for (const OutputSetting& setting : sku.outputs) {
    const std::string where = pointer("/outputs", setting.name);
    const auto declared = std::ranges::find(what.outputs, setting.name, &DeclaredOutput::name);
    if (declared == what.outputs.end()) {
      problems.push_back({where, fmt::format("is no output of {}", what.key()),
                          did_you_mean(setting.name, names)});
    } else if (declared->is_secret && !setting.is_secret) {
      problems.push_back({where,
                          fmt::format("is secret in {}, and everybody would see it", what.key()),
                          "\"secret\": true"});
    }
  }
}

}  // namespace

std::vector<Problem> problems_of(const EnvironmentTemplate& what) {
  Problems problems;
  if (const auto checked = check_name(what.name, "template name"); !checked)
    problems.push_back({"/name", checked.error().message, ""});
  if (what.version.empty() || !is_label_value(what.version))
    problems.push_back({"/version",
                        "takes letters, digits and . - _ inside, at most 63 characters, such as "
                        "v1.2",
                        ""});
  if (!what.folder.starts_with('/') || what.folder.find('\0') != std::string::npos)
    problems.push_back({"/folder", "is not an absolute path", ""});
  if (what.time_limit < seconds(1) || what.time_limit > hours(24))
    problems.push_back(
        {"/time_limit", fmt::format("is {}: 1s to 24h", format_duration(what.time_limit)), "30m"});
  check_options(what, problems);
  if (is_submitted(what.driver)) check_job(what, problems);
  check_secrets(what, problems);
  return problems;
}

std::vector<Problem> problems_between(const ComputeSku& sku, const EnvironmentTemplate& what) {
  Problems problems;
  check_given(sku, what, problems);
  check_needed(sku, what, problems);
  check_put_out(sku, what, problems);
  return problems;
}

}  // namespace exa
