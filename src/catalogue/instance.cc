#include "catalogue/instance.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "catalogue/stored_members.h"
#include "profile/hardware_profile.h"

namespace exa {
namespace {

constexpr std::string_view kStates[] = {"waiting", "rejected", "launching", "running", "stopping",
                                        "stopped", "starting", "failed",    "deleting"};
constexpr std::string_view kWhat = "a stored instance";

json::object object_of(const std::vector<std::pair<std::string, std::string>>& pairs) {
  json::object object;
  for (const auto& [key, text] : pairs) object[key] = text;
  return object;
}

json::array list_of(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

json::value run_json(const std::optional<InstanceRun>& run) {
  if (!run) return nullptr;
  return json::object{{"action", run->action},
                      {"started_at", format_rfc3339(run->started_at)},
                      {"ended_at", time_or_null(run->ended_at)},
                      {"outcome", text_or_null(run->outcome)},
                      {"reason", text_or_null(run->reason)},
                      {"log_cut_bytes", run->log_cut_bytes},
                      {"left_behind", run->left_behind}};
}

json::value approval_json(const std::optional<InstanceApproval>& approval) {
  if (!approval) return nullptr;
  return json::object{{"because", list_of(approval->because)},
                      {"asked", text_or_null(approval->asked)},
                      {"decided_by", text_or_null(approval->decided_by)},
                      {"decided_at", time_or_null(approval->decided_at)},
                      {"approved", approval->approved},
                      {"reason", text_or_null(approval->reason)}};
}

json::value cron_json(const std::optional<CronTimes>& cron) {
  return cron ? json::value(cron->text) : json::value(nullptr);
}

json::value schedule_json(const InstanceSchedule& schedule) {
  if (!schedule.start && !schedule.stop) return nullptr;
  return json::object{{"start", cron_json(schedule.start)},
                      {"stop", cron_json(schedule.stop)},
                      {"time_zone", schedule.time_zone}};
}

// --- reading

Result<std::optional<CronTimes>> cron_in(const StoredMembers& stored, std::string_view key) {
  std::optional<CronTimes> cron;
  if (stored.text(key).empty()) return cron;
  auto read = parse_cron(stored.text(key));
  if (!read)
    return fail(Code::store_damaged,
                fmt::format("{} cannot be read: {}", kWhat, read.error().message));
  cron = *std::move(read);
  return cron;
}

Result<InstanceSchedule> schedule_of(const json::object& object) {
  InstanceSchedule schedule;
  if (object.empty()) return schedule;
  const StoredMembers stored(object, kWhat);
  EXA_ASSIGN(schedule.start, cron_in(stored, "start"));
  EXA_ASSIGN(schedule.stop, cron_in(stored, "stop"));
  schedule.time_zone = stored.text("time_zone");
  if (!check_time_zone(schedule.time_zone))
    return fail(Code::store_damaged, fmt::format("{} is of an unknown time zone", kWhat));
  return schedule;
}

Result<std::optional<InstanceRun>> run_of(const json::object& object) {
  std::optional<InstanceRun> run;
  if (object.empty()) return run;
  const StoredMembers stored(object, kWhat);
  run.emplace();
  run->action = stored.text("action");
  EXA_ASSIGN(run->started_at, stored.time("started_at"));
  EXA_ASSIGN(run->ended_at, stored.maybe_time("ended_at"));
  run->outcome = stored.text("outcome");
  run->reason = stored.text("reason");
  run->log_cut_bytes = stored.count("log_cut_bytes").value_or(0);
  run->left_behind = stored.count("left_behind").value_or(0);
  return run;
}

Result<std::optional<InstanceApproval>> approval_of(const json::object& object) {
  std::optional<InstanceApproval> approval;
  if (object.empty()) return approval;
  const StoredMembers stored(object, kWhat);
  approval.emplace();
  approval->because = stored.texts("because");
  approval->asked = stored.text("asked");
  approval->decided_by = stored.text("decided_by");
  EXA_ASSIGN(approval->decided_at, stored.maybe_time("decided_at"));
  approval->approved = stored.flag("approved");
  approval->reason = stored.text("reason");
  return approval;
}

Result<void> read_pinned(const StoredMembers& stored, ComputeInstance& instance) {
  const json::object profile = stored.object("compute_profile");
  const StoredMembers pinned(profile, kWhat);
  instance.sku_project = pinned.text("project");
  instance.sku = pinned.text("name");
  instance.sku_version = pinned.count("version").value_or(0);
  instance.display_name = pinned.text("display_name");
  const json::object environment = stored.object("environment_template");
  instance.environment_template = {std::string(text_or(environment, "name", "")),
                                   std::string(text_or(environment, "version", ""))};
  instance.driver = stored.text("driver");
  instance.hardware_profile = stored.text("hardware_profile");
  if (const json::object shape = stored.object("shape"); !shape.empty()) {
    EXA_ASSIGN(instance.shape, shape_from_json(shape));
  }
  return {};
}

Result<void> read_times(const StoredMembers& stored, ComputeInstance& instance) {
  EXA_ASSIGN(instance.expires_at, stored.maybe_time("expires_at"));
  EXA_ASSIGN(instance.schedule, schedule_of(stored.object("schedule")));
  EXA_ASSIGN(instance.schedule_seen, stored.time("schedule_seen"));
  instance.ran_micros = stored.count("ran_micros").value_or(0);
  EXA_ASSIGN(instance.running_since, stored.maybe_time("running_since"));
  EXA_ASSIGN(instance.created_at, stored.time("created_at"));
  return {};
}

}  // namespace

std::string_view name(InstanceState state) {
  return kStates[static_cast<size_t>(state)];
}

std::optional<InstanceState> find_instance_state(std::string_view text) {
  const auto* found = std::ranges::find(kStates, text);
  if (found == std::end(kStates)) return std::nullopt;
  return static_cast<InstanceState>(found - std::begin(kStates));
}

bool is_busy(InstanceState state) {
  using enum InstanceState;
  return state == launching || state == stopping || state == starting || state == deleting;
}

bool holds_resources(InstanceState state) {
  using enum InstanceState;
  return state != waiting && state != rejected && state != stopped;
}

std::string_view name(AtEnd at_end) {
  return at_end == AtEnd::remove ? "delete" : "stop";
}

std::optional<AtEnd> find_at_end(std::string_view text) {
  for (const AtEnd each : {AtEnd::remove, AtEnd::stop})
    if (name(each) == text) return each;
  return std::nullopt;
}

json::object to_json(const ComputeInstance& instance) {
  return {
      {"name", instance.name},
      {"project", instance.project},
      {"id", instance.id},
      {"owner", instance.owner},
      {"state", name(instance.state)},
      {"reason", text_or_null(instance.reason)},
      {"compute_profile", json::object{{"project", instance.sku_project},
                                       {"name", instance.sku},
                                       {"version", instance.sku_version},
                                       {"display_name", text_or_null(instance.display_name)}}},
      {"environment_template", json::object{{"name", instance.environment_template.name},
                                            {"version", instance.environment_template.version}}},
      {"driver", instance.driver},
      {"inputs", instance.inputs},
      {"labels", object_of(instance.labels)},
      {"annotations", object_of(instance.annotations)},
      {"price_per_hour", price_or_null(instance.price_per_hour)},
      {"approval", approval_json(instance.approval)},
      {"last_run", run_json(instance.last_run)},
      {"outputs", instance.outputs},
      {"secret_outputs", list_of(instance.secret_outputs)},
      {"hardware_profile", text_or_null(instance.hardware_profile)},
      {"shape",
       instance.shape ? json::value(shape_to_json(*instance.shape)) : json::value(nullptr)},
      {"lease", text_or_null(instance.lease)},
      {"decision", text_or_null(instance.decision)},
      {"pool", text_or_null(instance.pool)},
      {"cluster", text_or_null(instance.cluster)},
      {"expires_at", time_or_null(instance.expires_at)},
      {"at_end", name(instance.at_end)},
      {"schedule", schedule_json(instance.schedule)},
      {"schedule_seen", format_rfc3339(instance.schedule_seen)},
      {"ran_micros", instance.ran_micros},
      {"running_since", time_or_null(instance.running_since)},
      {"created_at", format_rfc3339(instance.created_at)},
      {"created_by", instance.created_by},
      {"request_digest", text_or_null(instance.request_digest)}};
}

Result<ComputeInstance> instance_from_json(const json::object& object) {
  const StoredMembers stored(object, kWhat);
  ComputeInstance instance;
  instance.name = stored.text("name");
  instance.project = stored.text("project");
  instance.id = stored.text("id");
  instance.owner = stored.text("owner");
  const auto state = find_instance_state(stored.text("state"));
  const auto at_end = find_at_end(stored.text("at_end"));
  if (!state || !at_end)
    return fail(Code::store_damaged, fmt::format("{} has no readable state", kWhat));
  instance.state = *state;
  instance.at_end = *at_end;
  instance.reason = stored.text("reason");
  EXA_TRY(read_pinned(stored, instance));
  instance.inputs = stored.object("inputs");
  instance.labels = stored.pairs("labels");
  instance.annotations = stored.pairs("annotations");
  EXA_ASSIGN(instance.price_per_hour, stored.money("price_per_hour"));
  EXA_ASSIGN(instance.approval, approval_of(stored.object("approval")));
  EXA_ASSIGN(instance.last_run, run_of(stored.object("last_run")));
  instance.outputs = stored.object("outputs");
  instance.secret_outputs = stored.texts("secret_outputs");
  instance.lease = stored.text("lease");
  instance.decision = stored.text("decision");
  instance.pool = stored.text("pool");
  instance.cluster = stored.text("cluster");
  EXA_TRY(read_times(stored, instance));
  instance.created_by = stored.text("created_by");
  instance.request_digest = stored.text("request_digest");
  return instance;
}

}  // namespace exa
