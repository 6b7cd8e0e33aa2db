#include "service/launches.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "service/profile_rows.h"
#include "service/stored.h"

namespace exa {
namespace {

constexpr std::string_view kStates[] = {"submitting", "pending",   "running", "succeeded",
                                        "failed",     "cancelled", "stopped"};

json::value time_or_null(const std::optional<Time>& time) {
  return time ? json::value(format_rfc3339(*time)) : json::value(nullptr);
}

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

Result<std::optional<Time>> time_in(const json::object& stored, std::string_view key) {
  std::optional<Time> time;
  const std::string_view text = text_or(stored, key, "");
  if (text.empty()) return time;
  EXA_ASSIGN(time, from_stored(parse_rfc3339(text), "a stored launch"));
  return time;
}

std::vector<std::string> texts_in(const json::object& stored, std::string_view key) {
  std::vector<std::string> texts;
  const json::value* list = stored.if_contains(key);
  if (list == nullptr || !list->is_array()) return texts;
  for (const json::value& each : list->get_array())
    if (each.is_string()) texts.emplace_back(each.get_string());
  return texts;
}

json::object object_in(const json::object& stored, std::string_view key) {
  const json::value* value = stored.if_contains(key);
  return value != nullptr && value->is_object() ? value->get_object() : json::object();
}

json::array list_of(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

std::string command_word(Surface kind) {
  return kind == Surface::training ? "pipeline" : std::string(launch_kind(kind));
}

// Members that both forms have, between who it is and how it stands.
void add_common(json::object& out, const Launch& launch) {
  out["state"] = name(launch.state);
  out["reason"] = text_or_null(launch.reason);
  out["cluster"] = text_or_null(launch.cluster);
  out["backend"] = launch.backend;
  out["job"] = text_or_null(launch.job);
  out["nodes"] = list_of(launch.nodes);
  out["exit_code"] = launch.exit_code ? json::value(*launch.exit_code) : json::value(nullptr);
  out["hardware_profile"] = text_or_null(launch.hardware_profile);
  out["overrides"] = list_of(launch.overrides);
  out["shape"] = shape_to_json(launch.shape);
  out["resolution"] = launch.resolution;
  out["details"] = launch.details;
  out["lease"] = text_or_null(launch.lease);
  out["decision"] = text_or_null(launch.decision);
  out["created_at"] = format_rfc3339(launch.created_at);
  out["created_by"] = launch.created_by;
  out["submitted_at"] = time_or_null(launch.submitted_at);
  out["started_at"] = time_or_null(launch.started_at);
  out["ended_at"] = time_or_null(launch.ended_at);
}

Result<Launch> launch_of_row(const Row& row) {
  EXA_ASSIGN(const json::object spec, parse_stored_object(row.text(0), "a stored launch"));
  return launch_from_json(spec);
}

}  // namespace

std::string_view name(LaunchState state) {
  return kStates[static_cast<size_t>(state)];
}

std::optional<LaunchState> find_launch_state(std::string_view text) {
  const auto* found = std::ranges::find(kStates, text);
  if (found == std::end(kStates)) return std::nullopt;
  return static_cast<LaunchState>(found - std::begin(kStates));
}

bool is_open(LaunchState state) {
  return state == LaunchState::submitting || state == LaunchState::pending ||
         state == LaunchState::running;
}

std::string Launch::key() const {
  return fmt::format("{}/{}/{}", spec.project, launch_kind(spec.kind), spec.name);
}

json::object to_json(const Launch& launch) {
  json::object out{{"name", launch.spec.name},
                   {"kind", launch_kind(launch.spec.kind)},
                   {"project", launch.spec.project},
                   {"id", launch.spec.id}};
  add_common(out, launch);
  out["folder"] = text_or_null(launch.spec.folder);
  out["image"] = text_or_null(launch.spec.image);
  out["command"] = to_text(launch.spec.command);
  return out;
}

json::object to_stored_json(const Launch& launch) {
  json::object out{{"spec", to_json(launch.spec)}};
  add_common(out, launch);
  out["ending"] = launch.ending;
  out["request_digest"] = launch.request_digest;
  return out;
}

Result<Launch> launch_from_json(const json::object& stored) {
  Launch launch;
  EXA_ASSIGN(launch.spec, launch_spec_from_json(object_in(stored, "spec")));
  const auto state = find_launch_state(text_or(stored, "state", ""));
  if (!state) return fail(Code::store_damaged, "a stored launch has no readable state");
  launch.state = *state;
  launch.reason = text_or(stored, "reason", "");
  launch.cluster = text_or(stored, "cluster", "");
  launch.backend = text_or(stored, "backend", "");
  launch.job = text_or(stored, "job", "");
  launch.nodes = texts_in(stored, "nodes");
  if (const json::value* code = stored.if_contains("exit_code");
      code != nullptr && code->is_int64())
    launch.exit_code = code->get_int64();
  launch.hardware_profile = text_or(stored, "hardware_profile", "");
  launch.overrides = texts_in(stored, "overrides");
  EXA_ASSIGN(launch.shape,
             from_stored(shape_from_json(object_in(stored, "shape")), "a launch's shape"));
  launch.resolution = object_in(stored, "resolution");
  launch.details = object_in(stored, "details");
  launch.lease = text_or(stored, "lease", "");
  launch.decision = text_or(stored, "decision", "");
  EXA_ASSIGN(const auto created, time_in(stored, "created_at"));
  launch.created_at = created.value_or(Time{});
  launch.created_by = text_or(stored, "created_by", "");
  EXA_ASSIGN(launch.submitted_at, time_in(stored, "submitted_at"));
  EXA_ASSIGN(launch.started_at, time_in(stored, "started_at"));
  EXA_ASSIGN(launch.ended_at, time_in(stored, "ended_at"));
  const json::value* ending = stored.if_contains("ending");
  launch.ending = ending != nullptr && ending->is_bool() && ending->get_bool();
  launch.request_digest = text_or(stored, "request_digest", "");
  return launch;
}

Launch after(Launch launch, const std::optional<Observed>& seen, Time now) {
  if (!is_open(launch.state)) return launch;
  if (!seen) {
    // never submitted, or forgotten since: a scheduler keeps ended jobs for a while only
    if (launch.state == LaunchState::submitting) {
      launch.state = LaunchState::failed;
      launch.reason = "it was never submitted";
    } else {
      launch.state = launch.ending ? LaunchState::cancelled : LaunchState::failed;
      launch.reason = "the scheduler no longer knows it; how it ended was not seen";
    }
    launch.ended_at = now;
    return launch;
  }
  launch.job = seen->job;
  launch.reason = seen->reason;
  launch.nodes = seen->nodes;
  if (!launch.submitted_at) launch.submitted_at = now;
  if (seen->started) launch.started_at = seen->started;
  if (!seen->url.empty()) launch.details["url"] = seen->url;
  switch (seen->state) {
    case JobState::pending:
    case JobState::unknown:
      launch.state = LaunchState::pending;
      return launch;
    case JobState::running:
      launch.state = LaunchState::running;
      if (!launch.started_at) launch.started_at = now;
      return launch;
    case JobState::succeeded:
      launch.state = LaunchState::succeeded;
      break;
    case JobState::failed:
      launch.state = LaunchState::failed;
      break;
    case JobState::cancelled:
      launch.state = LaunchState::cancelled;
      break;
  }
  launch.ended_at = seen->ended.value_or(now);
  if (seen->exit_code) launch.exit_code = *seen->exit_code;
  if (launch.ending) {
    const bool again = launch.spec.kind != Surface::training;
    launch.state = again ? LaunchState::stopped : LaunchState::cancelled;
    launch.reason.clear();
  }
  return launch;
}

Result<std::optional<Launch>> load_launch(Transaction& tx, const std::string& project, Surface kind,
                                          const std::string& launch_name) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT spec FROM launch WHERE id = $1",
                     {fmt::format("{}/{}/{}", project, launch_kind(kind), launch_name)}));
  std::optional<Launch> launch;
  if (rows.empty()) return launch;
  EXA_ASSIGN(launch, launch_of_row(rows[0]));
  return launch;
}

