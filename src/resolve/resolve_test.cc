// Semantics §4, rule by rule, and Phase 1 of the requirement: the states, the fit, what was not
// read, what the snapshot is worth.
#include <fmt/format.h>

#include "resolve/answers_for_test.h"

namespace exa {
namespace {

using namespace sample;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// --- Phase 1 acceptance: the four states

TEST(Resolve, WithoutATargetNothingIsClaimed) {
  ResolveInput input;
  input.shape = gpus(2, 1, "A100");
  const Resolution answer = resolve(input);
  EXPECT_THAT(answer, Is(Status::unchecked, Cause::no_target));
  EXPECT_EQ(answer.resources.gpus, 2);
  EXPECT_FALSE(answer.seen);
  EXPECT_FALSE(answer.fits_now);
  for (const FieldVerdict& verdict : answer.verdicts)
    EXPECT_EQ(verdict.verdict, Match::not_reported);
}

TEST(Resolve, WithoutASnapshotNothingIsClaimedOrRefused) {
  ResolveInput input;
  input.shape = gpus(1'000, 1'000);
  input.target = "hpc";
  EXPECT_THAT(resolve(input), Is(Status::unchecked, Cause::no_snapshot));
}

TEST(Resolve, LiveDiscoveryOfCountAndModelVerifies) {
  Shape shape = gpus(2, 1, "A100-80GB");
  shape.cpu_milli = 8'000;
  shape.memory_bytes = 32 * kGiB;
  const Resolution answer =
      resolve_on(shape, inventory({node("n1", {cards("NVIDIA A100-SXM4-80GB", 4)})}));
  EXPECT_THAT(answer, Is(Status::verified, Cause::confirmed));
  EXPECT_THAT(answer.unconfirmed, IsEmpty());
  EXPECT_EQ(answer.seen->snapshot_id, "snap-1");
  EXPECT_EQ(answer.seen->age, minutes(1));
  EXPECT_EQ(find_verdict(answer, "accelerator_model_hint")->observed,
            "NVIDIA A100-SXM4-80GB (1 node)");
}

TEST(Resolve, AClaimThatIsNotReportedDegradesAndIsNamed) {
  const Resolution answer =
      resolve_on(gpus(2, 1, "A100-80GB"), inventory({node("n1", {cards("a100", 4)})}));
  EXPECT_THAT(answer, Is(Status::degraded, Cause::unconfirmed));
  EXPECT_THAT(answer.unconfirmed, ElementsAre("accelerator_model_hint"));
  EXPECT_EQ(verdict_on(answer, "accelerator_model_hint"), Match::not_reported);
}

TEST(Resolve, MoreThanTheTotalIsRefusedNamingEachDimension) {
  Shape shape = gpus(8, 3);
  shape.cpu_milli = 128'000;
  shape.memory_bytes = 512 * kGiB;
  const Resolution answer = resolve_on(
      shape, inventory({node("n1", {cards("A100", 4)}), node("n2", {cards("A100", 8)})}));
  EXPECT_THAT(answer, Is(Status::unresolvable, Cause::capacity));
  EXPECT_THAT(names_of(answer.missing), ElementsAre("gpu_count", "cpu", "memory_gb", "nodes"));
  const Dimension& gpu = answer.missing[0];
  EXPECT_EQ(gpu.asked, 8);
  EXPECT_EQ(gpu.asked_total, 24);
  EXPECT_EQ(gpu.total, 12);
  EXPECT_EQ(gpu.largest, 8);
  EXPECT_EQ(gpu.nodes_that_have, 1);
  EXPECT_EQ(answer.missing[1].total, 128'000);
  EXPECT_EQ(answer.missing[1].largest, 64'000);
  EXPECT_EQ(answer.missing[3].total, 2);
  EXPECT_FALSE(answer.fits_now);
  EXPECT_EQ(verdict_on(answer, "gpu_count"), Match::contradicted);
}

// Kubernetes without labels: a unit may be a card, a slice or a share.
TEST(Resolve, UnitsThatNobodySaidAreCardsVerifyNoCount) {
  CardSet units = cards("H100", 4);
  units.physical.reset();
  units.offers = {offer(Sharing::unread, 4, 4)};
  const Inventory seen = inventory({node("n1", {units})});
  const Resolution answer = resolve_on(gpus(2), seen);
  EXPECT_THAT(answer, Is(Status::degraded, Cause::unconfirmed));
  EXPECT_THAT(answer.unconfirmed, ElementsAre("gpu_count"));
  EXPECT_EQ(verdict_on(answer, "gpu_count"), Match::not_reported);
  // more than there are units cannot be had, whatever a unit is
  EXPECT_EQ(resolve_on(gpus(8), seen).status, Status::unresolvable);
}

// --- the fit is per node

TEST(Resolve, EightOneGpuNodesDoNotHoldAnEightGpuNode) {
  std::vector<Node> nodes;
  for (int i = 0; i < 8; ++i) nodes.push_back(node("n" + std::to_string(i), {cards("A100", 1)}));
  const Resolution answer = resolve_on(gpus(8), inventory(nodes));
  EXPECT_THAT(answer, Is(Status::unresolvable, Cause::capacity));
  EXPECT_EQ(answer.missing[0].total, 8);
  EXPECT_EQ(answer.missing[0].largest, 1);
  EXPECT_THAT(resolve_on(gpus(1, 8), inventory(nodes)), Is(Status::verified, Cause::confirmed));
}

TEST(Resolve, DevicesOfTwoModelsAreNotDevicesOfOne) {
  const Inventory mixed = inventory({node("n1", {cards("A100", 2), cards("V100", 2)})});
  EXPECT_EQ(resolve_on(gpus(4), mixed).status, Status::unresolvable);
  EXPECT_EQ(resolve_on(gpus(2), mixed).status, Status::verified);
}

TEST(Resolve, TwoRowsOfOneModelAreDevicesOfOne) {
  EXPECT_EQ(
      resolve_on(gpus(4), inventory({node("n1", {cards("A100", 2), cards("A100", 2)})})).status,
      Status::verified);
}

TEST(Resolve, DevicesOfUnknownModelAreNotAddedUp) {
  EXPECT_EQ(resolve_on(gpus(4), inventory({node("n1", {cards("", 2), cards("", 2)})})).status,
            Status::unresolvable);
}

TEST(Resolve, EachAmountOnAnotherNodeIsNotEnough) {
  Shape shape = gpus(8);
  shape.cpu_milli = 64'000;
  Node small = node("n1", {cards("A100", 8)});
  small.cpu_milli = 8'000;
  const Resolution answer = resolve_on(shape, inventory({small, node("n2")}));
  EXPECT_THAT(answer, Is(Status::unresolvable, Cause::capacity));
  EXPECT_THAT(names_of(answer.missing), ElementsAre("nodes"));
  EXPECT_THAT(answer.missing[0].note, HasSubstr("at once"));
}

TEST(Resolve, NodesThatAreNotUsableAreCountedButNoCapacity) {
  for (const Health health :
       {Health::draining, Health::drained, Health::down, Health::not_responding, Health::reserved,
        Health::powered_down, Health::cordoned, Health::not_ready, Health::unknown}) {
    const Resolution answer = resolve_on(
        gpus(8), inventory({with_health(node("n1", {cards("A100", 8)}), health), node("n2")}));
    EXPECT_THAT(answer, Is(Status::unresolvable, Cause::capacity)) << name(health);
    EXPECT_THAT(answer.seen->unusable, ElementsAre(std::pair(health, int64_t{1})));
    EXPECT_THAT(answer.missing[0].note, HasSubstr("8 more on nodes that are not usable"));
  }
}

TEST(Resolve, AFamilyThatIsNotThereIsNeverReplaced) {
  const Inventory amd = inventory({node("n1", {cards("MI300X", 8, Family::amd)})});
  const Resolution answer = resolve_on(gpus(1), amd);
  EXPECT_THAT(answer, Is(Status::unresolvable, Cause::no_such_family));
  EXPECT_EQ(verdict_on(answer, "accelerator_family"), Match::contradicted);
  EXPECT_THAT(resolve_on(gpus(0), amd), Is(Status::unresolvable, Cause::no_such_family));
  EXPECT_THAT(resolve_on(gpus(1), inventory({})), Is(Status::unresolvable, Cause::no_such_family));
}

// --- what was not read is not "none"

CardSet of_unknown_family(std::string reported, int64_t count) {
  CardSet set = cards(std::move(reported), count, Family::other);
  set.family_unread = true;
  return set;
}

TEST(Resolve, ATypeOutsideTheCatalogueIsNeitherVerifiedNorRefused) {
  const Inventory seen = inventory({node("n1", {of_unknown_family("w7900", 8)})});
  for (const Family family : device_families()) {
    Shape shape = gpus(8);
    shape.accelerator_family = family;
    const Resolution answer = resolve_on(shape, seen);
    EXPECT_THAT(answer, Is(Status::degraded, Cause::unconfirmed)) << info(family).name;
    EXPECT_THAT(answer.unconfirmed, ElementsAre("accelerator_family"));
    EXPECT_EQ(verdict_on(answer, "accelerator_family"), Match::not_reported);
    EXPECT_EQ(verdict_on(answer, "gpu_count"), Match::confirmed);
    EXPECT_THAT(find_verdict(answer, "accelerator_family")->observed, HasSubstr("w7900"));
    EXPECT_THAT(answer.reason, HasSubstr("may hold"));
    shape.gpu_count = 9;
    EXPECT_THAT(resolve_on(shape, seen), Is(Status::unresolvable, Cause::capacity));
  }
}

TEST(Resolve, DevicesWithoutATypeMayBeOfTheFamily) {
  const Inventory seen = inventory({node("n1", {of_unknown_family("", 4)})});
  EXPECT_THAT(resolve_on(gpus(4), seen).unconfirmed, ElementsAre("accelerator_family"));
  EXPECT_THAT(resolve_on(gpus(4, 1, "A100"), seen).unconfirmed,
              ElementsAre("accelerator_family", "accelerator_model_hint"));
  EXPECT_THAT(resolve_on(gpus(5), seen), Is(Status::unresolvable, Cause::capacity));
}

TEST(Resolve, DevicesOfTheFamilyAreTakenBeforeThoseThatMayBeOfIt) {
  const Resolution answer = resolve_on(
      gpus(4), inventory({node("n1", {of_unknown_family("", 8)}), node("n2", {cards("A100", 4)})}));
  EXPECT_THAT(answer, Is(Status::verified, Cause::confirmed));
  EXPECT_EQ(answer.seen->fitting_nodes, 1);
}

TEST(Resolve, DevicesThatAreKnownToBeOfAnotherFamilyContradict) {
  const Inventory intel = inventory({node("n1", {cards("Max-1550", 4, Family::other)})});
  EXPECT_THAT(resolve_on(gpus(1), intel), Is(Status::unresolvable, Cause::no_such_family));
}

TEST(Resolve, ANodeWhoseDevicesWereNotReadLeavesFamilyAndCountOpen) {
  Node unread = node("n1");
  unread.devices_unread = device_families();
  const Resolution answer = resolve_on(gpus(2, 1, "A100"), inventory({unread}));
  EXPECT_THAT(answer, Is(Status::degraded, Cause::unconfirmed));
  EXPECT_THAT(answer.unconfirmed,
              ElementsAre("accelerator_family", "accelerator_model_hint", "gpu_count"));
  EXPECT_EQ(answer.fits_now, (FitsNow{std::nullopt, 0, 1}));
  unread.devices_unread = {Family::amd};
  EXPECT_THAT(resolve_on(gpus(2), inventory({unread})),
              Is(Status::unresolvable, Cause::no_such_family));
}

TEST(Resolve, AnAskThatOneNodeCannotHoldButAnotherMightIsNotCalledAbsent) {
  Node unread = node("n1");
  unread.devices_unread = {Family::nvidia};
  const Resolution answer = resolve_on(gpus(1, 2), inventory({unread}));
  EXPECT_THAT(answer, Is(Status::unresolvable, Cause::capacity));
  EXPECT_EQ(verdict_on(answer, "accelerator_family"), Match::not_reported);
}

TEST(Resolve, CardsThatNoToolListedArePresentAndTheirNumberIsOpen) {
  CardSet on_the_bus = cards("L4", 2);
  on_the_bus.offers.clear();
  on_the_bus.offers_unread = {Sharing::whole, Sharing::mig};
  const Inventory seen = inventory({node("n1", {on_the_bus})});
  const Resolution answer = resolve_on(gpus(2), seen);
  EXPECT_THAT(answer.unconfirmed, ElementsAre("gpu_count"));
  EXPECT_THAT(find_verdict(answer, "gpu_count")->observed, HasSubstr("2 × L4 present"));
  EXPECT_THAT(resolve_on(gpus(3), seen), Is(Status::unresolvable, Cause::capacity));
}

TEST(Resolve, InstancesThatWereNotListedAreNoWholeDevicesAndMayBeThere) {
  CardSet set = cards("A100-SXM4-80GB", 1);
  set.offers.clear();
  set.offers_unread = {Sharing::mig};
  const Inventory seen = inventory({node("n1", {set})});
  EXPECT_THAT(resolve_on(gpus(1), seen), Is(Status::unresolvable, Cause::capacity));
  Shape shape = gpus(7);
  shape.mig_profile = "1g.10gb";
  EXPECT_THAT(resolve_on(shape, seen).unconfirmed, ElementsAre("gpu_count", "mig_profile"));
}

// --- the verdicts of an ask that is refused

TEST(Resolve, ARefusalSaysOfEveryFieldWhatWasSeen) {
  Shape shape = gpus(2, 2);
  shape.cpu_milli = 128'000;
  shape.memory_bytes = kGiB;
  const Inventory seen =
      inventory({node("n1", {cards("A100", 4)}), node("n2", {cards("A100", 4)})});
  const Resolution answer = resolve_on(shape, seen);
  EXPECT_THAT(answer, Is(Status::unresolvable, Cause::capacity));
  EXPECT_THAT(names_of(answer.missing), ElementsAre("cpu"));
  for (const FieldVerdict& verdict : answer.verdicts)
    EXPECT_NE(verdict.observed, "") << verdict.field;
  EXPECT_EQ(verdict_on(answer, "nodes"), Match::contradicted);
  EXPECT_EQ(find_verdict(answer, "nodes")->observed, "0 fit");
  EXPECT_EQ(verdict_on(answer, "gpu_count"), Match::confirmed);
  EXPECT_EQ(find_verdict(answer, "accelerator_family")->observed, "nvidia (2 nodes)");
  EXPECT_EQ(find_verdict(answer, "memory_gb")->observed, "enough on 2 usable nodes");
}

TEST(Resolve, ARefusedFamilyIsContradictedByWhatIsThere) {
  const Resolution amd =
      resolve_on(gpus(1), inventory({node("n1", {cards("MI300X", 8, Family::amd)})}));
  EXPECT_EQ(find_verdict(amd, "accelerator_family")->observed, "amd (1 node)");
  EXPECT_EQ(
      find_verdict(resolve_on(gpus(1), inventory({node("n1")})), "accelerator_family")->observed,
      "no device on any node");
}

// Among many others the one that was asked for must not vanish in "3 others".
TEST(Resolve, TheClaimedFamilyLeadsWhatWasSeen) {
  std::vector<Node> nodes = {node("n0", {cards("A100", 4)})};
  const Family others[] = {Family::amd, Family::intel_gaudi, Family::tpu, Family::other};
  for (const Family family : others)
    for (const char* name : {"a", "b"})
      nodes.push_back(node(fmt::format("{}{}", info(family).name, name), {cards("x", 8, family)}));
  EXPECT_THAT(find_verdict(resolve_on(gpus(16), inventory(nodes)), "accelerator_family")->observed,
              testing::StartsWith("nvidia (1 node), "));
}

TEST(Resolve, CardsThatNothingCanBeAskedForAreNoCapacity) {
  CardSet no_plugin = cards("L4", 1);
  no_plugin.offers.clear();
  EXPECT_THAT(resolve_on(gpus(1), inventory({node("n1", {no_plugin})})),
              Is(Status::unresolvable, Cause::capacity));
}

TEST(Resolve, TheCpuFamilyFitsAnyNode) {
  Shape shape;
  shape.cpu_milli = 64'000;
  EXPECT_EQ(resolve_on(shape, inventory({node("n1")})).status, Status::verified);
  shape.cpu_milli = 64'001;
  EXPECT_EQ(resolve_on(shape, inventory({node("n1")})).status, Status::unresolvable);
}

// --- what the snapshot itself is worth

TEST(Resolve, AnOldSnapshotIsNeverVerified) {
  const Inventory good = inventory({node("n1", {cards("A100", 8)})});
  EXPECT_EQ(resolve_on(gpus(8), good, {minutes(15)}).status, Status::verified);
  const Resolution answer = resolve_on(gpus(8), good, {Duration{minutes(15).micros + 1}});
  EXPECT_THAT(answer, Is(Status::degraded, Cause::stale_snapshot));
  EXPECT_THAT(answer.unconfirmed, ElementsAre("snapshot_age"));
  EXPECT_EQ(answer.fits_now->fits, std::nullopt);
}

TEST(Resolve, ASnapshotFromTheFutureIsNeverVerified) {
  const Inventory good = inventory({node("n1", {cards("A100", 8)})});
  EXPECT_EQ(resolve_on(gpus(8), good, {hours(-1)}).status, Status::degraded);
}

TEST(Resolve, AnAnswerAsOfTheSnapshotIsOneOfThatTimeAndSaysNothingOfNow) {
  const Fleet fleet = build_fleet(inventory({node("n1", {cards("A100", 4)})}));
  ResolveInput input;
  input.shape = gpus(2);
  input.target = "hpc";
  input.seen.fleet = &fleet;
  input.seen.taken_at = Time{kNow.micros - hours(48).micros};
  input.now = kNow;
  input.as_of_snapshot = true;
  const Resolution answer = resolve(input);
  EXPECT_THAT(answer, Is(Status::verified, Cause::confirmed));
  EXPECT_EQ(answer.seen->age, hours(48));
  EXPECT_FALSE(answer.fits_now);
  EXPECT_THAT(answer.reason, HasSubstr("As of " + format_rfc3339(input.seen.taken_at)));
}

TEST(Resolve, DeclaredCapacityIsNeverVerified) {
  const Inventory good = inventory({node("n1", {cards("A100", 8)})});
  const Resolution answer = resolve_on(gpus(8), good, {minutes(1), true});
  EXPECT_THAT(answer, Is(Status::degraded, Cause::declared_capacity));
  EXPECT_THAT(answer.unconfirmed, ElementsAre("declared_capacity"));
  EXPECT_THAT(resolve_on(gpus(8), good, {hours(1), true}).unconfirmed,
              ElementsAre("snapshot_age", "declared_capacity"));
}

TEST(Resolve, AnOldSnapshotStillRefusesAndSaysItsAge) {
  const Resolution answer =
      resolve_on(gpus(9), inventory({node("n1", {cards("A100", 8)})}), {hours(3)});
  EXPECT_THAT(answer, Is(Status::unresolvable, Cause::capacity));
  EXPECT_THAT(answer.reason, HasSubstr("3h ago"));
  EXPECT_THAT(answer.unconfirmed, Contains("snapshot_age"));
}

TEST(Resolve, WhatWasNotReadIsRemarked) {
  Inventory partly = inventory({node("n1", {cards("A100", 8)})});
  partly.unread = {{"pods", "403 Forbidden"}};
  EXPECT_THAT(resolve_on(gpus(8), partly).remarks, ElementsAre("pods not read: 403 Forbidden"));
}

// --- free now, taints

TEST(Resolve, FreeNowIsToldApartFromTotal) {
  CardSet busy = cards("A100", 8);
  busy.offers = {offer(Sharing::whole, 8, 3)};
  const Inventory seen = inventory({node("n1", {busy})});
  const Resolution answer = resolve_on(gpus(8), seen);
  EXPECT_EQ(answer.status, Status::verified);
  EXPECT_EQ(answer.fits_now->fits, false);
  EXPECT_EQ(resolve_on(gpus(3), seen).fits_now, (FitsNow{true, 1, 0}));
}

TEST(Resolve, UnknownUseLeavesFreeUnknown) {
  CardSet silent = cards("A100", 8);
  silent.offers.front().free.reset();
  EXPECT_EQ(resolve_on(gpus(1), inventory({node("n1", {silent})})).fits_now,
            (FitsNow{std::nullopt, 0, 1}));
  EXPECT_EQ(resolve_on(gpus(1), inventory({node("n1", {silent}), node("n2", {cards("A100", 1)})}))
                .fits_now,
            (FitsNow{true, 1, 1}));
}

TEST(Resolve, FreeDevicesOnANodeWithoutFreeCoresDoNotFitNow) {
  Shape shape = gpus(1);
  shape.cpu_milli = 1'000;
  Node full = node("n1", {cards("A100", 8)});
  full.cpu_free_milli = 500;
  EXPECT_EQ(resolve_on(shape, inventory({full})).fits_now->fits, false);
}

TEST(Resolve, TaintedNodesCountAndAreNamed) {
  Node tainted = node("n1", {cards("A100", 8)});
  tainted.taints = {{"nvidia.com/gpu", "", "NoSchedule"}, {"soft", "", "PreferNoSchedule"}};
  const Resolution answer = resolve_on(gpus(8), inventory({tainted}));
  EXPECT_EQ(answer.status, Status::verified);
  EXPECT_THAT(answer.remarks, ElementsAre("1 of 1 fitting node is tainted "
                                          "(nvidia.com/gpu:NoSchedule): the job must tolerate it"));
  EXPECT_THAT(resolve_on(gpus(8), inventory({tainted, node("n2", {cards("A100", 8)})})).remarks,
              ElementsAre("1 of 2 fitting nodes are tainted (nvidia.com/gpu:NoSchedule)"));
}

}  // namespace
}  // namespace exa
