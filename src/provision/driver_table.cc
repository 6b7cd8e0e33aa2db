#include "provision/driver_table.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "base/process.h"
#include "base/text.h"
#include "provision/work_folder.h"

namespace exa {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSite = "site.yaml";
constexpr size_t kLongestFailure = 300;

bool has_file(const std::string& folder, std::string_view name) {
  std::error_code ignored;
  return fs::is_regular_file(fs::path(folder) / name, ignored);
}

// script

std::string script_lacks(ProvisionAction, const std::string& folder) {
  if (!has_file(folder, "run")) return "there is no file run in the template";
  return ::access((folder + "/run").c_str(), X_OK) == 0 ? "" : "run is not executable";
}

std::vector<ProvisionStep> script_steps(ProvisionAction action, const std::string&, bool) {
  return {{.argv = {"template/run", std::string(name_of(action))}}};
}

void note_script_line(std::string_view line, LogNotes& notes) {
  if (!trim(line).empty()) notes.failure = trim(line);
}

// ansible

std::string playbook(ProvisionAction action, const std::string& folder) {
  const std::string own = fmt::format("{}.yaml", name_of(action));
  if (has_file(folder, own)) return own;
  return has_file(folder, kSite) ? std::string(kSite) : "";
}

std::string ansible_lacks(ProvisionAction action, const std::string& folder) {
  if (!playbook(action, folder).empty()) return "";
  return fmt::format("there is neither {}.yaml nor {} in the template", name_of(action), kSite);
}

std::vector<ProvisionStep> ansible_steps(ProvisionAction action, const std::string& folder,
                                         bool has_inventory_file) {
  const bool template_has = has_file(folder, work_names::kInventory);
  const std::string inventory =
      has_inventory_file ? work_names::kInventory
      : template_has     ? fmt::format("{}/{}", work_names::kTemplate, work_names::kInventory)
                         : work_names::kThisMachine;
  return {{.argv = {"ansible-playbook", "--inventory", inventory, "--extra-vars",
                    fmt::format("@{}", work_names::kVariables),
                    fmt::format("{}/{}", work_names::kTemplate, playbook(action, folder))}}};
}

// `fatal: [edge-1]: FAILED! => {"msg": "no such disk"}`, below the line that names the task.
void note_ansible_line(std::string_view line, LogNotes& notes) {
  for (const std::string_view begin : {"TASK [", "RUNNING HANDLER ["}) {
    if (!line.starts_with(begin)) continue;
    notes.task = line.substr(begin.size(), line.rfind(']') - begin.size());
    return;
  }
  if (line.starts_with("...ignoring")) notes.failure.clear();
  if (line.starts_with("ERROR! ") && notes.failure.empty()) notes.failure = line.substr(7);
  if (!line.starts_with("fatal: [") && !line.starts_with("failed: [")) return;
  const size_t from = line.find('[') + 1;
  const std::string_view host = line.substr(from, line.find(']') - from);
  notes.failure = fmt::format("task '{}' failed on {}", notes.task, host);
  const size_t detail = line.find("=> ");
  if (detail == std::string_view::npos) return;
  const auto parsed = parse_json(line.substr(detail + 3), "");
  const std::string_view message = parsed ? text_or(*parsed, "msg", "") : "";
  if (!message.empty()) notes.failure += fmt::format(": {}", printable(trim(message)));
}

// opentofu

std::string tofu_lacks(ProvisionAction action, const std::string& folder) {
  if (action == ProvisionAction::start || action == ProvisionAction::stop)
    return fmt::format("opentofu knows apply and destroy, not {}", name_of(action));
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.ends_with(".tf") || name.ends_with(".tf.json")) return "";
  }
  return "there is no *.tf in the template";
}

std::vector<ProvisionStep> tofu_steps(ProvisionAction action, const std::string&, bool) {
  const std::vector<std::string> change = {
      "tofu",      "-chdir=template", std::string(name_of(action)),  "-input=false",
      "-no-color", "-auto-approve",   "-state=../terraform.tfstate", "-var-file=../inputs.json"};
  std::vector<ProvisionStep> steps = {
      {.argv = {"tofu", "-chdir=template", "init", "-input=false", "-no-color"}}, {.argv = change}};
  if (action == ProvisionAction::apply)
    steps.push_back({.argv = {"tofu", "-chdir=template", "output", "-no-color", "-json",
                              "-state=../terraform.tfstate"},
                     .prints_outputs = true});
  return steps;
}

void note_tofu_line(std::string_view line, LogNotes& notes) {
  // drawn in a box: "│ Error: no such provider"
  if (const size_t at = line.find("Error: "); at != std::string_view::npos)
    notes.failure = line.substr(at + 7);
}

struct Row {
  ProvisionDriverInfo info;
  std::string (*lacks)(ProvisionAction, const std::string& folder);  // a sentence, or nothing
  std::vector<ProvisionStep> (*steps)(ProvisionAction, const std::string&, bool);
  void (*note)(std::string_view, LogNotes&);
};

