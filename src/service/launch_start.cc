// Starting a launch: the shape that it gets, the devices that are set aside, what is rendered, and
// its submission between two entries.
#include <fmt/format.h>

#include "base/text.h"
#include "launch/device_word.h"
#include "service/launch.h"
#include "service/launch_parts.h"
#include "service/outside_work.h"
#include "service/profile_rows.h"
#include "service/resolutions.h"

namespace exa {
namespace {

std::string group_of(Surface kind) {
  return kind == Surface::training ? "pipeline" : std::string(launch_kind(kind));
}

json::object plan_json(const Rendered& rendered, const Placed& placed) {
  json::array files;
  for (const RenderedFile& file : rendered.files)
    files.push_back(json::object{{"name", file.name}, {"text", file.text}});
  return {
      {"command", json::array(rendered.command.begin(), rendered.command.end())},
      {"files", std::move(files)},
      {"notes", json::array(rendered.notes.begin(), rendered.notes.end())},
      {"placement", placed.decision.empty() ? json::value(nullptr) : json::value(placed.decision)}};
}

// What became of a change that was begun with the caller's key: kept under that key, so that a
// repeated request is answered with it.
Result<Answer> keep_outcome(Service& service, const Caller& caller, const Launch& before,
                            const Launch& launch, Answer answer, int status) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(keep_launch(tx, deed, before, launch, service.now()));
    Answer kept = answer;
    kept.status = status;
    return kept;
  });
}

class Start {
 public:
  Start(Service& service, const Caller& caller, const LaunchRequest& what)
      : service_(service), caller_(caller), what_(what) {}

  // Everything but the effect, its target's own trial too.
  Result<void> rehearse(const Launch& over) {
    EXA_ASSERT(caller_.dry_run);
    EXA_TRY(run(over));
    return aim_.driver->rehearse(launch_.spec, rendered_);
  }

  Result<Answer> run(const std::optional<Launch>& over) {
    over_ = over;
    EXA_TRY(check());
    if (!over) EXA_TRY(check_target());
    if (!caller_.dry_run) {
      EXA_ASSIGN(auto before, service_.repeated(caller_));
      if (before) return *std::move(before);
    }
    std::string cluster = what_.cluster;
    if (cluster == "auto") {
      EXA_ASSIGN(cluster, choose_cluster(service_, caller_, what_));
    }
    EXA_ASSIGN(aim_, aim_at(service_, caller_, cluster, what_.backend));
    launch_.cluster = cluster;
    EXA_ASSIGN(launch_.spec.folder, folder());
    EXA_ASSIGN(Answer begun, begin(over));
    if (caller_.dry_run) return begun;
    return submit(std::move(begun));
  }

 private:
  Result<void> check() {
    EXA_TRY(check_launch_name(what_.name));
    if (what_.folder.empty() || what_.folder.front() == '/') return {};
    return fail(invalid("launch", {{"/folder", "is not absolute: it begins with /", ""}}));
  }

  // Programs on the machine of a server run as its own user: that is for whoever owns it.
  Result<void> check_target() const {
    if (!what_.cluster.empty() || caller_.principal.kind == "os-user") return {};
    return fail(invalid("launch", {{"/cluster", "is missing: name where it runs, or auto", ""}}));
  }

  Result<std::string> folder() {
    if (!what_.folder.empty()) return what_.folder;
    EXA_ASSIGN(const std::string home, aim_.driver->home());
    if (home.empty()) return home;
    return fmt::format("{}/exa/{}/{}/{}", home, launch_kind(what_.kind), what_.project, what_.name);
  }

