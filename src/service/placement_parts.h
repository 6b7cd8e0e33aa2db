// What deciding between pools and deciding inside a cluster share.
#pragma once

#include "service/placements.h"

namespace exa {

// The ask of a call: what was given, over what the profile asks for, with the project's label.
// `what.workload` and `what.hardware_profile` are read; see PlaceWorkload.
Result<PlaceAsk> ask_from(Transaction& tx, const PlaceWorkload& what, const EngineTable& engines);

// Stores a decision's document (it has id, project, workload.name, decision) and names it in the
// deed.
Result<void> keep_decision(Transaction& tx, Deed& deed, const json::object& spec, Time now,
                           const std::string& who);

}  // namespace exa
