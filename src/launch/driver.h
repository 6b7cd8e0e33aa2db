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
  // What the program put out: JSON text. not_found: nothing yet.
  virtual Result<std::string> outputs(const LaunchSpec&, const std::string& /*job*/) {
    return fail(Code::not_found, "nothing was put out");
  }
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
