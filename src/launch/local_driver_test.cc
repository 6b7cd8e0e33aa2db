// Programs that are really started on this machine, without a scheduler.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "launch/driver.h"

namespace exa {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class LocalDriver : public testing::Test {
 protected:
  LocalDriver() {
    std::string pattern = testing::TempDir() + "exa-local-driver-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    spec_.project = "default";
    spec_.name = "run";
    spec_.id = fmt::format("test-{}", ::getpid());
    spec_.folder = folder_;
  }
  ~LocalDriver() override { fs::remove_all(folder_); }

  std::string read(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(folder_ + "/" + name).rdbuf();
    return text.str();
  }
  std::string start(const std::string& script) {
    spec_.command = {"sh", "-c", script};
    const auto job = driver_->submit(spec_, driver_->render(spec_).value());
    EXPECT_TRUE(job) << job.error().message;
    return job ? *job : "";
  }
  // The number that a program of the launch wrote into a file.
  pid_t number(const std::string& name) const {
    for (int tries = 0; tries < 500; ++tries) {
      const std::string text = read(name);
      if (text.ends_with('\n')) return std::stoi(text);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ADD_FAILURE() << "nothing in " << name;
    return -1;
  }
  // Neither gone nor waiting to be reaped.
  static bool runs(pid_t pid) {
    std::stringstream text;
    text << std::ifstream(fmt::format("/proc/{}/stat", pid)).rdbuf();
    const std::string stat = text.str();
    const size_t state = stat.rfind(") ");
    return state != std::string::npos && stat[state + 2] != 'Z';
  }

  std::string folder_;
  LaunchSpec spec_;
  std::unique_ptr<Driver> driver_ = local_driver(local_transport(seconds(30)));
};

TEST_F(LocalDriver, WhatLeftTheSessionIsEndedToo) {
  const std::string job = start(
      "setsid sh -c 'echo $$ >daemon; exec sleep 300' & "
      "(setsid sh -c 'trap \"\" TERM; echo $$ >deaf; sleep 300; sleep 300' &) ; sleep 300");
  const pid_t daemon = number("daemon");
  const pid_t deaf = number("deaf");
  EXPECT_TRUE(runs(daemon) && runs(deaf));
  ASSERT_TRUE(driver_->cancel(spec_, job));
  EXPECT_FALSE(runs(daemon));
  EXPECT_FALSE(runs(deaf));
}

// Its environment says nothing any more, its group does.
TEST_F(LocalDriver, WhatForgotItsEnvironmentIsEndedWithItsGroup) {
  const std::string job =
      start("env -i sh -c 'trap \"\" TERM; echo $$ >bare; sleep 300; sleep 300' & sleep 300");
  const pid_t bare = number("bare");
  ASSERT_TRUE(driver_->cancel(spec_, job));
  EXPECT_FALSE(runs(bare));
}

TEST_F(LocalDriver, TheMarkIsTheLaunchsOwnWhateverItsVariablesSay) {
  spec_.environment = {{"EXA_LAUNCH", "another"}};
  const std::string job = start("echo $EXA_LAUNCH >mark; echo $$ >pid; sleep 300");
  number("pid");
  EXPECT_EQ(read("mark"), fmt::format("{}/{}.run\n", folder_, spec_.id));
  ASSERT_TRUE(driver_->cancel(spec_, job));
}

// Within one boot: the launch is over, and its number is the group of somebody else.
TEST_F(LocalDriver, ANumberThatWasGivenAgainIsNobodysToEnd) {
  const std::string script =
      fmt::format("echo $$ >{0}/other.part; mv {0}/other.part {0}/other; exec sleep 300", folder_);
  const auto started = run_command({.argv = {"setsid", "--fork", "sh", "-c", script}});
  ASSERT_TRUE(started);
  const pid_t other = number("other");
  const std::string job = std::to_string(other);
  const std::string run = fmt::format("{}/{}.run", folder_, spec_.id);
  fs::create_directory(run);
  std::ofstream(run + "/pid") << job << "\n";
  std::ofstream(run + "/started") << "1000\n";

  const auto seen = driver_->find(spec_, job);
  ASSERT_TRUE(seen && *seen);
  EXPECT_EQ((*seen)->state, JobState::failed);
  EXPECT_THAT((*seen)->reason, HasSubstr("gone without a word"));
  ASSERT_TRUE(driver_->cancel(spec_, job));
  EXPECT_TRUE(runs(other));
  ::kill(other, SIGKILL);
}

}  // namespace
}  // namespace exa
