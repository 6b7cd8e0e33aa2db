// What a program of a run cannot do: outlive it, flood its log, reach what is exa's.
#include <chrono>
#include <regex>

#include <fcntl.h>
#include <sys/wait.h>

#include "base/text.h"
#include "provision/provision_bench_for_test.h"

namespace exa {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class Containment : public ProvisionBench {};

// Children of every kind: in the group, in sessions of their own, without a parent, deaf to
// SIGTERM.
constexpr const char* kFamily = R"(trap '' TERM
sleep 300 & echo $! >child
setsid sh -c 'trap "" TERM; echo $$ >in_session; while :; do sleep 300; done' &
setsid --fork sh -c 'echo $$ >orphan; setsid --fork sh -c "echo \$\$ >deep; exec sleep 300"; sleep 300'
while [ ! -s child ] || [ ! -s in_session ] || [ ! -s orphan ] || [ ! -s deep ]; do sleep 0.01; done
echo $$ >self
)";
constexpr const char* kMembers[] = {"child", "in_session", "orphan", "deep", "self"};

TEST_F(Containment, TheTimeLimitEndsAllThatTheProgramStarted) {
  ProvisionRun run = script(std::string(kFamily) + "sleep 300; sleep 300");
  run.time_limit = seconds(4);
  const auto begin = std::chrono::steady_clock::now();
  const ProvisionResult result = done(run);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_EQ(result.outcome, ProvisionOutcome::timed_out);
  EXPECT_EQ(result.reason, "killed after 4s, its time limit");
  EXPECT_EQ(result.exit_code, std::nullopt);
  for (const char* member : kMembers) EXPECT_FALSE(lives(member)) << member;
}

TEST_F(Containment, CancellingEndsAllThatTheProgramStarted) {
  const ProvisionRun run =
      script(std::string(kFamily) + "echo one; echo two; touch ready; sleep 300");
  CancelWhen progress(work / "ready");
  const ProvisionResult result = done(run, progress);
  EXPECT_EQ(result.outcome, ProvisionOutcome::cancelled);
  EXPECT_EQ(result.reason, "cancelled");
  EXPECT_EQ(progress.told, "2 lines");
  EXPECT_EQ(result.log, "one\ntwo\n");
  for (const char* member : kMembers) EXPECT_FALSE(lives(member)) << member;
}

TEST_F(Containment, WhatAProgramLeavesBehindIsEndedAndCounted) {
  const ProvisionResult result = done(script(std::string(kFamily) + "exit 0"));
  EXPECT_EQ(result.outcome, ProvisionOutcome::succeeded);
  EXPECT_GE(result.left_behind, 4);  // a shell may have a sleep of its own
  for (const char* member : kMembers) EXPECT_FALSE(lives(member)) << member;
}

TEST_F(Containment, AProgramThatHeedsIsNotKilled) {
  ProvisionRun run = script("trap 'echo saved >state; exit 0' TERM; sleep 300 & wait");
  run.time_limit = {500'000};
  run.grace = seconds(20);
  EXPECT_EQ(done(run).outcome, ProvisionOutcome::timed_out);
  EXPECT_EQ(text_of(work / "state"), "saved\n");
}

TEST_F(Containment, APlaybookThatHangsIsEndedAndSaysWhere) {
  const ProvisionRun run = playbook(R"(- hosts: all
  gather_facts: false
  tasks:
    - name: wait for the disk
      ansible.builtin.shell: 'echo $$ >{{ exa_outputs_file }}.begun; sleep 300'
)");
  CancelWhen progress(work / "outputs.json.begun");
  EXPECT_EQ(done(run, progress).reason, "cancelled, at task 'wait for the disk'");
  EXPECT_FALSE(lives("outputs.json.begun"));
}

// Runs in a process of its own, which is then killed.
pid_t run_elsewhere(const ProvisionRun& run) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    [[maybe_unused]] const auto ignored = run_provision(run, system_clock());
    ::_exit(0);
  }
  return pid;
}

