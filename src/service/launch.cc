#include "service/launch.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "launch/device_word.h"
#include "service/launch_parts.h"
#include "service/profile_rows.h"
#include "service/resolutions.h"

namespace exa {
namespace {

std::string group_of(Surface kind) {
  return kind == Surface::training ? "pipeline" : std::string(name(kind));
}

std::string show_command(const Launch& launch) {
  return fmt::format("exa {} show {}", group_of(launch.spec.kind), launch.spec.name);
}

std::string backend_of(ClusterKind kind) {
  return kind == ClusterKind::host ? "local" : std::string(name(kind));
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

Answer answer_of(const Launch& launch, json::value plan = nullptr) {
  Answer answer;
  answer.body = to_json(launch);
  answer.body["plan"] = std::move(plan);
  return answer;
}

// Exactly one process at a time submits a launch, or decides that it never was.
Result<std::unique_ptr<Ownership>> own(Service& service, const Launch& launch) {
  std::string name = "launch-" + launch.spec.id;
  std::ranges::transform(name, name.begin(), [](char c) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    return fine ? c : '-';
  });
  EXA_ASSIGN(auto ownership, service.store().try_own(name));
  if (ownership) return ownership;
  return fail(Code::conflict, fmt::format("{} is being submitted right now", launch.key()),
              show_command(launch));
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
    EXA_ASSIGN(aim_, aim_at(service_, caller_, cluster));
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
    return fmt::format("{}/exa/{}/{}/{}", home, name(what_.kind), what_.project, what_.name);
  }

