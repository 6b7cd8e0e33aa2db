// Containers by docker-compose 1.29 or the plugin `docker compose`, and by docker itself. A
// container that has ended stays, with what it printed, until it is started again or deleted.
#include <fmt/format.h>

#include "base/text.h"
#include "launch/compose.h"
#include "launch/driver.h"
#include "launch/outputs.h"
#include "launch/renderers.h"
#include "launch/target_files.h"

namespace exa {
namespace {

// Fixed text: what is launched comes on standard input, since arguments are for everybody to see,
// and stays in a file that is its owner's alone. Compose starts again what has ended; so that a
// start that is repeated, or that goes on after exa was killed, never runs anything twice, whoever
// comes second waits and finds the container there. A file that did not come whole is not used.
constexpr std::string_view kStart = R"sh(folder=$1; tag=$2; size=$3; image=$4; shift 4
refuse() { echo "$2" >&2; exit "$1"; }
command -v docker >/dev/null || refuse 100 'there is no program docker'
if ! command -v docker-compose >/dev/null; then
  docker compose version >/dev/null 2>&1 ||
    refuse 100 'there is neither docker-compose nor the plugin "docker compose"'
  shift; set -- docker compose "$@"
fi
umask 077
mkdir -p -- "$folder" && cd -- "$folder" && exec 9<. && flock 9 || exit 100
cat >compose.part || exit 100
[ "$(wc -c <compose.part)" -eq "$size" ] || refuse 100 'the file did not arrive whole'
there=$(docker ps --all --quiet --filter "label=exa.launch=$tag") || exit 100
[ -z "$there" ] || exit 0
why=$(docker image inspect -- "$image" 2>&1 >/dev/null) || case $why in
  *[Nn]'o such image'*) exit 101 ;;
  *) refuse 100 "$why" ;;
esac
mv -f -- compose.part compose.yaml || exit 100
exec "$@"
)sh";
constexpr int kNothingBegun = 100;
constexpr int kNoImage = 101;

bool knows_none(std::string_view text) {
  return text.find("No such container") != std::string_view::npos ||
         text.find("No such object") != std::string_view::npos;
}

class Compose final : public Driver {
 public:
  explicit Compose(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}

  // A container works in its image's own folder.
  Result<std::string> home() override { return std::string(); }
  Result<Rendered> render(const LaunchSpec& spec) override { return render_compose(spec); }

  Result<std::string> submit(const LaunchSpec& spec, const Rendered& rendered) override {
    EXA_TRY(make_room(spec));
    EXA_ASSIGN(const std::string folder, folder_of(spec));
    const std::string& text = rendered.files.at(0).text;
    std::vector<std::string> argv = {"sh",
                                     "-c",
                                     std::string(kStart),
                                     "exa-launch",
                                     folder,
                                     launch_tag(spec),
                                     std::to_string(text.size()),
                                     spec.image};
    argv.insert(argv.end(), rendered.command.begin(), rendered.command.end());
    EXA_ASSIGN(const Finished finished, transport_->give(argv, text));
    if (finished.exit_code == kNothingBegun) return refused(finished);
    if (finished.exit_code == kNoImage) {
      return fail(Code::unresolvable,
                  fmt::format("the image {} is not on {}, and a launch does not wait for its "
                              "download",
                              spec.image, transport_->describe()),
                  fmt::format("docker pull {}", spec.image));
    }
    return begun(spec, finished);
  }

  Result<std::optional<Observed>> find(const LaunchSpec& spec, const std::string& job) override {
    EXA_ASSIGN(const std::string id, known_or_tagged(spec, job));
    if (id.empty()) return std::optional<Observed>();
    return inspect(id);
  }

  Result<void> cancel(const LaunchSpec&, const std::string& job) override {
    EXA_ASSIGN(const auto seen, inspect(job));
    if (!seen) return {};
    // what was never started has nothing to stop
    if (seen->state == JobState::pending && !seen->started) return removed(job, {"--force"});
    // ten seconds for what does not heed may be more than a question may take: Docker ends it
    // whether anybody waits or not
    EXA_TRY(run({"sh", "-c",
                 "exec setsid --fork docker stop --time 10 -- \"$1\" </dev/null >/dev/null 2>&1",
                 "exa-stop", job}));
    for (int tries = 0; tries < 20; ++tries) {
      EXA_ASSIGN(const auto now, inspect(job));
      if (!now || now->ended) return {};
      EXA_TRY(transport_->run({"sleep", "0.1"}));
    }
    return {};
  }

  Result<std::string> logs(const LaunchSpec& spec, const std::string& job, int64_t lines) override {
    EXA_ASSIGN(const std::string id, known_or_tagged(spec, job));
    if (id.empty()) return fail(Code::not_found, "nothing was printed yet: there is no container");
    // the two streams as they came
    EXA_ASSIGN(const Finished finished,
               run({"sh", "-c", "exec docker logs --tail \"$1\" -- \"$2\" 2>&1", "exa-logs",
                    std::to_string(lines), id}));
    if (finished.exit_code == 0) return finished.out;
    if (knows_none(finished.out))
      return fail(Code::not_found, fmt::format("Docker keeps no container {} any more", id));
    return fail(Code::unreachable, "Docker did not answer: " + said(finished));
  }

