// Processes without a scheduler, here or through ssh: each in a session of its own, whose leader
// keeps what is known of it in files, so that it is known after exa has ended.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/quote.h"
#include "base/text.h"
#include "launch/driver.h"
#include "launch/outputs.h"
#include "launch/renderers.h"
#include "launch/target_files.h"

namespace exa {
namespace {

// Fixed text: what is launched stands behind it as arguments and is never read by the shell; its
// variables come on standard input, quoted, since arguments are for everybody to see. The folder
// ID.run is made by whoever starts first: a second start of the same launch finds it there. What it
// prints may hold what opens it, so it is its owner's alone. Of the environment only what a program
// needs to run goes on: it may be a server's. The status of the program is written whole (mv), so
// that a half-written one is never read. EXA_LAUNCH marks whatever comes of it.
constexpr std::string_view kLeader = R"(log=$1; run=$2; folder=$3; shift 3
vars=$(cat)
mask=$(umask); umask 077
mkdir -- "$run" 2>/dev/null || exit 0
cd -- "$folder" || exit 1
exec >>"$log" 2>&1 </dev/null
date +%s >"$run/started"
echo $$ >"$run/pid"
trap 'trap "" TERM; kill -TERM 0' TERM
trap '' HUP
( umask "$mask"; trap - TERM HUP
  for name in $(env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'); do
    case $name in
      PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_*|TZ|TMPDIR|XDG_RUNTIME_DIR) ;;
      LD_LIBRARY_PATH|PYTHONPATH|VIRTUAL_ENV|CONDA_PREFIX|PWD) ;;
      *) unset "$name" ;;
    esac
  done
  eval "$vars"
  export EXA_LAUNCH="$run"
  exec "$@" ) &
child=$!
while :; do
  wait "$child"; code=$?
  kill -0 "$child" 2>/dev/null || break
done
date +%s >"$run/ended"
echo "$code" >"$run/exit.part" && mv -- "$run/exit.part" "$run/exit"
)";

// Prints the numbers of the processes that carry the mark $1, wherever they went, and signals them
// with $2 and with them the group $3 (both may be empty). A daemon leaves its session, its group
// and its parents, but not its environment; what has ended and was not reaped carries none. Found
// and signalled at once, so that no number is given again between. Whoever asks may be part of the
// launch, as in a workbench's terminal: neither is counted or signalled.
constexpr std::string_view kMarked = R"(mark=$1; signal=$2; group=$3
[ -z "$group" ] || kill -s "$signal" -- "-$group" 2>/dev/null
for file in $(grep -lzxF -- "$mark" /proc/[0-9]*/environ 2>/dev/null); do
  pid=${file#/proc/}; pid=${pid%/environ}
  [ "$pid" != "$PPID" ] || continue
  echo "$pid"
  [ -z "$signal" ] || kill -s "$signal" "$pid" 2>/dev/null
done
exit 0
)";

