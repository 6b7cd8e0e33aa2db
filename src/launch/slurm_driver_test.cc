// The driver of Slurm and stand-ins for its programs, which write down what they were started with.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "launch/driver.h"

namespace exa {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// A folder first on the PATH. Its `ssh` does what sshd does: the last word is for a shell.
class SlurmDriver : public testing::TestWithParam<const char*> {
 protected:
  SlurmDriver() : path_(std::getenv("PATH")) {
    std::string pattern = testing::TempDir() + "exa-slurm-driver-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    ::setenv("PATH", (folder_ + ":" + path_).c_str(), 1);
    const std::string note = "#!/bin/sh\nenv >" + folder_ + "/$(basename \"$0\").env\numask >" +
                             folder_ + "/umask\ncat >" + folder_ + "/script\n";
    program("sbatch", note + "echo 42\n");
    program("squeue", note + "echo '42|training default/run 01J'\n");
    program("scontrol", note + "echo JobState=RUNNING NodeList=n1 StartTime=1000\n");
    program("ssh", "#!/bin/sh\nfor last; do :; done\nexec sh -c \"$last\"\n");
    for (const auto& [name, value] : variables()) ::setenv(name, value, 1);
    mask_ = ::umask(022);
    spec_.project = "default";
    spec_.name = "run";
    spec_.id = "01J";
    spec_.folder = folder_ + "/work";
    spec_.command = {"train.sh"};
  }
  ~SlurmDriver() override {
    ::umask(mask_);
    ::setenv("PATH", path_.c_str(), 1);
    for (const auto& [name, value] : variables()) ::unsetenv(name);
    fs::remove_all(folder_);
  }

  static std::vector<std::pair<const char*, const char*>> variables() {
    return {{"SBATCH_PARTITION", "theirs"}, {"SBATCH_TIMELIMIT", "1"},   {"SLURM_JOB_ID", "7"},
            {"SLURM_UMASK", "0000"},        {"SQUEUE_STATES", "FAILED"}, {"SLURM_CONF", "/etc/x"},
            {"OF_THE_SITE", "kept"}};
  }

  void program(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
    fs::permissions(folder_ + "/" + name, fs::perms::owner_all);
  }
  std::string read(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(folder_ + "/" + name).rdbuf();
    return text.str();
  }
  std::unique_ptr<Driver> driver() {
    const bool remote = std::string(GetParam()) == "ssh";
    return slurm_driver(remote ? ssh_transport({.destination = "login"}, seconds(20))
                               : local_transport(seconds(20)));
  }

  std::string path_;
  std::string folder_;
  mode_t mask_ = 0;
  LaunchSpec spec_;
};

TEST_P(SlurmDriver, VariablesOfWhoeverSubmitsDoNotOverrideTheScript) {
  const Rendered rendered = driver()->render(spec_).value();
  const auto job = driver()->submit(spec_, rendered);
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(*job, "42");
  EXPECT_EQ(read("script"), rendered.files[0].text);
  ASSERT_TRUE(driver()->find(spec_, ""));
  for (const char* program : {"sbatch.env", "squeue.env", "scontrol.env"}) {
    const std::string given = read(program);
    EXPECT_THAT(given, HasSubstr("SLURM_CONF=/etc/x\n")) << program;
    EXPECT_THAT(given, HasSubstr("OF_THE_SITE=kept\n")) << program;
    for (const char* dropped : {"SBATCH_", "SQUEUE_", "SLURM_JOB_ID", "SLURM_UMASK"})
      EXPECT_THAT(given, Not(HasSubstr(dropped))) << program;
  }
}

TEST_P(SlurmDriver, AnOutputIsMadePrivateAndTheProgramsFilesAsBefore) {
  const Rendered rendered = driver()->render(spec_).value();
  ASSERT_TRUE(driver()->submit(spec_, rendered));
  EXPECT_EQ(read("umask"), "0077\n");
  EXPECT_THAT(read("sbatch.env"), HasSubstr("EXA_UMASK=0022\n"));
  // what the script makes of it, up to where the program is started
  std::string opening = rendered.files[0].text;
  opening.resize(opening.find("exec srun"));
  program("job", opening + "umask >" + folder_ + "/umask\nenv >" + folder_ + "/job.env\n");
  const auto ran = run_command({.argv = {"sh", "-c", "umask 077; exec " + folder_ + "/job"},
                                .extra_env = {{"EXA_UMASK", "0022"}}});
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->exit_code, 0) << ran->err;
  EXPECT_EQ(read("umask"), "0022\n");
  EXPECT_THAT(read("job.env"), Not(HasSubstr("EXA_UMASK")));
}

TEST_P(SlurmDriver, AProgramThatIsNotThereIsNamed) {
  const Rendered rendered = driver()->render(spec_).value();
  for (const char* name : {"sh", "env", "sed", "mkdir", "basename", "cat"})
    fs::create_symlink(find_program(name).value(), folder_ + "/" + name);
  fs::remove(folder_ + "/sbatch");
  ::setenv("PATH", folder_.c_str(), 1);
  const auto job = driver()->submit(spec_, rendered);
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().code, Code::not_found);
  EXPECT_THAT(job.error().message, HasSubstr("there is no program sbatch"));
}

INSTANTIATE_TEST_SUITE_P(Through, SlurmDriver, testing::Values("local", "ssh"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace exa