  Result<std::string> outputs(const LaunchSpec& spec, const std::string& job) override {
    EXA_ASSIGN(const std::string id, known_or_tagged(spec, job));
    if (id.empty()) return fail(Code::not_found, "there is no container yet");
    // what it printed stays there; only the line comes here
    constexpr std::string_view kLast =
        R"(docker logs -- "$1" 2>&1 | grep -a "^$2" | tail -n 1 | head -c "$3")";
    const size_t most = kOutputsWord.size() + kMostLaunchOutputs + 1;
    EXA_ASSIGN(const Finished finished, run({"sh", "-c", std::string(kLast), "exa-outputs", id,
                                             std::string(kOutputsWord), std::to_string(most)}));
    return outputs_in_log(finished.out, false);
  }

  // Its disk stays.
  Result<void> forget(const LaunchSpec& spec, const std::string& job) override {
    EXA_ASSIGN(const std::string id, known_or_tagged(spec, job));
    if (!id.empty()) EXA_TRY(removed(id, {}));
    EXA_ASSIGN(const std::string folder, folder_of(spec));
    EXA_TRY(
        transport_->run({"rm", "-f", "--", folder + "/compose.yaml", folder + "/compose.part"}));
    EXA_TRY(transport_->run({"rmdir", "--", folder}));
    return {};
  }

 private:
  Result<std::string> folder_of(const LaunchSpec& spec) {
    EXA_ASSIGN(const std::string home, home_on(*transport_));
    return fmt::format("{}/exa/compose/{}", home, compose_project(spec));
  }

  Result<Finished> run(const std::vector<std::string>& argv) {
    auto finished = transport_->run(argv);
    if (finished || finished.error().code != Code::not_found) return finished;
    return fail(Code::not_found,
                fmt::format("there is no program docker on {}", transport_->describe()),
                "install Docker there, or leave --backend out");
  }

  Result<Finished> docker(std::vector<std::string> argv) {
    argv.insert(argv.begin(), "docker");
    return run(argv);
  }

  Failure refused(const Finished& finished) const {
    return fail(Code::unresolvable, fmt::format("Docker on {} started nothing: {}",
                                                transport_->describe(), said(finished)));
  }

  // Containers of earlier starts give way once they have ended. A running one is somebody else's.
  Result<void> make_room(const LaunchSpec& spec) {
    EXA_ASSIGN(const Finished finished,
               docker({"ps", "--all", "--no-trunc", "--filter",
                       "label=com.docker.compose.project=" + compose_project(spec), "--format",
                       "{{.ID}}|{{.State}}|{{.Label \"exa.launch\"}}"}));
    if (finished.exit_code != 0) return refused(finished);
    for (const std::string_view line : split(finished.out, '\n')) {
      const auto parts = split(line, '|');
      if (parts.size() != 3 || parts[2] == launch_tag(spec)) continue;
      const std::string id(parts[0]);
      if (parts[1] == "running" || parts[1] == "paused" || parts[1] == "restarting") {
        return fail(Code::conflict,
                    fmt::format("container {} runs on {} as {} already", id.substr(0, 12),
                                transport_->describe(), compose_project(spec)),
                    "choose another name, or stop it");
      }
      EXA_TRY(removed(id, {}));
    }
    return {};
  }

  // What Compose said is not what counts: whether the container is there does.
  Result<std::string> begun(const LaunchSpec& spec, const Finished& finished) {
    EXA_ASSIGN(const auto seen, find(spec, ""));
    if (!seen && finished.exit_code == 0) {
      return fail(Code::unreadable_output,
                  fmt::format("Compose says that it started it, and Docker knows no container "
                              "\"{}\"",
                              launch_tag(spec)));
    }
    if (!seen) return refused(finished);
    if (seen->state != JobState::failed || seen->started) return seen->job;
    EXA_TRY(removed(seen->job, {}));
    return fail(Code::unresolvable, "Docker refused it: " + seen->reason);
  }

  // Ended and gone is no error. Volumes without a name are of the container alone.
  Result<void> removed(const std::string& id, const std::vector<std::string>& flags) {
    std::vector<std::string> argv = {"rm", "--volumes"};
    argv.insert(argv.end(), flags.begin(), flags.end());
    argv.push_back(id);
    EXA_ASSIGN(const Finished finished, docker(std::move(argv)));
    if (finished.exit_code == 0 || knows_none(finished.err)) return {};
    return fail(Code::unreachable, "docker rm: " + said(finished));
  }

  Result<std::string> known_or_tagged(const LaunchSpec& spec, const std::string& job) {
    if (!job.empty()) return job;
    EXA_ASSIGN(const Finished finished,
               docker({"ps", "--all", "--quiet", "--no-trunc", "--filter",
                       fmt::format("label={}={}", kLaunchLabel, launch_tag(spec))}));
    if (finished.exit_code != 0)
      return fail(Code::unreachable, "Docker did not answer: " + said(finished));
    return std::string(trim(finished.out.substr(0, finished.out.find('\n'))));
  }

  Result<std::optional<Observed>> inspect(const std::string& id) {
    EXA_ASSIGN(const Finished finished, docker({"inspect", "--type", "container", id}));
    if (finished.exit_code != 0 && knows_none(finished.err)) return std::optional<Observed>();
    if (finished.exit_code != 0)
      return fail(Code::unreachable, "Docker did not answer: " + said(finished));
    EXA_ASSIGN(const json::value list,
               parse_json(finished.out, "docker inspect", tool_output_limits()));
    if (!list.is_array() || list.get_array().size() != 1)
      return fail(Code::unreadable_output, "docker inspect shows no container " + id);
    EXA_ASSIGN(Observed seen, observed_of_container(list.get_array()[0]));
    return std::optional(std::move(seen));
  }

  std::unique_ptr<Transport> transport_;
};

}  // namespace

std::unique_ptr<Driver> compose_driver(std::unique_ptr<Transport> transport) {
  return std::make_unique<Compose>(std::move(transport));
}

}  // namespace exa
