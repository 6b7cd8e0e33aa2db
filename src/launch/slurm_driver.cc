// Slurm by its own programs: sbatch, squeue, sacct, scancel.
#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "discover/hostlist.h"
#include "launch/driver.h"
#include "launch/outputs.h"
#include "launch/renderers.h"
#include "launch/target_files.h"

namespace exa {
namespace {

struct StateRow {
  std::string_view slurm;
  JobState state;
};
// slurm.schedmd.com/squeue.html, "JOB STATE CODES"; sacct adds words behind CANCELLED ("by 0").
constexpr StateRow kStates[] = {
    {"PENDING", JobState::pending},       {"CONFIGURING", JobState::pending},
    {"REQUEUED", JobState::pending},      {"REQUEUE_HOLD", JobState::pending},
    {"REQUEUE_FED", JobState::pending},   {"SPECIAL_EXIT", JobState::pending},
    {"RESV_DEL_HOLD", JobState::pending}, {"RUNNING", JobState::running},
    {"COMPLETING", JobState::running},    {"STAGE_OUT", JobState::running},
    {"SIGNALING", JobState::running},     {"RESIZING", JobState::running},
    {"SUSPENDED", JobState::running},     {"STOPPED", JobState::running},
    {"COMPLETED", JobState::succeeded},   {"CANCELLED", JobState::cancelled},
    {"REVOKED", JobState::cancelled},     {"FAILED", JobState::failed},
    {"TIMEOUT", JobState::failed},        {"NODE_FAIL", JobState::failed},
    {"BOOT_FAIL", JobState::failed},      {"DEADLINE", JobState::failed},
    {"OUT_OF_MEMORY", JobState::failed},  {"PREEMPTED", JobState::failed},
    {"LAUNCH_FAILED", JobState::failed},  {"RECONFIG_FAIL", JobState::failed},
};

JobState state_of(std::string_view word) {
  word = word.substr(0, word.find(' '));
  const auto* row = std::ranges::find(kStates, word, &StateRow::slurm);
  return row == std::end(kStates) ? JobState::unknown : row->state;
}

// SLURM_TIME_FORMAT=%s: seconds since 1970, whatever the zone of the machine that answers.
std::optional<Time> time_of(std::string_view text) {
  int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || value <= 0) return std::nullopt;
  return Time{value * 1'000'000};
}

// "2:0", "0:9": exit code and signal; a signal counts as 128 + itself, as a shell says it. squeue
// prints the raw wait status instead.
std::optional<int> exit_code_of(std::string_view text) {
  const auto number = [](std::string_view digits) -> std::optional<int> {
    int value = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (status != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  };
  const size_t colon = text.find(':');
  const auto code = number(text.substr(0, colon));
  if (!code || colon == std::string_view::npos) return std::nullopt;
  const auto signal = number(text.substr(colon + 1));
  return signal && *signal != 0 ? 128 + *signal : *code;
}

// Members of `scontrol -o show job`: KEY=VALUE between blanks. Values with blanks (Comment,
// Command) come out short, and none of them is asked for here.
std::string_view member(std::string_view line, std::string_view key) {
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find(' ', at), line.size());
    const std::string_view pair = line.substr(at, end - at);
    if (pair.size() > key.size() && pair.starts_with(key) && pair[key.size()] == '=')
      return pair.substr(key.size() + 1);
    at = end + 1;
  }
  return {};
}

std::vector<std::string> nodes_of(std::string_view list) {
  if (list.empty() || list == "(null)" || list == "None assigned") return {};
  auto nodes = expand_hostlist(list);
  return nodes ? *std::move(nodes) : std::vector<std::string>{std::string(list)};
}

// The scheduler's word for why: what it waits for, or how it ended.
std::string reason_of(JobState state, std::string_view word, std::string_view reason) {
  const bool says = !reason.empty() && reason != "None" && reason != "(null)";
  if (state == JobState::failed && word != "FAILED")
    return says && reason != word ? fmt::format("{} ({})", word, reason) : std::string(word);
  return says ? std::string(reason) : std::string();
}

