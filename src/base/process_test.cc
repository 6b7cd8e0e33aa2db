#include "base/process.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

namespace exa {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Duration millis(int64_t n) {
  return {n * 1000};
}

Command sh(std::string script) {
  Command command;
  command.argv = {"sh", "-c", std::move(script)};
  command.timeout = seconds(20);
  return command;
}

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "exa_process_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

TEST(RunCommand, GivesBothStreamsAndTheExitCode) {
  const auto finished = run_command(sh("printf out; printf err >&2; exit 3"));
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->exit_code, 3);
  EXPECT_EQ(finished->out, "out");
  EXPECT_EQ(finished->err, "err");
}

TEST(RunCommand, ArgumentsReachTheProgramWithoutAShell) {
  Command command;
  command.argv = {"printf", "%s|", "$HOME", "a b", "", "`id`", "*"};
  EXPECT_EQ(run_command(command)->out, "$HOME|a b||`id`|*|");
}

TEST(RunCommand, AMissingProgramIsNotFound) {
  Command command;
  for (const char* name : {"no-such-program-exa", "/no/such/program", "/tmp"}) {
    command.argv = {name};
    const auto finished = run_command(command);
    ASSERT_FALSE(finished) << name;
    EXPECT_EQ(finished.error().code, Code::not_found);
    EXPECT_THAT(finished.error().message, HasSubstr(name));
  }
}

TEST(RunCommand, AScriptWithoutItsInterpreterIsNotFound) {
  const Folder folder;
  const std::string path = folder.path / "script";
  std::ofstream(path) << "#!/no/such/interpreter\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  Command command;
  command.argv = {path};
  EXPECT_EQ(run_command(command).error().code, Code::not_found);
}

TEST(RunCommand, ANulByteInAnArgumentIsRefusedRatherThanCut) {
  Command command;
  command.argv = {"printf", std::string("a\0b", 3)};
  EXPECT_EQ(run_command(command).error().code, Code::invalid_input);
}

TEST(RunCommand, InputArrivesWholeAndOutputComesBackWhileItIsWritten) {
  // Larger than any pipe, both ways at once.
  Command command;
  command.argv = {"cat"};
  command.input.assign(3'000'000, 'x');
  for (size_t i = 0; i < command.input.size(); i += 7) command.input[i] = static_cast<char>(i);
  const auto finished = run_command(command);
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->out, command.input);
}

TEST(RunCommand, WithoutInputStandardInputIsEmpty) {
  Command command;
  command.argv = {"cat"};
  EXPECT_EQ(run_command(command)->out, "");
}

TEST(RunCommand, AProgramThatDoesNotReadItsInputIsNoError) {
  Command command = sh("exec <&-; echo done");
  command.input.assign(3'000'000, 'x');
  const auto finished = run_command(command);
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->out, "done\n");
  sigset_t pending;
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0);
}

TEST(RunCommand, ASignalIsAnExitCodeAbove128) {
  EXPECT_EQ(run_command(sh("kill -TERM $$"))->exit_code, 128 + SIGTERM);
}

TEST(RunCommand, TheTimeLimitEndsTheWholeProcessGroup) {
  const Folder folder;
  const std::string pid_file = folder.path / "pid";
  Command command = sh("sleep 300 & echo $! > '" + pid_file + "'; trap '' TERM; sleep 300");
  command.timeout = millis(300);
  const Stopwatch watch;
  const auto finished = run_command(command);
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code, Code::probe_failed);
  EXPECT_THAT(finished.error().message, HasSubstr("did not finish within"));
  EXPECT_LT(watch.seconds(), 10);
  pid_t grandchild = 0;
  std::ifstream(pid_file) >> grandchild;
  ASSERT_GT(grandchild, 0);
  // Killed; it may stay a zombie until its new parent looks.
  for (int i = 0; i < 200; ++i) {
    std::ifstream stat("/proc/" + std::to_string(grandchild) + "/stat");
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    if (text.empty() || text.find(") Z") != std::string::npos) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  FAIL() << "process " << grandchild << " lives on";
}

TEST(RunCommand, TheTimeLimitHoldsForAProgramThatClosedItsStreams) {
  Command command = sh("exec >&- 2>&-; sleep 300");
  command.timeout = millis(300);
  const auto finished = run_command(command);
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code, Code::probe_failed);
}

TEST(RunCommand, AProcessLeftBehindDoesNotDelayTheAnswer) {
  const Stopwatch watch;
  const auto finished = run_command(sh("sleep 15 & echo started"));
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->out, "started\n");
  EXPECT_LT(watch.seconds(), 10);
}

TEST(RunCommand, MoreOutputThanTheLimitIsAnErrorNotACut) {
  for (const char* script : {"yes", "yes >&2"}) {
    Command command = sh(script);
    command.max_output = 100'000;
    const auto finished = run_command(command);
    ASSERT_FALSE(finished);
    EXPECT_EQ(finished.error().code, Code::probe_failed);
    EXPECT_THAT(finished.error().message, HasSubstr("more than 100000 bytes"));
  }
}

