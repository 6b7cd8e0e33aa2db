// Launching an instance: what may be launched, with which values, within which limits, and where.
// And stopping, starting and deleting it.
#include <algorithm>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/text.h"
#include "launch/launch_spec.h"
#include "profile/validate.h"
#include "service/account_rows.h"
#include "service/instance_parts.h"
#include "service/profile_rows.h"
#include "service/visibility.h"

namespace exa {
namespace {

class Launching {
 public:
  Launching(Service& service, const Caller& caller, const LaunchInstance& what)
      : service_(service), caller_(caller), what_(what), id_(service.around().new_id()) {}

  Result<Answer> run() {
    EXA_TRY(check_launch_name(what_.name));
    if (!caller_.dry_run) {
      EXA_ASSIGN(auto before, service_.repeated(caller_));
      if (before) return *std::move(before);
    }
    EXA_ASSIGN(const auto there,
               read_value<std::optional<ComputeInstance>>(service_.store(), [&](Transaction& tx) {
                 return load_instance(tx, what_.project, what_.name);
               }));
    if (there && is_same_request(*there)) return go_on(*there);
    ComputeInstance unborn;
    unborn.id = id_;
    unborn.name = what_.name;
    EXA_ASSIGN(const auto owned, own_instance(service_, unborn));
    if (caller_.dry_run) return rehearse();
    const auto begun = begin();
    if (!begun) {
      drop_folder(service_, unborn);
      return fail(begun.error());
    }
    return finish(job_.instance.state == InstanceState::waiting
                      ? Result<ComputeInstance>(job_.instance)
                      : start(job_));
  }

 private:
  // The same request once more, whose end nobody has heard of: it goes on where it stood.
  bool is_same_request(const ComputeInstance& there) const {
    const bool open = there.state == InstanceState::launching ||
                      (there.state == InstanceState::failed && there.last_run &&
                       there.last_run->action == "apply");
    return open && !caller_.dry_run && !caller_.request_digest.empty() &&
           there.request_digest == caller_.request_digest;
  }

  Result<Answer> go_on(const ComputeInstance& there) {
    EXA_ASSIGN(const auto owned, own_instance(service_, there));
    EXA_ASSIGN(job_, job_of(service_, what_.project, what_.name));
    return finish(is_job(there) ? restart_job(service_, caller_, job_) : start(job_));
  }

  Result<ComputeInstance> start(const InstanceJob& job) {
    if (is_job(job.instance)) return launch_job(service_, caller_, job);
    return run_template(service_, caller_, job, ProvisionAction::apply, InstanceState::launching);
  }

  // The outcome, kept under the caller's key.
  Result<Answer> finish(Result<ComputeInstance> done) {
    if (!done) return fail(done.error());
    Answer answer = answer_of(*done, service_.now());
    answer.notices = notices_;
    answer.status = 201;
    if (done->state == InstanceState::failed) {
      answer.exit_code = info(Code::unexpected).exit_code;
      answer.notices.push_back(fmt::format("{} failed: {}", done->name, done->reason));
      answer.notices.push_back(
          fmt::format("exa instance logs {0} shows what it printed; again: exa instance start {0}",
                      done->name));
    }
    return answer_with(service_, caller_, *done, *done, std::move(answer));
  }

  Result<void> begin() {
    EXA_TRY(
        service_.mutate(without_key(caller_), [&](Transaction& tx, Deed& deed) -> Result<Answer> {
          EXA_TRY(decide(tx));
          EXA_TRY(keep_inputs(service_, job_.instance, inputs_));
          EXA_TRY(set_aside(tx, deed));
          EXA_TRY(keep_instance(tx, deed, {}, job_.instance));
          deed.details["intent"] = "launch";
          return Answer{};
        }));
    return {};
  }

  // As it would be; nothing is kept.
  Result<Answer> rehearse() {
    EXA_ASSIGN(Answer answer, service_.mutate(caller_, [&](Transaction& tx, Deed& deed) {
      return rehearsed(tx, deed);
    }));
    const bool waits = job_.instance.state == InstanceState::waiting;
    if (waits || !is_job(job_.instance)) return answer;
    EXA_ASSIGN(const Answer plan, rehearse_job(service_, caller_, job_, revealed(inputs_)));
    answer.body["plan"] = plan.body.at("plan");
    for (const std::string& notice : plan.notices) answer.notices.push_back(notice);
    return answer;
  }

