// Scripts in real shells: every byte arrives, or the launch is refused by name; nothing hidden in a
// word ever runs.
#include "launch/batch_script.h"

#include <filesystem>
#include <map>
#include <random>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/quote.h"
#include "base/text.h"
#include "launch/renderers.h"
#include "launch/scheduler_samples_for_test.h"
#include "launch/shell_bench_for_test.h"

namespace exa {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

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
    Variables environment = {{"SRUN_FAILS", c.failures}};
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

TEST(BatchScript, AMissingProgramIsSaidWhereItsLaunchKnowsWhatBringsIt) {
  Bench bench;
  LaunchSpec spec = spec_in(bench);
  spec.installed_by = "pip install 'ray[serve]'";
  spec.command = {"serve", "run"};
  for (const Target& target : kTargets) {
    const Finished missing = bench.run_script(*target.render(spec));
    EXPECT_EQ(missing.exit_code, kNoSuchProgram) << target.name;
    EXPECT_EQ(missing.err, "serve: not found on this node; pip install 'ray[serve]' there\n");
    EXPECT_FALSE(fs::exists(bench.at("srun.argv"))) << target.name;
  }
  spec.environment = {{"PATH", bench.at("more").string() + ":" + bench.at("bin").string()}};
  fs::create_directory(bench.at("more"));
  bench.put("more/serve", "#!/bin/sh\n");
  for (const Target& target : kTargets)
    EXPECT_EQ(bench.run_script(*target.render(spec)).exit_code, 0) << target.name;
}

TEST(BatchScript, FilesOfTheProgramStandBehindTheScript) {
  LaunchSpec spec = notebook("files");
  spec.folder = "/shared/files";
  spec.files = {{"serve_config.yaml", "a: 'b'\n"}};
  for (const Target& target : kTargets) {
    const auto rendered = target.render(spec);
    ASSERT_TRUE(rendered);
    ASSERT_EQ(rendered->files.size(), 2u);
    EXPECT_EQ(rendered->files[1], spec.files[0]);
  }
  spec.folder.clear();
  for (const Target& target : kTargets)
    EXPECT_THAT(target.render(spec).error().problems.at(0).where, "/folder");
}

}  // namespace
}  // namespace exa
