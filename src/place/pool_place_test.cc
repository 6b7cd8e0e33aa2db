// Semantics §5, rule by rule.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/quantity.h"
#include "place/pool_samples_for_test.h"

namespace exa {
namespace {

using namespace samples;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Placement placement_of_answer(const Decision& decision) {
  return std::get<Placement>(answer_of(decision));
}

Rejection rejection_of(const Decision& decision) {
  return std::get<Rejection>(answer_of(decision));
}

// --- order

TEST(Place, TheCheapestEligiblePoolWins) {
  auto pools = document_pools();
  pools.push_back(pool("hpc-cheap", Target::hpc, Family::nvidia, 1, "eu"));
  pools.back().price = usd("1.99");
  EXPECT_EQ(chosen_pool(decide(ask_for(Family::nvidia), pools)), "hpc-cheap");
}

TEST(Place, TheOrderIsTheOneThatIsPrinted) {
  // each pool loses to the one before it, by the next point of the order
  auto priced = [](std::string_view name, Target target, Family family, std::string_view price) {
    Pool made = pool(name, target, family, 4, "eu");
    if (!price.empty()) made.price = usd(price);
    return made;
  };
  std::vector<Pool> pools = {
      priced("z-first", Target::hpc, Family::tpu, "1"),
      priced("y-dearer", Target::hpc, Family::tpu, "2"),
      priced("x-unknown-price", Target::cloud, Family::tpu, ""),
      priced("w-fallback", Target::hpc, Family::amd, "0.1"),
      priced("v-fallback-unknown", Target::cloud, Family::amd, ""),
      priced("u-cpu", Target::hpc, Family::cpu, "0.01"),
  };
  const Decision decision = decide(ask_for(Family::tpu), pools);
  std::vector<std::string> order, texts;
  for (const CandidateReport& report : explain(decision)) {
    order.push_back(report.pool);
    texts.push_back(report.text);
  }
  EXPECT_THAT(order, ElementsAre("z-first", "y-dearer", "x-unknown-price", "w-fallback",
                                 "v-fallback-unknown", "u-cpu"));
  EXPECT_THAT(texts, ElementsAre("first of 6 eligible", "+1 USD/h", "price unknown",
                                 "amd is a fallback", "amd is a fallback", "cpu is a fallback"));
}

TEST(Place, AnOnPremisesPoolWithoutPriceCountsAsZeroAndIsMarked) {
  const Placement placement = placement_of_answer(decide(ask_for(Family::amd), document_pools()));
  EXPECT_EQ(placement.cost_per_hour, Money{});
  EXPECT_FALSE(placement.price_set);
  EXPECT_THAT(placement.remarks, testing::Contains(HasSubstr("no price set")));
}

TEST(Place, ACloudPoolWithoutPriceRanksLastAndItsCostIsUnknown) {
  auto cloud = pool("a-cloud", Target::cloud, Family::nvidia, 1, "eu");
  auto dear = pool("b-cloud", Target::cloud, Family::nvidia, 1, "eu");
  dear.price = usd("99");
  EXPECT_EQ(chosen_pool(decide(ask_for(Family::nvidia), {cloud, dear})), "b-cloud");
  EXPECT_EQ(placement_of_answer(decide(ask_for(Family::nvidia), {cloud})).cost_per_hour,
            std::nullopt);
}

TEST(Place, PricesOfAnotherCurrencyAreNotCompared) {
  auto yen = pool("a", Target::hpc, Family::nvidia, 1, "eu");
  yen.price = Money{1, "JPY"};
  auto dollar = pool("b", Target::hpc, Family::nvidia, 1, "eu");
  dollar.price = usd("9");
  EXPECT_EQ(chosen_pool(decide(ask_for(Family::nvidia), {yen, dollar})), "b");
  PlaceRules rules;
  rules.currency = "JPY";
  EXPECT_EQ(chosen_pool(decide(ask_for(Family::nvidia), {yen, dollar}, rules)), "a");
}

TEST(Place, FewerStrandedDevicesWinBetweenEqualPrices) {
  // in `a`, the cpu of the node is used up and three devices stay without
  const Pool a = seen_pool("a", {{1, 4, 4, 8'000, 8'000, 64 * kGiB, 64 * kGiB}});
  const Pool b = seen_pool("b", {{1, 4, 4, 64'000, 64'000, 64 * kGiB, 64 * kGiB}});
  PlaceAsk ask = ask_for(Family::nvidia);
  ask.workload.cpu_milli = 8'000;
  const Decision decision = decide(ask, {a, b});
  EXPECT_EQ(chosen_pool(decision), "b");
  EXPECT_EQ(candidate(decision, "a").stranded, 3);
  EXPECT_EQ(explain(decision)[1].text, "strands 3 more devices");
}

// --- fallback

TEST(Fallback, GoesOnlyWhereTheEngineRuns) {
  const Decision decision =
      decide(ask_for(Family::nvidia, "vllm"), {pool("tpu", Target::hpc, Family::tpu, 1, "eu"),
                                               pool("cpu", Target::hpc, Family::cpu, 1, "eu")});
  EXPECT_EQ(rejection_of(decision).kind, RefusalKind::impossible);
}

TEST(Fallback, RealAcceleratorsComeBeforeCpuHoweverCheapCpuIs) {
  auto gaudi = pool("gaudi", Target::hpc, Family::intel_gaudi, 1, "eu");
  gaudi.price = usd("100");
  const Decision decision =
      decide(ask_for(Family::tpu), {pool("cpu", Target::hpc, Family::cpu, 8, "eu"), gaudi});
  EXPECT_EQ(chosen_pool(decision), "gaudi");
}

TEST(Fallback, NeverLeavesTheTargetAsked) {
  const Decision decision = decide(ask_for(Family::tpu, "generic", Target::cloud),
                                   {pool("hpc", Target::hpc, Family::amd, 8, "eu")});
  EXPECT_FALSE(decision.chosen);
}

TEST(Fallback, NeverPassesResidency) {
  PlaceAsk ask = ask_for(Family::tpu);
  ask.workload.residency = "eu-only";
  EXPECT_FALSE(decide(ask, {pool("us", Target::cloud, Family::amd, 8, "us")}).chosen);
}

TEST(Fallback, CanBeRefused) {
  PlaceAsk ask = ask_for(Family::tpu);
  ask.workload.allow_fallback = false;
  const Decision decision = decide(ask, document_pools());
  EXPECT_FALSE(decision.chosen);
  EXPECT_THAT(rejection_of(decision).near_misses.front().changes,
              ElementsAre("let it fall back to amd"));
}

TEST(Fallback, HappensWhenTheRequestedPoolIsBusyToo) {
  auto pools = document_pools();
  pools[0].leases.devices = 8;
  const Placement placement =
      placement_of_answer(decide(ask_for(Family::nvidia, "vllm", Target::hpc), pools));
  EXPECT_EQ(placement.pool, "hpc-mi300");
  EXPECT_TRUE(placement.fallback);
}

// --- fractions

TEST(Fraction, IsHonouredWhereThePoolHasAMechanism) {
  PlaceAsk ask = ask_for(Family::nvidia);
  ask.workload.fraction_milli = 500;
  const Placement placement = placement_of_answer(decide(ask, document_pools()));
  EXPECT_EQ(placement.pool, "hpc-nvidia");
  EXPECT_TRUE(placement.fraction_honored);
  EXPECT_EQ(placement.held_milli, 500);
  EXPECT_EQ(placement.cost_of_ask, usd("1.25"));
}

TEST(Fraction, TakesTheWholeDeviceElseAndSaysWhatIsWasted) {
  PlaceAsk ask = ask_for(Family::amd);
  ask.workload.fraction_milli = 250;
  const Placement placement = placement_of_answer(decide(ask, document_pools()));
  EXPECT_FALSE(placement.fraction_honored);
  EXPECT_EQ(placement.held_milli, 1000);
  EXPECT_THAT(placement.remarks.front(), HasSubstr("0.75 of a device are held and not asked for"));
}

TEST(Fraction, AMigInstanceMustSatisfyComputeAndMemory) {
  auto a100 = pool("a100", Target::hpc, Family::nvidia, 1, "eu");
  a100.model = "A100-SXM4-80GB";
  a100.supports_fractions = true;
  a100.price = usd("7");
  PlaceAsk ask = ask_for(Family::nvidia);
  // half of the memory is 3g.40gb's, but 3 of 7 compute slices are less than half
  ask.workload.fraction_milli = 500;
  Placement placement = placement_of_answer(decide(ask, {a100}));
  EXPECT_EQ(placement.held_as, "mig 4g.40gb");
  EXPECT_EQ(placement.held_milli, 571);
  EXPECT_EQ(placement.cost_of_ask, usd("3.997"));
  ask.workload.fraction_milli = 125;
  EXPECT_EQ(placement_of_answer(decide(ask, {a100})).held_as, "mig 1g.10gb");
  ask.workload.fraction_milli = 142;  // a seventh of the compute, with an eighth of the memory
  EXPECT_EQ(placement_of_answer(decide(ask, {a100})).held_as, "mig 1g.20gb");
  a100.model = "A30";  // cut in four, not in seven and eight
  ask.workload.fraction_milli = 250;
  EXPECT_EQ(placement_of_answer(decide(ask, {a100})).held_as, "mig 1g.6gb");
}

TEST(Fraction, SharesOfOneAskAreOnDistinctDevicesAndRestsAreUsed) {
  auto shared = pool("shared", Target::hpc, Family::nvidia, 2, "eu");
  shared.supports_fractions = true;
  shared.sharing = Sharing::time_slice;
  shared.leases = {2, {600, 300}};
  PlaceAsk ask = ask_for(Family::nvidia);
  ask.workload.fraction_milli = 500;
  EXPECT_TRUE(decide(ask, {shared}).chosen);  // on the device with 600 left
  ask.workload.gpus = 2;
  EXPECT_EQ(decide(ask, {shared}).refusal, RefusalKind::busy);
  ask.workload.fraction_milli = 300;
  EXPECT_TRUE(decide(ask, {shared}).chosen);
}

TEST(Fraction, IsRoundedUpToTheSlicesThatThePoolCuts) {
  auto sliced = pool("sliced", Target::hpc, Family::nvidia, 1, "eu");
  sliced.supports_fractions = true;
  sliced.sharing = Sharing::time_slice;
  sliced.shares_per_device = 4;
  PlaceAsk ask = ask_for(Family::nvidia);
  ask.workload.fraction_milli = 300;
  EXPECT_EQ(placement_of_answer(decide(ask, {sliced})).held_milli, 500);
}

TEST(Fraction, UsesTheSharesThatASnapshotSaw) {
  Pool seen = seen_pool("mig", {{1, 1, 1, {}, {}, {}, {}}});
  seen.seen->shares = {{Sharing::mig, "3g.40gb", 428, 2, 0, 2},
                       {Sharing::mig, "4g.40gb", 571, 1, 1, 1}};
  PlaceAsk ask = ask_for(Family::nvidia);
  ask.workload.fraction_milli = 400;
  // the smaller one satisfies it and is taken; the larger one is free
  EXPECT_EQ(placement_of_answer(decide(ask, {seen})).held_as, "mig 4g.40gb");
  seen.seen->shares[1].free = 0;
  EXPECT_EQ(decide(ask, {seen}).refusal, RefusalKind::busy);
  ask.workload.fraction_milli = 900;
  EXPECT_FALSE(placement_of_answer(decide(ask, {seen})).fraction_honored);
}

// --- capacity, and the three refusals

TEST(Refusal, ImpossibleBusyAndNotSeenAreToldApart) {
  auto eight = pool("hpc", Target::hpc, Family::nvidia, 8, "eu");
  PlaceAsk ask = ask_for(Family::nvidia);
  ask.workload.gpus = 9;
  EXPECT_EQ(decide(ask, {eight}).refusal, RefusalKind::impossible);
  EXPECT_THAT(rejection_of(decide(ask, {eight})).reason, HasSubstr("hpc: has 8 in all, 9 asked"));

  ask.workload.gpus = 4;
  eight.leases.devices = 6;
  EXPECT_EQ(decide(ask, {eight}).refusal, RefusalKind::busy);
  EXPECT_THAT(rejection_of(decide(ask, {eight})).reason, HasSubstr("2 of 8 free now, 4 asked"));

  Pool stale = seen_pool("stale", {{2, 8, 8, {}, {}, {}, {}}});
  stale.seen->taken_at = Time{kNow.micros - hours(3).micros};
  stale.seen->last_failure = "ssh: no route to host";
  EXPECT_EQ(decide(ask, {stale}).refusal, RefusalKind::not_seen);
  EXPECT_THAT(rejection_of(decide(ask, {stale})).reason,
              HasSubstr("its snapshot is 3h old, 15m at most; looking again failed: ssh"));
  stale.seen->taken_at = Time{kNow.micros + hours(3).micros};
  EXPECT_EQ(decide(ask, {stale}).refusal, RefusalKind::not_seen);
  stale.seen.reset();
  EXPECT_EQ(decide(ask, {stale}).refusal, RefusalKind::not_seen);
}

TEST(Refusal, AnEmptyRegistryIsSaidToBeEmpty) {
  EXPECT_EQ(to_text(decide(ask_for(Family::nvidia), {})),
            "✗ Rejected: no device pool is registered");
}

TEST(Refusal, EveryReasonOfEveryPoolIsKept) {
  auto wrong = pool("wrong", Target::cloud, Family::nvidia, 1, "us");
  wrong.model = "A100-PCIE-40GB";
  wrong.drained = true;
  wrong.drain_reason = "ticket 7";
  PlaceAsk ask = ask_for(Family::nvidia, "generic", Target::hpc);
  ask.workload.model = "A100-80GB";
  ask.workload.gpus = 2;
  ask.workload.capabilities = {"fp8"};
  ask.workload.gpu_memory_bytes = 80 * kGiB;
  ask.workload.residency = "eu-only";
  const Decision decision = decide(ask, {wrong});
  std::vector<std::string> texts;
  for (const CandidateReason& reason : reasons_of(decision, decision.candidates[0]))
    texts.push_back(reason.text);
  EXPECT_THAT(texts, ElementsAre("drained: ticket 7", "stands in cloud, hpc asked",
                                 "does not advertise fp8", "has A100-PCIE-40GB, A100-80GB asked",
                                 "has 40 GiB on a device, 80 GiB asked", "has 1 in all, 2 asked",
                                 "data-residency eu-only forbids egress to region 'us'"));
  EXPECT_EQ(decision.candidates[0].outcome, CandidateOutcome::blocked);
}

TEST(Capacity, EightNodesOfOneDeviceDoNotHoldAnEightDeviceNode) {
  const Pool small = seen_pool("small", {{8, 1, 1, {}, {}, {}, {}}});
  PlaceAsk ask = ask_for(Family::nvidia);
  ask.workload.gpus = 8;
  const Decision decision = decide(ask, {small});
  EXPECT_TRUE(decision.candidates[0].why.has(Why::per_node));
  EXPECT_EQ(decision.refusal, RefusalKind::impossible);
  ask.workload.gpus = 1;
  ask.workload.nodes = 8;
  EXPECT_TRUE(decide(ask, {small}).chosen);
}

TEST(Capacity, DevicesCpuAndMemoryMustBeOnOneNode) {
  const Pool split = seen_pool("split", {{1, 8, 8, 8'000, 8'000, 64 * kGiB, 64 * kGiB},
                                         {1, 1, 1, 64'000, 64'000, 64 * kGiB, 64 * kGiB}});
  PlaceAsk ask = ask_for(Family::nvidia);
  ask.workload.gpus = 8;
  ask.workload.cpu_milli = 32'000;
  EXPECT_TRUE(decide(ask, {split}).candidates[0].why.has(Why::together));
}

TEST(Capacity, UnknownIsNeitherEnoughNorTooLittle) {
  const Pool vague = seen_pool("vague", {{2, 8, {}, {}, {}, {}, {}}});
  PlaceAsk ask = ask_for(Family::nvidia);
  ask.workload.cpu_milli = 8'000;
  ask.workload.model = "A100";
  ask.workload.gpu_memory_bytes = 40 * kGiB;
  const Placement placement = placement_of_answer(decide(ask, {vague}));
  EXPECT_THAT(placement.unconfirmed, ElementsAre("model", "gpu_memory", "cpu", "free"));
}

TEST(Capacity, LeasesNewerThanTheSnapshotCount) {
  Pool seen = seen_pool("seen", {{2, 4, 4, {}, {}, {}, {}}});
  seen.leases.devices = 5;
  PlaceAsk ask = ask_for(Family::nvidia);
  ask.workload.gpus = 4;
  EXPECT_EQ(decide(ask, {seen}).refusal, RefusalKind::busy);
  seen.leases.devices = 4;
  EXPECT_TRUE(decide(ask, {seen}).chosen);
}

TEST(Place, ACapabilityMayComeFromTheCatalogue) {
  auto mi300 = pool("mi300", Target::hpc, Family::amd, 4, "eu");
  PlaceAsk ask = ask_for(Family::amd, "vllm", Target::hpc);
  ask.workload.capabilities = {"fp8"};
  EXPECT_FALSE(decide(ask, {mi300}).chosen);
  mi300.model = "MI300X";
  EXPECT_TRUE(decide(ask, {mi300}).chosen);
  mi300.model.clear();
  mi300.capabilities = {"fp8"};
  EXPECT_TRUE(decide(ask, {mi300}).chosen);
}

// --- near misses

TEST(NearMisses, TheSmallestChangeComesFirstAndHolds) {
  auto pools = document_pools();
  PlaceAsk ask = ask_for(Family::nvidia, "vllm", Target::hpc);
  ask.workload.gpus = 12;
  const Rejection rejection = rejection_of(decide(ask, pools));
  ASSERT_FALSE(rejection.near_misses.empty());
  const NearMiss& nearest = rejection.near_misses.front();
  EXPECT_EQ(nearest.pool, "hpc-nvidia");
  EXPECT_THAT(nearest.changes, ElementsAre("--gpus 8"));
  EXPECT_TRUE(nearest.only_the_ask);
  ask.workload = nearest.instead;
  EXPECT_EQ(chosen_pool(decide(ask, pools)), "hpc-nvidia");
}

TEST(NearMisses, NeverOfferToLoosenResidency) {
  PlaceAsk ask = ask_for(Family::nvidia, "generic", Target::cloud);
  ask.workload.residency = "no-egress";
  EXPECT_THAT(rejection_of(decide(ask, document_pools())).near_misses,
              testing::Each(testing::Field(&NearMiss::pool, testing::Ne("cloud-a100"))));
}

TEST(NearMisses, SayToWaitOrToLookAgain) {
  auto busy = pool("busy", Target::hpc, Family::nvidia, 8, "eu");
  busy.leases.devices = 7;
  PlaceAsk ask = ask_for(Family::nvidia);
  ask.workload.gpus = 2;
  EXPECT_THAT(rejection_of(decide(ask, {busy})).near_misses.front().changes,
              ElementsAre("wait: 1 of 8 is free now"));
  Pool unseen = seen_pool("unseen", {});
  unseen.seen.reset();
  EXPECT_THAT(rejection_of(decide(ask, {unseen})).near_misses.front().changes,
              ElementsAre("look again: exa cluster discover unseen"));
}

// --- residency

TEST(Residency, EuOnlyNeverLandsOutsideWhicheverPoolIsEmptyOrCheapest) {
  for (const std::string_view outside : {"us", "uk", "eu-west-2", "eu-central-2", "mars-1", ""}) {
    for (const Target target : {Target::hpc, Target::cloud}) {
      for (const bool eu_empty : {false, true}) {
        auto eu = pool("eu", Target::cloud, Family::nvidia, eu_empty ? 0 : 1, "eu-west-1");
        eu.price = usd("1000");
        PlaceAsk ask = ask_for(Family::nvidia);
        ask.workload.residency = "eu-only";
        const Decision decision =
            decide(ask, {eu, pool("outside", target, Family::nvidia, 100, outside)});
        EXPECT_EQ(chosen_pool(decision), eu_empty ? "" : "eu") << outside;
      }
    }
  }
}

TEST(Residency, TheStrictestOfProjectDatasetAndWorkloadCounts) {
  PlaceAsk ask = ask_for(Family::nvidia, "generic", Target::cloud);
  ask.workload.residency = "open";
  EXPECT_TRUE(decide(ask, document_pools()).chosen);
  ask.dataset_residency = "eu-only";
  EXPECT_EQ(decide(ask, document_pools()).refusal, RefusalKind::blocked);
  ask.dataset_residency.clear();
  ask.project_residency = "secret";
  const Decision unknown = decide(ask, document_pools());
  EXPECT_EQ(unknown.residency.residency, Residency::restricted);
  EXPECT_THAT(rejection_of(unknown).reason,
              HasSubstr("as the project's unknown class 'secret' is taken"));
}

TEST(Burst, LooksAtCloudPoolsOnlyAndIsOptIn) {
  PlaceAsk ask = ask_for(Family::nvidia);
  ask.burst = true;
  EXPECT_EQ(chosen_pool(decide(ask, document_pools())), "cloud-a100");
  ask.opted_in = false;
  const Decision decision = decide(ask, document_pools());
  EXPECT_EQ(to_text(decision),
            "⚠ Burst blocked: bursting to the cloud is opt-in; add --allow-burst");
  EXPECT_THAT(rejection_of(decision).near_misses.front().changes, ElementsAre("--allow-burst"));
}

TEST(Burst, ACheaperPoolOutsideDoesNotBlockOneInside) {
  auto us = pool("a-us", Target::cloud, Family::nvidia, 9, "us");
  auto eu = pool("b-eu", Target::cloud, Family::nvidia, 9, "eu");
  us.price = usd("1");
  eu.price = usd("2");
  PlaceAsk ask = ask_for(Family::nvidia);
  ask.workload.residency = "eu-only";
  ask.burst = true;
  const Decision decision = decide(ask, {us, eu});
  EXPECT_EQ(chosen_pool(decision), "b-eu");
  EXPECT_EQ(burst_verdict(decision)->pool, "b-eu");
}

// --- what is kept

TEST(Decision, CopiesPricesAndFactorsAndKeepsThemWhenThePoolChanges) {
  auto pools = document_pools();
  const Decision decision = decide(ask_for(Family::nvidia, "vllm", Target::hpc), pools);
  pools[0].price = usd("99");
  const Placement placement = placement_of_answer(decision);
  EXPECT_EQ(placement.cost_per_hour, usd("2.5"));
  EXPECT_EQ(placement.carbon, (CarbonRate{300 * kMicro, false}));
}

TEST(Decision, ItsJsonHasEveryCandidateWithItsOutcome) {
  const json::object out =
      to_json(decide(ask_for(Family::tpu, "generic", Target::hpc), document_pools()));
  EXPECT_EQ(text_or(out, "decision", ""), "fallback");
  EXPECT_EQ(text_or(out, "order", ""), kPlaceOrder);
  const auto& candidates = find(out, "candidates")->get_array();
  ASSERT_EQ(candidates.size(), 3U);
  EXPECT_EQ(text_or(candidates[0], "outcome", ""), "chosen");
  EXPECT_EQ(text_or(candidates[1], "outcome", ""), "eligible");
  EXPECT_EQ(text_or(candidates[2], "outcome", ""), "filtered");
  EXPECT_EQ(text_or(candidates[2], "text", ""), "stands in cloud, hpc asked");
}

TEST(Place, AnUnsoundWorkloadIsRefusedWithAllItsProblems) {
  PlaceAsk ask = ask_for(Family::nvidia, "vlm");
  ask.workload.gpus = 0;
  ask.workload.fraction_milli = 3000;
  const auto refused = place(ask, build_pools(document_pools()), kNow);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().problems.size(), 3U);
  EXPECT_EQ(refused.error().problems[0].suggestion, "did you mean vllm?");
}

}  // namespace
}  // namespace exa