  Result<Answer> rehearsed(Transaction& tx, Deed& deed) {
    EXA_TRY(decide(tx));
    EXA_TRY(set_aside(tx, deed));
    EXA_TRY(keep_instance(tx, deed, {}, job_.instance));
    Answer answer = answer_of(job_.instance, service_.now());
    answer.notices = notices_;
    answer.status = 201;
    return answer;
  }

  // Everything that can be refused before anything is made.
  Result<void> decide(Transaction& tx) {
    notices_.clear();
    EXA_TRY(require_project(tx, what_.project));
    EXA_ASSIGN(const ProfileRef ref, parse_reference(what_.compute_profile));
    EXA_ASSIGN(const FoundSku found, find_sku_to_launch(tx, caller_, what_.project, ref));
    EXA_ASSIGN(const auto there, load_instance(tx, what_.project, what_.name));
    if (there) {
      return fail(
          Code::conflict,
          fmt::format("there is an instance \"{}\" already, {}", what_.name, name(there->state)),
          fmt::format("exa instance show {}", what_.name));
    }
    job_.sku = found.stored.sku;
    EXA_ASSIGN(job_.environment, find_template(tx, job_.sku.environment_template));
    EXA_TRY(check_template(tx, may_write(caller_, found.head)));
    EXA_ASSIGN(inputs_, resolve_given(job_.sku.inputs, what_.inputs));
    fill(found);
    EXA_TRY(check_owner(tx));
    EXA_TRY(take_shape(tx, found.head.project));
    return check_limits(tx);
  }

  Result<void> check_template(Transaction& tx, bool drafts_too) const {
    const auto problems = problems_of_launching(tx, job_.environment, drafts_too);
    if (problems.empty()) return {};
    return fail(
        Error{Code::conflict,
              fmt::format("{} cannot be launched now: its environment template {} cannot run",
                          what_.compute_profile, job_.environment.key()),
              problems,
              "tell an admin; nothing was launched",
              {}});
  }

  void fill(const FoundSku& found) {
    const ComputeSku& sku = found.stored.sku;
    ComputeInstance& instance = job_.instance;
    instance = {};
    instance.project = what_.project;
    instance.name = what_.name;
    instance.id = id_;
    instance.owner = what_.owner.empty() ? caller_.principal.name : what_.owner;
    instance.sku_project = found.head.project;
    instance.sku = found.head.name;
    instance.sku_version = found.stored.version;
    instance.display_name = sku.display_name;
    instance.environment_template = sku.environment_template;
    instance.driver = name(job_.environment.driver);
    instance.inputs = masked(inputs_);
    instance.labels = sku.labels;
    instance.annotations = sku.annotations;
    instance.price_per_hour = sku.price_per_hour;
    instance.state = InstanceState::launching;
    instance.at_end = what_.at_end;
    instance.schedule = what_.schedule;
    instance.created_at = instance.schedule_seen = service_.now();
    if (what_.time_to_live) instance.expires_at = instance.created_at + *what_.time_to_live;
    instance.created_by = caller_.principal.name;
    instance.request_digest = caller_.request_digest;
  }

  // Somebody else's must be able to use it.
  Result<void> check_owner(Transaction& tx) const {
    if (what_.owner.empty() || what_.owner == caller_.principal.name) return {};
    EXA_TRY(find_user(tx, what_.owner));
    EXA_ASSIGN(const Rights rights, rights_of_user(tx, what_.owner));
    if (permitted(rights, "instance:write", what_.project)) return {};
    return fail(invalid(
        "instance",
        {{"/for", fmt::format("{} may not launch in project {}", what_.owner, what_.project),
          ""}}));
  }

