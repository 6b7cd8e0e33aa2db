// The templates under testdata/environment_templates, run as launches run them.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "base/process.h"
#include "provision/provision.h"
#include "service/environment_templates.h"

namespace exa {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class TemplateExamples : public testing::Test {
 protected:
  TemplateExamples() {
    std::string pattern = testing::TempDir() + "exa-example-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~TemplateExamples() override { fs::remove_all(folder_); }

  ProvisionRun run_of(std::string_view example, ProvisionDriver driver) {
    ProvisionRun run;
    run.driver = driver;
    run.template_folder = fmt::format("{}/environment_templates/{}", EXA_TESTDATA, example);
    run.work_folder = folder_ / "work";
    run.time_limit = minutes(2);
    run.grace = {300'000};
    std::vector<Problem> problems;
    for (const DeclaredOutput& output : read_declaration(run.template_folder, problems).outputs)
      run.outputs.push_back(output.name);
    EXPECT_TRUE(problems.empty());
    return run;
  }
  static ProvisionResult done(ProvisionRun run, ProvisionAction action) {
    run.action = action;
    auto result = run_provision(run, system_clock());
    EXPECT_TRUE(result) << result.error().message;
    return result.value_or(ProvisionResult{});
  }
  std::string read(const std::string& name) const {
    std::ifstream stream(folder_ / "work" / name);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  fs::path folder_;
};

TEST_F(TemplateExamples, TheScriptKeepsItsStateUntilItIsDestroyed) {
  using enum ProvisionAction;
  ProvisionRun run = run_of("script", ProvisionDriver::script);
  run.inputs = {{"gpu_count", 2}, {"greeting", "hi"}};
  const ProvisionResult first = done(run, apply);
  ASSERT_EQ(first.outcome, ProvisionOutcome::succeeded) << first.reason;
  EXPECT_EQ(first.outputs.at("gpu_count"), 2);
  EXPECT_EQ(first.outputs.at("starts"), 1);
  EXPECT_EQ(done(run, apply).outputs.at("url"), first.outputs.at("url"));
  done(run, stop);
  EXPECT_EQ(read("state/power"), "stopped\n");
  const ProvisionResult started = done(run, start);
  EXPECT_EQ(started.outputs.at("url"), first.outputs.at("url"));
  EXPECT_EQ(started.outputs.at("starts"), 2);
  EXPECT_EQ(done(run, destroy).outcome, ProvisionOutcome::succeeded);
  EXPECT_FALSE(fs::exists(folder_ / "work/state"));
  EXPECT_EQ(done(run, stop).outcome, ProvisionOutcome::failed);
}

TEST_F(TemplateExamples, ThePlaybooksWriteAConfigurationAndTakeItAway) {
  using enum ProvisionAction;
  ASSERT_TRUE(find_program("ansible-playbook", kProgramFolders)) << "install ansible-core";
  ProvisionRun run = run_of("ansible", ProvisionDriver::ansible);
  run.inputs = {{"size", "large"}, {"motd", "{{ 7 * 7 }}"}};
  const ProvisionResult first = done(run, apply);
  ASSERT_EQ(first.outcome, ProvisionOutcome::succeeded) << first.reason << first.log;
  EXPECT_EQ(first.outputs.at("size"), "large");
  EXPECT_EQ(read("environment.conf"), "size=large\nmotd={{ 7 * 7 }}\npower=on\n");
  done(run, stop);
  EXPECT_THAT(read("environment.conf"), HasSubstr("power=off"));
  done(run, start);
  EXPECT_THAT(read("environment.conf"), HasSubstr("power=on"));
  EXPECT_EQ(done(run, destroy).outcome, ProvisionOutcome::succeeded);
  EXPECT_FALSE(fs::exists(folder_ / "work/environment.conf"));
}

TEST_F(TemplateExamples, TheJobSaysWhereItAnswersBeforeItServes) {
  const std::string run = fmt::format("{}/environment_templates/slurm/run", EXA_TESTDATA);
  std::ofstream(folder_ / "inputs.json") << R"({"port":8080,"seconds":0})";
  const auto ran = run_command({.argv = {"sh", run, "apply"},
                                .extra_env = {{"EXA_INPUTS", folder_ / "inputs.json"},
                                              {"EXA_OUTPUTS", folder_ / "outputs.json"},
                                              {"SLURM_JOB_ID", "42"}}});
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->exit_code, 0) << ran->err;
  EXPECT_EQ(ran->out, "serving on port 8080 for 0 seconds\n");
  std::ifstream stream(folder_ / "outputs.json");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto outputs = parse_json(text, "outputs");
  ASSERT_TRUE(outputs) << text;
  EXPECT_EQ(outputs->at("job"), "42");
  EXPECT_THAT(std::string(outputs->at("url").as_string()), HasSubstr(":8080"));
}

TEST_F(TemplateExamples, AHostileOneIsEndedToldAndBounded) {
  const ProvisionResult failed =
      done(run_of("fails", ProvisionDriver::script), ProvisionAction::apply);
  EXPECT_EQ(failed.outcome, ProvisionOutcome::failed);
  EXPECT_EQ(failed.reason, "ended with 3: no such disk");
  EXPECT_EQ(read("made"), "half\n");

  ProvisionRun hanging = run_of("hangs", ProvisionDriver::script);
  hanging.time_limit = seconds(1);
  const ProvisionResult hung = done(hanging, ProvisionAction::apply);
  EXPECT_EQ(hung.outcome, ProvisionOutcome::timed_out);
  for (const char* child : {"child", "other"}) {
    const std::string pid = read(child);
    ASSERT_FALSE(pid.empty()) << child;
    EXPECT_NE(::kill(static_cast<pid_t>(std::stoi(pid)), 0), 0) << child << " lives";
  }

  const ProvisionResult flooded =
      done(run_of("floods", ProvisionDriver::script), ProvisionAction::apply);
  EXPECT_EQ(flooded.outcome, ProvisionOutcome::succeeded) << flooded.reason;
  EXPECT_GT(flooded.log_cut_bytes, 10'000'000);
  EXPECT_LT(flooded.log.size(), size_t{2} << 20);
}

// Between the look at a folder and its copy somebody may write in it.
TEST_F(TemplateExamples, ACopyThatIsNotWhatWasActivatedRunsNothing) {
  ProvisionRun run = run_of("script", ProvisionDriver::script);
  run.inputs = {{"gpu_count", 1}};
  EnvironmentTemplate what;
  what.name = "vm";
  what.version = "v1";
  what.digest = digest_of_folder(run.template_folder).value();
  run.check_copy = [&](const std::string& copy) { return check_unchanged(what, copy); };
  EXPECT_EQ(done(run, ProvisionAction::apply).outcome, ProvisionOutcome::succeeded);
  fs::remove_all(folder_ / "work/state");
  what.digest = std::string(64, '0');
  const auto refused = run_provision(run, system_clock());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_FALSE(fs::exists(folder_ / "work/state"));
}

}  // namespace
}  // namespace exa
