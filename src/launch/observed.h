// What a scheduler says of a job, in its own words.
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
  std::string job;  // the scheduler's own id
  JobState state = JobState::unknown;
  std::string reason;  // the scheduler's own words: "Priority", "OUT_OF_MEMORY", "NODE_FAIL"
  std::vector<std::string> nodes;
  std::optional<Time> started;
  std::optional<Time> ended;
  std::optional<int> exit_code;
  std::string url;  // where it answers, when its keeper says so

  bool operator==(const Observed&) const = default;
};

}  // namespace exa