  // The shape is its profile's: of the hardware profile of the project that owns it.
  Result<void> take_shape(Transaction& tx, const std::string& owner) {
    ComputeInstance& instance = job_.instance;
    instance.shape = job_.sku.shape;
    if (!job_.sku.hardware_profile) return {};
    auto stored = find_profile(tx, owner, *job_.sku.hardware_profile);
    if (!stored) {
      // its name and its project are the admins' business
      return fail(stored.error().code == Code::not_found
                      ? Error{Code::conflict,
                              fmt::format("{} cannot be launched now: its hardware profile is gone",
                                          what_.compute_profile),
                              {},
                              "tell an admin; nothing was launched",
                              {}}
                      : stored.error());
    }
    instance.shape = stored->profile.shape;
    instance.hardware_profile = fmt::format("{}/{}@{}", stored->profile.project,
                                            stored->profile.name, stored->profile.version);
    return {};
  }

  Result<void> check_limits(Transaction& tx) {
    ComputeInstance& instance = job_.instance;
    EXA_ASSIGN(const InstanceLimits limits, load_instance_limits(tx, what_.project));
    EXA_ASSIGN(const InstancesHeld held,
               instances_held(tx, what_.project, instance.owner, instance.name));
    const auto above =
        beyond(limits, held, {instance.owner, instance.price_per_hour, what_.time_to_live});
    if (above.empty()) return {};
    if (!limits.approve) {
      return fail(Code::blocked, join(above, "; "),
                  fmt::format("exa instance limits show --project {}", what_.project));
    }
    instance.state = InstanceState::waiting;
    instance.reason = join(above, "; ");
    instance.approval = InstanceApproval{above, what_.reason, "", {}, false, ""};
    notices_.push_back(fmt::format("it waits for an admin of the project: {}", instance.reason));
    return {};
  }

  // What waits holds nothing; a job gets its devices as a launch does.
  Result<void> set_aside(Transaction& tx, Deed& deed) {
    if (job_.instance.state == InstanceState::waiting || is_job(job_.instance)) return {};
    EXA_ASSIGN(const auto notices, take_capacity(service_, caller_, tx, deed, job_.instance));
    notices_.insert(notices_.end(), notices.begin(), notices.end());
    return {};
  }

  Service& service_;
  const Caller& caller_;
  const LaunchInstance& what_;
  std::string id_;
  InstanceJob job_;
  ResolvedInputs inputs_;
  std::vector<std::string> notices_;
};

// An action on an instance that is there, by somebody who may, while nobody else works on it.
class Acting {
 public:
  Acting(Service& service, const Caller& caller, const std::string& project,
         const std::string& name)
      : service_(service), caller_(caller), project_(project), name_(name) {}

  // `act` has the instance to itself and answers how it stands after; in a rehearsal it is not run.
  using Act = std::function<Result<ComputeInstance>(InstanceJob)>;
  using Check = std::function<Result<void>(const ComputeInstance&)>;
  Result<Answer> run(const Check& check, const Act& act) {
    EXA_ASSIGN(auto repeated, service_.repeated(caller_));
    if (repeated) return *std::move(repeated);
    EXA_ASSIGN(InstanceJob job, job_of(service_, project_, name_));
    EXA_TRY(service_.store().read(
        [&](Transaction& tx) { return require_own(tx, caller_, job.instance); }));
    EXA_ASSIGN(LookedAtInstance looked,
               look_at_instance(service_, job.instance, *caller_.progress));
    EXA_TRY(check(looked.instance));
    if (caller_.dry_run) return rehearsed(looked.instance);
    EXA_ASSIGN(const auto owned, own_instance(service_, job.instance));
    EXA_ASSIGN(job, job_of(service_, project_, name_));  // as it is, now that it is ours
    EXA_TRY(check(job.instance));
    EXA_ASSIGN(const ComputeInstance done, act(std::move(job)));
    Answer answer = answer_of(done, service_.now());
    if (went_wrong(done)) tell_failure(done, answer);
    return kept(done, std::move(answer));
  }

 private:
  // What a change would be told of, without any.
  Result<Answer> rehearsed(const ComputeInstance& instance) {
    return answer_with(service_, caller_, instance, instance, answer_of(instance, service_.now()));
  }

  Result<Answer> kept(const ComputeInstance& done, Answer answer) {
    EXA_ASSIGN(const auto there,
               read_value<std::optional<ComputeInstance>>(service_.store(), [&](Transaction& tx) {
                 return load_instance(tx, project_, name_);
               }));
    if (!there) return answer;  // it is deleted: see delete_instance
    return answer_with(service_, caller_, done, done, std::move(answer));
  }

