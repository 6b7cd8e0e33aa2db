// ResourceSlices, from lists written by hand after the API reference
// (testdata/kubernetes/README.md): node dra-1 has two whole H100, node dra-2 two A100 that can each
// be had whole, as seven 1g.5gb or as two 3g.20gb.
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "discover/readers.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string data(const std::string& name) {
  std::ifstream file(std::string(EXA_TESTDATA "/kubernetes/") + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

constexpr const char* kNoPods = R"({"kind":"PodList","metadata":{},"items":[]})";

Inventory read(std::vector<std::pair<std::string, std::string>> dra, std::string nodes = {}) {
  Capture capture;
  capture.kind = ClusterKind::kubernetes;
  capture.outputs.push_back(
      {"GET /api/v1/nodes", {}, 0, nodes.empty() ? data("dra-nodes.json") : nodes, {}});
  capture.outputs.push_back({"GET /api/v1/pods", {}, 0, kNoPods, {}});
  for (auto& [name, out] : dra) capture.outputs.push_back({name, {}, 0, std::move(out), {}});
  const auto inventory = read_kubernetes(capture);
  EXPECT_TRUE(inventory) << inventory.error().message;
  return inventory.value_or(Inventory{});
}

TEST(KubernetesDra, WholeCardsAreOfferedByDriverAndClass) {
  for (const char* file : {"dra-slices-v1.json", "dra-slices-v1beta1.json"}) {
    SCOPED_TRACE(file);
    const Inventory inventory = read({{"GET resourceslices", data(file)}});
    ASSERT_EQ(inventory.nodes.at(0).cards.size(), 1U);
    const CardSet& cards = inventory.nodes[0].cards[0];
    EXPECT_EQ(cards.family, Family::nvidia);
    EXPECT_EQ(cards.reported, "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(cards.model, "H100-SXM5-80GB");
    EXPECT_EQ(cards.physical, 2);
    EXPECT_THAT(cards.offers,
                ElementsAre(Offer{Sharing::whole, "gpu.nvidia.com/gpu.nvidia.com", "", 2, {}, {}}));
    EXPECT_THAT(inventory.nodes[0].software,
                ElementsAre(Software{"nvidia-driver", "550.54.15"}, Software{"cuda", "12.4.0"}));
  }
}

TEST(KubernetesDra, WithoutClaimsUseIsUnknownAndSaidSo) {
  const Inventory inventory = read({{"GET resourceslices", data("dra-slices-v1.json")}});
  ASSERT_EQ(inventory.unread.size(), 1U);
  EXPECT_EQ(inventory.unread[0].what, "resourceclaims");
}

TEST(KubernetesDra, WaysToCutTheSameCardAreCountedOnce) {
  const Inventory inventory = read({{"GET resourceslices", data("dra-slices-v1.json")},
                                    {"GET resourceclaims", R"({"items":[]})"}});
  const CardSet& cards = inventory.nodes.at(1).cards.at(0);
  EXPECT_EQ(cards.physical, 2);
  EXPECT_THAT(
      cards.offers,
      ElementsAre(Offer{Sharing::whole, "gpu.nvidia.com/gpu.nvidia.com", "", 2, 0, 2},
                  Offer{Sharing::mig, "gpu.nvidia.com/mig.nvidia.com", "1g.5gb", 14, 0, 14},
                  Offer{Sharing::mig, "gpu.nvidia.com/mig.nvidia.com", "3g.20gb", 4, 0, 4}));
}

// The slice in use sits on memory slice 4: its card cannot be had whole, and only one 3g.20gb of
// it.
TEST(KubernetesDra, ASliceInUseTakesTheWholeCardAway) {
  const Inventory inventory = read({{"GET resourceslices", data("dra-slices-v1.json")},
                                    {"GET resourceclaims", data("dra-claims-v1.json")}});
  EXPECT_THAT(inventory.unread, IsEmpty());
  EXPECT_THAT(
      inventory.nodes.at(1).cards.at(0).offers,
      ElementsAre(Offer{Sharing::whole, "gpu.nvidia.com/gpu.nvidia.com", "", 2, 0, 1},
                  Offer{Sharing::mig, "gpu.nvidia.com/mig.nvidia.com", "1g.5gb", 14, 1, 13},
                  Offer{Sharing::mig, "gpu.nvidia.com/mig.nvidia.com", "3g.20gb", 4, 0, 3}));
}

TEST(KubernetesDra, ClaimsWithAdminAccessHoldNothing) {
  const Inventory inventory = read({{"GET resourceslices", data("dra-slices-v1.json")},
                                    {"GET resourceclaims", data("dra-claims-v1.json")}});
  EXPECT_EQ(inventory.nodes.at(0).cards.at(0).offers.at(0).used, 1);
  EXPECT_EQ(inventory.nodes.at(0).cards.at(0).offers.at(0).free, 1);
}

TEST(KubernetesDra, APoolThatIsBeingChangedIsUnreadNotHalfCounted) {
  const Inventory inventory = read(
      {{"GET resourceslices",
        R"({"items":[{"metadata":{"name":"s"},"spec":{"driver":"gpu.nvidia.com","nodeName":"dra-1",)"
        R"("pool":{"name":"dra-1","generation":2,"resourceSliceCount":2},"devices":[{"name":"gpu-0"}]}}]})"},
       {"GET resourceclaims", R"({"items":[]})"}});
  EXPECT_THAT(inventory.nodes.at(0).cards, IsEmpty());
  ASSERT_EQ(inventory.unread.size(), 1U);
  EXPECT_THAT(inventory.unread[0].why, HasSubstr("1 of 2 slices"));
}

TEST(KubernetesDra, CardsOfPluginAndDriverAreNotAddedUp) {
  const std::string node =
      R"({"kind":"NodeList","items":[{"metadata":{"name":"dra-1","labels":{"nvidia.com/gpu.product":)"
      R"("NVIDIA-H100-80GB-HBM3","nvidia.com/gpu.count":"2"}},"status":{"capacity":{"nvidia.com/gpu":"2"},)"
      R"("allocatable":{"nvidia.com/gpu":"2"},"conditions":[{"type":"Ready","status":"True"}]}}]})";
  const Inventory inventory = read({{"GET resourceslices", data("dra-slices-v1beta1.json")},
                                    {"GET resourceclaims", R"({"items":[]})"}},
                                   node);
  ASSERT_EQ(inventory.nodes.at(0).cards.size(), 1U);
  const CardSet& cards = inventory.nodes[0].cards[0];
  EXPECT_EQ(cards.physical, 2);
  ASSERT_EQ(cards.offers.size(), 2U);
  for (const Offer& offer : cards.offers) EXPECT_EQ(offer.free, std::nullopt);
  EXPECT_THAT(cards.remark, HasSubstr("same cards"));
}

TEST(KubernetesDra, AnOlderServerChangesNothing) {
  Capture capture;
  capture.outputs.push_back({"GET /api/v1/nodes", {}, 0, data("dra-nodes.json"), {}});
  capture.outputs.push_back({"GET /api/v1/pods", {}, 0, kNoPods, {}});
  const auto without = read_kubernetes(capture);
  capture.outputs.push_back({"GET resourceslices", {}, 404, "404 page not found", {}});
  EXPECT_EQ(read_kubernetes(capture), without);
}

TEST(KubernetesDra, AMalformedSliceIsNamed) {
  for (
      const auto& [spec, part] : std::vector<std::pair<std::string, std::string>>{
          {R"({"driver":"gpu.nvidia.com","nodeName":"dra-1","devices":[{}]})", "without a name"},
          {R"({"driver":"gpu.nvidia.com","devices":{}})", "devices is no list"},
          {R"({"nodeName":"dra-1"})", "no spec.driver"},
          {R"({"driver":"gpu.nvidia.com","devices":[{"name":"g","capacity":{"memory":{"value":"x"}}}]})",
           "memory"}}) {
    SCOPED_TRACE(spec);
    Capture capture;
    capture.outputs.push_back({"GET /api/v1/nodes", {}, 0, data("dra-nodes.json"), {}});
    capture.outputs.push_back({"GET resourceslices",
                               {},
                               0,
                               R"({"items":[{"metadata":{"name":"s-1"},"spec":)" + spec + "}]}",
                               {}});
    const auto inventory = read_kubernetes(capture);
    ASSERT_FALSE(inventory);
    EXPECT_EQ(inventory.error().code, Code::unreadable_output);
    EXPECT_THAT(inventory.error().message, testing::AllOf(HasSubstr("s-1"), HasSubstr(part)));
  }
}

}  // namespace
}  // namespace exa
