#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/renderers.h"
#include "launch/scheduler_samples_for_test.h"

namespace exa {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Rendered rendered(const LaunchSpec& spec) {
  const auto result = render_flux(spec);
  if (!result) {
    ADD_FAILURE() << result.error().message << ": "
                  << (result.error().problems.empty() ? "" : result.error().problems[0].message);
    return {};
  }
  return *result;
}

std::string script(const LaunchSpec& spec) {
  const Rendered result = rendered(spec);
  return result.files.empty() ? "" : result.files[0].text;
}

std::vector<std::string> refused(const LaunchSpec& spec) {
  const auto result = render_flux(spec);
  if (result) return {};
  EXPECT_EQ(result.error().code, Code::invalid_input);
  return places(result.error());
}

LaunchSpec small() {
  LaunchSpec spec;
  spec.project = "default";
  spec.name = "small";
  spec.id = "1";
  spec.command = {"train.sh"};
  return spec;
}

// A cluster's words are its own: what Slurm calls gpu:a100 is a property here.
LaunchSpec for_flux(LaunchSpec spec) {
  if (!spec.options.device.empty()) spec.options.device = "a100";
  return spec;
}

TEST(FluxScript, ScriptsAreThoseThatAPersonApproved) {
  for (const Sample& sample : scheduler_samples()) {
    if (sample.name == "slice" || sample.name == "gaudi") continue;  // refused, see below
    SCOPED_TRACE(sample.name);
    const Rendered result = rendered(for_flux(sample.spec));
    EXPECT_THAT(result.command, ElementsAre("flux", "batch", "job.flux"));
    ASSERT_EQ(result.files.size(), 1);
    EXPECT_EQ(result.files[0].name, "job.flux");
    expect_as_kept(sample.name + ".flux", result.files[0].text);
  }
}

TEST(FluxScript, WhatIsNotAskedHasNoLine) {
  EXPECT_EQ(script(small()),
            "#!/bin/bash\n"
            "# flux: --job-name=exa-training-small\n"
            "# flux: --setattr=user.exa=\"training default/small 1\"\n"
            "# flux: --nodes=1\n"
            "# flux: --nslots=1\n"
            "set -euo pipefail\n"
            "\n"
            "exec flux run --nodes=1 --ntasks=1 --setopt=exit-on-error train.sh\n");
  EXPECT_THAT(rendered(small()).notes, IsEmpty());
}

TEST(FluxScript, WhatTheBatchJobHoldsIsAskedForAgainInIt) {
  const std::string text = script(for_flux(two_nodes_of_four()));
  EXPECT_THAT(text, AllOf(HasSubstr("# flux: --cores-per-slot=16\n"),
                          HasSubstr("# flux: --gpus-per-slot=4\n"),
                          HasSubstr("exec flux run --nodes=2 --ntasks=2 --cores-per-task=16 "
                                    "--gpus-per-task=4 --setopt=exit-on-error torchrun ")));
}

TEST(FluxScript, MemoryFractionsAndModelsAreNotedBecauseFluxDropsThem) {
  LaunchSpec spec = on_half_a_card();
  spec.resources.model = "L40S";
  EXPECT_THAT(rendered(spec).notes,
              ElementsAre(HasSubstr("0.5 of each device is asked for as the whole device"),
                          AllOf(HasSubstr("any model or vendor"), HasSubstr("L40S needs")),
                          HasSubstr("counts no memory: 8 GiB"), HasSubstr("2.5 asked for as 3")));
  spec = for_flux(two_nodes_of_four());
  EXPECT_THAT(rendered(spec).notes, ElementsAre(HasSubstr("counts no memory: 128 GiB")));
}

TEST(FluxScript, AMigProfileNeedsAPropertyOfItsNodes) {
  LaunchSpec spec = on_a_slice();
  EXPECT_THAT(refused(spec), ElementsAre("/resources/mig_profile"));
  spec.options.device = "mig-1g.10gb";
  const Rendered result = rendered(spec);
  EXPECT_THAT(result.files[0].text, AllOf(HasSubstr("# flux: --gpus-per-slot=1\n"),
                                          HasSubstr("# flux: --requires=mig-1g.10gb\n")));
  EXPECT_THAT(result.notes[0],
              HasSubstr("1g.10gb is asked for as GPUs of nodes with the property"));
}

TEST(FluxScript, EverythingThatItCannotCarryIsRefusedAtOnceByName) {
  LaunchSpec spec = on_gaudi();
  spec.id = "a b";
  spec.options.qos = "high";
  spec.options.name_space = "ns";
  spec.options.device = "hpu:gaudi2";
  spec.image = "x";
  spec.command = {"a", "\xff"};
  spec.environment = {{"A", "\xff"}, {"FLUX_JOB_ID", "1"}, {"CUDA_VISIBLE_DEVICES", "0"}};
  EXPECT_THAT(refused(spec),
              ElementsAre("/environment/FLUX_JOB_ID", "/environment/CUDA_VISIBLE_DEVICES", "/id",
                          "/image", "/options/name_space", "/argv/1", "/environment/A",
                          "/options/qos", "/resources/family", "/options/device"));
}

TEST(FluxScript, WordsThatFluxWouldReplaceGoThroughAShell) {
  LaunchSpec spec = small();
  spec.command = {"echo", "{id}", "a}}"};
  EXPECT_THAT(script(spec), HasSubstr("exit-on-error echo '{id}' 'a}}'\n"));
  for (const Word& word : {Word("{{id}}"), Word({"{", "{name}}"}), Word("a{{{b")}) {
    spec.command = {"echo", word};
    const std::string text = script(spec);
    const std::string task = text.substr(text.find("exec flux run"));
    EXPECT_THAT(task, AllOf(HasSubstr("sh -c 'exec echo "), Not(HasSubstr("{{")))) << task;
  }
}

TEST(FluxScript, OnlyWhatATaskAloneKnowsNeedsAShellInIt) {
  LaunchSpec spec = small();
  spec.command = {"a", {RunTime::head_node}, {RunTime::job_id}};
  EXPECT_THAT(script(spec), AllOf(HasSubstr("EXA_HEAD_NODE=$(flux hostlist --nth=0 instance)\n"),
                                  HasSubstr("EXA_JOB_ID=$(flux getattr jobid)\n"),
                                  HasSubstr(" a \"$EXA_HEAD_NODE\" \"$EXA_JOB_ID\"\n")));
  spec.command.push_back({RunTime::node_rank});
  EXPECT_THAT(script(spec),
              HasSubstr("sh -c 'exec a \"$EXA_HEAD_NODE\" \"$EXA_JOB_ID\" \"$FLUX_TASK_RANK\"'\n"));
}

TEST(FluxScript, ABankThatReadsAsANumberStaysAName) {
  LaunchSpec spec = small();
  spec.options.account = "123";
  EXPECT_THAT(script(spec), HasSubstr("# flux: --setattr=bank='\"123\"'\n"));
}

// Flux takes any line for a directive that begins with "flux:" after what is no letter or digit,
// and refuses the script when it comes later.
TEST(FluxScript, NoLineBelowTheDirectivesLooksLikeOne) {
  LaunchSpec spec = restarted_on_cpus();
  spec.command = {"flux:", "flux: -N100", "# flux: -N100", "  flux: x"};
  spec.environment = {{"A", "flux: -N100"}, {"PATH", "# flux: -N100"}};
  std::istringstream lines(script(spec));
  bool below = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "set -euo pipefail") below = true;
    const size_t word =
        line.find_first_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    const bool looks_like_one =
        word != std::string::npos &&
        (line.substr(word).starts_with("flux:") || line.substr(word).starts_with("FLUX:"));
    EXPECT_EQ(looks_like_one, !below && line != "#!/bin/bash") << line;
  }
  EXPECT_TRUE(below);
}

}  // namespace
}  // namespace exa
