// The drivers, a row each: what each needs in a template, which programs it runs for an action, and
// what a line of its log says about a failure. Pure but for looking at the template's files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "provision/provision.h"

namespace exa {

// Where things lie in a work folder; programs run there, so all names are relative and fixed.
namespace work_names {
inline constexpr const char* kInputs = "inputs.json";
inline constexpr const char* kOutputs = "outputs.json";
inline constexpr const char* kLog = "log";
inline constexpr const char* kTemplate = "template";
inline constexpr const char* kTemporary = "tmp";
inline constexpr const char* kInventory = "inventory.yaml";
inline constexpr const char* kVariables = ".exa/variables.yaml";
inline constexpr const char* kThisMachine = ".exa/inventory.yaml";
inline constexpr const char* kNoSettings = ".exa/ansible.cfg";
}  // namespace work_names

struct ProvisionStep {
  std::vector<std::string> argv;  // of fixed words
  bool prints_outputs = false;    // its standard output becomes outputs.json
};

// The programs of an action, one after the other; empty: the driver does not know the action. What
// stands in the template is looked up in `template_folder`.
std::vector<ProvisionStep> provision_steps(ProvisionDriver driver, ProvisionAction action,
                                           const std::string& template_folder,
                                           bool has_inventory_file);

// What the program must be told by its environment, besides what every program gets.
std::vector<std::string> driver_environment(ProvisionDriver driver, const std::string& work_folder,
                                            const std::string& template_folder);

// What the log says about how a run goes.
struct LogNotes {
  std::string task;     // where it is, if the driver names its tasks
  std::string failure;  // what went wrong, in a few words; empty: nothing that is known
};
void note_line(ProvisionDriver driver, std::string_view line, LogNotes& notes);

}  // namespace exa
