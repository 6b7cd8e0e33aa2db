// Scripts in real shells, with stand-ins for srun, scontrol and flux that write down what reached
// them: every byte arrives, or the launch is refused by name; nothing hidden in a word ever runs.
#include "launch/batch_script.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/process.h"
#include "base/quote.h"
#include "base/text.h"
#include "launch/renderers.h"
#include "launch/scheduler_samples_for_test.h"

namespace exa {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

constexpr const char* kScontrol = R"sh(#!/bin/bash
[ -z "${SCONTROL_FAILS:-}" ] || exit 1
case $1 in
show) printf '%s\n' "asked:$*" >>scontrol.calls; printf 'head-1\nnode-2\nnode-3\n' ;;
--oneliner) printf '%s\n' "asked:$*" >>scontrol.calls
    echo "NodeName=$4 Arch=x86_64 NodeAddr=10.1.2.3 NodeHostName=vm Version=22.05.8" ;;
esac
)sh";
// Everything after "--", run once per task. A word ":" would begin another program.
constexpr const char* kSrun = R"sh(#!/bin/bash
printf '%s\0' "$@" >srun.argv
echo x >>srun.calls
mapfile -t calls <srun.calls
[ "${#calls[@]}" -gt "${SRUN_FAILS:-0}" ] || exit 7
for word;
do shift; case $word in --ntasks=*) tasks=${word#*=} ;; --) break ;; esac; done
[ -n "${EXECUTE:-}" ] || { /usr/bin/env -0 >task.env; exit 0; }
for ((rank = 0; rank < tasks; rank++)); do SLURM_PROCID=$rank "$@" || exit; done
)sh";
// Words with two braces are Flux's templates, so none may come in.
constexpr const char* kFlux = R"sh(#!/bin/bash
case $1 in
hostlist) echo head-1; exit ;;
getattr) echo ƒ2Xy; exit ;;
esac
printf '%s\0' "$@" >srun.argv
shift
while case $1 in --ntasks=*) tasks=${1#*=} ;; --*) ;; *) false ;; esac; do shift; done
for word; do case $word in *'{{'*) exit 9 ;; esac; done
[ -n "${EXECUTE:-}" ] || { /usr/bin/env -0 >task.env; exit 0; }
for ((rank = 0; rank < tasks; rank++)); do FLUX_TASK_RANK=$rank "$@" || exit; done
)sh";
// The program: its words and variables, NUL-separated.
constexpr const char* kProgram = R"sh(#!/bin/bash
printf '%s\0' "$@" >"task-${SLURM_PROCID:-${FLUX_TASK_RANK:-0}}.argv"
)sh";

std::vector<std::string> split_at_nul(const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, '\0');) parts.push_back(part);
  return parts;
}

