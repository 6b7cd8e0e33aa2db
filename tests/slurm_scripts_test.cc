// Rendered scripts and a real Slurm, which tests/with_slurm starts: its own parser takes them, and
// what runs on two nodes gets every byte, its rank, its devices and the head node.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/process.h"
#include "base/quantity.h"
#include "base/text.h"
#include "launch/renderers.h"

namespace exa {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

Finished run(std::vector<std::string> argv, Variables environment = {}) {
  const auto finished = run_command(
      {.argv = std::move(argv), .extra_env = std::move(environment), .timeout = minutes(3)});
  if (finished) return *finished;
  ADD_FAILURE() << finished.error().message;
  return {.exit_code = -1};
}

std::vector<std::string> split_at_nul(const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, '\0');) parts.push_back(part);
  return parts;
}

// A folder that the nodes see too: they are all this machine.
class SlurmScripts : public testing::Test {
 protected:
  SlurmScripts() {
    EXPECT_NE(std::getenv("SLURM_CONF"), nullptr) << "run this through tests/with_slurm";
    std::string pattern = "/tmp/exa-scripts.XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    put("record", R"sh(#!/bin/bash
printf '%s\0' "$@" >"task-$SLURM_PROCID.argv"
env -0 >"task-$SLURM_PROCID.env"
)sh");
  }
  ~SlurmScripts() override { fs::remove_all(folder_); }

  void put(const std::string& name, std::string_view text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    fs::permissions(folder_ / name, fs::perms::owner_all | fs::perms::group_all);
  }
  std::string read(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::string at(const std::string& name) const { return folder_ / name; }

  LaunchSpec spec() const {
    LaunchSpec spec;
    spec.project = "default";
    spec.name = "real";
    spec.id = "01JDXZ5K7Q";
    spec.folder = folder_;
    spec.command = {at("record")};
    spec.resources.family = Family::nvidia;
    spec.resources.gpus = 2;
    spec.resources.cpu_milli = 2'000;
    spec.resources.memory_bytes = kGiB;
    spec.options.partition = "gpu";
    spec.options.time_limit = minutes(2);
    return spec;
  }

  // The same words that a driver would run, with `options` between them.
  Finished submit(const LaunchSpec& spec, std::vector<std::string> options,
                  const Variables& environment = {}) {
    const auto rendered = render_slurm(spec);
    EXPECT_TRUE(rendered) << rendered.error().problems.at(0).message;
    put(rendered->files.at(0).name, rendered->files[0].text);
    std::vector<std::string> argv = rendered->command;
    argv.back() = at(argv.back());
    argv.insert(argv.end() - 1, options.begin(), options.end());
    return run(argv, environment);
  }

  std::string logs() const {
    std::string text;
    for (const auto& entry : fs::directory_iterator(folder_))
      if (entry.path().filename().string().starts_with("slurm-"))
        text += read(entry.path().filename());
    return text;
  }

  std::map<std::string, std::string> variables(int rank) const {
    std::map<std::string, std::string> list;
    for (const std::string& entry : split_at_nul(read(fmt::format("task-{}.env", rank))))
      list[entry.substr(0, entry.find('='))] = entry.substr(entry.find('=') + 1);
    return list;
  }

  fs::path folder_;
};

TEST_F(SlurmScripts, SlurmsOwnParserTakesEveryKindOfAsk) {
  struct Case {
    const char* what;
    Family family;
    int64_t gpus, nodes, fraction_milli;
    const char* mig;
    const char* device;
    const char* partition;
    const char* refusal;  // part of what sbatch says; empty: it takes it
  };
  const Case cases[] = {
      {"any GPU", Family::nvidia, 2, 1, 1000, "", "", "gpu", ""},
      {"a typed GPU", Family::nvidia, 1, 1, 1000, "", "gpu:a100", "gpu", ""},
      {"on two nodes", Family::nvidia, 2, 2, 1000, "", "", "gpu", ""},
      {"eight of AMD's", Family::amd, 8, 1, 1000, "", "gpu:mi300x", "amd", ""},
      {"Gaudi, untyped", Family::intel_gaudi, 8, 1, 1000, "", "", "habana", ""},
      {"Gaudi, typed", Family::intel_gaudi, 3, 1, 1000, "", "hpu:gaudi2", "habana", ""},
      {"a slice as this cluster calls it", Family::nvidia, 2, 1, 1000, "1g.10gb",
       "gpu:nvidia_a100-sxm4-80gb_1g.10gb", "mig", ""},
      {"a slice by a name that only other clusters use", Family::nvidia, 2, 1, 1000, "1g.10gb", "",
       "mig", "configuration is not available"},
      {"half a card", Family::nvidia, 1, 1, 500, "", "gpu:l40s", "mig", ""},
      {"half of any card", Family::nvidia, 1, 1, 500, "", "", "mig", ""},
      {"no devices", Family::cpu, 0, 1, 1000, "", "", "cpu", ""},
      {"a type that nobody has", Family::nvidia, 1, 1, 1000, "", "gpu:h900", "gpu",
       "configuration is not available"},
      {"a partition that nobody has", Family::cpu, 0, 1, 1000, "", "", "nowhere",
       "invalid partition"},
  };
  for (const Case& c : cases) {
    LaunchSpec ask = spec();
    ask.resources.family = c.family;
    ask.resources.gpus = c.gpus;
    ask.resources.nodes = c.nodes;
    ask.resources.fraction_milli = c.fraction_milli;
    ask.resources.mig_profile = c.mig;
    ask.options.device = c.device;
    ask.options.shares_per_device = 8;
    ask.options.partition = c.partition;
    ask.restarts = c.nodes - 1;
    const Finished finished = submit(ask, {"--test-only"});
    EXPECT_EQ(finished.exit_code == 0, *c.refusal == '\0') << c.what << ": " << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(*c.refusal == '\0' ? "to start at" : c.refusal)) << c.what;
  }
}

