#include "launch/observed.h"

#include "base/error.h"

namespace exa {

std::string_view name(JobState state) {
  switch (state) {
    case JobState::pending:
      return "pending";
    case JobState::running:
      return "running";
    case JobState::succeeded:
      return "succeeded";
    case JobState::failed:
      return "failed";
    case JobState::cancelled:
      return "cancelled";
    case JobState::unknown:
      return "unknown";
  }
  EXA_ASSERT(false && "every state has a name");
}

}  // namespace exa