  // The intent: everything that can be refused is refused here, before anything is created.
  Result<Answer> begin(const std::optional<Launch>& over) {
    return service_.mutate(
        without_key(caller_), [&](Transaction& tx, Deed& deed) -> Result<Answer> {
          EXA_TRY(require_project(tx, what_.project));
          EXA_ASSIGN(const auto there, load_launch(tx, what_.project, what_.kind, what_.name));
          // what never came to run stands in nobody's way
          const bool never_ran =
              there && there->state == LaunchState::failed && !there->submitted_at;
          if (there && !over && !never_ran) {
            EXA_TRY(may_go_on(*there));
            return resume(*there, deed);
          }
          notices_.clear();
          EXA_ASSIGN(const ShapeOfLaunch shape, shape_of_launch(tx, what_));
          notices_ = shape.notices;
          EXA_TRY(fill(shape));
          if (over) {
            launch_.created_at = over->created_at;
            launch_.created_by = over->created_by;
          }
          EXA_TRY(resolved(tx, shape));
          EXA_TRY(name_device(tx));
          EXA_ASSIGN(rendered_, aim_.driver->render(launch_.spec));
          for (const std::string& note : rendered_.notes) notices_.push_back(note);
          if (over) EXA_TRY(give_back(tx, deed, *over));
          EXA_ASSIGN(const Placed placed,
                     take_devices(service_, caller_, tx, deed, what_, shape, launch_));
          notices_.insert(notices_.end(), placed.notices.begin(), placed.notices.end());
          if (there) EXA_TRY(release_consumer(tx, deed, *there));
          EXA_TRY(keep_consumer(tx, deed, launch_));
          EXA_TRY(keep_launch(tx, deed, there.value_or(launch_), launch_, service_.now()));
          if (!there) deed.before.reset();
          deed.details["intent"] = over ? "start again" : "start";
          Answer answer = exa::answer_of(launch_, plan_json(rendered_, placed));
          answer.notices = notices_;
          answer.status = over ? 200 : 201;
          return answer;
        });
  }

  // The devices that it has are there for what comes in its place.
  Result<void> give_back(Transaction& tx, Deed& deed, Launch over) const {
    if (!is_open(over.state)) return {};
    over.state = LaunchState::stopped;
    over.ended_at = service_.now();
    return follow_with_lease(tx, deed, over, service_.now());
  }

  Result<void> may_go_on(const Launch& there) const {
    const bool same = there.state == LaunchState::submitting && !caller_.request_digest.empty() &&
                      there.request_digest == caller_.request_digest;
    if (same) return {};
    return fail(
        Code::conflict,
        fmt::format("there is a {} \"{}\" already, {}",
                    what_.kind == Surface::training ? "training run" : launch_kind(what_.kind),
                    what_.name, name(there.state)),
        show_command(there));
  }

  // The same request once more, whose submission nobody has heard of.
  Result<Answer> resume(const Launch& there, Deed& deed) {
    launch_ = there;
    EXA_ASSIGN(rendered_, aim_.driver->render(launch_.spec));
    deed.object_kind = "launch";
    deed.object_name = launch_.key();
    deed.project = launch_.spec.project;
    deed.before = to_stored_json(there);
    deed.after = to_stored_json(there);
    deed.details["intent"] = "go on";
    resumed_ = true;
    Answer answer = exa::answer_of(launch_, plan_json(rendered_, {}));
    answer.status = 201;
    return answer;
  }

  LaunchTarget target(const std::string& folder) const {
    const bool own_address = aim_.kind == ClusterKind::kubernetes || aim_.in_containers;
    return {folder, aim_.kind, own_address};
  }

