// Processes without a scheduler, here or through ssh: each in a session of its own, whose leader
// keeps what is known of it in files, so that it is known after exa has ended.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "launch/driver.h"
#include "launch/renderers.h"
#include "launch/target_files.h"

namespace exa {
namespace {

// Fixed text: what is launched stands behind it as arguments and is never read by the shell. The
// folder ID.run is made by whoever starts first: a second start of the same launch finds it there.
// The status of the program is written whole (mv), so that a half-written one is never read.
constexpr std::string_view kLeader = R"(log=$1; run=$2; folder=$3; shift 3
mkdir -- "$run" 2>/dev/null || exit 0
cd -- "$folder" || exit 1
exec >>"$log" 2>&1 </dev/null
echo $$ >"$run/pid"
date +%s >"$run/started"
trap 'kill -TERM 0' TERM
trap '' HUP
( trap - TERM HUP; exec "$@" ) &
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
    std::vector<std::string> argv = {
        "setsid",       "--fork",         "sh",       "-c", std::string(kLeader), "exa-launch",
        log_path(spec), run_folder(spec), spec.folder};
    if (!rendered.environment.empty()) argv.emplace_back("env");
    for (const auto& [key, value] : rendered.environment) argv.push_back(key + "=" + value);
    argv.insert(argv.end(), rendered.command.begin(), rendered.command.end());
    EXA_ASSIGN(const Finished finished, transport_->run(argv));
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
    if (!pid && pid.error().code == Code::not_found) return std::optional<Observed>();
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
      return std::optional(std::move(seen));
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
    EXA_TRY(transport_->run({"kill", "-TERM", "--", job}));
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

  // A number is given again after a while: the leader is known by what it was started with.
  Result<bool> leader_lives(const LaunchSpec& spec, const std::string& job) {
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
