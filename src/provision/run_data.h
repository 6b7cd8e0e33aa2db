// What goes into a run and comes out of it, as data: checked, and written as each driver reads it.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "provision/provision.h"

namespace exa {

// All that is wrong with what the run is given, the template apart.
std::vector<Problem> problems_of(const ProvisionRun& run);

// Variables of Ansible, in which every text is marked `!unsafe`: not read as a template.
std::string ansible_variables(const ProvisionRun& run);

struct ProvisionOutputs {
  json::object values;
  std::vector<std::string> secret;
};

inline constexpr size_t kMostOutputBytes = size_t{1} << 20;

// outputs.json as the driver writes it, those that are declared. unreadable_output: it is no JSON
// object, one is no number, text, bool, null or list of them, or one lacks where all are needed.
Result<ProvisionOutputs> read_outputs(ProvisionDriver driver, std::string_view text,
                                      const std::vector<std::string>& declared, bool all_needed);

}  // namespace exa