TEST(RunCommand, OutputOfExactlyTheLimitIsGiven) {
  Command command = sh("head -c 100000 /dev/zero");
  command.max_output = 100'000;
  EXPECT_EQ(run_command(command)->out.size(), 100'000u);
}

TEST(RunCommand, TheChildGetsNoDescriptorOfOursAndItsOwnGroup) {
  const int fd = ::open("/dev/null", O_RDONLY);  // on purpose without O_CLOEXEC
  ASSERT_GE(fd, 0);
  Command command;
  command.argv = {"sh", "-c", ""};
  command.argv[2] =
      "for f in 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$f ] && echo open $f; done; "
      "set -- $(cut -d' ' -f5 /proc/$$/stat); [ $1 = $$ ] && echo own group";
  const auto finished = run_command(command);
  ::close(fd);
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->out, "own group\n");
}

TEST(RunCommand, TheChildGetsDefaultSignals) {
  auto* const before = ::signal(SIGUSR1, SIG_IGN);
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR2);
  ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  Command command;
  command.argv = {"sh", "-c",
                  "sed -n 's/^SigBlk:[^0-9a-f]*//p; s/^SigIgn:[^0-9a-f]*//p' /proc/self/status"};
  const auto finished = run_command(command);
  ::pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
  ::signal(SIGUSR1, before);
  ASSERT_TRUE(finished);
  std::istringstream masks(finished->out);
  uint64_t child_blocked = 0;
  uint64_t child_ignored = 0;
  masks >> std::hex >> child_blocked >> child_ignored;
  ASSERT_TRUE(masks);
  // 32 and 33 are the C library's own; posix_spawn leaves them ignored.
  EXPECT_EQ(child_blocked, 0u);
  EXPECT_EQ(child_ignored & ~(uint64_t{3} << 31), 0u);
}

TEST(RunCommand, ExtraVariablesReplaceThoseThatExist) {
  Command command = sh("echo $HOME,$EXA_NEW,${PATH:+path}");
  command.extra_env = {{"HOME", "/elsewhere"}, {"EXA_NEW", "a=b"}};
  EXPECT_EQ(run_command(command)->out, "/elsewhere,a=b,path\n");
}

TEST(RunCommand, SignalsToUsDoNotDisturbTheReading) {
  struct sigaction quiet {};
  struct sigaction before {};
  quiet.sa_handler = [](int) {};  // without SA_RESTART, so every call is interrupted
  ::sigaction(SIGUSR1, &quiet, &before);
  const pthread_t self = ::pthread_self();
  std::atomic<bool> done = false;
  std::thread pest([&] {
    while (!done) {
      ::pthread_kill(self, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  const auto finished = run_command(sh("for i in 1 2 3 4 5; do echo $i; sleep 0.05; done"));
  done = true;
  pest.join();
  ::sigaction(SIGUSR1, &before, nullptr);
  ASSERT_TRUE(finished) << finished.error().message;
  EXPECT_EQ(finished->out, "1\n2\n3\n4\n5\n");
}

TEST(RunCommand, ManyAtOnceDoNotMixTheirStreams) {
  std::vector<std::thread> threads;
  std::vector<std::string> outputs(16);
  for (size_t i = 0; i < outputs.size(); ++i)
    threads.emplace_back([&outputs, i] {
      Command command;
      command.argv = {"cat"};
      command.input.assign(200'000, static_cast<char>('a' + i));
      outputs[i] = run_command(command)->out;
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < outputs.size(); ++i)
    EXPECT_EQ(outputs[i], std::string(200'000, static_cast<char>('a' + i)));
}

TEST(FindProgram, LooksOnThePathForFilesThatCanRun) {
  EXPECT_THAT(find_program("sh").value_or(""), testing::EndsWith("/sh"));
  EXPECT_EQ(find_program("no-such-program-exa"), std::nullopt);
  EXPECT_EQ(find_program(""), std::nullopt);
  EXPECT_EQ(find_program("/bin"), std::nullopt);
  EXPECT_EQ(find_program("/etc/passwd"), std::nullopt);
}

TEST(Process, WhatNobodyWantsAnyMoreIsKilled) {
  for (const char* script : {"sleep 60", "exec >&- 2>&-; sleep 60"}) {
    Command command;
    command.argv = {"sh", "-c", script};
    command.timeout = seconds(60);
    int asked = 0;
    command.unwanted = [&] { return ++asked > 2; };
    const auto finished = run_command(command);
    ASSERT_FALSE(finished) << script;
    EXPECT_EQ(finished.error().code, Code::interrupted) << script;
  }
}

TEST(FindProgram, LooksInTheFoldersThatAreNamedAndNowhereElse) {
  const Folder folder;
  const std::string program = folder.path / "exa-found";
  std::ofstream(program) << "#!/bin/sh\n";
  const std::string folders = "/no/such/folder:" + folder.path.string();
  EXPECT_EQ(find_program("exa-found", folders), std::nullopt);  // not executable
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  EXPECT_EQ(find_program("exa-found", folders), program);
  EXPECT_EQ(find_program("exa-found"), std::nullopt);
  EXPECT_EQ(find_program("sh", folders), std::nullopt);
}

}  // namespace
}  // namespace exa