std::optional<int64_t> number_in(std::string_view text) {
  text = trim(text);
  int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class Local final : public Driver {
 public:
  explicit Local(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}

  Result<std::string> home() override { return home_on(*transport_); }
  Result<Rendered> render(const LaunchSpec& spec) override { return render_local(spec); }

  Result<std::string> submit(const LaunchSpec& spec, const Rendered& rendered) override {
    EXA_TRY(make_folder(*transport_, spec.folder));
    EXA_TRY(write_files(*transport_, spec.folder, rendered.files));
    // a second start of the same launch starts nothing
    if (const auto begun = file(spec, "started"); !begun && begun.error().code == Code::not_found)
      EXA_TRY(drop_earlier_outputs(*transport_, spec));
    std::vector<std::string> argv = {
        "env",      mark(spec),           "setsid",     "--fork",       "sh",
        "-c",       std::string(kLeader), "exa-launch", log_path(spec), run_folder(spec),
        spec.folder};
    argv.insert(argv.end(), rendered.command.begin(), rendered.command.end());
    std::string variables;
    for (const auto& [key, value] : rendered.environment)
      variables += fmt::format("export {}={}\n", key, shell_quote(value));
    EXA_ASSIGN(const Finished finished, transport_->give(argv, variables));
    if (finished.exit_code != 0) {
      return fail(Code::unresolvable,
                  fmt::format("{} could not start it: {}", transport_->describe(),
                              printable(trim(finished.err))));
    }
    // the leader writes its number at once; a machine under load may take a moment
    for (int tries = 0; tries < 50; ++tries) {
      if (auto pid = file(spec, "pid"); pid && number_in(*pid)) return std::string(trim(*pid));
      EXA_TRY(transport_->run({"sleep", "0.1"}));
    }
    return fail(Code::probe_failed, fmt::format("{} started it, but it has not said its number",
                                                transport_->describe()));
  }

  Result<std::optional<Observed>> find(const LaunchSpec& spec, const std::string& job) override {
    const auto pid = file(spec, "pid");
    if (!pid && pid.error().code == Code::not_found) return without_files(spec, job);
    if (!pid) return fail(pid.error());
    Observed seen;
    seen.job = job.empty() ? std::string(trim(*pid)) : job;
    EXA_ASSIGN(seen.started, when(spec, "started"));
    // asked first: one that ends between the two questions has written how
    EXA_ASSIGN(const bool lives, lives_on(spec, seen.job));
    const auto code = file(spec, "exit");
    if (code) {
      EXA_ASSIGN(seen.ended, when(spec, "ended"));
      const auto number = number_in(*code);
      if (!number) return fail(Code::unreadable_output, run_folder(spec) + "/exit is no number");
      seen.exit_code = static_cast<int>(*number);
      seen.state = *number == 0 ? JobState::succeeded : JobState::failed;
      seen.reason = reason_of_exit(*number);
      return explained(spec, std::optional(std::move(seen)), where());
    }
    if (code.error().code != Code::not_found) return fail(code.error());
    seen.state = lives ? JobState::running : JobState::failed;
    if (!lives) seen.reason = "it is gone without a word: killed, or the machine restarted";
    return std::optional(std::move(seen));
  }

  // Everything that came of it; the leader, if it lives, writes how it ended.
  Result<void> cancel(const LaunchSpec& spec, const std::string& job) override {
    EXA_ASSIGN(const Living living, living_of(spec, job));
    if (!living.any()) return {};
    // the group was the launch's own a moment ago, and keeps its number while anything is in it
    const std::string group = living.group ? job : "";
    // a leader that carries the mark tells its group by itself: some programs end at once, without
    // saving, when they are told too often
    EXA_TRY(marked_processes(spec, "TERM", living.leader_is_marked ? "" : group));
    for (int tries = 0; tries < 100; ++tries) {
      EXA_ASSIGN(const bool still, anything_left(spec, group));
      if (!still) return {};
      EXA_TRY(transport_->run({"sleep", "0.1"}));
    }
    // again for what was started while the others were found
    for (int tries = 0; tries < 5; ++tries) {
      EXA_TRY(marked_processes(spec, "KILL", group));
      EXA_ASSIGN(const bool still, anything_left(spec, group));
      if (!still) return {};
    }
    return {};
  }

  Result<std::string> logs(const LaunchSpec& spec, const std::string&, int64_t lines) override {
    return tail(*transport_, log_path(spec), lines);
  }

  Result<std::string> outputs(const LaunchSpec& spec, const std::string&) override {
    return outputs_in_folder(*transport_, spec);
  }

  std::unique_ptr<Driver> in_containers() override { return compose_driver(std::move(transport_)); }

 private:
  std::string where() const {
    const std::string where = transport_->describe();
    return where == "local" ? "this machine" : where;
  }
  static std::string log_path(const LaunchSpec& spec) {
    return spec.folder + "/" + spec.id + ".log";
  }
  static std::string mark(const LaunchSpec& spec) { return "EXA_LAUNCH=" + run_folder(spec); }
  static std::string run_folder(const LaunchSpec& spec) {
    return spec.folder + "/" + spec.id + ".run";
  }

  Result<std::string> file(const LaunchSpec& spec, std::string_view name) {
    return transport_->read_file(fmt::format("{}/{}", run_folder(spec), name));
  }

  Result<std::optional<Time>> when(const LaunchSpec& spec, std::string_view name) {
    const auto text = file(spec, name);
    if (!text && text.error().code != Code::not_found) return fail(text.error());
    std::optional<Time> time;
    if (const auto at = text ? number_in(*text) : std::nullopt) time = Time{*at * 1'000'000};
    return time;
  }

  // Its files were taken away: what still runs is not ended by that.
  Result<std::optional<Observed>> without_files(const LaunchSpec& spec, const std::string& job) {
    std::optional<Observed> seen;
    if (job.empty()) return seen;
    EXA_ASSIGN(const bool lives, lives_on(spec, job));
    if (lives) seen = Observed{.job = job, .state = JobState::running};
    return seen;
  }

  // What runs of a launch.
  struct Living {
    bool marked = false;  // something that carries its mark
    bool group = false;   // its process group, which may hold what carries none
    bool leader_is_marked = false;
    bool any() const { return marked || group; }
  };

  Result<bool> lives_on(const LaunchSpec& spec, const std::string& job) {
    EXA_ASSIGN(const Living living, living_of(spec, job));
    return living.any();
  }

  // A number of a process or group is given again after a while: a group is the launch's when its
  // leader is, or something in it carries the mark.
  Result<Living> living_of(const LaunchSpec& spec, const std::string& job) {
    Living living;
    EXA_ASSIGN(living.group, leader_itself_lives(spec, job));
    EXA_ASSIGN(const auto marked, marked_processes(spec));
    living.marked = !marked.empty();
    living.leader_is_marked = living.group && std::ranges::find(marked, job) != marked.end();
    if (living.group || !living.marked) return living;
    EXA_ASSIGN(const auto members, members_of(job));
    living.group = std::ranges::any_of(members, [&](const std::string& member) {
      return std::ranges::find(marked, member) != marked.end();
    });
    return living;
  }

  Result<bool> anything_left(const LaunchSpec& spec, const std::string& group) {
    EXA_ASSIGN(const auto marked, marked_processes(spec));
    if (!marked.empty() || group.empty()) return !marked.empty();
    EXA_ASSIGN(const auto members, members_of(group));
    return !members.empty();
  }

  Result<std::vector<std::string>> marked_processes(const LaunchSpec& spec,
                                                    const std::string& signal = "",
                                                    const std::string& group = "") {
    EXA_ASSIGN(const Finished found,
               transport_->run({"env", "-u", "EXA_LAUNCH", "sh", "-c", std::string(kMarked),
                                "exa-marked", mark(spec), signal, group}));
    std::vector<std::string> pids;
    for (const std::string_view line : split(found.out, '\n'))
      if (!line.empty()) pids.emplace_back(line);
    return pids;
  }

  // What has ended and was not reaped is no process that runs.
  Result<std::vector<std::string>> members_of(const std::string& group) {
    EXA_ASSIGN(const Finished all,
               transport_->run({"ps", "-o", "pgid=,pid=,stat=", "--no-headers", "-e"}));
    std::vector<std::string> pids;
    for (const std::string_view line : split(all.out, '\n')) {
      std::vector<std::string_view> words;
      for (const std::string_view word : split(line, ' '))
        if (!word.empty()) words.push_back(word);
      if (words.size() == 3 && words[0] == group && !words[2].starts_with('Z'))
        pids.emplace_back(words[1]);
    }
    return pids;
  }

  // The leader is known by what it was started with.
  Result<bool> leader_itself_lives(const LaunchSpec& spec, const std::string& job) {
    const auto words = transport_->read_file(fmt::format("/proc/{}/cmdline", job));
    if (!words && words.error().code == Code::not_found) return false;
    if (!words) return fail(words.error());
    return words->find(run_folder(spec)) != std::string::npos;
  }

  std::unique_ptr<Transport> transport_;
};

}  // namespace

std::unique_ptr<Driver> local_driver(std::unique_ptr<Transport> transport) {
  return std::make_unique<Local>(std::move(transport));
}

}  // namespace exa