constexpr std::array kRows = {
    Row{{ProvisionDriver::script, "script", "", "an executable file run"},
        script_lacks,
        script_steps,
        note_script_line},
    Row{{ProvisionDriver::ansible, "ansible", "ansible-playbook",
         "playbooks apply.yaml and destroy.yaml, or site.yaml"},
        ansible_lacks,
        ansible_steps,
        note_ansible_line},
    Row{{ProvisionDriver::opentofu, "opentofu", "tofu", "files *.tf"},
        tofu_lacks,
        tofu_steps,
        note_tofu_line},
};
constexpr auto kInfos = [] {
  std::array<ProvisionDriverInfo, kRows.size()> infos{};
  std::ranges::transform(kRows, infos.begin(), &Row::info);
  return infos;
}();

const Row& row(ProvisionDriver driver) {
  return *std::ranges::find(kRows, driver, [](const Row& one) { return one.info.driver; });
}

}  // namespace

std::span<const ProvisionDriverInfo> provision_drivers() {
  return kInfos;
}

const ProvisionDriverInfo& info(ProvisionDriver driver) {
  return *std::ranges::find(kInfos, driver, &ProvisionDriverInfo::driver);
}

const ProvisionDriverInfo* find_provision_driver(std::string_view name) {
  const auto found = std::ranges::find(kInfos, name, &ProvisionDriverInfo::name);
  return found == kInfos.end() ? nullptr : &*found;
}

std::string_view name_of(ProvisionAction action) {
  switch (action) {
    case ProvisionAction::apply:
      return "apply";
    case ProvisionAction::destroy:
      return "destroy";
    case ProvisionAction::start:
      return "start";
    case ProvisionAction::stop:
      return "stop";
  }
  return "";
}

std::string_view name_of(ProvisionOutcome outcome) {
  switch (outcome) {
    case ProvisionOutcome::succeeded:
      return "succeeded";
    case ProvisionOutcome::failed:
      return "failed";
    case ProvisionOutcome::timed_out:
      return "timed out";
    case ProvisionOutcome::cancelled:
      return "cancelled";
  }
  return "";
}

std::vector<Problem> check_driver(ProvisionDriver driver, ProvisionAction action,
                                  const std::string& template_folder,
                                  std::string_view program_folders) {
  std::vector<Problem> problems;
  const std::string program(info(driver).program);
  if (!program.empty() && !find_program(program, program_folders))
    problems.push_back({program,
                        fmt::format("is what the driver {} runs, and is not in {}",
                                    info(driver).name, printable(program_folders)),
                        "install it on the machine that exa runs on"});
  std::error_code ignored;
  if (!fs::is_directory(template_folder, ignored)) {
    problems.push_back({printable(template_folder), "is no folder", ""});
    return problems;
  }
  if (std::string lack = row(driver).lacks(action, template_folder); !lack.empty())
    problems.push_back(
        {printable(template_folder), std::move(lack),
         fmt::format("the driver {} needs {}", info(driver).name, info(driver).template_needs)});
  for (Problem& problem : template_problems(template_folder))
    problems.push_back(std::move(problem));
  return problems;
}

std::vector<ProvisionStep> provision_steps(ProvisionDriver driver, ProvisionAction action,
                                           const std::string& template_folder,
                                           bool has_inventory_file) {
  if (!row(driver).lacks(action, template_folder).empty()) return {};
  return row(driver).steps(action, template_folder, has_inventory_file);
}

std::vector<std::string> driver_environment(ProvisionDriver driver, const std::string& work_folder,
                                            const std::string& template_folder) {
  switch (driver) {
    case ProvisionDriver::script:
      return {};
    case ProvisionDriver::ansible: {
      // Named, since else it is looked for in the current folder, where a run's file could lie.
      const std::string settings = has_file(template_folder, "ansible.cfg")
                                       ? "template/ansible.cfg"
                                       : work_names::kNoSettings;
      // For its default, ~/.ansible/tmp, it asks the password file, not HOME: on this machine,
      // where the program may not write.
      return {fmt::format("ANSIBLE_CONFIG={}/{}", work_folder, settings), "ANSIBLE_NOCOLOR=1",
              "ANSIBLE_REMOTE_TEMP=$HOME/.ansible/tmp"};
    }
    case ProvisionDriver::opentofu:
      return {fmt::format("TF_DATA_DIR={}/.terraform", work_folder), "TF_IN_AUTOMATION=1",
              "CHECKPOINT_DISABLE=1"};
  }
  return {};
}

void note_line(ProvisionDriver driver, std::string_view line, LogNotes& notes) {
  row(driver).note(line, notes);
  if (notes.failure.size() <= kLongestFailure) return;
  notes.failure.resize(kLongestFailure);
  while (!is_valid_utf8(notes.failure)) notes.failure.pop_back();
  notes.failure += "…";
}

}  // namespace exa