std::vector<std::string> hostile_words() {
  std::vector<std::string> words = {"",
                                    " ",
                                    "'",
                                    "\"",
                                    "\\",
                                    "$(touch CANARY)",
                                    "`touch CANARY`",
                                    "*",
                                    "~/x",
                                    "!",
                                    "#",
                                    ";",
                                    "&& touch CANARY",
                                    "#SBATCH --uid=0",
                                    "-x",
                                    "--",
                                    "%j",
                                    "\\n",
                                    "${HOME}",
                                    "it's"};
  std::string every_byte;
  for (int byte = 1; byte < 256; ++byte)
    if (byte != '\n' && byte != '\r') every_byte += static_cast<char>(byte);
  words.push_back(every_byte);
  const uint64_t seed = std::random_device()();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  while (words.size() < 300) {
    std::string word;
    for (size_t length = random() % 20; length > 0; --length)
      word += every_byte[random() % every_byte.size()];
    words.push_back(word);
  }
  return words;
}

// Once as arguments of srun, and once through a shell in each task; the second also as a job that
// was submitted without its submitter's environment.
TEST_F(SlurmScripts, TwoNodesGetEveryByteTheirRankTheirDevicesAndTheHead) {
  const std::vector<std::string> words = hostile_words();
  for (const bool in_a_shell : {false, true}) {
    SCOPED_TRACE(in_a_shell);
    LaunchSpec job = spec();
    job.resources.nodes = 2;
    job.environment = {{"GREETING", words[20]}, {"EMPTY", ""}, {"TRICK", "$(touch CANARY)"}};
    for (const std::string& word : words) job.command.push_back(word);
    job.command.push_back({"--head=", RunTime::head_node, ":29500"});
    job.command.push_back({RunTime::job_id});
    if (in_a_shell) {
      job.command.push_back(":");  // srun alone would start a second program
      job.command.push_back({"rank ", RunTime::node_rank});
    }
    const Variables unasked = {{"SBATCH_EXPORT", "NONE"}};
    const Finished finished = submit(job, {"--wait"}, in_a_shell ? unasked : Variables{});
    ASSERT_EQ(finished.exit_code, 0) << finished.err << logs();
    const std::string id = finished.out.substr(0, finished.out.find_first_of(";\n"));

    const std::string shown = run({"scontrol", "--oneliner", "show", "job", id}).out;
    EXPECT_THAT(shown, AllOf(HasSubstr(" Comment=training default/real 01JDXZ5K7Q "),
                             HasSubstr(" JobName=exa-training-real "), HasSubstr(" Requeue=0 "),
                             HasSubstr(" NumNodes=2 "), HasSubstr(" TimeLimit=00:02:00 ")));
    std::vector<std::string> hosts;
    std::istringstream names(
        run({"scontrol", "show", "hostnames", variables(0)["SLURM_JOB_NODELIST"]}).out);
    for (std::string name; names >> name;) hosts.push_back(name);
    ASSERT_EQ(hosts.size(), 2);
    const std::string head = run({"scontrol", "--oneliner", "show", "node", hosts[0]}).out;
    const size_t address = head.find(" NodeAddr=") + std::string_view(" NodeAddr=").size();

    for (int rank = 0; rank < 2; ++rank) {
      std::vector<std::string> expected = words;
      expected.push_back("--head=" + head.substr(address, head.find(' ', address) - address) +
                         ":29500");
      expected.push_back(id);
      if (in_a_shell) {
        expected.push_back(":");
        expected.push_back(fmt::format("rank {}", rank));
      }
      EXPECT_EQ(split_at_nul(read(fmt::format("task-{}.argv", rank))), expected);
      std::map<std::string, std::string> seen = variables(rank);
      for (const auto& [key, value] : job.environment)
        EXPECT_THAT(seen, Contains(Pair(key, value)));
      EXPECT_EQ(seen["SLURMD_NODENAME"], hosts[rank]);
      EXPECT_EQ(seen["SLURM_CPUS_PER_TASK"], "2");
      EXPECT_EQ(split(seen["CUDA_VISIBLE_DEVICES"], ',').size(), 2) << seen["CUDA_VISIBLE_DEVICES"];
      fs::remove(at(fmt::format("task-{}.argv", rank)));
    }
    EXPECT_FALSE(fs::exists(at("CANARY")));
  }
}