  Result<void> fill(const ShapeOfLaunch& shape) {
    LaunchSpec& spec = launch_.spec;
    EXA_ASSIGN(Program program, what_.program(shape.shape, target(spec.folder)));
    auto problems = problems_of(program.command, program.environment);
    for (Problem& problem : problems_of(program.files)) problems.push_back(std::move(problem));
    if (!problems.empty()) return fail(invalid("launch", std::move(problems)));
    notices_.insert(notices_.end(), program.notes.begin(), program.notes.end());
    spec.kind = what_.kind;
    spec.project = what_.project;
    spec.name = what_.name;
    spec.id = service_.around().new_id();
    spec.resources = resources_of(shape.shape);
    spec.command = std::move(program.command);
    spec.environment = std::move(program.environment);
    spec.files = std::move(program.files);
    spec.installed_by = std::move(program.installed_by);
    spec.image = what_.image;
    spec.port = what_.port;
    spec.volume = what_.volume;
    spec.restarts = what_.restarts;
    spec.replicas = what_.replicas;
    spec.kserve = what_.kserve;
    spec.options = what_.options;
    launch_.shape = shape.shape;
    launch_.hardware_profile = shape.profile;
    launch_.overrides = shape.overrides;
    launch_.backend = backend_of(aim_);
    launch_.details = std::move(program.details);
    launch_.state = LaunchState::submitting;
    launch_.created_at = service_.now();
    launch_.created_by = caller_.principal.name;
    launch_.request_digest = caller_.request_digest;
    return {};
  }

  Result<void> resolved(Transaction& tx, const ShapeOfLaunch& shape) {
    EXA_ASSIGN(const Resolution resolution,
               resolve_on(tx, shape.shape, launch_.cluster, service_.now()));
    launch_.resolution = to_json(resolution);
    if (resolution.status == Status::unresolvable) {
      return fail(Code::unresolvable, resolution.reason,
                  fmt::format("exa hardware profile list, or another --cluster"));
    }
    if (what_.require == "verified" && resolution.status != Status::verified) {
      return fail(Code::unresolvable,
                  fmt::format("verified is required, and it is {}: {}", name(resolution.status),
                              resolution.reason),
                  launch_.cluster.empty()
                      ? std::string("name a cluster: --cluster NAME")
                      : fmt::format("exa cluster discover {}", launch_.cluster));
    }
    if (resolution.status != Status::verified)
      notices_.push_back(fmt::format("{}: {}", name(resolution.status), resolution.reason));
    return {};
  }

  // Types of devices are whatever a site calls them: as its newest snapshot has it.
  Result<void> name_device(Transaction& tx) {
    SchedulerOptions& options = launch_.spec.options;
    const bool has_words = aim_.kind == ClusterKind::slurm || aim_.kind == ClusterKind::flux;
    if (!has_words || !options.device.empty()) return {};
    EXA_ASSIGN(const Cluster cluster, find_cluster(tx, launch_.cluster));
    EXA_ASSIGN(const auto head, newest_snapshot(tx, cluster));
    if (!head) return {};
    EXA_ASSIGN(const Inventory inventory, load_inventory(tx, head->id));
    const DeviceWord word = device_word(inventory, launch_.spec.resources, options.partition);
    options.device = word.device;
    options.shares_per_device = word.shares_per_device;
    if (!word.others.empty()) {
      notices_.push_back(fmt::format("{} calls them {} too; --device says which", cluster.name,
                                     join(word.others, ", ")));
    }
    return {};
  }

  // The effect, and its outcome.
  Result<Answer> submit(Answer begun) {
    EXA_ASSIGN(const auto ownership, own_launch(service_, launch_));
    const Launch before = launch_;
    if (resumed_) {
      EXA_ASSIGN(const auto found, aim_.driver->find(launch_.spec, ""));
      if (found) return accepted(before, after(launch_, found, service_.now()), std::move(begun));
    }
    auto job = aim_.driver->submit(launch_.spec, rendered_);
    if (job) return accepted(before, submitted(*job), std::move(begun));
    if (is_refusal(job.error())) return refused(before, job.error());
    // Nobody knows whether it arrived: ask before anybody tries again.
    const auto found = aim_.driver->find(launch_.spec, "");
    if (found && *found)
      return accepted(before, after(launch_, *found, service_.now()), std::move(begun));
    if (found) return refused(before, job.error());
    Error error = job.error();
    error.code = Code::outcome_unknown;
    error.message += fmt::format(
        "; whether {} was submitted is not known. The same command again "
        "looks for it and never submits it twice",
        launch_.key());
    error.next = show_command(launch_);
    return fail(std::move(error));
  }

