// Semantics §4: asks of parts of devices, MIG instances and fractions.
#include "resolve/answers_for_test.h"

namespace exa {
namespace {

using namespace sample;
using testing::ElementsAre;
using testing::HasSubstr;

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

}  // namespace
}  // namespace exa
