// Flux by its own program: flux batch, jobs, job info, cancel.
#include <algorithm>
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

// flux-jobs(1): state and, once INACTIVE, result.
struct StateRow {
  std::string_view flux;
  JobState state;
};
constexpr StateRow kStates[] = {
    {"DEPEND", JobState::pending},    {"PRIORITY", JobState::pending},
    {"SCHED", JobState::pending},     {"RUN", JobState::running},
    {"CLEANUP", JobState::running},   {"COMPLETED", JobState::succeeded},
    {"FAILED", JobState::failed},     {"TIMEOUT", JobState::failed},
    {"CANCELED", JobState::cancelled}};

// Parts of a line of `flux jobs`, in the order of kFormat. Free text stands last.
constexpr std::string_view kFormat =
    "{id.f58}|{state}|{result}|{returncode}|{t_run!d}|{t_cleanup!d}|{nodelist}|{exception.type}|"
    "{exception.note}";
constexpr size_t kParts = 9;

std::optional<Time> time_of(std::string_view text) {
  double seconds_since = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), seconds_since);
  if (status != std::errc{} || seconds_since <= 0) return std::nullopt;
  return Time{static_cast<int64_t>(seconds_since * 1e6)};
}

class Flux final : public Driver {
 public:
  explicit Flux(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}

  Result<std::string> home() override { return home_on(*transport_); }
  Result<Rendered> render(const LaunchSpec& spec) override { return render_flux(spec); }

  Result<std::string> submit(const LaunchSpec& spec, const Rendered& rendered) override {
    EXA_TRY(make_folder(*transport_, spec.folder));
    EXA_ASSERT(!rendered.files.empty());
    EXA_TRY(write_files(*transport_, spec.folder, std::span(rendered.files).subspan(1)));
    EXA_TRY(drop_earlier_outputs(*transport_, spec));
    const std::vector<std::string> argv(rendered.command.begin(), rendered.command.end() - 1);
    EXA_ASSIGN(const Finished finished, transport_->give(argv, rendered.files[0].text));
    const std::string id(trim(finished.out));
    if (finished.exit_code == 0 && !id.empty() && id.find_first_of(" \n") == std::string::npos)
      return id;
    if (finished.exit_code == 0) {
      return fail(Code::unreadable_output,
                  fmt::format("flux batch answered \"{}\", which is no job id", printable(id)));
    }
    const std::string why = said(finished);
    const bool lost = why.find("Unable to connect") != std::string::npos ||
                      why.find("flux_open") != std::string::npos;
    return fail(lost ? Code::unreachable : Code::unresolvable,
                fmt::format("Flux {}: {}", lost ? "did not answer" : "refused the job", why));
  }

  Result<std::optional<Observed>> find(const LaunchSpec& spec, const std::string& job) override {
    std::string id = job;
    if (id.empty()) {
      EXA_ASSIGN(id, find_by_tag(spec));
      if (id.empty()) return std::optional<Observed>();
    }
    EXA_ASSIGN(const Finished finished,
               transport_->run({"flux", "jobs", "-n", "-o", std::string(kFormat), id}));
    const std::string why = said(finished);
    if (finished.exit_code != 0 && why.find("unknown") != std::string::npos)
      return std::optional<Observed>();
    if (finished.exit_code != 0) return fail(Code::unreachable, "Flux did not answer: " + why);
    return explained(spec, read(id, trim(finished.out)), "a node of Flux");
  }

  Result<void> cancel(const LaunchSpec&, const std::string& job) override {
    EXA_ASSIGN(const Finished finished, transport_->run({"flux", "cancel", job}));
    const std::string why = said(finished);
    if (finished.exit_code == 0 || why.find("inactive") != std::string::npos) return {};
    return fail(Code::unreachable, "flux cancel: " + why);
  }

  Result<std::string> logs(const LaunchSpec& spec, const std::string& job, int64_t lines) override {
    return tail(*transport_, fmt::format("{}/flux-{}.out", spec.folder, job), lines);
  }

  Result<std::string> outputs(const LaunchSpec& spec, const std::string&) override {
    return outputs_in_folder(*transport_, spec);
  }

 private:
  Result<std::string> find_by_tag(const LaunchSpec& spec) {
    EXA_ASSIGN(const Finished finished, transport_->run({"flux", "jobs", "-a", "-n", "-o",
                                                         "{id.f58}", "--name=" + job_name(spec)}));
    if (finished.exit_code != 0)
      return fail(Code::unreachable, "Flux did not answer: " + said(finished));
    for (const std::string_view line : split(finished.out, '\n')) {
      const std::string id(trim(line));
      if (id.empty()) continue;
      EXA_ASSIGN(const Finished told, transport_->run({"flux", "job", "info", id, "jobspec"}));
      if (told.out.find('"' + launch_tag(spec) + '"') != std::string::npos) return id;
    }
    return std::string();
  }

  static Result<std::optional<Observed>> read(const std::string& id, std::string_view line) {
    const auto parts = split(line, '|');
    if (parts.size() < kParts) {
      return fail(Code::unreadable_output,
                  fmt::format("flux jobs says \"{}\" of job {}", printable(line), id));
    }
    const std::string_view word = parts[1] == "INACTIVE" ? parts[2] : parts[1];
    const auto* row = std::ranges::find(kStates, word, &StateRow::flux);
    if (row == std::end(kStates)) {
      return fail(
          Code::unreadable_output,
          fmt::format("Flux says \"{}\" of job {}: no state that is known", printable(word), id));
    }
    Observed seen;
    seen.job = id;
    seen.state = row->state;
    if (auto nodes = expand_hostlist(parts[6])) seen.nodes = *std::move(nodes);
    if (seen.state != JobState::pending) seen.started = time_of(parts[4]);
    if (seen.state != JobState::pending && seen.state != JobState::running) {
      seen.ended = time_of(parts[5]);
      int code = 0;
      const auto [end, status] =
          std::from_chars(parts[3].data(), parts[3].data() + parts[3].size(), code);
      if (status == std::errc{}) seen.exit_code = code;
    }
    if (!parts[7].empty()) seen.reason = fmt::format("{}: {}", parts[7], parts[8]);
    return std::optional(std::move(seen));
  }

  std::unique_ptr<Transport> transport_;
};

}  // namespace

std::unique_ptr<Driver> flux_driver(std::unique_ptr<Transport> transport) {
  return std::make_unique<Flux>(std::move(transport));
}

}  // namespace exa