  Launch submitted(const std::string& job) const {
    Launch launch = launch_;
    launch.job = job;
    launch.state = LaunchState::pending;
    launch.submitted_at = service_.now();
    return launch;
  }

  Result<Answer> accepted(const Launch& before, const Launch& launch, Answer begun) {
    Answer answer = exa::answer_of(launch, begun.body["plan"]);
    answer.notices = begun.notices;
    return keep_outcome(service_, caller_, before, launch, std::move(answer), begun.status);
  }

  // Nothing runs: the devices go back, and the record says why. A workbench can be started again.
  Result<Answer> refused(const Launch& before, const Error& why) {
    if (over_ && is_open(over_->state)) {
      EXA_TRY(put_back(*over_, why));
      Error error = why;
      error.message += fmt::format("; {} goes on as it was", over_->spec.name);
      if (error.next.empty()) error.next = show_command(*over_);
      return fail(std::move(error));
    }
    Launch launch = before;
    launch.state = LaunchState::failed;
    launch.reason = why.message;
    launch.ended_at = service_.now();
    const auto kept = keep_outcome(service_, without_key(caller_), before, launch, {}, 200);
    if (!kept) return fail(kept.error());
    Error error = why;
    if (error.next.empty()) error.next = show_command(launch);
    return fail(std::move(error));
  }

  // What was to be changed in place was not: it runs, and holds its devices again.
  Result<void> put_back(const Launch& over, const Error& why) {
    EXA_TRY(
        service_.mutate(without_key(caller_), [&](Transaction& tx, Deed& deed) -> Result<Answer> {
          Launch refused = launch_;
          refused.state = LaunchState::failed;
          EXA_TRY(follow_with_lease(tx, deed, refused, service_.now()));
          EXA_TRY(take_again(tx, deed, over));
          EXA_TRY(release_consumer(tx, deed, refused));
          EXA_TRY(keep_consumer(tx, deed, over));
          EXA_TRY(keep_launch(tx, deed, launch_, over, service_.now()));
          deed.details["refused"] = why.message;
          return Answer{};
        }));
    return {};
  }

  Service& service_;
  const Caller& caller_;
  const LaunchRequest& what_;
  Aim aim_;
  Launch launch_;
  Rendered rendered_;
  std::vector<std::string> notices_;
  bool resumed_ = false;
  std::optional<Launch> over_;
};

}  // namespace

std::string show_command(const Launch& launch) {
  return fmt::format("exa {} show {}", group_of(launch.spec.kind), launch.spec.name);
}

Answer answer_of(const Launch& launch, json::value plan) {
  Answer answer;
  answer.body = to_json(launch);
  answer.body["plan"] = std::move(plan);
  return answer;
}

// Exactly one process at a time submits a launch, or decides that it never was.
Result<std::unique_ptr<Ownership>> own_launch(Service& service, const Launch& launch) {
  EXA_ASSIGN(auto ownership, own_by_id(service, "launch", launch.spec.id));
  if (ownership) return ownership;
  return fail(Code::conflict, fmt::format("{} is being submitted right now", launch.key()),
              show_command(launch));
}

Result<Answer> start_launch(Service& service, const Caller& caller, const LaunchRequest& what) {
  return Start(service, caller, what).run({});
}

Result<Answer> start_over(Service& service, const Caller& caller, const LaunchRequest& what,
                          const Launch& over) {
  return Start(service, caller, what).run(over);
}

Result<void> rehearse_over(Service& service, const Caller& caller, const LaunchRequest& what,
                           const Launch& over) {
  Caller rehearsing = caller;
  rehearsing.dry_run = true;
  Start start(service, rehearsing, what);
  if (what.kind == Surface::serving) {
    EXA_TRY(start.rehearse(over));
  } else {
    EXA_TRY(start.run(over));  // its name is taken until it has ended
  }
  return {};
}

}  // namespace exa
