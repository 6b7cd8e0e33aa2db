#include "service/platform_rows.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "service/stored.h"

namespace exa {
namespace {

constexpr std::string_view kStates[] = {"reserved", "provisioning", "ready", "failed", "deleting"};

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

json::object machine_json(const HeldMachine& held) {
  const PlatformMachine& machine = held.machine;
  return {{"id", machine.id},
          {"as", name(held.as)},
          {"address", machine.address},
          {"architecture", text_or_null(machine.architecture)},
          {"family", text_or_null(machine.family)},
          {"gpus", machine.gpus},
          {"control_plane", machine.control_plane},
          {"worker", machine.worker}};
}

json::value run_json(const std::optional<PlatformRun>& run) {
  if (!run) return nullptr;
  return json::object{{"action", run->action},
                      {"started_at", format_rfc3339(run->started_at)},
                      {"ended_at", run->ended_at ? json::value(format_rfc3339(*run->ended_at))
                                                 : json::value(nullptr)},
                      {"succeeded", run->succeeded},
                      {"reason", text_or_null(run->reason)},
                      {"outputs", run->outputs}};
}

// Members of a stored platform; what cannot be read is damage, found once and told at the end.
class Stored {
 public:
  explicit Stored(const json::object& object) : object_(object) {}

  std::string text(std::string_view key) const { return std::string(text_or(object_, key, "")); }
  int64_t number(std::string_view key) const {
    const json::value* value = object_.if_contains(key);
    return value != nullptr && value->is_int64() ? value->get_int64() : 0;
  }
  bool flag(std::string_view key) const {
    const json::value* value = object_.if_contains(key);
    return value != nullptr && value->is_bool() && value->get_bool();
  }
  json::object object(std::string_view key) const {
    const json::value* value = object_.if_contains(key);
    return value != nullptr && value->is_object() ? value->get_object() : json::object();
  }
  json::array list(std::string_view key) const {
    const json::value* value = object_.if_contains(key);
    return value != nullptr && value->is_array() ? value->get_array() : json::array();
  }
  Result<Time> time(std::string_view key) const {
    return from_stored(parse_rfc3339(text(key)), "a stored platform");
  }

 private:
  const json::object& object_;
};

std::optional<ChosenAs> find_chosen_as(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(ChosenAs::any_family); ++i)
    if (name(static_cast<ChosenAs>(i)) == text) return static_cast<ChosenAs>(i);
  return std::nullopt;
}

Result<HeldMachine> held_from_json(const json::value& value) {
  if (!value.is_object()) return fail(Code::store_damaged, "a held machine is not an object");
  const Stored stored(value.get_object());
  HeldMachine held;
  held.machine = {stored.text("id"),     stored.text("address"), stored.text("architecture"),
                  stored.number("gpus"), stored.text("family"),  stored.flag("control_plane"),
                  stored.flag("worker")};
  const auto as = find_chosen_as(stored.text("as"));
  if (!as) return fail(Code::store_damaged, "a held machine has no readable part");
  held.as = *as;
  return held;
}

Result<std::optional<PlatformRun>> run_from_json(const json::object& object) {
  std::optional<PlatformRun> run;
  if (object.empty()) return run;
  const Stored stored(object);
  run.emplace();
  run->action = stored.text("action");
  EXA_ASSIGN(run->started_at, stored.time("started_at"));
  if (!stored.text("ended_at").empty()) {
    EXA_ASSIGN(run->ended_at, stored.time("ended_at"));
  }
  run->succeeded = stored.flag("succeeded");
  run->reason = stored.text("reason");
  run->outputs = stored.object("outputs");
  return run;
}

Result<MlPlatform> platform_of_row(const Row& row) {
  EXA_ASSIGN(const json::object spec, parse_stored_object(row.text(0), "a stored platform"));
  return ml_platform_from_json(spec);
}

}  // namespace

std::string_view name(PlatformState state) {
  return kStates[static_cast<size_t>(state)];
}

std::optional<PlatformState> find_platform_state(std::string_view text) {
  const auto* found = std::ranges::find(kStates, text);
  if (found == std::end(kStates)) return std::nullopt;
  return static_cast<PlatformState>(found - std::begin(kStates));
}

json::object to_json(const MlPlatform& platform) {
  json::object gpus;
  for (const auto& [family, count] : platform.gpus) gpus[family.shown] = count;
  json::array machines;
  for (const HeldMachine& held : platform.machines) machines.emplace_back(machine_json(held));
  return {{"name", platform.name},
          {"project", platform.project},
          {"id", platform.id},
          {"state", name(platform.state)},
          {"reason", text_or_null(platform.reason)},
          {"generation", platform.generation},
          {"built_generation", platform.built_generation},
          {"mode", name(platform.mode)},
          {"gpus", std::move(gpus)},
          {"minimum_workers", platform.minimum_workers},
          {"minimum_from", text_or_null(platform.minimum_from)},
          {"machines", std::move(machines)},
          {"leftover_gpus", platform.leftover_gpus},
          {"filler_gpus", platform.filler_gpus},
          {"compute_profile", platform.compute_profile},
          {"profile", platform.profile},
          {"workload_profile", text_or_null(platform.workload_profile)},
          {"provisioner", text_or_null(platform.provisioner)},
          {"last_run", run_json(platform.last_run)},
          {"created_at", format_rfc3339(platform.created_at)},
          {"created_by", platform.created_by},
          {"updated_at", format_rfc3339(platform.updated_at)}};
}

