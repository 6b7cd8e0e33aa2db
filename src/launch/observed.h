// What was seen of a job that was submitted, in one shape for every driver. Plain values; what was
// not said stays empty.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace exa {

enum class JobState { pending, running, succeeded, failed, cancelled, unknown };
std::string_view name(JobState state);

struct Observed {
  std::string job;
  JobState state = JobState::unknown;
  std::string reason;  // the scheduler's own words
  std::vector<std::string> nodes;
  std::optional<Time> started;
  std::optional<Time> ended;
  std::optional<int> exit_code;

  bool operator==(const Observed&) const = default;
};

}  // namespace exa