  static bool went_wrong(const ComputeInstance& done) {
    if (done.state == InstanceState::failed) return true;
    return done.last_run && !done.last_run->outcome.empty() &&
           done.last_run->outcome != "succeeded";
  }

  static void tell_failure(const ComputeInstance& done, Answer& answer) {
    answer.exit_code = info(Code::unexpected).exit_code;
    const std::string action = done.last_run ? done.last_run->action : "it";
    answer.notices.push_back(fmt::format("{} failed: {}", action, done.reason));
    answer.notices.push_back(fmt::format("exa instance logs {} shows what it printed", done.name));
  }

  Service& service_;
  const Caller& caller_;
  const std::string& project_;
  const std::string& name_;
};

Result<void> refuse(const ComputeInstance& instance, std::string_view why) {
  return fail(Code::conflict, fmt::format("{} is {}: {}", instance.name, name(instance.state), why),
              fmt::format("exa instance show {}", instance.name));
}

Result<void> may_stop(const ComputeInstance& instance) {
  using enum InstanceState;
  const bool queued = is_job(instance) && (instance.state == launching);
  if (instance.state == running || instance.state == failed || queued) return {};
  return refuse(instance, "what runs is stopped");
}

// A run that goes on owns the name, and is told of there.
Result<void> anything(const ComputeInstance& /*instance*/) {
  return {};
}

Result<void> may_start(const ComputeInstance& instance) {
  using enum InstanceState;
  if (instance.state == stopped || instance.state == failed) return {};
  return refuse(instance, "what is stopped or failed is started");
}

// Devices and money for what is started again.
Result<InstanceJob> take_again(Service& service, const Caller& caller, InstanceJob job) {
  if (is_job(job.instance)) return job;
  EXA_TRY(service.mutate(without_key(caller), [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(ComputeInstance instance,
               find_instance(tx, job.instance.project, job.instance.name));
    const ComputeInstance before = instance;
    EXA_ASSIGN(const InstanceLimits limits, load_instance_limits(tx, instance.project));
    EXA_ASSIGN(const InstancesHeld held,
               instances_held(tx, instance.project, instance.owner, instance.name));
    const auto above =
        beyond_price(limits, held, {instance.owner, instance.price_per_hour, std::nullopt});
    if (!above.empty() && !permitted(caller.principal.rights, "instance:manage", instance.project))
      return fail(Code::blocked, join(above, "; "), "ask an admin of the project to start it");
    if (!holds_resources(instance.state)) {
      EXA_TRY(take_capacity(service, caller, tx, deed, instance));
    }
    instance.schedule_seen = service.now();
    EXA_TRY(keep_instance(tx, deed, before, instance));
    job.instance = instance;
    return Answer{};
  }));
  return job;
}

// What was never made needs no taking down.
bool was_made(const ComputeInstance& instance) {
  return instance.last_run.has_value();
}

Result<Answer> forget(Service& service, const Caller& caller, const ComputeInstance& instance,
                      bool abandoned, const std::string& reason) {
  EXA_ASSIGN(
      Answer answer, service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
        EXA_ASSIGN(const ComputeInstance there, find_instance(tx, instance.project, instance.name));
        EXA_TRY(give_capacity_back(tx, deed, there, service.now()));
        EXA_TRY(drop_instance(tx, there));
        deed.object_kind = "instance";
        deed.object_name = there.key();
        deed.project = there.project;
        deed.before = to_json(there);
        deed.reason = reason;
        Answer told = answer_of(there, service.now());
        told.body["deleted"] = true;
        if (abandoned && was_made(there))
          told.notices.emplace_back("what its template made was left as it is");
        return told;
      }));
  if (!caller.dry_run && !abandoned) drop_folder(service, instance);
  return answer;
}

}  // namespace

Result<Answer> launch_instance(Service& service, const Caller& caller, const LaunchInstance& what) {
  return Launching(service, caller, what).run();
}

