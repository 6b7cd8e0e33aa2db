// Running a driver's program over a template folder: an ML platform's cluster, an environment of
// the catalogue. The program is given files and data, is watched and ended with all it started, and
// what it printed and put out comes back bounded and checked.
//
// A run has a work folder, which is its program's current folder and home:
//
//   inputs.json   the inputs, as exact JSON; 0600
//   outputs.json  what the program puts out: one JSON object of numbers, texts, bools, null and
//                 lists of them. One of an earlier run is removed before the program starts
//   NAME          the files of the run (cluster.yaml, inventory.yaml, a key); 0600
//   log           what the program prints, as it comes; 0600
//   template/     a copy of the template folder, made anew for every run
//   tmp/          TMPDIR
//   .exa/         exa's own
//
// All else in it is the program's and stays for the next run: terraform.tfstate, a file that says
// what was done. Running again in the same folder is how a failed run is tried again, and how
// `destroy` finds what `apply` made. The template is copied rather than run where it lies, because
// drivers write beside their files (tofu's providers, Python's caches), because a template that is
// published again must not change under a run, and because the copy is what may be written to.
//
// What containment is:
// - The program gets no descriptor, no signal setting and no environment of exa's: only PATH, HOME,
//   TMPDIR, LANG, the EXA_ words below, the driver's own settings and what the run names. No
//   standard input, a session of its own, umask 077, no core file, files of a limited size.
// - Nothing of the run's data stands in an argument vector or goes through a shell. Ansible gets
// the
//   inputs marked unsafe, so that it does not read "{{ … }}" in them. The files of the run are read
//   as the driver reads them: whoever renders an inventory marks what users wrote (`!unsafe`).
// - It is ended at the time limit, when it is cancelled, and when exa itself ends, however: first
//   asked (SIGTERM), then killed with every process that it started, also one in a session of its
//   own. What a program that has ended left running is killed too.
// - Where the kernel has Landlock (2022 and later), it can write nowhere but in its work folder and
//   to shared memory, null and terminals, can signal nothing outside (2024 and later), and gains
//   no rights by set-user-ID programs. `confined` of the result says whether that held.
// - A flood of output is cut in the log and takes neither memory nor disk.
// What it is not: the program runs as exa's user and reads what that user may read, it has the
// network, as many processes as the host gives, and the disk that its own files fill. Whoever
// writes templates is trusted with that; whoever fills in inputs is not trusted with anything.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/time.h"

namespace exa {

enum class ProvisionDriver { script, ansible, opentofu };
enum class ProvisionAction { apply, destroy, start, stop };

struct ProvisionDriverInfo {
  ProvisionDriver driver;
  std::string_view name;
  std::string_view program;         // on the run's path; empty: it lies in the template
  std::string_view template_needs;  // for people
};
// script    runs `run ACTION` of the template; knows every action.
// ansible   runs the playbook ACTION.yaml, or site.yaml where there is none, with the variables
//           exa_action, exa_inputs, exa_inputs_file and exa_outputs_file (a path); over
//           inventory.yaml of the run, else of the template, else over this machine (localhost).
// opentofu  `init`, then `apply` or `destroy`, with inputs.json as variables; outputs are the
//           module's. Starting and stopping is not known to it.
// Every program finds EXA_ACTION, EXA_INPUTS and EXA_OUTPUTS (paths) in its environment.
std::span<const ProvisionDriverInfo> provision_drivers();
const ProvisionDriverInfo& info(ProvisionDriver driver);
const ProvisionDriverInfo* find_provision_driver(std::string_view name);  // nullptr: none such
std::string_view name_of(ProvisionAction action);

// Where programs are looked for, and PATH of the run: of the host, never of whoever started exa.
inline constexpr std::string_view kProgramFolders =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// What keeps the driver from running this action of the template here: its program is missing, the
// template lacks a file, holds something else than files and folders, or is too large. All at once,
// `where` being the file; empty: nothing. Nothing is run and nothing is changed.
std::vector<Problem> check_driver(ProvisionDriver driver, ProvisionAction action,
                                  const std::string& template_folder,
                                  std::string_view program_folders = kProgramFolders);

struct ProvisionFile {
  std::string
      name;  // letters, digits, '_', '-', '.'; neither one of exa's own nor beginning with .
  std::string text;  // any bytes
};

struct ProvisionRun {
  ProvisionDriver driver = ProvisionDriver::script;
  ProvisionAction action = ProvisionAction::apply;
  std::string template_folder;       // absolute; read only
  std::string work_folder;           // absolute; made, for its owner alone, where it is not there
  json::object inputs;               // names are identifiers; at most 1 MiB
  std::vector<ProvisionFile> files;  // at most 64, of 8 MiB in all
  // At most 64 of 4 KiB each. None that says how programs are loaded or that exa sets itself.
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> outputs;  // declared: apply must put out all of them; others are dropped
  // Never in the log or a reason: each line of them that has at least four characters is replaced
  // where it stands as it is or as JSON writes it (not in other encodings), as is what
  // base/redact.h knows.
  std::vector<std::string> secrets;
  // Asked about the copy of the template before anything runs, if there is one: its error is why
  // nothing ran. What was looked at before the copy may have changed since.
  std::function<Result<void>(const std::string& copied_template)> check_copy;
  Duration time_limit = minutes(30);
  Duration grace = seconds(10);          // between asking it to end and killing it
  int64_t log_limit_bytes = 1 << 20;     // half for how it began, half for how it ended
  int64_t file_limit_bytes = 1LL << 30;  // no file that it writes may be larger
  bool may_write_anywhere = false;       // for templates that set up this very machine
  std::string program_folders = std::string(kProgramFolders);
};

enum class ProvisionOutcome { succeeded, failed, timed_out, cancelled };
std::string_view name_of(ProvisionOutcome outcome);

struct ProvisionResult {
  ProvisionOutcome outcome = ProvisionOutcome::failed;
  std::string reason;                       // "ended with 3: no such host"; empty when it succeeded
  std::optional<int> exit_code;             // of the last program, when it ended by itself
  json::object outputs;                     // of a run that succeeded
  std::vector<std::string> secret_outputs;  // names that the driver calls sensitive
  std::string log;                          // as the file: printable text, bounded
  int64_t log_cut_bytes = 0;
  Time started;
  Time ended;
  bool confined = false;  // to writing in its work folder
  int left_behind = 0;    // processes that it had not ended itself
};

// Blocks until nothing of the run is left. Thread-safe; one run at a time in one work folder, held
// by the kernel, so that a run that was killed holds nothing. Progress is told in lines of the log.
//
// Fails only where nothing ran: invalid_input (all problems at once; also those of check_driver,
// then not_found where the program is what is missing), conflict (another run in this work folder,
// named by its process; a work folder that is a link, another's, or open to others),
// store_full, store_unwritable; what check_copy says.
Result<ProvisionResult> run_provision(const ProvisionRun& run, const Clock& clock,
                                      Progress& progress = unwatched());

}  // namespace exa
