// How a launch reaches what runs it: one driver for each kind of cluster. The edge beside the
// renderers; what is rendered is what is submitted.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "discover/probe.h"
#include "launch/launch_spec.h"
#include "launch/observed.h"

namespace exa {

// LaunchSpec::files reach the program so: of Slurm, Flux and a machine without a scheduler they lie
// in LaunchSpec::folder, each for its owner alone and not executable; of Kubernetes in the
// container's folder (LaunchSpec::folder, else /exa), which is its current folder, read-only, and
// holds 1 MB of UTF-8 at most. Compose and KServe refuse them. A script among them is started by
// name: `sh FOLDER/run`, which holds wherever there is a shell.
//
// One thread at a time. Every error but those of is_refusal leaves open whether it was done.
class Driver {
 public:
  virtual ~Driver() = default;

  // Where a launch without a folder of its own works: absolute, on the target. Empty: it needs
  // none.
  virtual Result<std::string> home() = 0;
  virtual Result<Rendered> render(const LaunchSpec& spec) = 0;  // asks nobody
  // What submit would refuse after asking there; nothing is kept. A target without trials says yes.
  virtual Result<void> rehearse(const LaunchSpec&, const Rendered&) { return {}; }
  // The scheduler's id of the job. Submits once: never again on its own after an error.
  virtual Result<std::string> submit(const LaunchSpec& spec, const Rendered& rendered) = 0;
  // The job, or with an empty id the one that carries the launch's tag: how a submission whose
  // answer was lost is found again. nullopt: the scheduler answered, and knows of none.
  virtual Result<std::optional<Observed>> find(const LaunchSpec& spec, const std::string& job) = 0;
  // Ending what has ended is no error.
  virtual Result<void> cancel(const LaunchSpec& spec, const std::string& job) = 0;
  // The last lines of what it printed; not_found when there is nothing yet.
  virtual Result<std::string> logs(const LaunchSpec& spec, const std::string& job,
                                   int64_t tail_lines) = 0;
  // The JSON text that the program put out; not_found where there is none yet, unreadable_output
  // where it is more than kMostLaunchOutputs (launch/outputs.h) or not to be read. Of Slurm, Flux
  // and a machine without a scheduler: the file outputs.json in the launch's folder, so a program
  // writes it whole, beside, and renames it. Of Kubernetes and Compose: what stands behind
  // "EXA_OUTPUTS " at the beginning of a line that it prints; of several such lines the last.
  // Kubernetes is asked for the first MiB and the last 1000 lines. Whether the text is JSON is the
  // caller's to find out.
  virtual Result<std::string> outputs(const LaunchSpec& spec, const std::string& job) = 0;
  // Takes away what the target keeps of a launch that has ended and is wanted no more. What the
  // program wrote stays.
  virtual Result<void> forget(const LaunchSpec&, const std::string& /*job*/) { return {}; }
  // For the same machine, in containers; takes what this driver has. nullptr: a scheduler starts
  // there what it starts.
  virtual std::unique_ptr<Driver> in_containers() { return nullptr; }
};

// What was seen, with the reason of a program that is not there. `where`: when no node is known.
Result<std::optional<Observed>> explained(const LaunchSpec& spec,
                                          Result<std::optional<Observed>> seen,
                                          std::string_view where);

// Whether this error of submit says that nothing was submitted and nothing will be.
bool is_refusal(const Error& error);

// A driver for what `exa cluster add` stored. `progress` outlives it.
Result<std::unique_ptr<Driver>> driver_for(const ClusterAddress& address, Progress& progress);

// Over any transport; `local` starts processes there without a scheduler, `compose` containers.
std::unique_ptr<Driver> slurm_driver(std::unique_ptr<Transport> transport);
std::unique_ptr<Driver> flux_driver(std::unique_ptr<Transport> transport);
std::unique_ptr<Driver> local_driver(std::unique_ptr<Transport> transport);
std::unique_ptr<Driver> compose_driver(std::unique_ptr<Transport> transport);
Result<std::unique_ptr<Driver>> kubernetes_driver(const ClusterAddress& address,
                                                  Progress& progress);

}  // namespace exa
