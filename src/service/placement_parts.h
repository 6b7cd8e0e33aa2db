// What deciding between pools and deciding inside a cluster share.
#pragma once

#include "service/placements.h"

namespace exa {

// The ask of a call: what was given, over what the profile asks for, with the project's label.
// `what.workload` and `what.hardware_profile` are read; see PlaceWorkload.
Result<PlaceAsk> ask_from(Transaction& tx, const PlaceWorkload& what, const EngineTable& engines);

// Keeps a decision with what follows from it (event, permit, lease): the answer is its document.
Result<Answer> keep_placement(Service& service, const Caller& caller, const PlaceWorkload& what,
                              Transaction& tx, Deed& deed, const Decision& decision);

// The label of a project; empty: it has none.
Result<std::string> residency_of_project(Transaction& tx, const std::string& project);

struct BurstEventOf {
  std::string id;
  std::string decision;
  std::string project;
  Time at;
  std::string by;
};
// Stores what was judged of an attempt at a cloud, and names the event in the deed.
Result<void> keep_burst_event(Transaction& tx, Deed& deed, const BurstVerdict& verdict,
                              const BurstEventOf& of);

// Stores a decision's document (it has id, project, workload.name, decision) and names it in the
// deed.
Result<void> keep_decision(Transaction& tx, Deed& deed, const json::object& spec, Time now,
                           const std::string& who);

}  // namespace exa
