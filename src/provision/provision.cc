#include "provision/provision.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "base/process.h"
#include "base/text.h"
#include "provision/confinement.h"
#include "provision/contained.h"
#include "provision/driver_table.h"
#include "provision/run_data.h"
#include "provision/run_log.h"
#include "provision/work_folder.h"

namespace exa {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::string_view kThisMachine =
    "all: {hosts: {localhost: {ansible_connection: local, "
    "ansible_python_interpreter: auto_silent}}}\n";

Result<void> check(const ProvisionRun& run) {
  std::vector<Problem> problems = problems_of(run);
  const std::vector<Problem> of_driver =
      check_driver(run.driver, run.action, run.template_folder, run.program_folders);
  const std::string_view program = info(run.driver).program;
  const bool lacks_program = std::ranges::any_of(
      of_driver, [&](const Problem& one) { return !program.empty() && one.where == program; });
  const bool only_program = lacks_program && problems.empty() && of_driver.size() == 1;
  problems.insert(problems.end(), of_driver.begin(), of_driver.end());
  if (problems.empty()) return {};
  Error error = invalid("the run", std::move(problems));
  if (only_program) {
    error.code = Code::not_found;
    error.message = fmt::format("there is no program {}, which the driver {} runs", program,
                                info(run.driver).name);
  }
  return fail(std::move(error));
}

Result<void> prepare(const ProvisionRun& run, WorkFolder& work) {
  EXA_TRY(work.remove(work_names::kOutputs));
  EXA_TRY(work.make_folder(work_names::kTemporary));
  EXA_TRY(work.copy_template(run.template_folder, work_names::kTemplate));
  if (run.check_copy) {
    EXA_TRY(run.check_copy(fmt::format("{}/{}", run.work_folder, work_names::kTemplate)));
  }
  EXA_TRY(work.write(work_names::kInputs, to_text(run.inputs)));
  for (const ProvisionFile& file : run.files) {
    EXA_TRY(work.write(file.name, file.text));
  }
  if (run.driver != ProvisionDriver::ansible) return {};
  EXA_TRY(work.write(work_names::kVariables, ansible_variables(run)));
  EXA_TRY(work.write(work_names::kThisMachine, kThisMachine));
  return work.write(work_names::kNoSettings, "");
}

std::vector<std::string> environment_of(const ProvisionRun& run) {
  const std::string& work = run.work_folder;
  std::vector<std::string> all = {
      fmt::format("PATH={}", run.program_folders),
      fmt::format("HOME={}", work),
      fmt::format("TMPDIR={}/{}", work, work_names::kTemporary),
      "LANG=C.UTF-8",
      fmt::format("EXA_ACTION={}", name_of(run.action)),
      fmt::format("EXA_INPUTS={}/{}", work, work_names::kInputs),
      fmt::format("EXA_OUTPUTS={}/{}", work, work_names::kOutputs),
  };
  for (std::string& word : driver_environment(run.driver, work, run.template_folder))
    all.push_back(std::move(word));
  for (const auto& [key, value] : run.environment) all.push_back(fmt::format("{}={}", key, value));
  return all;
}

// "tofu init" where an action has several programs.
std::string words_for(const std::vector<ProvisionStep>& steps, const ProvisionStep& step) {
  if (steps.size() == 1) return "";
  const auto verb = std::ranges::find_if(step.argv.begin() + 1, step.argv.end(),
                                         [](const std::string& word) { return word[0] != '-'; });
  return fmt::format("{} {} ", step.argv[0], *verb);
}

std::string how_it_ended(const ContainedResult& ended) {
  if (ended.signal == 0) return fmt::format("ended with {}", ended.exit_code);
  const char* name = ::sigdescr_np(ended.signal);
  return fmt::format("was killed by signal {} ({})", ended.signal,
                     name != nullptr ? name : "of no name");
}

class Runner {
 public:
  Runner(const ProvisionRun& run, WorkFolder& work, Progress& progress, int log_file,
         ProvisionResult& result)
      : run_(run),
        work_(work),
        progress_(progress),
        result_(result),
        log_(log_file, run.log_limit_bytes, run.secrets,
             [this](std::string_view line) { note_line(run_.driver, line, notes_); }),
        deadline_(Steady::now() + std::chrono::microseconds(run.time_limit.micros)) {}

  // The reason why it did not succeed, or nothing.
  Result<std::string> run_steps(const std::vector<ProvisionStep>& steps) {
    if (!run_.may_write_anywhere) rules_ = writes_only_in(run_.work_folder);
    result_.confined = rules_ != nullptr;
    for (const ProvisionStep& step : steps) {
      const std::string words = words_for(steps, step);
      if (!words.empty()) log_.add(fmt::format("== {}\n", trim(words)));
      const auto ended = run_step(step);
      // once something ran, what became of it is the answer
      if (!ended && (&step != &steps[0] || ended.error().code == Code::outcome_unknown))
        return words + ended.error().message;
      if (!ended) return fail(ended.error());
      if (std::string reason = reason_of(*ended); !reason.empty()) return words + reason;
    }
    return std::string();
  }

