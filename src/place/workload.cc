#include "place/workload.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/quantity.h"
#include "base/text.h"
#include "place/fields.h"
#include "profile/validate.h"

namespace exa {
namespace {

constexpr std::array<std::string_view, 3> kTargets = {"any", "hpc", "cloud"};
constexpr std::string_view kKeys[] = {
    "name",       "accelerator", "capabilities", "target",   "engine",
    "fraction",   "gpus",        "nodes",        "cpu",      "memory_gb",
    "gpu_memory", "model",       "residency",    "fallback", "hardware_profile"};
constexpr size_t kLongestText = 128;

std::vector<std::string> target_names() {
  return {kTargets.begin(), kTargets.end()};
}

std::vector<std::string> engine_names(const EngineTable& engines) {
  std::vector<std::string> names;
  for (const Engine& engine : engines.engines) names.push_back(engine.name);
  return names;
}

class Rules {
 public:
  void range(std::string_view key, int64_t value, int64_t least, int64_t most,
             std::string_view unit) {
    if (value < least || value > most)
      say(key, fmt::format("must be {} to {}{}, not {}", least, most, unit, value));
  }
  void say(std::string_view key, std::string message, std::string suggestion = {}) {
    problems.push_back({pointer("", key), std::move(message), std::move(suggestion)});
  }
  std::vector<Problem> problems;
};

void check_amounts(const Workload& workload, Rules& rules) {
  if (workload.fraction_milli < 1 || workload.fraction_milli > 1000)
    rules.say("fraction", fmt::format("must be more than 0 and at most 1, not {}; ask for several "
                                      "devices with gpus",
                                      format_milli(workload.fraction_milli)));
  rules.range("gpus", workload.gpus, 1, kMostGpusPerNode, " on a node");
  rules.range("nodes", workload.nodes, 1, kMostNodes, "");
  if (workload.cpu_milli < 0 || workload.cpu_milli > kMostCpus * 1000)
    rules.say("cpu", fmt::format("must be at most {} cores", kMostCpus));
  if (workload.memory_bytes < 0 || workload.memory_bytes > kMostMemoryBytes)
    rules.say("memory_gb", fmt::format("must be at most {}", format_bytes(kMostMemoryBytes)));
  if (workload.gpu_memory_bytes < 0 || workload.gpu_memory_bytes > kMostMemoryBytes)
    rules.say("gpu_memory", fmt::format("must be at most {}", format_bytes(kMostMemoryBytes)));
}

// With a unit and every byte, so that reading it back gives the same amount.
std::string exact(int64_t bytes) {
  if (bytes % kGiB == 0) return fmt::format("{}GiB", bytes / kGiB);
  if (bytes % 1'000'000'000 == 0) return fmt::format("{}GB", bytes / 1'000'000'000);
  return format_milli(bytes) + "K";
}

}  // namespace

std::string_view name(Target target) {
  return kTargets.at(static_cast<size_t>(target));
}

std::optional<Target> find_target(std::string_view name) {
  for (size_t i = 0; i < kTargets.size(); ++i)
    if (kTargets[i] == name) return static_cast<Target>(i);
  return std::nullopt;
}

std::vector<Problem> problems_of_workload(const Workload& workload, const EngineTable& engines) {
  Rules rules;
  if (const auto checked = check_name(workload.name, "workload name"); !checked)
    rules.say("name", checked.error().message);
  if (!info(workload.accelerator).askable)
    rules.say("accelerator",
              fmt::format("\"{}\" cannot be asked for; there are {}",
                          info(workload.accelerator).name, join(askable_family_names(), ", ")));
  for (const std::string& capability : workload.capabilities)
    if (!is_capability(capability))
      rules.say("capabilities",
                fmt::format("\"{}\" is not a capability tag such as fp8", printable(capability)));
  if (find_engine(engines, workload.engine) == nullptr) {
    const std::vector<std::string> known = engine_names(engines);
    rules.say("engine",
              fmt::format("\"{}\" is not an engine; there are {}", printable(workload.engine),
                          join(known, ", ")),
              did_you_mean(workload.engine, known));
  }
  check_amounts(workload, rules);
  if (workload.model.size() > kLongestText)
    rules.say("model", fmt::format("is longer than {} characters", kLongestText));
  if (workload.residency.size() > kLongestText)
    rules.say("residency", fmt::format("is longer than {} characters", kLongestText));
  return std::move(rules.problems);
}

Result<Workload> read_workload(const json::object& input, const EngineTable& engines) {
  std::vector<Problem> problems;
  const FieldReader fields(input, problems);
  Workload workload;
  const auto milli = [](std::string_view what) {
    return [what](std::string_view text) { return parse_milli(text, what); };
  };
  fields.text("name", workload.name);
  fields.choice<Family>("accelerator", workload.accelerator, "an accelerator",
                        askable_family_names(), find_family);
  fields.tags("capabilities", workload.capabilities);
  fields.choice<Target>("target", workload.target, "a target", target_names(), find_target);
  fields.text("engine", workload.engine);
  fields.amount("fraction", workload.fraction_milli, milli("fraction"));
  fields.count("gpus", workload.gpus);
  fields.count("nodes", workload.nodes);
  fields.amount("cpu", workload.cpu_milli, milli("cpu"));
  fields.amount("memory_gb", workload.memory_bytes, parse_gib);
  fields.bytes_with_unit("gpu_memory", workload.gpu_memory_bytes);
  fields.text("model", workload.model);
  fields.text("residency", workload.residency);
  fields.flag("fallback", workload.allow_fallback);
  fields.text("hardware_profile", workload.hardware_profile);
  // a field that could not be read kept its default, which breaks no rule: nothing is said twice
  const size_t unreadable = problems.size();
  for (Problem& problem : problems_of_workload(workload, engines)) {
    const bool said =
        std::any_of(problems.begin(), problems.begin() + static_cast<std::ptrdiff_t>(unreadable),
                    [&](const Problem& p) { return p.where == problem.where; });
    if (!said) problems.push_back(std::move(problem));
  }
  fields.refuse_unknown_keys(kKeys, "a workload");
  if (!problems.empty()) return fail(invalid("workload", std::move(problems)));
  return workload;
}

json::object to_json(const Workload& workload) {
  json::array capabilities;
  for (const std::string& tag : workload.capabilities) capabilities.emplace_back(tag);
  json::value gpu_memory = nullptr;
  if (workload.gpu_memory_bytes > 0) gpu_memory = json::string(exact(workload.gpu_memory_bytes));
  return {{"name", workload.name},
          {"accelerator", info(workload.accelerator).name},
          {"capabilities", std::move(capabilities)},
          {"target", name(workload.target)},
          {"engine", workload.engine},
          {"fraction", number_from_milli(workload.fraction_milli)},
          {"gpus", workload.gpus},
          {"nodes", workload.nodes},
          {"cpu", number_from_milli(workload.cpu_milli)},
          {"memory_gb", number_from_text(format_gib(workload.memory_bytes))},
          {"gpu_memory", std::move(gpu_memory)},
          {"model", text_or_null(workload.model)},
          {"residency", text_or_null(workload.residency)},
          {"fallback", workload.allow_fallback},
          {"hardware_profile", text_or_null(workload.hardware_profile)}};
}

std::string describe(const Workload& workload) {
  std::string text = workload.nodes == 1
                         ? fmt::format("{} × {}", workload.gpus, info(workload.accelerator).name)
                         : fmt::format("{} nodes of {} × {}", workload.nodes, workload.gpus,
                                       info(workload.accelerator).name);
  if (workload.fraction_milli < 1000)
    text += fmt::format(" at {} of a device", format_milli(workload.fraction_milli));
  std::vector<std::string> details;
  if (!workload.model.empty()) details.push_back("model " + workload.model);
  for (const std::string& tag : workload.capabilities) details.push_back(tag);
  if (!details.empty()) text += fmt::format(" ({})", join(details, ", "));
  return text;
}

}  // namespace exa
