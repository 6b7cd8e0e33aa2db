// What ran and what it cost: usage counted from leases, in money and carbon. Requirement
// "Per-device accounting"; semantics §5.
#pragma once

#include "account/usage.h"
#include "service/service.h"

namespace exa {

struct UsageQuestion {
  std::string project;       // empty: every one of `projects`
  Projects projects;         // those that the caller may ask about
  std::vector<UsageKey> by;  // none: one sum
  UsageWindow window;        // `now` is filled in
};
Result<Answer> sum_of_usage(Service& service, UsageQuestion question);

// Every record, for export and for replay by the simulator.
Result<Answer> list_usage(Service& service, const std::string& project, const Projects& projects);

}  // namespace exa
