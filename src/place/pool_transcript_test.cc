// The document's transcripts, with its pools registered in its order.
#include <gtest/gtest.h>

#include "place/pool_samples_for_test.h"

namespace exa {
namespace {

using namespace samples;

TEST(Transcript, ACudaOnlyEngineIsNeverPlacedOnAmd) {
  EXPECT_EQ(to_text(decide(ask_for(Family::amd, "sglang"), document_pools())),
            "✗ Rejected: engine 'sglang' cannot run on amd (needs backend rocm; supports "
            "('cuda',))");
}

TEST(Transcript, AMissingAcceleratorFallsBackAndSaysSo) {
  EXPECT_EQ(to_text(decide(ask_for(Family::tpu, "generic", Target::hpc), document_pools())),
            "✓ train → pool hpc-mi300 · amd on hpc (fallback)\n"
            "  requested tpu unavailable — fell back to amd");
}

TEST(Transcript, ABurstOfEuOnlyDataToTheUsIsBlocked) {
  PlaceAsk ask = ask_for(Family::nvidia);
  ask.workload.residency = "eu-only";
  ask.burst = true;
  const Decision decision = decide(ask, document_pools());
  EXPECT_EQ(to_text(decision),
            "⚠ Burst blocked: data-residency eu-only forbids egress to region 'us'");
  EXPECT_EQ(burst_verdict(decision)->pool, "cloud-a100");
  EXPECT_EQ(burst_verdict(decision)->jurisdiction, "us");
}

TEST(Transcript, TheAmdWorkloadOfTheCommandListIsPlacedWithoutFallback) {
  EXPECT_EQ(to_text(decide(ask_for(Family::amd, "vllm", Target::hpc), document_pools())),
            "✓ train → pool hpc-mi300 · amd on hpc");
}

TEST(Transcript, ResidencyTable) {
  struct Row {
    std::string_view residency, region;
    bool permitted;
  };
  constexpr Row kRows[] = {{"open", "us", true},       {"open", "eu", true},
                           {"eu-only", "eu", true},    {"eu-only", "us", false},
                           {"no-egress", "eu", false}, {"restricted", "eu", false}};
  for (const Row& row : kRows) {
    PlaceAsk ask = ask_for(Family::nvidia);
    ask.workload.residency = row.residency;
    ask.burst = true;
    const Decision decision =
        decide(ask, {pool("cloud", Target::cloud, Family::nvidia, 1, row.region)});
    EXPECT_EQ(decision.chosen.has_value(), row.permitted) << row.residency << " " << row.region;
    EXPECT_EQ(burst_verdict(decision)->allowed, row.permitted);
  }
}

}  // namespace
}  // namespace exa