Result<Answer> stop_instance(Service& service, const Caller& caller, const std::string& project,
                             const std::string& name) {
  return Acting(service, caller, project, name)
      .run(may_stop, [&](InstanceJob job) -> Result<ComputeInstance> {
        job.instance.schedule_seen = service.now();
        if (is_job(job.instance)) return stop_job(service, caller, std::move(job));
        return run_template(service, caller, std::move(job), ProvisionAction::stop,
                            InstanceState::stopping);
      });
}

Result<Answer> start_instance(Service& service, const Caller& caller, const std::string& project,
                              const std::string& name) {
  return Acting(service, caller, project, name)
      .run(may_start, [&](InstanceJob job) -> Result<ComputeInstance> {
        // what was never made is made
        const bool anew = job.instance.last_run && job.instance.last_run->action == "apply" &&
                          job.instance.state == InstanceState::failed;
        EXA_ASSIGN(job, take_again(service, caller, std::move(job)));
        if (is_job(job.instance)) return restart_job(service, caller, std::move(job));
        return run_template(service, caller, std::move(job),
                            anew ? ProvisionAction::apply : ProvisionAction::start,
                            anew ? InstanceState::launching : InstanceState::starting);
      });
}

Result<Answer> delete_instance(Service& service, const Caller& caller, const std::string& project,
                               const std::string& name, bool abandon, const std::string& reason) {
  ComputeInstance down;
  EXA_ASSIGN(Answer answer, Acting(service, caller, project, name)
                                .run(anything, [&](InstanceJob job) -> Result<ComputeInstance> {
                                  down = job.instance;
                                  if (!was_made(job.instance) || abandon) {
                                    down.state = InstanceState::deleting;
                                  } else if (is_job(job.instance)) {
                                    EXA_TRY(delete_job(service, caller, job.instance));
                                    ends_running(down, service.now());
                                    down.state = InstanceState::deleting;
                                  } else {
                                    EXA_ASSIGN(down, run_template(service, caller, std::move(job),
                                                                  ProvisionAction::destroy,
                                                                  InstanceState::deleting));
                                  }
                                  if (down.state == InstanceState::failed) return down;
                                  EXA_TRY(forget(service, caller, down, abandon, reason));
                                  return down;
                                }));
  if (down.state != InstanceState::deleting) {
    if (!caller.dry_run && answer.exit_code != 0) {
      answer.notices.push_back(fmt::format(
          "again: exa instance delete {0}; to forget it as it is: exa instance delete {0} "
          "--abandon --reason WHY",
          name));
    }
    return answer;
  }
  answer.body["deleted"] = true;
  if (abandon) answer.notices.emplace_back("what its template made was left as it is");
  return answer;
}

Result<Answer> decide_instance(Service& service, const Caller& caller, const DecideInstance& what) {
  return Acting(service, caller, what.project, what.name)
      .run(
          [&](const ComputeInstance& instance) -> Result<void> {
            if (instance.state == InstanceState::waiting) return {};
            return refuse(instance, "nothing waits for a decision");
          },
          [&](InstanceJob job) -> Result<ComputeInstance> {
            const ComputeInstance before = job.instance;
            InstanceApproval& approval =
                job.instance.approval.emplace(job.instance.approval.value_or(InstanceApproval{}));
            approval.decided_by = caller.principal.name;
            approval.decided_at = service.now();
            approval.approved = what.approve;
            approval.reason = what.reason;
            job.instance.state = what.approve ? InstanceState::launching : InstanceState::rejected;
            job.instance.reason = what.approve ? "" : what.reason;
            EXA_TRY(service.mutate(
                without_key(caller), [&](Transaction& tx, Deed& deed) -> Result<Answer> {
                  if (what.approve && !is_job(job.instance)) {
                    EXA_TRY(take_capacity(service, caller, tx, deed, job.instance));
                  }
                  EXA_TRY(keep_instance(tx, deed, before, job.instance));
                  deed.reason = what.reason;
                  deed.details["decision"] = what.approve ? "approved" : "rejected";
                  return Answer{};
                }));
            if (!what.approve) return job.instance;
            if (is_job(job.instance)) return launch_job(service, caller, std::move(job));
            return run_template(service, caller, std::move(job), ProvisionAction::apply,
                                InstanceState::launching);
          });
}

}  // namespace exa
