#include <gmock/gmock.h>

#include "compute/machine_selection.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Gpus = std::vector<std::pair<GpuFamily, int64_t>>;

MinimumSources sources(std::optional<std::string> label, std::optional<int64_t> override_count,
                       std::optional<int64_t> profile) {
  return {std::move(label), "clearml-workload-profile", override_count, profile,
          "edge-compute-profile"};
}

TEST(MinimumWorkers, TheFirstSourceThatSpeaksWins) {
  const auto by_label = minimum_workers(sources("3", 4, 2));
  EXPECT_EQ(by_label->count, 3);
  EXPECT_EQ(by_label->from,
            "the label palette.ai/min-nodes of workload profile clearml-workload-profile");
  EXPECT_THAT(by_label->warnings, IsEmpty());
  const auto by_override = minimum_workers(sources({}, 4, 2));
  EXPECT_EQ(by_override->count, 4);
  EXPECT_EQ(by_override->from,
            "minWorkerNodes in the override of compute profile edge-compute-profile");
  const auto by_profile = minimum_workers(sources({}, {}, 2));
  EXPECT_EQ(by_profile->count, 2);
  EXPECT_EQ(by_profile->from, "minWorkerNodes of compute profile edge-compute-profile");
  const auto by_nobody = minimum_workers(sources({}, {}, {}));
  EXPECT_EQ(by_nobody->count, 0);
  EXPECT_EQ(by_nobody->from, "");
}

TEST(MinimumWorkers, AFirstSourceThatLowersTheProfilesNumberIsSaidSo) {
  const auto by_label = minimum_workers(sources("1", {}, 3));
  EXPECT_EQ(by_label->count, 1);
  EXPECT_THAT(by_label->warnings, ElementsAre(HasSubstr("from 3 to 1")));
  EXPECT_THAT(minimum_workers(sources({}, 0, 3))->warnings, ElementsAre(HasSubstr("from 3 to 0")));
  EXPECT_THAT(minimum_workers(sources("1", 3, {}))->warnings, IsEmpty());
}

TEST(MinimumWorkers, ALabelThatIsNoWholeNumberIsRefused) {
  for (const char* label : {"", "three", "-1", "1.5", "3 ", "0x3", "99999999999999999999"}) {
    const auto refused = minimum_workers(sources(label, 1, 1));
    ASSERT_FALSE(refused) << label;
    EXPECT_EQ(refused.error().code, Code::invalid_input);
    EXPECT_THAT(refused.error().message, HasSubstr("clearml-workload-profile is \""));
  }
  EXPECT_FALSE(minimum_workers(sources("1", -1, {})));
  EXPECT_FALSE(minimum_workers(sources("1", {}, -1)));
}

TEST(Limits, FourH100AreNotSix) {
  const auto problems = beyond_limits(Gpus{{gpu_family("H100"), 6}},
                                      Gpus{{gpu_family("NVIDIA-H100"), 4}}, "edge-compute-profile");
  EXPECT_THAT(problems, ElementsAre(Problem{"/gpus/NVIDIA H100",
                                            "6 NVIDIA H100 are asked for; compute profile "
                                            "edge-compute-profile allows 4 at most",
                                            "ask for 4 or fewer"}));
}

TEST(Limits, UpToTheLimitAndWithoutOneEverythingGoes) {
  const Gpus limits{{gpu_family("NVIDIA-A100"), 6}, {gpu_family("NVIDIA-H100"), 6}};
  EXPECT_THAT(beyond_limits(Gpus{{gpu_family("H100"), 6}}, limits, "p"), IsEmpty());
  EXPECT_THAT(beyond_limits(Gpus{{gpu_family("L40S"), 1'000}}, limits, "p"), IsEmpty());
  EXPECT_THAT(beyond_limits(Gpus{{gpu_family("H100"), 1'000}}, {}, "p"), IsEmpty());
}

TEST(Limits, ZeroIsNone) {
  const auto problems =
      beyond_limits(Gpus{{gpu_family("H100"), 1}}, Gpus{{gpu_family("H100"), 0}}, "p");
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_THAT(problems[0].message, HasSubstr("allows none of them"));
}

TEST(Limits, EveryFamilyBeyondItsLimitIsAProblem) {
  EXPECT_EQ(beyond_limits(Gpus{{gpu_family("A100"), 7}, {gpu_family("H100"), 9}},
                          Gpus{{gpu_family("A100"), 6}, {gpu_family("H100"), 6}}, "p")
                .size(),
            2u);
}

TEST(GpuRequest, ReadsWhatPeopleWrite) {
  for (const char* text :
       {"8 H100", "H100=8", "NVIDIA-H100: 8", "nvidia-h100:8", " 8  nvidia h100 "}) {
    const auto request = parse_gpu_request(text);
    ASSERT_TRUE(request) << text;
    EXPECT_EQ(request->first.shown, "NVIDIA H100") << text;
    EXPECT_EQ(request->second, 8) << text;
  }
  for (const char* text : {"", "8", "H100", "H100=", "=8", "H100=0", "H100=-1", "H100=1.5", "8 8",
                           "8H100", "H100=eight", "H100=1000001", "-1 H100", "8 GPU"}) {
    const auto refused = parse_gpu_request(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_THAT(refused.error().message, HasSubstr("write for example H100=8 or \"8 H100\""));
  }
}

}  // namespace
}  // namespace exa
