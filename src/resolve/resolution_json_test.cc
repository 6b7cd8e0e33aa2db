// Which surfaces a profile is for, and the one JSON form of an answer.
#include "resolve/answers_for_test.h"

namespace exa {
namespace {

using namespace sample;
using testing::HasSubstr;

// --- the surface

TEST(Applicable, AProfileIsRefusedForASurfaceThatItDoesNotList) {
  HardwareProfile profile;
  profile.name = "train";
  profile.version = 2;
  profile.shape.applicability = {Surface::training, Surface::serving};
  EXPECT_TRUE(check_applicable(profile, Surface::training));
  const auto refused = check_applicable(profile, Surface::workbench);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::inapplicable);
  EXPECT_THAT(refused.error().message, HasSubstr("training, serving"));
  profile.shape.applicability = {Surface::any};
  EXPECT_TRUE(check_applicable(profile, Surface::workbench));
}

// --- the JSON form

TEST(Resolution, PrintsEveryPartOfTheAnswer) {
  Shape shape = gpus(2, 1, "A100-80GB");
  shape.cpu_milli = 500;
  const Resolution answer = resolve_on(
      shape, inventory({node("n1", {cards("a100", 4)}), with_health(node("n2"), Health::drained)}));
  std::string expected = R"text({"status":"degraded","cause":"unconfirmed",
"reason":"As seen 1m ago, 1 node of hpc can hold the coarse ask; not confirmed: accelerator_model_hint",
"target":"hpc",
"resources":{"accelerator_family":"nvidia","nodes":1,"gpus_per_node":2,"gpus":2,
"gpu_fraction":1,"mig_profile":null,"cpu_per_node":0.5,"cpu":0.5,
"memory_gb_per_node":0,"memory_gb":0},"verdicts":[
{"field":"accelerator_family","claimed":"nvidia","verdict":"confirmed","observed":"nvidia"},
{"field":"accelerator_model_hint","claimed":"A100-80GB","verdict":"not-reported",
"observed":"a100 (1 node)"},
{"field":"gpu_count","claimed":2,"verdict":"confirmed","observed":"4 × a100 (1 node)"},
{"field":"cpu","claimed":0.5,"verdict":"confirmed","observed":"at most 64 cores (1 node)"},
{"field":"nodes","claimed":1,"verdict":"confirmed","observed":"1 fit"}],
"unconfirmed":["accelerator_model_hint"],"missing":[],
"fits_now":{"fits":true,"nodes":1,"nodes_unknown":0},
"snapshot":{"id":"snap-1","taken_at":"2027-01-15T07:59:00.000000Z","age_seconds":60,
"max_age_seconds":900,"declared":false,"as_of":null},
"nodes":{"total":2,"usable":1,"fitting":1,"unusable":{"drained":1}},"remarks":[]})text";
  std::erase(expected, '\n');
  EXPECT_EQ(to_text(to_json(answer)), expected);
}

TEST(Resolution, TheLargestAskPrintsWithoutOverflow) {
  Shape shape = gpus(1'024, 100'000);
  shape.cpu_milli = 100'000'000;
  shape.memory_bytes = int64_t{1} << 50;
  const std::string printed =
      to_text(to_json(resolve_on(shape, inventory({node("n1", {cards("A100", 8)})}))));
  EXPECT_THAT(printed, HasSubstr("\"gpus\":102400000"));
  EXPECT_EQ(printed.find(":-"), std::string::npos) << printed;
}

}  // namespace
}  // namespace exa
