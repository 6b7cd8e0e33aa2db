// Plans: what a dry run of a launch said it would do, to be done later, or refused when anything
// that it rests on has changed since.
#pragma once

#include "service/service.h"

namespace exa {

struct LaunchPlan {
  std::string id;
  std::string project;
  std::string route;  // "pipeline.run"
  json::object args;  // of the command
  json::object seen;  // what_it_rests_on
};

// Of the answer of a dry run: shape, version, cluster, status and snapshot, pool and price, command
// and files. Nothing of it depends on when it was asked.
json::object what_it_rests_on(const json::object& planned);

// Kept for a day. A store that cannot be written keeps none, and the dry run is answered all the
// same: the id is then empty.
std::string keep_plan(Service& service, const LaunchPlan& plan);

// not_found also where its project is not the caller's.
Result<LaunchPlan> find_plan(Service& service, const Caller& caller, const std::string& id);

// stale, naming what is another now.
Result<void> check_unchanged(const LaunchPlan& plan, const json::object& planned_now);

}  // namespace exa