  void keep_log() {
    log_.finish();
    progress_.at("lines", log_.lines(), 0);
    result_.log = log_.text();
    result_.log_cut_bytes = log_.cut_bytes();
  }

 private:
  Result<ContainedResult> run_step(const ProvisionStep& step) {
    const auto path = find_program(step.argv[0], run_.program_folders);
    ContainedProgram program;
    program.argv = step.argv;
    // one of the template has its path already, from the work folder
    if (path) program.argv[0] = *path;
    program.environment = environment_of(run_);
    program.folder = work_.descriptor();
    program.held = work_.descriptor();
    program.rules = rules_ ? rules_->get() : -1;
    program.file_limit_bytes = run_.file_limit_bytes;
    program.time_limit = {
        std::chrono::duration_cast<std::chrono::microseconds>(deadline_ - Steady::now()).count()};
    program.grace = run_.grace;
    program.printed = [this](std::string_view bytes) { log_.add(bytes); };
    program.unwanted = [this] {
      if (std::exchange(told_, log_.lines()) != log_.lines()) progress_.at("lines", told_, 0);
      return progress_.cancelled();
    };
    std::unique_ptr<Descriptor> outputs;
    if (step.prints_outputs) {
      EXA_ASSIGN(const int file, work_.create(work_names::kOutputs));
      outputs = std::make_unique<Descriptor>(file);
      program.output = file;
    }
    return run_contained(program);
  }

  std::string reason_of(const ContainedResult& ended) {
    log_.finish();
    result_.left_behind += ended.left_behind;
    const std::string survivor =
        ended.survived ? "; a process of it could not be killed and may still run" : "";
    const std::string task = notes_.task.empty() ? "" : fmt::format(", at task '{}'", notes_.task);
    if (ended.end == ContainedEnd::too_late) {
      result_.outcome = ProvisionOutcome::timed_out;
      return fmt::format("killed after {}, its time limit{}{}", format_duration(run_.time_limit),
                         task, survivor);
    }
    if (ended.end == ContainedEnd::unwanted) {
      result_.outcome = ProvisionOutcome::cancelled;
      return fmt::format("cancelled{}{}", task, survivor);
    }
    if (ended.signal == 0) result_.exit_code = ended.exit_code;
    if (ended.signal == 0 && ended.exit_code == 0)
      return survivor.empty() ? "" : survivor.substr(2);
    return how_it_ended(ended) + (notes_.failure.empty() ? "" : ": " + notes_.failure) + survivor;
  }

  const ProvisionRun& run_;
  WorkFolder& work_;
  Progress& progress_;
  ProvisionResult& result_;
  LogNotes notes_;
  RunLog log_;
  const Steady::time_point deadline_;
  std::unique_ptr<Descriptor> rules_;
  int64_t told_ = 0;
};

// The reason why the outputs are not what was declared, or nothing.
std::string take_outputs(const ProvisionRun& run, const WorkFolder& work, ProvisionResult& result) {
  const bool needed = run.action == ProvisionAction::apply && !run.outputs.empty();
  const auto text = work.read(work_names::kOutputs, kMostOutputBytes);
  if (!text) return text.error().message;
  if (!*text && needed)
    return fmt::format("outputs.json was not written; it should hold {}", join(run.outputs, ", "));
  if (!*text) return "";
  auto outputs = read_outputs(run.driver, **text, run.outputs, needed);
  if (!outputs) return outputs.error().message;
  result.outputs = std::move(outputs->values);
  result.secret_outputs = std::move(outputs->secret);
  return "";
}

}  // namespace

Result<ProvisionResult> run_provision(const ProvisionRun& run, const Clock& clock,
                                      Progress& progress) {
  EXA_TRY(check(run));
  EXA_ASSIGN(WorkFolder work, WorkFolder::open(run.work_folder));
  EXA_TRY(prepare(run, work));
  const bool has_inventory = std::ranges::any_of(
      run.files, [](const ProvisionFile& file) { return file.name == work_names::kInventory; });
  const std::vector<ProvisionStep> steps =
      provision_steps(run.driver, run.action, run.template_folder, has_inventory);
  if (steps.empty())
    return fail(Code::conflict, "the template folder changed while the run was prepared");

  ProvisionResult result;
  result.started = clock();
  EXA_ASSIGN(const int log_file, work.create(work_names::kLog));
  Runner runner(run, work, progress, log_file, result);
  EXA_ASSIGN(result.reason, runner.run_steps(steps));
  if (result.reason.empty()) result.reason = take_outputs(run, work, result);
  if (result.reason.empty()) result.outcome = ProvisionOutcome::succeeded;
  runner.keep_log();
  result.ended = clock();
  return result;
}

}  // namespace exa
