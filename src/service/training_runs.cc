#include "service/training_runs.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

constexpr size_t kLongestStem = 31;  // with '-' and 8 characters of an id it is a launch's name

// "meta-llama/Llama-3-8B" -> "meta-llama-llama-3-8b".
std::string stem_of(std::string_view model) {
  std::string stem;
  for (const char c : lower(model)) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (fine)
      stem += c;
    else if (!stem.empty() && stem.back() != '-')
      stem += '-';
  }
  stem = stem.substr(0, kLongestStem);
  while (!stem.empty() && stem.back() == '-') stem.pop_back();
  return stem.empty() ? "run" : stem;
}

void name_it(Service& service, LaunchRequest& launch, const std::string& model) {
  launch.kind = Surface::training;
  if (!launch.name.empty()) return;
  std::string id;
  for (const char c : lower(service.around().new_id()))
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) id += c;
  launch.name =
      fmt::format("{}-{}", stem_of(model), id.substr(id.size() - std::min<size_t>(8, id.size())));
}

// What a script may want to know of its run, whatever it is launched with.
Variables environment_of(const std::string& model, const std::string& dataset,
                         const Variables& given) {
  Variables environment;
  if (!model.empty()) environment.emplace_back("EXA_MODEL", model);
  if (!dataset.empty()) environment.emplace_back("EXA_DATASET", dataset);
  environment.insert(environment.end(), given.begin(), given.end());
  return environment;
}

json::object details_of(const std::string& model, const std::string& dataset) {
  return {{"model", model.empty() ? json::value(nullptr) : json::value(model)},
          {"dataset", dataset.empty() ? json::value(nullptr) : json::value(dataset)}};
}

}  // namespace

Result<Answer> run_training(Service& service, const Caller& caller, RunTraining what) {
  name_it(service, what.launch, what.model);
  what.launch.program = [&](const Shape& shape, const LaunchTarget&) -> Result<Program> {
    if (shape.nodes != 1) {
      return fail(invalid(
          "run", {{"/nodes", "is 1 here: exa pipeline distributed launch runs on several", ""}}));
    }
    Program program;
    if (!what.command.empty()) {
      program.command = {what.command.begin(), what.command.end()};
    } else {
      program.command = {"python3", what.script};
      if (!what.model.empty()) program.command.emplace_back("--model=" + what.model);
      if (!what.dataset.empty()) program.command.emplace_back("--dataset=" + what.dataset);
    }
    program.environment = environment_of(what.model, what.dataset, what.environment);
    program.details = details_of(what.model, what.dataset);
    return program;
  };
  return start_launch(service, caller, what.launch);
}

Result<Answer> launch_distributed(Service& service, const Caller& caller, LaunchDistributed what) {
  name_it(service, what.launch, what.model);
  what.launch.program = [&](const Shape& shape, const LaunchTarget&) -> Result<Program> {
    TrainingJob job = what.job;
    job.nodes = shape.nodes;
    job.on_cpu = shape.gpu_count == 0;
    job.processes_per_node =
        what.processes_per_node.value_or(std::max<int64_t>(1, shape.gpu_count));
    job.cpus_per_process = shape.cpu_milli / 1000 / job.processes_per_node;
    auto problems = problems_of(job);
    if (!problems.empty()) return fail(invalid("run", std::move(problems)));
    Program program;
    program.command = training_command(job);
    program.environment = environment_of(what.model, what.dataset, what.environment);
    for (auto& variable : training_environment(job)) {
      const bool given = std::ranges::any_of(
          program.environment, [&](const auto& each) { return each.first == variable.first; });
      if (!given) program.environment.push_back(std::move(variable));
    }
    program.details = details_of(what.model, what.dataset);
    program.details["strategy"] = name(job.strategy);
    program.details["launcher"] = name(job.launcher);
    program.details["processes_per_node"] = job.processes_per_node;
    program.notes = notes_of(job);
    return program;
  };
  return start_launch(service, caller, what.launch);
}

}  // namespace exa