TEST_F(SlurmScripts, AFailedProgramIsStartedAgainInTheSameJob) {
  put("record", R"sh(#!/bin/bash
echo "$SLURM_JOB_ID attempt $EXA_ATTEMPT" >>calls
[ "$EXA_ATTEMPT" = 2 ] || exit 5
)sh");
  LaunchSpec job = spec();
  job.resources.gpus = 0;
  job.restarts = 3;
  const Finished finished = submit(job, {"--wait"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err << logs();
  const std::string id = finished.out.substr(0, finished.out.find_first_of(";\n"));
  EXPECT_EQ(read("calls"), fmt::format("{0} attempt 0\n{0} attempt 1\n{0} attempt 2\n", id));
  job.restarts = 1;
  EXPECT_EQ(submit(job, {"--wait"}).exit_code, 5);
}

TEST_F(SlurmScripts, ACancelledJobStaysCancelledHoweverOftenItMayRestart) {
  put("record", "#!/bin/bash\necho x >>calls\nexec sleep 300\n");
  LaunchSpec job = spec();
  job.resources.gpus = 0;
  job.restarts = 1000;
  const Finished finished = submit(job, {});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const std::string id = finished.out.substr(0, finished.out.find_first_of(";\n"));
  const auto wait_for = [&](auto condition) {
    for (int tries = 0; tries < 600 && !condition(); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return condition();
  };
  ASSERT_TRUE(wait_for([&] { return !read("calls").empty(); })) << logs();
  run({"scancel", id});
  const auto shown = [&] { return run({"scontrol", "--oneliner", "show", "job", id}).out; };
  ASSERT_TRUE(wait_for([&] {
    const std::string text = shown();
    return text.find("JobState=CANCELLED") != std::string::npos &&
           run({"squeue", "-h", "-j", id}).out.empty();
  })) << shown();
  EXPECT_EQ(read("calls"), "x\n");
  EXPECT_THAT(shown(), HasSubstr(" Restarts=0 "));
}

}  // namespace
}  // namespace exa
