#include "service/launch.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "launch/device_word.h"
#include "service/launch_parts.h"
#include "service/outside_work.h"
#include "service/profile_rows.h"
#include "service/resolutions.h"

namespace exa {
namespace {

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
    auto owned = own_launch(service, stored);
    if (!owned)
      return owned.error().code == Code::conflict ? Result<Looked>(looked) : fail(owned.error());
    ownership = *std::move(owned);
  }
  const Caller caller = observer("launch.observe", progress);
  auto aim = aim_of(service, caller, stored);
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
  EXA_TRY(service.mutate(without_key(caller), [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(keep_launch(tx, deed, stored, ending, service.now()));
    deed.details["intent"] = "end";
    return Answer{};
  }));
  if (caller.dry_run) return ending;
  EXA_ASSIGN(Aim aim, aim_of(service, caller, stored));
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

// What its target keeps of a launch goes with it, or the answer says why it stays.
std::string left_behind(Service& service, const Caller& caller, const Launch& launch) {
  if (backend_word(launch).empty()) return "";  // only Docker keeps what has ended
  const auto forgotten = [&]() -> Result<void> {
    EXA_ASSIGN(Aim aim, aim_of(service, caller, launch));
    return aim.driver->forget(launch.spec, launch.job);
  }();
  return forgotten ? "" : "what its target keeps of it stays: " + forgotten.error().message;
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
  same.backend = backend_word(launch);
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
  EXA_ASSIGN(Aim aim, aim_of(service, caller, stored));
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
      EXA_ASSIGN(Aim aim, aim_of(service, caller, launch));
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
    EXA_TRY(rehearse_over(service, caller, *anew, launch));
    EXA_ASSIGN(launch, ended(service, caller, launch));
    EXA_TRY(await_end(service, caller, launch));
  }
  if (anew) return start_over(service, caller, *anew, launch);
  return start_over(service, caller, same_launch(launch), launch);
}

Result<Answer> delete_launch(Service& service, const Caller& caller, const std::string& project,
                             Surface kind, const std::string& name) {
  EXA_ASSIGN(auto before, service.repeated(caller));
  if (before) return *std::move(before);
  EXA_ASSIGN(const Launch stored, find_now(service, project, kind, name));
  EXA_ASSIGN(const Looked looked, look(service, stored, *caller.progress));
  EXA_ASSIGN(Launch launch, ended(service, caller, looked.launch));
  EXA_TRY(await_end(service, caller, launch));
  const std::string kept = caller.dry_run ? "" : left_behind(service, caller, launch);
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
    if (!kept.empty()) answer.notices.push_back(kept);
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
