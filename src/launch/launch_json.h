// A launch spec as it is stored: what was launched can be looked at, and found again, whatever
// happened to its profile since.
#pragma once

#include "base/json.h"
#include "launch/launch_spec.h"

namespace exa {

// A word is a text, or the list of its parts where one is known only at run time:
// ["--rdzv_endpoint=", {"at_run_time": "head_node"}, ":29500"].
json::value to_json(const Word& word);
json::array to_json(const CommandLine& command);
json::object to_json(const LaunchSpec& spec);
// Reads what to_json wrote. Fails with store_damaged.
Result<LaunchSpec> launch_spec_from_json(const json::object& stored);

// For people: the words with what is not known yet in angle brackets, quoted as a shell would need
// them.
std::string to_text(const CommandLine& command);

}  // namespace exa
