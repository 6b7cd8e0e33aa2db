// probe_host on a tree of files laid out for the test, and on the machine that runs it.
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "discover/probe.h"
#include "discover/readers.h"

namespace exa {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

// A machine whose root folder is a temporary one: paths in commands are moved below it, and taken
// out of what the commands print. Programs are those of the table; grep and find are the real ones.
class RootedMachine : public Transport {
 public:
  RootedMachine() {
    std::string pattern = (fs::temp_directory_path() / "exa-host-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  ~RootedMachine() override { fs::remove_all(root_); }

  std::map<std::string, Finished> programs;

  // `path=content` and `path->target`, the form of the samples.
  void lay_out(const std::string& facts) {
    for (std::string_view line : split(facts, '\n')) {
      size_t equals = line.find('='), arrow = line.find("->");
      if (arrow != std::string_view::npos) {
        fs::path link = below(line.substr(0, arrow));
        fs::path target = root_ / "sys/bus/pci/drivers" / line.substr(arrow + 2);
        fs::create_directories(target);
        fs::create_directory_symlink(target, link);
      } else if (equals != std::string_view::npos) {
        write(below(line.substr(0, equals)), std::string(line.substr(equals + 1)) + "\n");
      }
    }
  }
  void put(const std::string& path, std::string_view text) { write(below(path), text); }

  Result<Finished> run(const std::vector<std::string>& argv) override {
    if (argv[0] != "grep" && argv[0] != "find") {
      auto program = programs.find(argv[0]);
      if (program == programs.end()) return fail(Code::not_found, "no such program");
      return program->second;
    }
    std::vector<std::string> moved;
    for (const std::string& word : argv)
      moved.push_back(word.starts_with('/') ? root_.string() + word : word);
    EXA_ASSIGN(Finished finished,
               run_command({.argv = moved, .extra_env = {}, .input = "", .timeout = seconds(20)}));
    for (size_t at; (at = finished.out.find(root_.string())) != std::string::npos;)
      finished.out.erase(at, root_.string().size());
    return finished;
  }
  Result<std::string> read_file(const std::string& path) override {
    if (!fs::exists(below(path))) return fail(Code::not_found, "no file " + path);
    return text_of(below(path));
  }
  Result<std::vector<std::string>> list_folder(const std::string&) override {
    return fail(Code::not_found, "none");
  }
  std::string describe() const override { return "test tree"; }

 private:
  fs::path below(std::string_view path) const { return root_ / std::string(path.substr(1)); }
  fs::path root_;
};

std::string sample(const std::string& name) {
  return text_of(std::string(EXA_TESTDATA) + "/host/" + name);
}

Inventory seen_on(Transport& machine) {
  auto capture = probe_host({}, machine, Time{1});
  if (!capture) {
    ADD_FAILURE() << capture.error().message;
    return {};
  }
  auto inventory = read_host(*capture);
  if (!inventory) {
    ADD_FAILURE() << inventory.error().message;
    return {};
  }
  return *inventory;
}

TEST(HostProbe, ATreeOfFilesIsReadAsTheSampleThatItWasMadeFrom) {
  RootedMachine machine;
  machine.lay_out(sample("sysfs-pci-mixed.txt"));
  machine.put("/proc/cpuinfo", sample("proc-cpuinfo.txt"));
  Inventory probed = seen_on(machine);
  Capture replay;
  replay.outputs = {{"/sys pci", {}, 0, sample("sysfs-pci-mixed.txt"), ""},
                    {"/proc/cpuinfo", {}, 0, sample("proc-cpuinfo.txt"), ""}};
  for (std::string question :
       {"nvidia-smi -q -x", "amd-smi static --json", "rocm-smi --json", "hl-smi -Q"})
    replay.outputs.push_back({question, {}, 127, "", "not found"});
  auto expected = read_host(replay);
  ASSERT_TRUE(expected);
  ASSERT_EQ(probed.nodes.size(), 1U);
  EXPECT_EQ(probed.nodes[0].cards, expected->nodes[0].cards);
  EXPECT_EQ(probed.nodes[0].cards.size(), 7U);
}

TEST(HostProbe, AVirtualFunctionIsKnownByItsLink) {
  RootedMachine machine;
  machine.lay_out(
      "/sys/bus/pci/devices/0000:51:01.0/class=0x030200\n/sys/bus/pci/devices/0000:51:01.0/"
      "vendor=0x10de\n"
      "/sys/bus/pci/devices/0000:51:01.0/device=0x2235\n/sys/bus/pci/devices/0000:51:01.0/"
      "physfn->0000:51:00.0\n");
  Inventory inventory = seen_on(machine);
  ASSERT_EQ(inventory.nodes.at(0).cards.size(), 1U);
  EXPECT_EQ(inventory.nodes[0].cards[0].physical, std::nullopt);
  EXPECT_THAT(inventory.nodes[0].cards[0].remark, HasSubstr("virtual functions"));
}

TEST(HostProbe, ToolsAreAskedAndAPathIsTriedThatIsNotOnPath) {
  RootedMachine machine;
  machine.lay_out(sample("sysfs-pci-this-kind-no-gpu.txt"));
  machine.programs["/opt/rocm/bin/rocm-smi"] = {0, sample("rocm-smi-mi100_rocm602.json"), ""};
  machine.put("/opt/rocm/.info/version", "6.0.2-115\n");
  machine.put("/proc/sys/kernel/hostname", "mi100-box\n");
  Inventory inventory = seen_on(machine);
  ASSERT_EQ(inventory.nodes.size(), 1U);
  EXPECT_EQ(inventory.nodes[0].name, "mi100-box");
  ASSERT_EQ(inventory.nodes[0].cards.size(), 1U);
  EXPECT_EQ(inventory.nodes[0].cards[0].physical, 4);
  EXPECT_THAT(inventory.nodes[0].software, Contains(Software{"rocm", "6.0.2-115"}));
}

TEST(HostProbe, EveryGroupAboveLimits) {
  for (const auto& [own, files] :
       std::map<std::string, std::vector<std::pair<std::string, std::string>>>{
           {"0::/a/b\n",
            {{"/sys/fs/cgroup/a/cpu.max", "50000 100000"},
             {"/sys/fs/cgroup/a/b/cpu.max", "max 100000"}}},
           {"4:memory:/j\n3:cpu,cpuacct:/j\n",
            {{"/sys/fs/cgroup/cpu/j/cpu.cfs_quota_us", "50000"},
             {"/sys/fs/cgroup/cpu/j/cpu.cfs_period_us", "100000"}}}}) {
    RootedMachine machine;
    machine.put("/proc/cpuinfo", sample("proc-cpuinfo.txt"));
    machine.put("/proc/self/cgroup", own);
    for (const auto& [path, text] : files) machine.put(path, text + "\n");
    Inventory inventory = seen_on(machine);
    ASSERT_EQ(inventory.nodes.size(), 1U);
    EXPECT_EQ(inventory.nodes[0].cpu_milli, 500) << own;
  }
}

TEST(HostProbe, AMachineThatCannotBeReachedIsAnErrorAndNoEmptyHost) {
  class Unreachable : public RootedMachine {
    Result<std::string> read_file(const std::string&) override {
      return fail(Code::probe_failed, "no route to host");
    }
  } machine;
  auto capture = probe_host({}, machine, {});
  ASSERT_FALSE(capture);
  EXPECT_EQ(capture.error().code, Code::probe_failed);
}

// The machine that runs this test, against what its C library says.
TEST(HostProbe, ThisMachineIsReadAsTheKernelCountsIt) {
  auto transport = local_transport(seconds(30));
  auto capture = probe_host({}, *transport, Time{1});
  ASSERT_TRUE(capture) << capture.error().message;
  auto inventory = read_host(*capture);
  ASSERT_TRUE(inventory) << inventory.error().message;
  std::erase_if(capture->outputs,
                [](const CapturedOutput& output) { return output.name == "cgroup"; });
  auto machine = read_host(*capture);
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->nodes[0].cpu_milli, sysconf(_SC_NPROCESSORS_ONLN) * 1000);
  EXPECT_EQ(machine->nodes[0].memory_bytes,
            int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE));
  EXPECT_LE(*inventory->nodes[0].cpu_milli, *machine->nodes[0].cpu_milli);
  EXPECT_LE(*inventory->nodes[0].memory_bytes, *machine->nodes[0].memory_bytes);
  EXPECT_EQ(inventory->nodes[0].health, Health::usable);
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  EXPECT_EQ(inventory->nodes[0].name, name);
}

}  // namespace
}  // namespace exa
