// An instance: what somebody launched from a compute profile of the catalogue, pinned to the
// version that it was launched from (semantics §7). What it is, how it stands, and what time asks
// of it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/money.h"
#include "base/time.h"
#include "catalogue/compute_sku.h"
#include "catalogue/cron.h"
#include "catalogue/instance_limits.h"

namespace exa {

enum class InstanceState {
  waiting,    // above a limit: an admin decides
  rejected,   // an admin said no
  launching,  // its template is at work, or its job waits in a queue
  running,
  stopping,
  stopped,
  starting,
  failed,    // its template ended badly; it may be started again or deleted
  deleting,  // its template takes it down
};
std::string_view name(InstanceState state);
std::optional<InstanceState> find_instance_state(std::string_view name);
// A template is at work, or should be: nobody else acts on it meanwhile.
bool is_busy(InstanceState state);
// It holds what it was given: devices, money, a place under the limits on price.
bool holds_resources(InstanceState state);

enum class AtEnd { remove, stop };  // "delete", "stop"
std::string_view name(AtEnd at_end);
std::optional<AtEnd> find_at_end(std::string_view name);

// When it is started and stopped of itself; either may be absent.
struct InstanceSchedule {
  std::optional<CronTimes> start;
  std::optional<CronTimes> stop;
  std::string time_zone = "UTC";

  bool operator==(const InstanceSchedule&) const = default;
};

// One run of its template.
struct InstanceRun {
  std::string action;  // "apply", "stop", "start", "destroy"
  Time started_at;
  std::optional<Time> ended_at;
  std::string outcome;  // "succeeded", "failed", "timed out", "cancelled"; empty: it runs
  std::string reason;   // why not
  int64_t log_cut_bytes = 0;
  int64_t left_behind = 0;  // processes that it had not ended itself

  bool operator==(const InstanceRun&) const = default;
};

struct InstanceApproval {
  std::vector<std::string> because;  // the limits that it is above
  std::string asked;                 // why it is wanted all the same, in the asker's words
  std::string decided_by;            // empty: nobody yet
  std::optional<Time> decided_at;
  bool approved = false;
  std::string reason;

  bool operator==(const InstanceApproval&) const = default;
};

struct ComputeInstance {
  std::string project;
  std::string name;
  std::string id;     // never given twice
  std::string owner;  // whose it is: who launched it, or for whom an admin did
  std::string sku_project;
  std::string sku;
  int64_t sku_version = 0;
  std::string display_name;  // of the profile, then
  TemplateRef environment_template;
  std::string driver;   // "script", "ansible", "opentofu", "slurm", "kubernetes"
  json::object inputs;  // as masked() writes them
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<std::pair<std::string, std::string>> annotations;
  std::optional<Money> price_per_hour;
  InstanceState state = InstanceState::launching;
  std::string reason;
  std::optional<InstanceApproval> approval;
  std::optional<InstanceRun> last_run;
  json::object outputs;                     // that the profile shows; without secret ones
  std::vector<std::string> secret_outputs;  // names of those that are there
  std::string hardware_profile;             // PROJECT/NAME@3 of its shape; empty: none, or its own
  std::optional<Shape> shape;
  std::string lease;  // ids; empty: none
  std::string decision;
  std::string pool;     // where placement put it; empty: nowhere known
  std::string cluster;  // likewise; of slurm and kubernetes where its job is
  std::optional<Time> expires_at;
  AtEnd at_end = AtEnd::remove;
  InstanceSchedule schedule;
  Time schedule_seen;                 // what was due until then is done
  int64_t ran_micros = 0;             // in all, until running_since
  std::optional<Time> running_since;  // now
  Time created_at;
  std::string created_by;
  std::string request_digest;  // of the request that launches it

  std::string key() const { return project + "/" + name; }
  std::string sku_key() const { return sku_project + "/" + sku; }
  bool operator==(const ComputeInstance&) const = default;
};

// What is stored and digested. People see it with what only time tells: see shown().
json::object to_json(const ComputeInstance& instance);
Result<ComputeInstance> instance_from_json(const json::object& stored);

// As to_json without what only exa needs, and with hours and cost until `now`.
json::object shown(const ComputeInstance& instance, Time now);

// How long it has run, and for how much; nullopt: its price is not known.
Duration ran_for(const ComputeInstance& instance, Time now);
std::optional<Money> cost_of(const ComputeInstance& instance, Time now);
// Counts its time from here, or until here. Nothing is counted twice.
void starts_running(ComputeInstance& instance, Time at);
void ends_running(ComputeInstance& instance, Time at);

// What time asks of it at `now`: the end of its life before any schedule, and of its schedule the
// last word since it was looked at. nullopt: nothing; not while something else is at work.
enum class DueAction { start, stop, remove };
struct Due {
  DueAction action = DueAction::stop;
  Time since;
  std::string why;  // "its time to live ended", "by its schedule"
};
std::optional<Due> due(const ComputeInstance& instance, Time now);
// When something will be due next, for people; nullopt: never.
std::optional<Time> next_start(const ComputeInstance& instance, Time now);
std::optional<Time> next_stop(const ComputeInstance& instance, Time now);

}  // namespace exa
