// docs.docker.com/engine/api, ContainerInspect: State.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "launch/compose.h"

namespace exa {
namespace {

constexpr size_t kShortId = 12;  // as `docker ps` shows it

struct StatusRow {
  std::string_view docker;
  JobState state;
};
constexpr StatusRow kStatuses[] = {
    {"created", JobState::pending},    {"restarting", JobState::pending},
    {"running", JobState::running},    {"paused", JobState::running},
    {"exited", JobState::failed},      {"dead", JobState::failed},
    {"removing", JobState::cancelled},
};

int64_t number_in(const json::value& state, std::string_view key) {
  const json::value* found = find(state, key);
  return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

bool is_set(const json::value& state, std::string_view key) {
  const json::value* found = find(state, key);
  return found != nullptr && found->is_bool() && found->get_bool();
}

// Year 1 stands for never.
std::optional<Time> time_in(const json::value& state, std::string_view key) {
  const auto time = parse_rfc3339(text_or(state, key, ""));
  return time && time->micros > 0 ? std::optional(*time) : std::nullopt;
}

void read_end(const json::value& state, Observed& seen) {
  const int64_t code = number_in(state, "ExitCode");
  const std::string_view error = text_or(state, "Error", "");
  seen.exit_code = static_cast<int>(code);
  seen.ended = time_in(state, "FinishedAt");
  // of what ended at once Docker keeps an end before the start
  if (seen.ended && seen.started && *seen.ended < *seen.started) seen.ended = seen.started;
  if (code == 0)
    seen.state = JobState::succeeded;
  else if (is_set(state, "OOMKilled"))
    seen.reason = "OUT_OF_MEMORY";
  else
    seen.reason = error.empty() ? reason_of_exit(code) : printable(error);
}

void read_start(const json::value& state, Observed& seen) {
  const std::string_view error = text_or(state, "Error", "");
  if (!error.empty()) seen.state = JobState::failed;
  seen.reason = error.empty() ? "made, and not started yet" : printable(error);
}

}  // namespace

Result<Observed> observed_of_container(const json::value& inspected) {
  const json::value* state = find(inspected, "State");
  const std::string_view status = state == nullptr ? "" : text_or(*state, "Status", "");
  const std::string_view id = text_or(inspected, "Id", "");
  const auto* row = std::ranges::find(kStatuses, status, &StatusRow::docker);
  if (id.empty() || row == std::end(kStatuses)) {
    return fail(Code::unreadable_output,
                fmt::format("Docker says \"{}\" of container {}: no state that is known",
                            printable(status), printable(id)));
  }
  Observed seen;
  seen.job = id.substr(0, kShortId);
  seen.state = row->state;
  seen.started = time_in(*state, "StartedAt");
  if (status == "exited") read_end(*state, seen);
  if (status == "created") read_start(*state, seen);
  if (status == "paused") seen.reason = "paused";
  if (status == "dead") seen.reason = "dead: Docker could not take it away";
  if (status == "restarting") {
    seen.reason =
        fmt::format("it failed with {} and is started again", number_in(*state, "ExitCode"));
  }
  return seen;
}

}  // namespace exa