Result<MlPlatform> ml_platform_from_json(const json::object& object) {
  const Stored stored(object);
  MlPlatform platform;
  platform.name = stored.text("name");
  platform.project = stored.text("project");
  platform.id = stored.text("id");
  const auto state = find_platform_state(stored.text("state"));
  const auto mode = find_allocation_mode(stored.text("mode"));
  if (!state || !mode) return fail(Code::store_damaged, "a stored platform has no readable state");
  platform.state = *state;
  platform.mode = *mode;
  platform.reason = stored.text("reason");
  platform.generation = stored.number("generation");
  platform.built_generation = stored.number("built_generation");
  for (const auto& member : stored.object("gpus"))
    if (member.value().is_int64())
      platform.gpus.emplace_back(gpu_family(member.key()), member.value().get_int64());
  std::ranges::sort(platform.gpus);
  platform.minimum_workers = stored.number("minimum_workers");
  platform.minimum_from = stored.text("minimum_from");
  const json::array machines = stored.list("machines");
  for (const json::value& each : machines) {
    EXA_ASSIGN(HeldMachine held, held_from_json(each));
    platform.machines.push_back(std::move(held));
  }
  platform.leftover_gpus = stored.number("leftover_gpus");
  platform.filler_gpus = stored.number("filler_gpus");
  platform.compute_profile = stored.text("compute_profile");
  platform.profile = stored.object("profile");
  platform.workload_profile = stored.text("workload_profile");
  platform.provisioner = stored.text("provisioner");
  EXA_ASSIGN(platform.last_run, run_from_json(stored.object("last_run")));
  EXA_ASSIGN(platform.created_at, stored.time("created_at"));
  platform.created_by = stored.text("created_by");
  EXA_ASSIGN(platform.updated_at, stored.time("updated_at"));
  return platform;
}

Result<std::vector<MlPlatform>> load_platforms(Transaction& tx) {
  EXA_ASSIGN(const auto rows, tx.rows("SELECT spec FROM ml_platform ORDER BY id"));
  std::vector<MlPlatform> platforms;
  for (const Row& row : rows) {
    EXA_ASSIGN(MlPlatform platform, platform_of_row(row));
    platforms.push_back(std::move(platform));
  }
  return platforms;
}

Result<std::optional<MlPlatform>> load_platform(Transaction& tx, const std::string& project,
                                                const std::string& name) {
  EXA_ASSIGN(const auto rows, tx.rows("SELECT spec FROM ml_platform WHERE id = $1",
                                      {fmt::format("{}/{}", project, name)}));
  std::optional<MlPlatform> platform;
  if (rows.empty()) return platform;
  EXA_ASSIGN(platform, platform_of_row(rows[0]));
  return platform;
}

Result<MlPlatform> find_platform(Transaction& tx, const std::string& project,
                                 const std::string& name) {
  EXA_ASSIGN(auto platform, load_platform(tx, project, name));
  if (platform) return *std::move(platform);
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT spec FROM ml_platform WHERE project = $1 ORDER BY id", {project}));
  std::vector<std::string> names;
  for (const Row& row : rows) {
    EXA_ASSIGN(const MlPlatform other, platform_of_row(row));
    names.push_back(other.name);
  }
  return fail(
      Error{Code::not_found,
            fmt::format("there is no ML platform \"{}\" in project {}", printable(name), project),
            {},
            names.empty() ? "exa mlplatform create NAME --gpus \"8 H100\"" : "exa mlplatform list",
            close_matches(name, names)});
}

Result<void> put_platform(Transaction& tx, const MlPlatform& platform) {
  EXA_TRY(tx.change(
      "INSERT INTO ml_platform VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET spec = $3",
      {platform.key(), platform.project, to_text(to_json(platform))}));
  return {};
}

Result<void> drop_platform(Transaction& tx, const MlPlatform& platform) {
  EXA_TRY(tx.change("DELETE FROM ml_platform WHERE id = $1", {platform.key()}));
  return {};
}

MachineHolds holds_of(const std::vector<MlPlatform>& platforms) {
  MachineHolds holds;
  for (const MlPlatform& platform : platforms)
    for (const HeldMachine& held : platform.machines)
      holds[held.machine.id].push_back(
          {platform.project, platform.name, platform.mode, held.machine.gpus});
  return holds;
}

std::string held_words(const MachineHold& hold, const Caller& caller) {
  if (!caller.known.contains(hold.project)) return "in use by another project";
  return fmt::format("in use by platform {}/{}", hold.project, hold.platform);
}

}  // namespace exa