TEST_F(Containment, TheEndOfExaIsTheEndOfItsRunsAndHoldsNothing) {
  const ProvisionRun run = script(std::string(kFamily) + "touch ready; sleep 300");
  const pid_t exa = run_elsewhere(run);
  ASSERT_TRUE(appears(work / "ready"));
  const Error error = refusal(run);
  EXPECT_EQ(error.code, Code::conflict);
  EXPECT_EQ(error.message, "a run is going on in " + work.string() + ", by process " +
                               std::to_string(exa) + ": one at a time");
  ::kill(exa, SIGKILL);
  ::waitpid(exa, nullptr, 0);
  put("run", "#!/bin/sh\necho mine\n", true);
  const ProvisionResult result = done(run);  // as soon as the other's processes are gone
  EXPECT_EQ(result.log, "mine\n");
  for (const char* member : kMembers) EXPECT_FALSE(lives(member)) << member;
}

TEST_F(Containment, OfTwoRunsAtOnceOneIsRefused) {
  const ProvisionRun run =
      script("echo run >>runs; touch ready; while [ ! -e go ]; do sleep 0.01; done");
  ProvisionResult first;
  std::thread thread([&] { first = done(run); });
  ASSERT_TRUE(appears(work / "ready"));
  EXPECT_EQ(refusal(run).code, Code::conflict);
  std::ofstream(work / "go") << "";
  thread.join();
  EXPECT_EQ(first.outcome, ProvisionOutcome::succeeded);
  EXPECT_EQ(text_of(work / "runs"), "run\n");
}