bool is_job_id(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789_+") == std::string_view::npos;
}

// Fixed text: the program stands behind it as arguments. Slurm's programs obey variables before
// they obey a script (sbatch(1), "INPUT ENVIRONMENT VARIABLES"), and squeue's could hide a job, so
// that it would be submitted twice: those of whoever submits are dropped, but for the ones that say
// which Slurm is meant and who asks. The output of a job is opened under the umask of sbatch, and
// may hold what opens a workbench: its owner's alone (the script gives the old umask back).
constexpr std::string_view kCleanly =
    R"(for name in $(env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'); do
  case $name in
    SLURM_CONF|SLURM_CONF_SERVER|SLURM_CLUSTERS|SLURM_JWT) ;;
    SLURM_*|SBATCH_*|SQUEUE_*|SACCT_*|SCANCEL_*|SCONTROL_*) unset "$name" ;;
  esac
done
command -v "$1" >/dev/null || exit 126
EXA_UMASK=$(umask); export EXA_UMASK; umask 077
[ "$1" = sbatch ] || export SLURM_TIME_FORMAT=%s
exec "$@"
)";
constexpr int kNoProgram = 126;

// Words of sbatch and squeue when no answer of the controller arrived: whether it heard is unknown.
bool lost_the_controller(std::string_view text) {
  constexpr std::string_view kWords[] = {
      "Unable to contact slurm controller",  "Socket timed out",   "Zero Bytes were transmitted",
      "Transport endpoint is not connected", "Connection refused", "Message receive failure",
      "Protocol authentication error"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

class Slurm final : public Driver {
 public:
  explicit Slurm(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}

  Result<std::string> home() override { return home_on(*transport_); }
  Result<Rendered> render(const LaunchSpec& spec) override { return render_slurm(spec); }

  Result<std::string> submit(const LaunchSpec& spec, const Rendered& rendered) override {
    EXA_TRY(make_folder(*transport_, spec.folder));
    EXA_ASSERT(!rendered.files.empty());
    EXA_TRY(write_files(*transport_, spec.folder, std::span(rendered.files).subspan(1)));
    EXA_TRY(drop_earlier_outputs(*transport_, spec));
    // the script on standard input, so that there is no file whose content could be another one
    std::vector<std::string> argv(rendered.command.begin(), rendered.command.end() - 1);
    EXA_ASSIGN(const Finished finished, ask(argv, rendered.files[0].text));
    if (finished.exit_code != 0) {
      const std::string why = said(finished);
      if (lost_the_controller(why)) return fail(Code::unreachable, "Slurm did not answer: " + why);
      return fail(Code::unresolvable, "Slurm refused the job: " + why);
    }
    // "123" or "123;cluster"
    const std::string id(trim(finished.out.substr(0, finished.out.find(';'))));
    if (!is_job_id(id)) {
      return fail(Code::unreadable_output,
                  fmt::format("sbatch answered \"{}\", which is no job id",
                              printable(trim(finished.out).substr(0, 200))));
    }
    return id;
  }

  Result<std::optional<Observed>> find(const LaunchSpec& spec, const std::string& job) override {
    std::string id = job;
    if (id.empty()) {
      EXA_ASSIGN(id, find_by_tag(spec));
      if (id.empty()) return std::optional<Observed>();
    }
    EXA_ASSIGN(const Finished finished, ask({"scontrol", "-o", "show", "job", id}));
    if (finished.exit_code == 0)
      return explained(spec, read_scontrol(id, finished.out), "a node of Slurm");
    const std::string why = said(finished);
    if (why.find("Invalid job id") == std::string::npos)
      return fail(Code::unreachable, "Slurm did not answer: " + why);
    return explained(spec, from_accounting(id), "a node of Slurm");
  }

  Result<void> cancel(const LaunchSpec&, const std::string& job) override {
    EXA_ASSIGN(const Finished finished, ask({"scancel", job}));
    const std::string why = said(finished);
    if (finished.exit_code == 0 || why.find("Invalid job id") != std::string::npos ||
        why.find("already completing or completed") != std::string::npos)
      return {};
    return fail(Code::unreachable, "scancel: " + why);
  }

  Result<std::string> logs(const LaunchSpec& spec, const std::string& job, int64_t lines) override {
    return tail(*transport_, fmt::format("{}/slurm-{}.out", spec.folder, job), lines);
  }

  Result<std::string> outputs(const LaunchSpec& spec, const std::string&) override {
    return outputs_in_folder(*transport_, spec);
  }

 private:
  Result<Finished> ask(const std::vector<std::string>& words, const std::string& input = "") {
    std::vector<std::string> argv = {"sh", "-c", std::string(kCleanly), "exa-slurm"};
    argv.insert(argv.end(), words.begin(), words.end());
    EXA_ASSIGN(Finished finished, transport_->give(argv, input));
    if (finished.exit_code != kNoProgram) return finished;
    return fail(Code::not_found,
                fmt::format("there is no program {} on {}", words.front(), transport_->describe()));
  }

  // Ended jobs stay in the controller for MinJobAge (5 min), and in accounting for good.
  Result<std::string> find_by_tag(const LaunchSpec& spec) {
    EXA_ASSIGN(const Finished finished, ask({"squeue", "--noheader", "--states=all",
                                             "--name=" + job_name(spec), "--format=%i|%k"}));
    if (finished.exit_code != 0)
      return fail(Code::unreachable, "Slurm did not answer: " + said(finished));
    const std::string tag = launch_tag(spec);
    for (const std::string_view line : split(finished.out, '\n')) {
      const size_t bar = line.find('|');
      if (bar != std::string_view::npos && trim(line.substr(bar + 1)) == tag)
        return std::string(trim(line.substr(0, bar)));
    }
    return std::string();
  }

  static Result<std::optional<Observed>> read_scontrol(const std::string& id,
                                                       std::string_view out) {
    const std::string_view line = out.substr(0, out.find('\n'));
    const std::string_view word = member(line, "JobState");
    Observed seen;
    seen.job = id;
    seen.state = state_of(word);
    if (seen.state == JobState::unknown) {
      return fail(
          Code::unreadable_output,
          fmt::format("Slurm says \"{}\" of job {}: no state that is known", printable(word), id));
    }
    seen.reason = reason_of(seen.state, word, member(line, "Reason"));
    seen.nodes = nodes_of(member(line, "NodeList"));
    const bool began = seen.state != JobState::pending;
    // a job that never ran is given the times of its end as start
    if (began && !seen.nodes.empty()) seen.started = time_of(member(line, "StartTime"));
    if (began && seen.state != JobState::running) {
      seen.ended = time_of(member(line, "EndTime"));
      seen.exit_code = exit_code_of(member(line, "ExitCode"));
    }
    return std::optional(std::move(seen));
  }

  Result<std::optional<Observed>> from_accounting(const std::string& id) {
    auto finished = ask({"sacct", "--noheader", "--parsable2", "--allocations", "--jobs=" + id,
                         "--format=State,Reason,Start,End,NodeList,ExitCode"});
    // without accounting nobody knows any more
    if (!finished || finished->exit_code != 0) return std::optional<Observed>();
    const std::string_view line = trim(finished->out);
    const auto parts = split(line.substr(0, line.find('\n')), '|');
    if (parts.size() != 6) return std::optional<Observed>();
    Observed seen{id,
                  state_of(parts[0]),
                  {},
                  nodes_of(parts[4]),
                  time_of(parts[2]),
                  time_of(parts[3]),
                  exit_code_of(parts[5])};
    seen.reason = reason_of(seen.state, parts[0].substr(0, parts[0].find(' ')), parts[1]);
    return std::optional(std::move(seen));
  }

  std::unique_ptr<Transport> transport_;
};

}  // namespace

std::unique_ptr<Driver> slurm_driver(std::unique_ptr<Transport> transport) {
  return std::make_unique<Slurm>(std::move(transport));
}

}  // namespace exa
