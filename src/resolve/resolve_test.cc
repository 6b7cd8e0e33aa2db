// Semantics §4, rule by rule, and Phase 1 of the requirement.
#include "resolve/resolve.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "resolve/samples_for_test.h"

namespace exa {
namespace {

using namespace sample;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

MATCHER_P2(Is, status, cause, "") {
  *result_listener << name(arg.status) << "/" << name(arg.cause) << ": " << arg.reason;
  return arg.status == status && arg.cause == cause;
}

Match verdict_on(const Resolution& answer, std::string_view field) {
  const FieldVerdict* found = find_verdict(answer, field);
  EXPECT_NE(found, nullptr) << field;
  return found == nullptr ? Match::not_reported : found->verdict;
}

std::vector<std::string> names_of(const std::vector<Dimension>& dimensions) {
  std::vector<std::string> names;
  for (const Dimension& dimension : dimensions) names.push_back(dimension.name);
  return names;
}

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

// --- the model hint

TEST(Resolve, AHintThatEveryFittingNodeContradictsIsNamedWithWhatIsThere) {
  const Resolution answer =
      resolve_on(gpus(2, 1, "A100-80GB"), inventory({node("n1", {cards("A100-PCIE-40GB", 2)}),
                                                     node("n2", {cards("V100-SXM2-16GB", 4)})}));
  EXPECT_THAT(answer, Is(Status::degraded, Cause::unconfirmed));
  const FieldVerdict& verdict = *find_verdict(answer, "accelerator_model_hint");
  EXPECT_EQ(verdict.verdict, Match::contradicted);
  EXPECT_THAT(verdict.observed, HasSubstr("A100-PCIE-40GB (1 node)"));
  EXPECT_THAT(verdict.observed, HasSubstr("V100-SXM2-16GB (1 node)"));
}

TEST(Resolve, NodesThatConfirmAreTakenBeforeThoseThatDoNot) {
  const Resolution answer =
      resolve_on(gpus(2, 1, "A100"),
                 inventory({node("n1", {cards("V100", 8)}), node("n2", {cards("A100", 2)})}));
  EXPECT_EQ(answer.status, Status::verified);
  EXPECT_EQ(answer.seen->fitting_nodes, 1);
}

TEST(Resolve, WithTooFewConfirmingNodesTheHintIsContradicted) {
  const Resolution answer =
      resolve_on(gpus(2, 2, "A100"),
                 inventory({node("n1", {cards("V100", 8)}), node("n2", {cards("A100", 2)})}));
  EXPECT_EQ(answer.status, Status::degraded);
  EXPECT_EQ(verdict_on(answer, "accelerator_model_hint"), Match::contradicted);
}

TEST(Resolve, ANodeWithTheModelInTooSmallANumberDoesNotConfirm) {
  const Resolution answer =
      resolve_on(gpus(4, 1, "A100"), inventory({node("n1", {cards("A100", 2), cards("V100", 4)})}));
  EXPECT_THAT(answer.unconfirmed, ElementsAre("accelerator_model_hint"));
}

// --- one and the same set of nodes

TEST(Resolve, OneNodesModelAndAnothersDriverAreNotVerified) {
  Shape shape = gpus(1, 1, "A100");
  shape.driver_tag = "cuda-12.4";
  Node model = node("n1", {cards("A100", 1)});
  Node driver = node("n2", {cards("V100", 1)});
  driver.software = {{"cuda", "12.4"}};
  const Resolution answer = resolve_on(shape, inventory({model, driver}));
  EXPECT_EQ(answer.status, Status::degraded);
  // of two equally good sets, the one that confirms the earlier field of the document
  EXPECT_THAT(answer.unconfirmed, ElementsAre("driver_tag"));
  model.software = {{"cuda", "12.6"}};
  EXPECT_EQ(resolve_on(shape, inventory({model, driver})).status, Status::verified);
}

TEST(Resolve, NodesOfOneJobMayDifferInModelAndThatIsSaid) {
  const Inventory two = inventory({node("n1", {cards("A100", 2)}), node("n2", {cards("V100", 2)})});
  const Resolution answer = resolve_on(gpus(2, 2), two);
  EXPECT_EQ(answer.status, Status::verified);
  EXPECT_THAT(answer.remarks, ElementsAre(HasSubstr("different models: A100 on 1, V100 on 1")));
  EXPECT_THAT(resolve_on(gpus(2, 1), two).remarks, IsEmpty());
}

// --- driver and runtime

TEST(Resolve, ADriverIsConfirmedByItsVersionOrANewerOne) {
  struct Row {
    std::string tag;
    Software seen;
    Match expected;
  };
  const Row rows[] = {
      {"cuda-12.4", {"cuda", "12.4"}, Match::confirmed},
      {"cuda-12.4", {"cuda", "12.10"}, Match::confirmed},
      {"cuda-12.4", {"cuda", "13"}, Match::confirmed},
      {"cuda-12.4", {"CUDA", "12.4.1"}, Match::confirmed},
      {"cuda-12.4", {"cuda", "12.2"}, Match::contradicted},
      {"cuda-12.4", {"cuda", "12"}, Match::not_reported},
      {"cuda-12.4", {"cuda", "12.x"}, Match::not_reported},
      {"cuda-12.4", {"rocm", "12.4"}, Match::not_reported},
      {"cuda", {"cuda", "11.8"}, Match::confirmed},
      {"rocm-6.1", {"rocm", "6.0.2"}, Match::contradicted},
      {"nvidia-driver-550.54", {"nvidia-driver", "550.54.15"}, Match::confirmed},
      {"driver-560", {"nvidia-driver", "550.54.15"}, Match::contradicted},
  };
  for (const Row& row : rows) {
    Shape shape = gpus(1);
    shape.driver_tag = row.tag;
    Node seen = node("n1", {cards("A100", 1)});
    seen.software = {row.seen};
    const Resolution answer = resolve_on(shape, inventory({seen}));
    EXPECT_EQ(verdict_on(answer, "driver_tag"), row.expected) << row.tag << " " << row.seen.version;
  }
}

TEST(Resolve, ARuntimeIsSeenOnlyWhereAFeatureOrLabelSaysIt) {
  Shape shape = gpus(1);
  shape.runtime_tag = "pytorch-2.4-cu124";
  Node n = node("n1", {cards("A100", 1)});
  EXPECT_THAT(resolve_on(shape, inventory({n})).unconfirmed, ElementsAre("runtime_tag"));
  n.labels = {{"example.org/runtime", "pytorch-2.4-cu124"}};
  EXPECT_EQ(resolve_on(shape, inventory({n})).status, Status::verified);
  n.labels.clear();
  n.features = {"ib", "pytorch-2.4-cu124"};
  EXPECT_EQ(resolve_on(shape, inventory({n})).status, Status::verified);
}

TEST(Resolve, FeaturesThatNobodyAsksForDoNotSplitTheFleet) {
  std::vector<Node> nodes;
  for (int i = 0; i < 500; ++i) {
    nodes.push_back(node(fmt::format("n{:03}", i), {cards("A100", 8)}));
    nodes.back().features = {"rack", fmt::format("node-{}", i)};
  }
  EXPECT_EQ(build_fleet(inventory(nodes)).classes.size(), 1U);
  Shape shape = gpus(8);
  shape.driver_tag = "NODE-7";
  shape.runtime_tag = "rack";
  const Resolution answer = resolve_on(shape, inventory(nodes));
  EXPECT_THAT(answer, Is(Status::verified, Cause::confirmed));
  EXPECT_EQ(answer.seen->fitting_nodes, 1);
  EXPECT_EQ(answer.fits_now, (FitsNow{true, 1, 0}));
  EXPECT_EQ(find_verdict(answer, "driver_tag")->observed, "feature NODE-7 (1 node)");
  shape.nodes = 2;
  EXPECT_THAT(resolve_on(shape, inventory(nodes)).unconfirmed, ElementsAre("driver_tag"));
}

// --- cpu and memory that nobody reported

TEST(Resolve, UnknownCpuAndMemoryAreUnconfirmedRatherThanRefused) {
  Shape shape = gpus(1);
  shape.cpu_milli = 8'000;
  shape.memory_bytes = kGiB;
  Node silent = node("n1", {cards("A100", 1)});
  silent.cpu_milli.reset();
  silent.memory_bytes.reset();
  const Resolution answer = resolve_on(shape, inventory({silent}));
  EXPECT_THAT(answer, Is(Status::degraded, Cause::unconfirmed));
  EXPECT_THAT(answer.unconfirmed, ElementsAre("cpu", "memory_gb"));
  EXPECT_EQ(resolve_on(shape, inventory({silent, node("n2", {cards("A100", 1)})})).status,
            Status::verified);
  EXPECT_EQ(resolve_on(gpus(1), inventory({silent})).status, Status::verified);
}

// --- MIG

CardSet sliced(std::string model, std::string profile, int64_t slices, int64_t whole = 0) {
  CardSet set = cards(std::move(model), 4);
  set.offers = {offer(Sharing::mig, slices, slices, std::move(profile))};
  if (whole > 0) set.offers.push_back(offer(Sharing::whole, whole, whole));
  return set;
}

Shape mig(std::string profile, int64_t count) {
  Shape shape = gpus(count);
  shape.mig_profile = std::move(profile);
  return shape;
}

TEST(Resolve, SlicesAreNotWholeDevices) {
  const Inventory fourteen = inventory({node("n1", {sliced("A100-SXM4-80GB", "1g.10gb", 14)})});
  const Resolution answer = resolve_on(gpus(1), fourteen);
  EXPECT_THAT(answer, Is(Status::unresolvable, Cause::capacity));
  EXPECT_THAT(answer.missing[0].note, HasSubstr("14 × MIG 1g.10gb"));
  EXPECT_EQ(resolve_on(mig("1g.10gb", 14), fourteen).status, Status::verified);
  EXPECT_EQ(resolve_on(mig("1g.10gb", 15), fourteen).status, Status::unresolvable);
}

TEST(Resolve, WithoutThatProfileAMigAskFallsBackToWholeDevicesAndSaysSo) {
  const Resolution answer = resolve_on(
      mig("3g.40gb", 2), inventory({node("n1", {sliced("A100-SXM4-80GB", "1g.10gb", 7, 2)})}));
  EXPECT_THAT(answer, Is(Status::degraded, Cause::unconfirmed));
  EXPECT_THAT(answer.unconfirmed, ElementsAre("mig_profile"));
  EXPECT_EQ(verdict_on(answer, "mig_profile"), Match::not_reported);
}

TEST(Resolve, AModelThatLacksTheProfileContradictsIt) {
  const Resolution answer =
      resolve_on(mig("1g.10gb", 1), inventory({node("n1", {cards("V100-SXM2-16GB", 4)})}));
  EXPECT_EQ(verdict_on(answer, "mig_profile"), Match::contradicted);
}

TEST(Resolve, SlicesOfAnotherProfileAreNoCapacity) {
  EXPECT_EQ(resolve_on(mig("3g.40gb", 1),
                       inventory({node("n1", {sliced("A100-SXM4-80GB", "1g.10gb", 14)})}))
                .status,
            Status::unresolvable);
}

TEST(Resolve, KubernetesSpellingOfAMediaExtensionProfileIsTheSameProfile) {
  EXPECT_EQ(resolve_on(mig("1g.10gb+me", 1),
                       inventory({node("n1", {sliced("A100-SXM4-80GB", "1g.10gb.me", 1)})}))
                .status,
            Status::verified);
}

// --- fractions

Shape fraction(int64_t milli, int64_t count = 1) {
  Shape shape = gpus(count);
  shape.gpu_fraction_milli = milli;
  return shape;
}

CardSet shared(Sharing sharing, int64_t physical, int64_t shares) {
  CardSet set = cards("A10G", physical);
  set.offers = {offer(sharing, shares, shares)};
  return set;
}

TEST(Resolve, AFractionWithoutAMechanismTakesTheWholeDeviceAndSaysSo) {
  const Resolution answer = resolve_on(fraction(500), inventory({node("n1", {cards("A100", 1)})}));
  EXPECT_THAT(answer, Is(Status::degraded, Cause::unconfirmed));
  EXPECT_THAT(answer.unconfirmed, ElementsAre("gpu_fraction"));
  EXPECT_EQ(verdict_on(answer, "gpu_fraction"), Match::not_reported);
}

TEST(Resolve, SharesHonourAFractionByTheirNumberPerCard) {
  for (const Sharing sharing : {Sharing::time_slice, Sharing::mps}) {
    const Inventory quarter = inventory({node("n1", {shared(sharing, 1, 4)})});
    EXPECT_EQ(resolve_on(fraction(250, 4), quarter).status, Status::verified);
    EXPECT_EQ(resolve_on(fraction(500, 2), quarter).status, Status::verified);
    EXPECT_EQ(resolve_on(fraction(500, 3), quarter).status, Status::unresolvable);
    EXPECT_EQ(resolve_on(fraction(251, 4), quarter).status, Status::unresolvable);
    EXPECT_EQ(resolve_on(gpus(1), quarter).status, Status::unresolvable);
  }
}

TEST(Resolve, SharesOfUncountedCardsLeaveTheFractionOpen) {
  CardSet set = shared(Sharing::time_slice, 1, 4);
  set.physical.reset();
  EXPECT_THAT(resolve_on(fraction(500), inventory({node("n1", {set})})).unconfirmed,
              ElementsAre("gpu_fraction"));
}

TEST(Resolve, AMigInstanceHonoursAFractionNoLargerThanItself) {
  const Inventory slices = inventory({node("n1", {sliced("A100-SXM4-80GB", "3g.40gb", 8)})});
  EXPECT_EQ(resolve_on(fraction(400), slices).status, Status::verified);
  EXPECT_EQ(resolve_on(fraction(500), slices).status, Status::unresolvable);  // 3 of 7 slices
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