TEST_F(Containment, RunsInFoldersOfTheirOwnGoOnAtOnce) {
  const ProvisionRun pattern = script("cat inputs.json; sleep 0.2");
  std::vector<std::thread> threads;
  std::vector<std::string> logs(8);
  for (size_t i = 0; i < logs.size(); ++i)
    threads.emplace_back([&, i] {
      ProvisionRun run = pattern;
      run.work_folder += std::to_string(i);
      run.inputs = {{"n", i}};
      logs[i] = done(run).log;
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < logs.size(); ++i)
    EXPECT_EQ(logs[i], "{\"n\":" + std::to_string(i) + "}\n");
}

int64_t peak_kib() {
  std::smatch found;
  const std::string status = text_of("/proc/self/status");
  return std::regex_search(status, found, std::regex("VmHWM:\\s*([0-9]+)")) ? std::stoll(found[1])
                                                                            : 0;
}

TEST_F(Containment, AFloodTakesNeitherMemoryNorDisk) {
  for (const char* flood :
       {"yes a flooding line | head -c 200000000", "head -c 200000000 /dev/zero | tr '\\0' x"}) {
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins here
    const int64_t before = peak_kib();
    ProvisionRun run = script("echo first; " + std::string(flood) + "; echo; echo last");
    run.log_limit_bytes = 100'000;
    const ProvisionResult result = done(run);
    EXPECT_EQ(result.outcome, ProvisionOutcome::succeeded) << result.reason;
    EXPECT_THAT(result.log, StartsWith("first\n"));
    EXPECT_TRUE(result.log.ends_with("\nlast\n"));
    EXPECT_THAT(result.log, HasSubstr("cut"));
    EXPECT_LE(result.log.size(), 100'100u);
    EXPECT_GE(result.log_cut_bytes, 199'000'000);
    EXPECT_EQ(text_of(work / "log"), result.log);
#ifndef __SANITIZE_ADDRESS__  // which keeps what was freed
    EXPECT_LT(peak_kib() - before, 10'000);
#endif
  }
}

TEST_F(Containment, TheLogGrowsWhileTheProgramRuns) {
  const ProvisionRun run = script("echo begun; while [ ! -e go ]; do sleep 0.01; done");
  std::thread thread([&] { done(run); });
  bool seen = false;
  for (int i = 0; i < 1000 && !seen; ++i) {
    seen = text_of(work / "log") == "begun\n";
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::ofstream(work / "go") << "";
  thread.join();
  EXPECT_TRUE(seen);
}

TEST_F(Containment, NothingOfExasEnvironmentAndDescriptorsReachesTheProgram) {
  ::setenv("EXA_TEST_SECRET", "canary-5371", 1);
  const int open = ::open("/dev/null", O_RDONLY);  // on purpose without O_CLOEXEC
  ProvisionRun run = script(
      "env | sed 's/=.*//' | sort >names\n"
      "for f in 3 4 5 6 7 8 9 11 12 13 14 15; do [ -e /proc/$$/fd/$f ] && echo open $f; done\n"
      "cat; umask; ulimit -c; cut -d' ' -f5,6 /proc/$$/stat | tr ' ' '\\n' | grep -c \"^$$\\$\"");
  run.environment = {{"GIVEN", "1"}};
  const ProvisionResult result = done(run);
  ::close(open);
  ::unsetenv("EXA_TEST_SECRET");
  EXPECT_EQ(result.log, "0077\n0\n2\n");  // 10 is the script, which sh itself opened
  EXPECT_EQ(text_of(work / "names"),
            "EXA_ACTION\nEXA_INPUTS\nEXA_OUTPUTS\nGIVEN\nHOME\nLANG\nPATH\nPWD\nTMPDIR\n");
}

TEST_F(Containment, ItWritesInItsWorkFolderOnly) {
  const std::string outside = folder / "outside";
  std::ofstream(outside) << "as it was";
  ProvisionRun run = script("echo x >" + outside + "; rm -f " + outside + "; echo x >>" + outside +
                            ".new; mv log '" + folder.string() + "'; touch inside");
  const ProvisionResult result = done(run);
  ASSERT_TRUE(result.confined);
  EXPECT_EQ(text_of(outside), "as it was");
  EXPECT_FALSE(std::filesystem::exists(outside + ".new"));
  EXPECT_FALSE(std::filesystem::exists(folder / "log"));
  EXPECT_TRUE(std::filesystem::exists(work / "inside"));
  run.may_write_anywhere = true;
  EXPECT_FALSE(done(run).confined);
  EXPECT_TRUE(std::filesystem::exists(outside + ".new"));
}

TEST_F(Containment, LinksInTheWorkFolderLeadNowhere) {
  const std::filesystem::path victim = folder / "victim";
  const std::filesystem::path victims = folder / "victims";
  std::ofstream(victim) << "as it was";
  std::filesystem::create_directory(victims);
  std::ofstream(victims / "file") << "as it was";
  std::filesystem::create_directory(work);
  for (const char* name : {"log", "inputs.json", "outputs.json", "given"})
    std::filesystem::create_symlink(victim, work / name);
  for (const char* name : {"template", "tmp", ".exa"})
    std::filesystem::create_directory_symlink(victims, work / name);
  ProvisionRun run = script("echo '{\"a\": 1}' >outputs.json; touch $TMPDIR/x");
  run.files = {{"given", "new"}};
  run.outputs = {"a"};
  EXPECT_EQ(done(run).outcome, ProvisionOutcome::succeeded);
  EXPECT_EQ(text_of(victim), "as it was");
  EXPECT_THAT(picture(victims), ElementsAre(testing::Pair(victims / "file", "as it was")));
}

TEST_F(Containment, AWorkFolderThatIsALinkOrOpenToOthersIsRefused) {
  ProvisionRun run = script("true");
  std::filesystem::create_directory(folder / "real");
  std::filesystem::create_directory_symlink(folder / "real", work);
  EXPECT_EQ(refusal(run).code, Code::conflict);
  run.work_folder = folder / "real";
  std::filesystem::permissions(folder / "real", std::filesystem::perms(0777));
  EXPECT_EQ(refusal(run).code, Code::conflict);
  EXPECT_THAT(picture(folder / "real"), IsEmpty());
}

TEST_F(Containment, SecretsStandNeitherInTheLogNorInAReason) {
  ProvisionRun run = script(
      "cat inputs.json key; echo; echo token exa_pat_abcdef https://me:pw@host; "
      "printf 'tail\\033[31m %s' 'pass \"word\"' ; exit 1");
  run.inputs = {{"password", "pass \"word\""}};
  run.files = {{"key", "-----BEGIN-----\nabcdef123456\n-----END-----\n"}};
  run.secrets = {"pass \"word\"", run.files[0].text};
  const ProvisionResult result = done(run);
  EXPECT_EQ(result.log,
            "{\"password\":\"…\"}…\n…\n…\n\ntoken exa_pat_… https://…@host\ntail\\x1b[31m …\n");
  EXPECT_EQ(result.reason, "ended with 1: tail\\x1b[31m …");
  EXPECT_EQ(text_of(work / "log"), result.log);
}

}  // namespace
}  // namespace exa
