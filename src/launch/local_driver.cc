// Processes without a scheduler, here or through ssh: each in a session of its own, whose leader
// keeps what is known of it in files, so that it is known after exa has ended.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/quote.h"
#include "base/text.h"
#include "launch/driver.h"
#include "launch/renderers.h"
#include "launch/target_files.h"

namespace exa {
namespace {

// Fixed text: what is launched stands behind it as arguments and is never read by the shell; its
// variables come on standard input, quoted, since arguments are for everybody to see. The folder
// ID.run is made by whoever starts first: a second start of the same launch finds it there. What it
// prints may hold what opens it, so it is its owner's alone. Of the environment only what a program
// needs to run goes on: it may be a server's. The status of the program is written whole (mv), so
// that a half-written one is never read.
constexpr std::string_view kLeader = R"(log=$1; run=$2; folder=$3; shift 3
vars=$(cat)
mask=$(umask); umask 077
mkdir -- "$run" 2>/dev/null || exit 0
cd -- "$folder" || exit 1
exec >>"$log" 2>&1 </dev/null
cat /proc/sys/kernel/random/boot_id >"$run/boot"
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
  exec "$@" ) &
child=$!
while :; do
  wait "$child"; code=$?
  kill -0 "$child" 2>/dev/null || break
done
date +%s >"$run/ended"
echo "$code" >"$run/exit.part" && mv -- "$run/exit.part" "$run/exit"
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
    std::vector<std::string> argv = {
        "setsid",       "--fork",         "sh",       "-c", std::string(kLeader), "exa-launch",
        log_path(spec), run_folder(spec), spec.folder};
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
    EXA_ASSIGN(const bool lives, leader_lives(spec, seen.job));
    const auto code = file(spec, "exit");
    if (code) {
      EXA_ASSIGN(seen.ended, when(spec, "ended"));
      const auto number = number_in(*code);
      if (!number) return fail(Code::unreadable_output, run_folder(spec) + "/exit is no number");
      seen.exit_code = static_cast<int>(*number);
      seen.state = *number == 0 ? JobState::succeeded : JobState::failed;
      if (*number > 128) seen.reason = fmt::format("ended by signal {}", *number - 128);
      return explained(spec, std::optional(std::move(seen)), where());
    }
    if (code.error().code != Code::not_found) return fail(code.error());
    seen.state = lives ? JobState::running : JobState::failed;
    if (!lives) seen.reason = "it is gone without a word: killed, or the machine restarted";
    return std::optional(std::move(seen));
  }

  // The whole session: the leader passes it on and writes how it ended.
  Result<void> cancel(const LaunchSpec& spec, const std::string& job) override {
    EXA_ASSIGN(const bool lives, leader_lives(spec, job));
    if (!lives) return {};
    // the group too: its leader may be gone
    EXA_TRY(transport_->run({"kill", "-TERM", "--", job}));
    EXA_TRY(transport_->run({"kill", "-TERM", "--", "-" + job}));
    for (int tries = 0; tries < 100; ++tries) {
      EXA_ASSIGN(const bool still, leader_lives(spec, job));
      if (!still) return {};
      EXA_TRY(transport_->run({"sleep", "0.1"}));
    }
    EXA_TRY(transport_->run({"kill", "-KILL", "--", "-" + job}));
    return {};
  }

  Result<std::string> logs(const LaunchSpec& spec, const std::string&, int64_t lines) override {
    return tail(*transport_, log_path(spec), lines);
  }

 private:
  std::string where() const {
    const std::string where = transport_->describe();
    return where == "local" ? "this machine" : where;
  }
  static std::string log_path(const LaunchSpec& spec) {
    return spec.folder + "/" + spec.id + ".log";
  }
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
    EXA_ASSIGN(const bool lives, leader_lives(spec, job));
    if (lives) seen = Observed{.job = job, .state = JobState::running};
    return seen;
  }

  // Whether anything of it runs: its leader, or what is left of the leader's process group.
  Result<bool> leader_lives(const LaunchSpec& spec, const std::string& job) {
    EXA_ASSIGN(const bool leads, leader_itself_lives(spec, job));
    if (leads) return true;
    const auto boot = file(spec, "boot");
    const auto now = transport_->read_file("/proc/sys/kernel/random/boot_id");
    // numbers of another boot are somebody else's
    if (!boot || !now || *boot != *now || job.find_first_not_of("0123456789") != std::string::npos)
      return false;
    EXA_ASSIGN(const Finished group, transport_->run({"kill", "-0", "--", "-" + job}));
    if (group.exit_code != 0) return false;
    // what has ended and was not reaped is no process that runs
    EXA_ASSIGN(const Finished members,
               transport_->run({"ps", "-o", "pgid=,stat=", "--no-headers", "-e"}));
    for (const std::string_view line : split(members.out, '\n')) {
      const std::string_view row = trim(line);
      const size_t blank = row.find(' ');
      if (blank == std::string_view::npos || row.substr(0, blank) != job) continue;
      if (!trim(row.substr(blank)).starts_with('Z')) return true;
    }
    return false;
  }

  // A number is given again after a while: the leader is known by what it was started with.
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
