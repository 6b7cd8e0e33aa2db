// The one launch path: profile or raw flags → shape → placement → spec → rendered files → driver.
// Requirement Phases 2 and 3; semantics §8.
//
// A launch is kept before its target hears of it, and what became of it after: intent, effect,
// outcome, with an audit entry each. Whoever submits owns the launch's name meanwhile, so that two
// who repeat a request never submit twice; a submission whose answer was lost is looked for by its
// tag before anything is submitted again.
#pragma once

#include <functional>

#include "service/launches.h"

namespace exa {

// Where it will run.
struct LaunchTarget {
  std::string folder;  // there; empty: none
  ClusterKind kind = ClusterKind::host;
};

// What runs, once the shape is known.
struct Program {
  CommandLine command;
  Variables environment;
  std::vector<RenderedFile> files;
  std::string installed_by;  // what brings the program
  json::object details;      // for people: model, dataset, strategy
  std::vector<std::string> notes;
};

// The shape that a launch gets, and where each field is from.
struct ShapeOfLaunch {
  Shape shape;
  std::string profile;                 // NAME@V, PROJECT/NAME@V; empty: none
  std::vector<std::string> overrides;  // fields given over the profile's, in the document's order
  std::vector<std::string> notices;    // a retired version
};

struct LaunchRequest {
  Surface kind = Surface::training;
  std::string project;
  std::string name;
  std::string hardware_profile;  // reference; empty: the shape is what was given
  json::object given;            // fields of a shape that the caller gave: they win, one by one
  std::optional<ShapeOfLaunch> kept;  // instead of both: the shape that it has already
  std::string cluster;                // empty: the machine of exa itself; "auto": placement chooses
  std::string require;                // "verified": nothing less will do; empty: unchecked will
  std::string residency;              // of the workload; empty: it says nothing
  std::string dataset_residency;
  std::string folder;  // absolute, on the target; empty: one below its home
  std::string image;
  int64_t port = 0;
  Volume volume;
  int64_t restarts = 0;
  int64_t replicas = 1;  // of a service
  std::optional<KServe> kserve;
  SchedulerOptions options;
  std::function<Result<Program>(const Shape&, const LaunchTarget&)> program;  // pure
};

// With caller.dry_run the answer holds the plan: what will be run, before it runs. Refused before
// anything is created: names that are taken, profiles that are unknown, inapplicable or
// unresolvable, limits, residency, words that a target cannot carry.
Result<Answer> start_launch(Service& service, const Caller& caller, const LaunchRequest& what);

// The request that comes to the same launch again, on the shape that it has.
LaunchRequest same_launch(const Launch& launch);

// What is known of it now: its target is asked, and what it says is kept with an entry of exa's
// own. A target that does not answer changes nothing; the answer says so.
Result<Answer> show_launch(Service& service, const Caller& caller, const std::string& project,
                           Surface kind, const std::string& name);
// Asks until it has ended, `every` so often.
Result<Answer> wait_for_launch(Service& service, const Caller& caller, const std::string& project,
                               Surface kind, const std::string& name, Duration every);
// What it printed last, without what opens it (tokens in addresses).
Result<Answer> launch_logs(Service& service, const Caller& caller, const std::string& project,
                           Surface kind, const std::string& name, int64_t lines);

// Ends it; the record stays. Ending what has ended is no error.
Result<Answer> stop_launch(Service& service, const Caller& caller, const std::string& project,
                           Surface kind, const std::string& name);
// Starts what has ended again, on the shape that it has, or on `what`'s when that is given
// (resize).
Result<Answer> restart_launch(Service& service, const Caller& caller, const std::string& project,
                              Surface kind, const std::string& name,
                              const std::optional<LaunchRequest>& anew);
// Ends it if need be, and forgets it. What it left in its folder stays where it is.
Result<Answer> delete_launch(Service& service, const Caller& caller, const std::string& project,
                             Surface kind, const std::string& name);

// Where a workbench answers: the address that it printed, with its token. Waits until it prints
// one.
Result<Answer> open_workbench(Service& service, const Caller& caller, const std::string& project,
                              const std::string& name);

// Every open launch whose target can be asked; what changed is kept. For the loop of a server.
// Answers with how many changed.
Result<int64_t> watch_launches(Service& service, Progress& progress);

}  // namespace exa
