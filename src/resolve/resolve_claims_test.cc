// Semantics §4: when a named model, driver, runtime, core or memory is confirmed, and by which
// nodes.
#include <fmt/format.h>

#include "resolve/answers_for_test.h"

namespace exa {
namespace {

using namespace sample;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

}  // namespace
}  // namespace exa
