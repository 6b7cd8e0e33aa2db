// How an instance stands now, and what time asks of it.
#include <fmt/format.h>

#include "service/instance_parts.h"
#include "service/launch_parts.h"
#include "service/outside_work.h"

namespace exa {
namespace {

Result<std::optional<ComputeInstance>> now_of(Service& service, const ComputeInstance& stored) {
  return read_value<std::optional<ComputeInstance>>(service.store(), [&](Transaction& tx) {
    return load_instance(tx, stored.project, stored.name);
  });
}

// Whoever worked on it is gone: it says so, and may be tried again.
ComputeInstance given_up(ComputeInstance instance, Time now) {
  const std::string action = instance.last_run ? instance.last_run->action : "launch";
  instance.state = InstanceState::failed;
  instance.reason =
      fmt::format("its server ended during {}: what it did so far is not known", action);
  if (instance.last_run) {
    instance.last_run->ended_at = now;
    instance.last_run->outcome = "failed";
    instance.last_run->reason = instance.reason;
  }
  return instance;
}

// Keeps what was seen of it, unless somebody changed it meanwhile: then that is what is true.
Result<ComputeInstance> keep_seen(Service& service, const ComputeInstance& stored,
                                  const ComputeInstance& seen, Progress& progress) {
  if (seen == stored) return stored;
  const Caller caller = observer("instance.observe", progress);
  const auto kept = service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const auto there, load_instance(tx, stored.project, stored.name));
    if (!there || *there != stored) return fail(Code::conflict, "it changed meanwhile");
    EXA_TRY(keep_instance(tx, deed, stored, seen));
    return Answer{};
  });
  if (kept) return seen;
  if (kept.error().code != Code::conflict) return fail(kept.error());
  EXA_ASSIGN(const auto there, now_of(service, stored));
  return there.value_or(stored);
}

bool shows_outputs(const ComputeInstance& instance, const ComputeSku& sku) {
  return instance.outputs.size() + instance.secret_outputs.size() >= sku.outputs.size();
}

// What a job puts out comes at some time after it began.
Result<void> look_for_outputs(Service& service, ComputeInstance& instance, Progress& progress) {
  if (instance.state != InstanceState::running) return {};
  EXA_ASSIGN(InstanceJob job, job_of(service, instance.project, instance.name));
  if (shows_outputs(instance, job.sku)) return {};
  const Caller caller = observer("instance.observe", progress);
  const auto outputs = job_outputs(service, caller, instance);
  if (outputs) take_outputs(instance, job, *outputs);
  return {};
}

}  // namespace

Result<LookedAtInstance> look_at_instance(Service& service, const ComputeInstance& stored,
                                          Progress& progress) {
  LookedAtInstance looked{stored, ""};
  using enum InstanceState;
  if (is_busy(stored.state)) {
    // somebody works on it, or did
    EXA_ASSIGN(const auto owned, own_by_id(service, "instance", stored.id));
    if (!owned) return looked;
    EXA_ASSIGN(const auto there, now_of(service, stored));
    if (!there || *there != stored) {
      looked.instance = there.value_or(stored);
      return looked;
    }
    const bool runs_here = !is_job(stored) || stored.state == deleting;
    if (runs_here || !stored.last_run || !stored.last_run->ended_at) {
      EXA_ASSIGN(looked.instance,
                 keep_seen(service, stored, given_up(stored, service.now()), progress));
      return looked;
    }
  }
  const bool asks = is_job(stored) && stored.state != waiting && stored.state != rejected;
  if (!asks) return looked;
  EXA_ASSIGN(ComputeInstance seen, look_at_job(service, stored, progress, looked.failure));
  EXA_TRY(look_for_outputs(service, seen, progress));
  EXA_ASSIGN(looked.instance, keep_seen(service, stored, seen, progress));
  return looked;
}

namespace {

Result<void> renew(Service& service, const ComputeInstance& instance, Progress& progress) {
  if (is_job(instance) || instance.lease.empty() || !holds_resources(instance.state)) return {};
  const Caller caller = observer("instance.renew", progress);
  EXA_ASSIGN(const bool wanted, read_value<bool>(service.store(), [&](Transaction& tx) {
               return needs_renewal(tx, instance, service.now());
             }));
  if (!wanted) return {};
  EXA_TRY(service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(keep_instance(tx, deed, instance, instance));
    EXA_TRY(renew_capacity(tx, deed, instance, service.now()));
    return Answer{};
  }));
  return {};
}

}  // namespace

Result<TendedInstances> tend_instances(Service& service, Progress& progress) {
  EXA_ASSIGN(const auto instances,
             read_value<std::vector<ComputeInstance>>(service.store(), load_instances));
  TendedInstances tended;
  for (const ComputeInstance& stored : instances) {
    EXA_TRY(progress.step("instances", tended.changed, 0));
    // one that cannot be asked now stands in nobody's way
    const auto looked = look_at_instance(service, stored, progress);
    if (!looked) continue;
    if (looked->instance != stored) ++tended.changed;
    EXA_TRY(renew(service, looked->instance, progress));
    if (due(looked->instance, service.now())) tended.due.push_back(looked->instance);
  }
  return tended;
}

Result<void> do_what_is_due(Service& service, const ComputeInstance& instance, Progress& progress) {
  const Time now = service.now();
  const auto asked = due(instance, now);
  if (!asked) return {};
  const Caller caller = observer("instance.due", progress);
  const std::string& project = instance.project;
  if (asked->action == DueAction::remove) {
    EXA_TRY(delete_instance(service, caller, project, instance.name, false, asked->why));
    return {};
  }
  if (asked->action == DueAction::stop) {
    EXA_TRY(stop_instance(service, caller, project, instance.name));
    return {};
  }
  const auto started = start_instance(service, caller, project, instance.name);
  if (started || started.error().code == Code::conflict) return {};
  // tried once for each moment of its schedule: without room it stays as it is, and says so
  ComputeInstance seen = instance;
  seen.schedule_seen = now;
  seen.reason = fmt::format("not started {}: {}", asked->why, started.error().message);
  EXA_TRY(keep_seen(service, instance, seen, progress));
  return {};
}

}  // namespace exa