class Bench {
 public:
  Bench() {
    std::string pattern = (fs::temp_directory_path() / "exa-launch.XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    fs::create_directory(folder_ / "bin");
    put("bin/scontrol", kScontrol);
    put("bin/srun", kSrun);
    put("bin/flux", kFlux);
    put("bin/record", kProgram);
  }
  ~Bench() { fs::remove_all(folder_); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  std::string folder() const { return folder_.string(); }
  fs::path at(const std::string& name) const { return folder_ / name; }

  void put(const std::string& name, std::string_view text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    fs::permissions(folder_ / name, fs::perms::owner_all);
  }

  std::string read(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::vector<std::string> argv(const std::string& name) const { return split_at_nul(read(name)); }
  std::map<std::string, std::string> variables() const {
    std::map<std::string, std::string> list;
    for (const std::string& entry : argv("task.env"))
      list[entry.substr(0, entry.find('='))] = entry.substr(entry.find('=') + 1);
    return list;
  }

  Finished run(std::vector<std::string> argv, Environment environment = {}) {
    environment.emplace_back("PATH", at("bin").string() + ":/usr/bin:/bin");
    auto finished = run_command({.argv = std::move(argv), .extra_env = std::move(environment)});
    if (finished) return *finished;
    ADD_FAILURE() << finished.error().message;
    return {};
  }

  // The script in bash, as the scheduler would start it; its parser sees it first.
  Finished run_script(const Rendered& rendered, Environment environment = {}) {
    put("job", rendered.files.at(0).text);
    const Finished parsed = run({"bash", "-n", at("job")});
    EXPECT_EQ(parsed.exit_code, 0) << parsed.err;
    environment.emplace_back("SLURM_JOB_NODELIST", "head-1,node-[2-3]");
    environment.emplace_back("SLURM_JOB_ID", "4711");
    return run({"bash", at("job")}, std::move(environment));
  }

 private:
  fs::path folder_;
};  // namespace

LaunchSpec spec_in(const Bench& bench) {
  LaunchSpec spec;
  spec.project = "default";
  spec.name = "fuzz";
  spec.id = "01J";
  spec.folder = bench.folder();
  spec.command = {"record"};
  spec.resources.nodes = 3;
  return spec;
}

// Bytes that shells, schedulers and people trip over.
class HostileText {
 public:
  explicit HostileText(uint64_t seed) : random_(seed) {}

  std::string next() {
    static constexpr std::string_view kFragments[] = {"$(touch CANARY)",
                                                      "`touch CANARY`",
                                                      ";touch CANARY;",
                                                      "&&touch CANARY",
                                                      "|touch CANARY",
                                                      ">CANARY",
                                                      "'",
                                                      "\"",
                                                      "\\",
                                                      "'\\''",
                                                      "{{id}}",
                                                      "{{",
                                                      "{",
                                                      "flux: -N9",
                                                      "# flux: -N9",
                                                      "#SBATCH --uid=0",
                                                      ":",
                                                      "--",
                                                      "-c",
                                                      "!",
                                                      "~",
                                                      "*",
                                                      "$HOME",
                                                      "${IFS}",
                                                      "%j",
                                                      "\\n",
                                                      " ",
                                                      "\t",
                                                      "=",
                                                      "A=B",
                                                      "\x01",
                                                      "\x7f",
                                                      "\xff",
                                                      "ƒ",
                                                      "$'\\n'"};
    std::string text;
    const size_t pieces = random_() % 7;
    const bool only_utf8 = random_() % 2 == 0;
    for (size_t i = 0; i < pieces; ++i) {
      if (random_() % 2 == 0) {
        text += kFragments[random_() % std::size(kFragments)];
      } else {
        for (size_t bytes = random_() % 12; bytes > 0; --bytes) {
          const auto byte = static_cast<char>(1 + random_() % (only_utf8 ? 127 : 255));
          if (byte != '\n' && byte != '\r') text += byte;
        }
      }
    }
    return text;
  }

  uint64_t number() { return random_(); }

 private:
  std::mt19937_64 random_;
};

constexpr int kTexts = 5000;
constexpr int kTextsPerScript = 500;

uint64_t seed_of_this_run() {
  static const uint64_t seed = std::random_device()();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

struct Target {
  const char* name;
  Result<Rendered> (*render)(const LaunchSpec&);
  bool only_utf8;
};
constexpr Target kTargets[] = {{"slurm", render_slurm, false}, {"flux", render_flux, true}};

// Half of them stand in a word beside something that is known only in the task.
CommandLine command_of(const std::vector<std::string>& texts, bool with_rank) {
  CommandLine command = {"record"};
  for (const std::string& text : texts) command.push_back(text);
  if (with_rank) command.push_back({texts[0], RunTime::node_rank, texts[1], RunTime::head_node});
  return command;
}

TEST(BatchScript, EveryByteOfAWordAndAVariableArrives) {
  Bench bench;
  HostileText hostile(seed_of_this_run());
  for (int script = 0; script < kTexts / kTextsPerScript; ++script) {
    std::vector<std::string> texts;
    while (texts.size() < kTextsPerScript) texts.push_back(hostile.next());
    const bool with_rank = script % 2 == 0;
    LaunchSpec spec = spec_in(bench);
    for (const Target& target : kTargets) {
      SCOPED_TRACE(fmt::format("{} script {}", target.name, script));
      std::vector<std::string> carried;
      for (const std::string& text : texts)
        if (!target.only_utf8 || is_valid_utf8(text)) carried.push_back(text);
      spec.command = command_of(carried, with_rank);
      spec.environment.clear();
      for (size_t i = 0; i < 20; ++i)
        spec.environment.emplace_back(fmt::format("K_{}", i), carried[i]);
      const auto rendered = target.render(spec);
      ASSERT_TRUE(rendered) << rendered.error().problems.at(0).message;

      // as the launcher hears it
      ASSERT_EQ(bench.run_script(*rendered).exit_code, 0);
      const std::map<std::string, std::string> seen = bench.variables();
      for (const auto& [key, value] : spec.environment)
        ASSERT_THAT(seen, Contains(Pair(key, value)));

      // as the program does, in each task
      const Finished finished = bench.run_script(*rendered, {{"EXECUTE", "1"}});
      ASSERT_EQ(finished.exit_code, 0) << finished.err;
      for (int rank = 0; rank < (with_rank ? 3 : 1); ++rank) {
        std::vector<std::string> expected = carried;
        if (with_rank)
          expected.push_back(fmt::format("{}{}{}{}", carried[0], rank, carried[1],
                                         target.only_utf8 ? "head-1" : "10.1.2.3"));
        ASSERT_EQ(bench.argv(fmt::format("task-{}.argv", rank)), expected);
      }
    }
  }
  EXPECT_FALSE(fs::exists(bench.at("CANARY")));
}

TEST(BatchScript, TheLineOfSshCarriesEveryByteThroughBothShells) {
  Bench bench;
  HostileText hostile(seed_of_this_run());
  for (int line = 0; line < kTexts / kTextsPerScript; ++line) {
    std::vector<std::string> argv = {bench.at("bin/record")};
    while (argv.size() <= kTextsPerScript) argv.push_back(hostile.next());
    for (const char* shell : {"dash", "bash"}) {
      ASSERT_EQ(
          bench.run({shell, "-c", "cd " + shell_quote(bench.folder()) + " && " + shell_line(argv)})
              .exit_code,
          0);
      ASSERT_EQ(bench.argv("task-0.argv"), std::vector<std::string>(argv.begin() + 1, argv.end()));
    }
  }
  EXPECT_FALSE(fs::exists(bench.at("CANARY")));
}

TEST(BatchScript, ALineBreakOrANulIsRefusedWhereverItStands) {
  const char* hostile[] = {"\n#SBATCH --uid=0", "a\n# flux: -N9", "a\r", "\n"};
  std::vector<std::string> texts(std::begin(hostile), std::end(hostile));
  texts.emplace_back("a\0b", 3);
  for (const std::string& text : texts) {
    for (const auto render : {render_slurm, render_flux, render_local}) {
      const auto refused = [&](auto change) {
        LaunchSpec spec;
        spec.project = "default";
        spec.name = "fuzz";
        spec.id = "1";
        spec.command = {"a"};
        change(spec);
        return !render(spec).has_value();
      };
      EXPECT_FALSE(refused([](LaunchSpec&) {}));
      EXPECT_TRUE(refused([&](LaunchSpec& spec) { spec.command.push_back(text); }));
      EXPECT_TRUE(refused([&](LaunchSpec& spec) { spec.command = {text}; }));
      EXPECT_TRUE(refused([&](LaunchSpec& spec) {
        spec.command.push_back({"a", RunTime::job_id, text});
      }));
      EXPECT_TRUE(refused([&](LaunchSpec& spec) { spec.environment = {{"A", text}}; }));
      EXPECT_TRUE(refused([&](LaunchSpec& spec) { spec.environment = {{text, "a"}}; }));
      EXPECT_TRUE(refused([&](LaunchSpec& spec) { spec.name = text; }));
      EXPECT_TRUE(refused([&](LaunchSpec& spec) { spec.folder = "/a" + text; }));
      EXPECT_TRUE(refused([&](LaunchSpec& spec) { spec.options.partition = text; }));
      EXPECT_TRUE(refused([&](LaunchSpec& spec) { spec.options.account = text; }));
      EXPECT_TRUE(refused([&](LaunchSpec& spec) { spec.image = text; }));
    }
  }
}

// The bytes that this test itself lets stand on a line that a scheduler reads.
bool is_harmless(std::string_view text, std::string_view more) {
  return std::ranges::all_of(text, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           more.find(c) != std::string_view::npos;
  });
}

TEST(BatchScript, OnlyHarmlessTextStandsInADirective) {
  HostileText hostile(seed_of_this_run());
  struct Field {
    const char* name;
    void (*set)(LaunchSpec&, const std::string&);
    const char* more;
  };
  const Field fields[] = {
      {"project", [](LaunchSpec& s, const std::string& t) { s.project = t; }, "_.,:@+-"},
      {"name", [](LaunchSpec& s, const std::string& t) { s.name = t; }, "-"},
      {"id", [](LaunchSpec& s, const std::string& t) { s.id = t; }, "_.,:@+-"},
      {"folder", [](LaunchSpec& s, const std::string& t) { s.folder = "/" + t; }, "_./,:@+=-"},
      {"partition", [](LaunchSpec& s, const std::string& t) { s.options.partition = t; },
       "_.,:@+-"},
      {"account", [](LaunchSpec& s, const std::string& t) { s.options.account = t; }, "_.,:@+-"},
      {"device", [](LaunchSpec& s, const std::string& t) { s.options.device = "gpu:" + t; },
       "_.+-"},
      {"property", [](LaunchSpec& s, const std::string& t) { s.options.device = t; }, "_.+-:"},
      {"mig", [](LaunchSpec& s, const std::string& t) { s.resources.mig_profile = t; }, "_.+-"},
  };
  int rendered = 0;
  for (int i = 0; i < kTexts; ++i) {
    std::string text = hostile.next();
    // some that pass, so that passing is seen too
    if (i % 10 == 0) text = fmt::format("a{}", hostile.number() % 1000);
    for (const Field& field : fields) {
      LaunchSpec spec = notebook("fuzz");
      field.set(spec, text);
      for (const Target& target : kTargets) {
        const auto result = target.render(spec);
        if (!result) continue;
        ++rendered;
        ASSERT_TRUE(is_harmless(text, field.more)) << field.name << ": " << printable(text);
        std::istringstream lines(result->files[0].text);
        for (std::string line; std::getline(lines, line) && line != "set -euo pipefail";)
          ASSERT_TRUE(line.starts_with("#")) << printable(line);
      }
    }
  }
  EXPECT_GT(rendered, kTexts / 10);
}

// bash knows its variables best; what it does not hand on must have been refused.
TEST(BatchScript, AVariableThatIsNotRefusedArrives) {
  Bench bench;
  std::vector<std::string> names = {
      "BASH_ENV", "ENV",    "CDPATH", "COLUMNS", "HISTFILE", "HOSTNAME", "IGNOREEOF",
      "LANG",     "LC_ALL", "MAIL",   "MAPFILE", "OLDPWD",   "OPTARG",   "POSIXLY_CORRECT",
      "PS1",      "PS2",    "PS4",    "PWD",     "REPLY",    "SHELL",    "TERM",
      "TMOUT",    "TMPDIR", "HOME",   "SHLVL",   "_",        "UID",      "RANDOM"};
  std::istringstream bash(bench.run({"bash", "-c", "compgen -v"}).out);
  for (std::string name; std::getline(bash, name);) names.push_back(name);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());

  LaunchSpec spec = spec_in(bench);
  spec.resources.nodes = 1;
  spec.command = {"/usr/bin/env", "-0", {"RANK=", RunTime::node_rank}};
  for (const std::string& name : names) {
    if (name == "PATH") continue;  // see below
    LaunchSpec alone = spec;
    alone.environment = {{name, "7 q"}};
    if (render_slurm(alone)) {
      spec.environment.emplace_back(name, "7 q");
    } else {
      EXPECT_THAT(name, Not(testing::AnyOf("HOME", "LANG", "TMPDIR", "HOSTNAME", "SHELL")));
    }
  }
  ASSERT_GT(spec.environment.size(), 10);
  const auto rendered = render_slurm(spec);
  ASSERT_TRUE(rendered);
  for (const char* shell : {"/bin/dash", "/bin/bash"}) {
    fs::remove(bench.at("bin/sh"));
    fs::create_symlink(shell, bench.at("bin/sh"));
    const Finished finished = bench.run_script(*rendered, {{"EXECUTE", "1"}});
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    for (const auto& [key, value] : spec.environment)
      EXPECT_THAT(split_at_nul(finished.out), Contains(key + "=" + value)) << shell;
  }
}

TEST(BatchScript, APathOfTheProgramDoesNotHideTheLauncher) {
  Bench bench;
  LaunchSpec spec = spec_in(bench);
  spec.environment = {{"PATH", "/nowhere"}};
  for (const Target& target : kTargets) {
    const Finished finished = bench.run_script(target.render(spec).value());
    EXPECT_EQ(finished.exit_code, 0) << target.name << ": " << finished.err;
    EXPECT_THAT(bench.variables(), Contains(Pair("PATH", "/nowhere")));
  }
}

TEST(BatchScript, TheHeadNodeIsTheFirstOfTheListByItsAddress) {
  Bench bench;
  LaunchSpec spec = spec_in(bench);
  spec.command = {"record", {RunTime::head_node}, {"job-", RunTime::job_id}};
  ASSERT_EQ(bench.run_script(render_slurm(spec).value(), {{"EXECUTE", "1"}}).exit_code, 0);
  EXPECT_THAT(bench.argv("task-0.argv"), ElementsAre("10.1.2.3", "job-4711"));
  EXPECT_EQ(bench.read("scontrol.calls"),
            "asked:show hostnames head-1,node-[2-3]\nasked:--oneliner show node head-1\n");
  ASSERT_EQ(bench.run_script(render_flux(spec).value(), {{"EXECUTE", "1"}}).exit_code, 0);
  EXPECT_THAT(bench.argv("task-0.argv"), ElementsAre("head-1", "job-ƒ2Xy"));
}

TEST(BatchScript, WithoutAHeadNodeOrItsFolderNothingStarts) {
  Bench bench;
  LaunchSpec spec = spec_in(bench);
  spec.command = {"record", {RunTime::head_node}};
  EXPECT_NE(bench.run_script(render_slurm(spec).value(), {{"SCONTROL_FAILS", "1"}}).exit_code, 0);
  EXPECT_THAT(bench.read("srun.calls"), IsEmpty());
  spec.folder = "/nowhere/at/all";
  for (const Target& target : kTargets)
    EXPECT_NE(bench.run_script(target.render(spec).value()).exit_code, 0) << target.name;
  EXPECT_THAT(bench.read("srun.argv"), IsEmpty());
}

TEST(BatchScript, RestartsAreCountedAndTheLastStatusIsTheJobs) {
  struct Case {
    const char* why;
    int64_t restarts;
    const char* failures;
    const char* before;  // SLURM_RESTART_COUNT
    int expected_status;
    int expected_calls;
    const char* last_attempt;
  };
  const Case cases[] = {
      {"no restarts, no failure", 0, "0", "", 0, 1, nullptr},
      {"no restarts, a failure", 0, "9", "", 7, 1, nullptr},
      {"the third run succeeds", 3, "2", "0", 0, 3, "2"},
      {"all fail", 3, "9", "0", 7, 4, nullptr},
      {"a lost node was a restart too", 3, "9", "2", 7, 2, nullptr},
      {"restarts are used up, and the queue brought it back", 3, "9", "5", 7, 1, nullptr},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    Bench bench;
    LaunchSpec spec = spec_in(bench);
    spec.restarts = c.restarts;
    Environment environment = {{"SRUN_FAILS", c.failures}};
    if (*c.before != '\0') environment.emplace_back("SLURM_RESTART_COUNT", c.before);
    const Finished finished = bench.run_script(render_slurm(spec).value(), environment);
    EXPECT_EQ(finished.exit_code, c.expected_status) << finished.err;
    EXPECT_EQ(bench.read("srun.calls").size(), 2 * c.expected_calls);
    if (c.last_attempt != nullptr) {
      EXPECT_THAT(bench.variables(), Contains(Pair("EXA_ATTEMPT", c.last_attempt)));
    }
  }
}

TEST(BatchScript, DeepspeedsHostfileIsWrittenOnEachNodeBeforeItStarts) {
  Bench bench;
  bench.put("bin/deepspeed", R"sh(#!/bin/bash
for word; do case $word in --hostfile=*) cat "${word#*=}" >>hosts.seen ;; esac; done
printf '%s\n' "$*" >>deepspeed.calls
)sh");
  LaunchSpec spec = without_ssh();
  spec.folder = bench.folder();
  const Finished finished = bench.run_script(render_slurm(spec).value(), {{"EXECUTE", "1"}});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(bench.read("hosts.seen"),
            "node-0 slots=8\nnode-1 slots=8\nnode-0 slots=8\nnode-1 slots=8\n");
  std::string expected;
  for (const int rank : {0, 1})
    expected += fmt::format(
        "--hostfile=deepspeed-hostfile-4711-{0} --no_ssh --node_rank={0} --master_addr=10.1.2.3 "
        "--num_nodes=2 --num_gpus=8 --master_port=29500 --no_local_rank train.py "
        "--strategy=zero\n",
        rank);
  EXPECT_EQ(bench.read("deepspeed.calls"), expected);
}

}  // namespace
}  // namespace exa