Result<Launch> find_launch(Transaction& tx, const std::string& project, Surface kind,
                           const std::string& launch_name) {
  EXA_TRY(require_project(tx, project));
  EXA_ASSIGN(auto launch, load_launch(tx, project, kind, launch_name));
  if (launch) return *std::move(launch);
  EXA_ASSIGN(const auto rows, tx.rows("SELECT id FROM launch WHERE project = $1 AND kind = $2",
                                      {project, std::string(launch_kind(kind))}));
  std::vector<std::string> names;
  for (const Row& row : rows) names.push_back(row.text(0).substr(row.text(0).rfind('/') + 1));
  return fail(Error{Code::not_found,
                    fmt::format("there is no {} \"{}\" in this project",
                                kind == Surface::training ? "training run" : launch_kind(kind),
                                printable(launch_name)),
                    {},
                    fmt::format("exa {} list", command_word(kind)),
                    close_matches(launch_name, names)});
}

Result<std::vector<Launch>> open_launches(Transaction& tx) {
  EXA_ASSIGN(const auto rows, tx.rows("SELECT spec FROM launch WHERE open = 1 ORDER BY id"));
  std::vector<Launch> launches;
  for (const Row& row : rows) {
    EXA_ASSIGN(Launch launch, launch_of_row(row));
    launches.push_back(std::move(launch));
  }
  return launches;
}

Result<void> put_launch(Transaction& tx, const Launch& launch) {
  EXA_TRY(tx.change(
      "INSERT INTO launch VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO UPDATE SET spec = "
      "$4, created_at = $5, open = $6",
      {launch.key(), launch.spec.project, std::string(launch_kind(launch.spec.kind)),
       to_text(to_stored_json(launch)), launch.created_at.micros,
       int64_t{is_open(launch.state) ? 1 : 0}}));
  return {};
}

Result<void> drop_launch(Transaction& tx, const Launch& launch) {
  EXA_TRY(tx.change("DELETE FROM launch WHERE id = $1", {launch.key()}));
  return {};
}

Result<Answer> list_launches(Service& service, const Page& page, Surface kind) {
  return newest_first(service, page, "launch", "created_at",
                      fmt::format("kind = '{}'", launch_kind(kind)),
                      [](const json::value& spec) -> Result<json::object> {
                        EXA_ASSIGN(const Launch launch, launch_from_json(spec.get_object()));
                        return to_json(launch);
                      });
}

}  // namespace exa