  // The intent: everything that can be refused is refused here, before anything is created.
  Result<Answer> begin(const std::optional<Launch>& over) {
    Caller without_key = caller_;  // the key is kept with the outcome
    without_key.idempotency_key.clear();
    return service_.mutate(without_key, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
      EXA_TRY(require_project(tx, what_.project));
      EXA_ASSIGN(const auto there, load_launch(tx, what_.project, what_.kind, what_.name));
      // what never came to run stands in nobody's way
      const bool never_ran = there && there->state == LaunchState::failed && !there->submitted_at;
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
    return fail(Code::conflict,
                fmt::format("there is a {} \"{}\" already, {}",
                            what_.kind == Surface::training ? "training run" : name(what_.kind),
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

  Result<void> fill(const ShapeOfLaunch& shape) {
    LaunchSpec& spec = launch_.spec;
    EXA_ASSIGN(Program program, what_.program(shape.shape, {spec.folder, aim_.kind}));
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
    launch_.backend = backend_of(aim_.kind);
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
    EXA_ASSIGN(const auto ownership, own(service_, launch_));
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
    Caller without_key = caller_;
    without_key.idempotency_key.clear();
    const auto kept = keep_outcome(service_, without_key, before, launch, {}, 200);
    if (!kept) return fail(kept.error());
    Error error = why;
    if (error.next.empty()) error.next = show_command(launch);
    return fail(std::move(error));
  }

  // What was to be changed in place was not: it runs, and holds its devices again.
  Result<void> put_back(const Launch& over, const Error& why) {
    Caller without_key = caller_;
    without_key.idempotency_key.clear();
    EXA_TRY(service_.mutate(without_key, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
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

Result<Launch> find_now(Service& service, const std::string& project, Surface kind,
                        const std::string& name) {
  return read_value<Launch>(service.store(),
                            [&](Transaction& tx) { return find_launch(tx, project, kind, name); });
}

// As it is stored, unless its target says otherwise; then that is stored.
struct Looked {
  Launch launch;
  std::string failure;  // why its target did not answer
};
Result<Looked> look(Service& service, const Launch& stored, Progress& progress) {
  Looked looked{stored, ""};
  if (!is_open(stored.state)) return looked;
  std::unique_ptr<Ownership> ownership;
  if (stored.state == LaunchState::submitting) {
    auto owned = own(service, stored);
    if (!owned)
      return owned.error().code == Code::conflict ? Result<Looked>(looked) : fail(owned.error());
    ownership = *std::move(owned);
  }
  const Caller caller = observer("launch.observe", progress);
  auto aim = aim_at(service, caller, stored.cluster);
  auto seen = aim ? aim->driver->find(stored.spec, stored.job)
                  : Result<std::optional<Observed>>(fail(aim.error()));
  if (!seen) {
    looked.failure = seen.error().message;
    return looked;
  }
  const Launch next = after(stored, *seen, service.now());
  if (to_stored_json(next) == to_stored_json(stored)) return looked;
  const auto kept = service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    // somebody may have changed it since it was read: what was seen is of what it was
    EXA_ASSIGN(const auto now,
               load_launch(tx, stored.spec.project, stored.spec.kind, stored.spec.name));
    if (!now || to_stored_json(*now) != to_stored_json(stored))
      return fail(Code::conflict, "it changed meanwhile");
    EXA_TRY(keep_launch(tx, deed, stored, next, service.now()));
    return Answer{};
  });
  if (kept || kept.error().code != Code::conflict) {
    looked.launch = next;
    if (!kept) looked.failure = kept.error().message;
    return looked;
  }
  EXA_ASSIGN(looked.launch,
             find_now(service, stored.spec.project, stored.spec.kind, stored.spec.name));
  return looked;
}

Answer answer_of(const Looked& looked) {
  Answer answer = answer_of(looked.launch);
  if (!looked.failure.empty())
    answer.notices.push_back(fmt::format("as it stood when last seen: {}", looked.failure));
  return answer;
}

constexpr int64_t kLinesWithAddress = 5000;
constexpr int64_t kMostLooks = 120;  // half a second apart
constexpr std::string_view kToken = "token=";

// "8888" of "http://127.0.0.1:8888/?token=…".
std::string port_of(std::string_view url) {
  const size_t host = url.find("://");
  const size_t path = url.find('/', host == std::string_view::npos ? 0 : host + 3);
  const size_t colon = url.rfind(':', path);
  if (host == std::string_view::npos || colon <= host || path == std::string_view::npos) return "";
  return std::string(url.substr(colon + 1, path - colon - 1));
}

bool is_of_address(char c) {
  return c > ' ' && c < 0x7f && std::string_view("\"'<>\\^`{|}").find(c) == std::string_view::npos;
}

// The last address with a token that a Jupyter server printed: older ones are of earlier starts.
std::string address_in(std::string_view text) {
  for (size_t end = text.size();;) {
    const size_t at = text.rfind(kToken, end);
    if (at == std::string_view::npos) return "";
    const size_t begin = text.rfind("http", at);
    size_t stop = at;
    while (stop < text.size() && is_of_address(text[stop])) ++stop;
    const bool one_word = begin != std::string_view::npos &&
                          std::ranges::all_of(text.substr(begin, stop - begin), is_of_address);
    if (one_word && stop > at + kToken.size()) return std::string(text.substr(begin, stop - begin));
    if (at == 0) return "";
    end = at - 1;
  }
}

std::string without_tokens(std::string text) {
  for (size_t at = text.find(kToken); at != std::string::npos; at = text.find(kToken, at)) {
    at += kToken.size();
    size_t stop = at;
    while (stop < text.size() && is_of_address(text[stop]) && text[stop] != '&') ++stop;
    text.replace(at, stop - at, "***");
  }
  return text;
}

// How the address is reached from elsewhere.
std::string tunnel_to(const Launch& launch, const std::string& node, const std::string& port) {
  if (port.empty()) return "";
  if (launch.backend == name(ClusterKind::kubernetes)) {
    const std::string& name_space = launch.spec.options.name_space;
    return fmt::format("kubectl port-forward {}{} {}:{}",
                       name_space.empty() ? "" : fmt::format("--namespace {} ", name_space),
                       launch.job, port, port);
  }
  return node.empty() ? "" : fmt::format("ssh -N -L {0}:127.0.0.1:{0} {1}", port, node);
}

// Whoever opens a workbench is told its token: that is worth an entry. The token is not in it.
Result<Answer> keep_opened(Service& service, const Caller& caller, const Launch& launch,
                           const std::string& url) {
  return service.mutate(caller, [&](Transaction&, Deed& deed) -> Result<Answer> {
    deed.object_kind = "launch";
    deed.object_name = launch.key();
    deed.project = launch.spec.project;
    deed.after = to_stored_json(launch);
    Answer answer;
    answer.shown_once = "url";
    const std::string port = port_of(url);
    const std::string node = launch.nodes.empty() ? "" : launch.nodes[0];
    const std::string tunnel = tunnel_to(launch, node, port);
    answer.body = {{"name", launch.spec.name},
                   {"project", launch.spec.project},
                   // a rehearsal leaves no entry, so it shows no token
                   {"url", caller.dry_run ? json::value(nullptr) : json::value(url)},
                   {"node", node.empty() ? json::value(nullptr) : json::value(node)},
                   {"tunnel", tunnel.empty() ? json::value(nullptr) : json::value(tunnel)}};
    return answer;
  });
}

// Asks for its end, and keeps that somebody did.
Result<Launch> ended(Service& service, const Caller& caller, const Launch& stored) {
  if (!is_open(stored.state)) return stored;
  Launch ending = stored;
  ending.ending = true;
  Caller without_key = caller;
  without_key.idempotency_key.clear();
  EXA_TRY(service.mutate(without_key, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(keep_launch(tx, deed, stored, ending, service.now()));
    deed.details["intent"] = "end";
    return Answer{};
  }));
  if (caller.dry_run) return ending;
  EXA_ASSIGN(Aim aim, aim_at(service, caller, stored.cluster));
  std::string job = stored.job;
  if (job.empty()) {
    EXA_ASSIGN(const auto found, aim.driver->find(stored.spec, ""));
    if (found) job = found->job;
  }
  if (!job.empty()) EXA_TRY(aim.driver->cancel(stored.spec, job));
  EXA_ASSIGN(const Looked looked, look(service, ending, *caller.progress));
  return looked.launch;
}

// A scheduler takes its time to end what it was told to end.
Result<void> await_end(Service& service, const Caller& caller, Launch& launch) {
  for (int64_t times = 0; is_open(launch.state) && !caller.dry_run; ++times) {
    if (times == kMostLooks) {
      return fail(Code::conflict, fmt::format("{} is still ending", launch.key()),
                  show_command(launch));
    }
    EXA_TRY(caller.progress->step("ending", times, 0));
    service.around().sleep({500'000});
    EXA_ASSIGN(Looked looked, look(service, launch, *caller.progress));
    launch = std::move(looked.launch);
  }
  return {};
}

// A Deployment or an InferenceService that stays where it is gets its next form with no moment in
// which nothing answers.
bool is_changed_in_place(const Launch& launch, const LaunchRequest& anew) {
  return launch.spec.kind == Surface::serving && launch.backend == name(ClusterKind::kubernetes) &&
         anew.cluster == launch.cluster &&
         anew.options.name_space == launch.spec.options.name_space &&
         anew.kserve.has_value() == launch.spec.kserve.has_value();
}

}  // namespace

LaunchRequest same_launch(const Launch& launch) {
  // the shape that it has, whatever became of its profile since
  LaunchRequest same;
  same.kind = launch.spec.kind;
  same.project = launch.spec.project;
  same.name = launch.spec.name;
  same.kept = {launch.shape, launch.hardware_profile, launch.overrides, {}};
  same.cluster = launch.cluster;
  same.folder = launch.spec.folder;
  same.image = launch.spec.image;
  same.port = launch.spec.port;
  same.volume = launch.spec.volume;
  same.restarts = launch.spec.restarts;
  same.replicas = launch.spec.replicas;
  same.kserve = launch.spec.kserve;
  same.options = launch.spec.options;
  same.program = [launch](const Shape&, const LaunchTarget&) -> Result<Program> {
    return Program{launch.spec.command,      launch.spec.environment, launch.spec.files,
                   launch.spec.installed_by, launch.details,          {}};
  };
  return same;
}

Result<Answer> start_launch(Service& service, const Caller& caller, const LaunchRequest& what) {
  return Start(service, caller, what).run({});
}

Result<Answer> show_launch(Service& service, const Caller& caller, const std::string& project,
                           Surface kind, const std::string& name) {
  EXA_ASSIGN(const Launch stored, find_now(service, project, kind, name));
  EXA_ASSIGN(const Looked looked, look(service, stored, *caller.progress));
  return answer_of(looked);
}

Result<Answer> wait_for_launch(Service& service, const Caller& caller, const std::string& project,
                               Surface kind, const std::string& name, Duration every) {
  EXA_ASSIGN(const Launch stored, find_now(service, project, kind, name));
  Looked looked{stored, ""};
  for (int64_t times = 0;; ++times) {
    EXA_ASSIGN(looked, look(service, looked.launch, *caller.progress));
    const bool serves = kind != Surface::training && looked.launch.state == LaunchState::running;
    if (serves || !is_open(looked.launch.state)) break;
    EXA_TRY(caller.progress->step(exa::name(looked.launch.state), times, 0));
    service.around().sleep(every);
  }
  Answer answer = answer_of(looked);
  if (looked.launch.state == LaunchState::failed) answer.exit_code = 1;
  return answer;
}

Result<Answer> launch_logs(Service& service, const Caller& caller, const std::string& project,
                           Surface kind, const std::string& name, int64_t lines) {
  EXA_ASSIGN(const Launch stored, find_now(service, project, kind, name));
  EXA_ASSIGN(Aim aim, aim_at(service, caller, stored.cluster));
  EXA_ASSIGN(std::string text, aim.driver->logs(stored.spec, stored.job, lines));
  Answer answer;
  answer.body = {{"name", name}, {"project", project}, {"text", without_tokens(std::move(text))}};
  return answer;
}

Result<Answer> open_workbench(Service& service, const Caller& caller, const std::string& project,
                              const std::string& name) {
  Launch launch;
  EXA_ASSIGN(launch, find_now(service, project, Surface::workbench, name));
  for (int64_t times = 0;; ++times) {
    EXA_ASSIGN(Looked looked, look(service, launch, *caller.progress));
    launch = std::move(looked.launch);
    if (!is_open(launch.state)) {
      return fail(Code::conflict,
                  fmt::format("{} is {}{}{}", name, exa::name(launch.state),
                              launch.reason.empty() ? "" : ": ", launch.reason),
                  fmt::format("exa workbench start {}", name));
    }
    if (launch.state == LaunchState::running) {
      EXA_ASSIGN(Aim aim, aim_at(service, caller, launch.cluster));
      const auto text = aim.driver->logs(launch.spec, launch.job, kLinesWithAddress);
      if (!text && text.error().code != Code::not_found) return fail(text.error());
      const std::string url = text ? address_in(*text) : "";
      if (!url.empty()) return keep_opened(service, caller, launch, url);
    }
    if (times == kMostLooks) {
      return fail(
          Code::conflict,
          fmt::format("{} is {}, and has not said where it answers{}{}", name,
                      exa::name(launch.state), launch.reason.empty() ? "" : ": ", launch.reason),
          fmt::format("exa workbench logs {}", name));
    }
    EXA_TRY(caller.progress->step(exa::name(launch.state), times, 0));
    service.around().sleep({500'000});
  }
}

Result<Answer> stop_launch(Service& service, const Caller& caller, const std::string& project,
                           Surface kind, const std::string& name) {
  EXA_ASSIGN(auto before, service.repeated(caller));
  if (before) return *std::move(before);
  EXA_ASSIGN(const Launch stored, find_now(service, project, kind, name));
  EXA_ASSIGN(const Looked looked, look(service, stored, *caller.progress));
  EXA_ASSIGN(const Launch now, ended(service, caller, looked.launch));
  Answer answer = answer_of(now);
  if (!is_open(looked.launch.state)) {
    answer.notices.push_back(fmt::format("it had ended: {}", exa::name(looked.launch.state)));
  } else if (is_open(now.state) && !caller.dry_run) {
    answer.notices.push_back(fmt::format("it is ending; {}", show_command(now)));
  }
  return answer;
}

Result<Answer> restart_launch(Service& service, const Caller& caller, const std::string& project,
                              Surface kind, const std::string& name,
                              const std::optional<LaunchRequest>& anew) {
  EXA_ASSIGN(auto before, service.repeated(caller));
  if (before) return *std::move(before);
  EXA_ASSIGN(const Launch stored, find_now(service, project, kind, name));
  EXA_ASSIGN(const Looked looked, look(service, stored, *caller.progress));
  Launch launch = looked.launch;
  if (is_open(launch.state) && !anew) {
    return fail(Code::conflict, fmt::format("{} is {} already", name, exa::name(launch.state)),
                show_command(launch));
  }
  if (is_open(launch.state) && !is_changed_in_place(launch, *anew)) {
    // what would be refused must not cost what runs
    Caller rehearsing = caller;
    rehearsing.dry_run = true;
    Start start(service, rehearsing, *anew);
    if (kind == Surface::serving) {
      EXA_TRY(start.rehearse(launch));
    } else {
      EXA_TRY(start.run(launch));  // its name is taken until it has ended
    }
    EXA_ASSIGN(launch, ended(service, caller, launch));
    EXA_TRY(await_end(service, caller, launch));
  }
  if (anew) return Start(service, caller, *anew).run(launch);
  return Start(service, caller, same_launch(launch)).run(launch);
}

Result<Answer> delete_launch(Service& service, const Caller& caller, const std::string& project,
                             Surface kind, const std::string& name) {
  EXA_ASSIGN(auto before, service.repeated(caller));
  if (before) return *std::move(before);
  EXA_ASSIGN(const Launch stored, find_now(service, project, kind, name));
  EXA_ASSIGN(const Looked looked, look(service, stored, *caller.progress));
  EXA_ASSIGN(Launch launch, ended(service, caller, looked.launch));
  EXA_TRY(await_end(service, caller, launch));
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const Launch there, find_launch(tx, project, kind, name));
    EXA_TRY(release_consumer(tx, deed, there));
    EXA_TRY(drop_launch(tx, there));
    deed.object_kind = "launch";
    deed.object_name = there.key();
    deed.project = project;
    deed.before = to_stored_json(there);
    Answer answer = answer_of(launch);
    answer.body["deleted"] = true;
    if (!launch.spec.folder.empty())
      answer.notices.push_back(fmt::format("its files stay in {}", launch.spec.folder));
    return answer;
  });
}

Result<int64_t> watch_launches(Service& service, Progress& progress) {
  EXA_ASSIGN(const auto launches, read_value<std::vector<Launch>>(service.store(), open_launches));
  int64_t changed = 0;
  for (const Launch& stored : launches) {
    EXA_TRY(progress.step("launches", changed, 0));
    const auto looked = look(service, stored, progress);
    if (looked && to_stored_json(looked->launch) != to_stored_json(stored)) ++changed;
  }
  return changed;
}

}  // namespace exa
