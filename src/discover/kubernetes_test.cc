// The reading of the recorded API server, row by row, and the traps of Kubernetes' own rules.
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

Capture capture(std::vector<std::pair<std::string, std::string>> outputs) {
  Capture made;
  made.kind = ClusterKind::kubernetes;
  for (auto& [name, out] : outputs) made.outputs.push_back({name, {}, 0, std::move(out), {}});
  return made;
}

Inventory read(const Capture& from) {
  auto inventory = read_kubernetes(from);
  EXPECT_TRUE(inventory) << inventory.error().message;
  return inventory ? *inventory : Inventory{};
}

std::string refused(const Capture& from) {
  const auto inventory = read_kubernetes(from);
  EXPECT_FALSE(inventory);
  if (inventory) return {};
  EXPECT_EQ(inventory.error().code, Code::unreadable_output);
  return inventory.error().message;
}

const Inventory& sample() {
  static const Inventory inventory = read(capture({
      {"GET /api/v1/nodes", data("nodes-apiserver-1.20.json")},
      {"GET /api/v1/pods", data("pods-apiserver-1.20.json")},
  }));
  return inventory;
}

const Node& node_of(const Inventory& inventory, std::string_view name) {
  for (const Node& node : inventory.nodes)
    if (node.name == name) return node;
  ADD_FAILURE() << "no node " << name;
  static const Node none;
  return none;
}

// A list of one node with these labels and amounts, and of pods with these specs.
std::string one_node(std::string_view labels, std::string_view amounts,
                     std::string_view more_status = "") {
  return fmt::format(
      R"({{"kind":"NodeList","apiVersion":"v1","metadata":{{}},"items":[{{"metadata":{{"name":"n1","labels":{{{}}}}},)"
      R"("spec":{{}},"status":{{"capacity":{{{}}},"allocatable":{{{}}},)"
      R"("conditions":[{{"type":"Ready","status":"True"}}]{}}}}}]}})",
      labels, amounts, amounts, more_status);
}

std::string pods(std::vector<std::string> specs) {
  std::string items;
  for (size_t i = 0; i < specs.size(); ++i)
    items += fmt::format(R"({}{{"metadata":{{"name":"p{}","namespace":"d"}},{}}})", i ? "," : "", i,
                         specs[i]);
  return R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[)" + items + "]}";
}

CardSet one_card_set(std::string_view labels, std::string_view amounts) {
  const Inventory inventory = read(
      capture({{"GET /api/v1/nodes", one_node(labels, amounts)}, {"GET /api/v1/pods", pods({})}}));
  const Node& node = node_of(inventory, "n1");
  EXPECT_EQ(node.cards.size(), 1U);
  return node.cards.empty() ? CardSet{} : node.cards[0];
}

struct Row {
  std::string node;
  Family family;
  std::string model;
  std::optional<int64_t> physical;
  std::vector<Offer> offers;
  Health health = Health::usable;
  std::string remark = {};
};

const std::vector<Row>& table() {
  using enum Sharing;
  static const std::vector<Row> rows = {
      {"a100-1", Family::nvidia, "A100-SXM4-80GB", 8, {{whole, "nvidia.com/gpu", "", 8, 0, 8}}},
      {"a100-2",
       Family::nvidia,
       "A100-SXM4-80GB",
       8,
       {{whole, "nvidia.com/gpu", "", 7, 4, 3}},
       Health::usable,
       "1 of 8 unhealthy"},
      {"h100-1", Family::nvidia, "H100-SXM5-80GB", 8, {{whole, "nvidia.com/gpu", "", 8, 2, 6}}},
      {"mig-single-1",
       Family::nvidia,
       "A100-SXM4-80GB",
       {},
       {{mig, "nvidia.com/gpu", "1g.10gb", 14, 0, 14}},
       Health::usable,
       "count slices, not cards"},
      {"mig-mixed-1",
       Family::nvidia,
       "A100-SXM4-80GB",
       4,
       {{whole, "nvidia.com/gpu", "", 2, 0, 2},
        {mig, "nvidia.com/mig-1g.10gb", "1g.10gb", 7, 3, 4},
        {mig, "nvidia.com/mig-3g.40gb", "3g.40gb", 2, 0, 2}}},
      {"shared-1", Family::nvidia, "A10G", 1, {{time_slice, "nvidia.com/gpu", "", 4, 0, 4}}},
      {"shared-2", Family::nvidia, "A10G", 1, {{time_slice, "nvidia.com/gpu.shared", "", 4, 3, 1}}},
      {"plain-gpu-1",
       Family::nvidia,
       "",
       {},
       {{unread, "nvidia.com/gpu", "", 2, 0, 2}},
       Health::usable,
       "no label tells"},
      {"labels-only-1", Family::nvidia, "L4", 1, {}, Health::usable, "no device plugin"},
      {"mi300-1", Family::amd, "MI300X", 8, {{whole, "amd.com/gpu", "", 8, 8, 0}}},
      {"gaudi-1", Family::intel_gaudi, "Gaudi-2", 8, {{whole, "habana.ai/gaudi", "", 8, 1, 7}}},
      {"tpu-1",
       Family::tpu,
       "TPU-v5e",
       4,
       {{unread, "google.com/tpu", "", 4, 4, 0}},
       Health::usable,
       "cannot serve the slice"},
      {"gke-l4-1", Family::nvidia, "L4", 2, {{whole, "nvidia.com/gpu", "", 2, 0, 2}}},
      {"flex-1", Family::other, "", 1, {{whole, "gpu.intel.com/i915", "", 1, 0, 1}}},
      {"cordoned-1",
       Family::nvidia,
       "A100-SXM4-80GB",
       8,
       {{whole, "nvidia.com/gpu", "", 8, 0, 8}},
       Health::cordoned},
      {"notready-1",
       Family::nvidia,
       "H100-SXM5-80GB",
       8,
       {{whole, "nvidia.com/gpu", "", 8, 0, 8}},
       Health::not_ready},
  };
  return rows;
}

TEST(KubernetesReader, EveryRowOfTheRecordedServerIsReadRight) {
  for (const Row& row : table()) {
    SCOPED_TRACE(row.node);
    const Node& node = node_of(sample(), row.node);
    EXPECT_EQ(node.health, row.health);
    ASSERT_EQ(node.cards.size(), 1U);
    const CardSet& cards = node.cards[0];
    EXPECT_EQ(cards.family, row.family);
    EXPECT_EQ(cards.model, row.model) << cards.reported;
    EXPECT_EQ(cards.physical, row.physical);
    EXPECT_EQ(cards.offers, row.offers);
    EXPECT_THAT(cards.remark, row.remark.empty() ? testing::Matcher<std::string>(IsEmpty())
                                                 : HasSubstr(row.remark));
  }
}

TEST(KubernetesReader, TheTableNamesEveryNodeWithCards) {
  std::vector<std::string> with_cards, in_table;
  for (const Node& node : sample().nodes)
    if (!node.cards.empty()) with_cards.push_back(node.name);
  for (const Row& row : table()) in_table.push_back(row.node);
  std::ranges::sort(in_table);
  EXPECT_EQ(with_cards, in_table);
  EXPECT_EQ(sample().nodes.size(), 19U);
  EXPECT_THAT(sample().unread, IsEmpty());
}

TEST(KubernetesReader, TheVirtualGpuOfARealNodeIsAShareNotACard) {
  const Inventory inventory =
      read(capture({{"GET /api/v1/nodes", data("node-vgpu-a16-rke2.json")}}));
  const Node& node = node_of(inventory, "node-1");
  EXPECT_EQ(node.health, Health::usable);
  ASSERT_EQ(node.cards.size(), 1U);
  EXPECT_EQ(node.cards[0].reported, "NVIDIA-A16-4Q");
  EXPECT_EQ(node.cards[0].model, "");
  EXPECT_EQ(node.cards[0].physical, std::nullopt);
  EXPECT_THAT(node.cards[0].offers,
              ElementsAre(Offer{Sharing::vgpu, "nvidia.com/gpu", "", 1, {}, {}}));
  EXPECT_THAT(node.software,
              ElementsAre(Software{"nvidia-driver", "550.90.07"}, Software{"cuda", "12.4"},
                          Software{"nvidia-vgpu-host-driver", "550.54.16"}));
}

TEST(KubernetesReader, TaintsZonesLabelsAndSoftwareAreKept) {
  const Node& node = node_of(sample(), "a100-1");
  EXPECT_THAT(node.taints, ElementsAre(Taint{"nvidia.com/gpu", "present", "NoSchedule"}));
  EXPECT_THAT(node.software,
              ElementsAre(Software{"nvidia-driver", "550.54.15"}, Software{"cuda", "12.4"}));
  EXPECT_EQ(node.cards[0].memory_bytes, int64_t{81920} << 20);
  EXPECT_TRUE(std::ranges::is_sorted(node.labels));
  for (const auto& [key, value] : node.labels)
    EXPECT_FALSE(key.starts_with("feature.node.kubernetes.io/")) << key;
  EXPECT_EQ(node_of(sample(), "h100-1").zone, "zone-a");
  EXPECT_EQ(node_of(sample(), "h100-1").region, "eu-west");
  EXPECT_EQ(node_of(sample(), "mi300-1").software,
            (std::vector<Software>{{"amdgpu-driver", "6.8.5"}}));
  EXPECT_EQ(node_of(sample(), "mi300-1").cards[0].memory_bytes, int64_t{192} << 30);
}

TEST(KubernetesReader, CpuAndMemoryLeftAreAllocatableMinusRequests) {
  const Node& node = node_of(sample(), "a100-2");
  EXPECT_EQ(node.cpu_milli, 127870);
  EXPECT_EQ(node.cpu_free_milli, 119870);
  EXPECT_EQ(node.memory_bytes, int64_t{1023} << 30);
  EXPECT_EQ(node.memory_free_bytes, int64_t{1023} << 30);
}

TEST(KubernetesReader, CordonedAndNotReadyNodesSayWhy) {
  EXPECT_EQ(node_of(sample(), "cordoned-1").state, "Ready,SchedulingDisabled");
  EXPECT_THAT(node_of(sample(), "cordoned-1").reason, HasSubstr("cordoned"));
  EXPECT_EQ(node_of(sample(), "notready-1").state, "NotReady");
  EXPECT_THAT(node_of(sample(), "notready-1").reason, HasSubstr("Ready is Unknown"));
}

TEST(KubernetesReader, ANodeListAloneLeavesUseUnknown) {
  const Inventory inventory =
      read(capture({{"GET /api/v1/nodes", data("nodes-apiserver-1.20.json")}}));
  for (const Node& node : inventory.nodes) {
    EXPECT_EQ(node.cpu_free_milli, std::nullopt);
    for (const CardSet& cards : node.cards)
      for (const Offer& offer : cards.offers) {
        EXPECT_EQ(offer.used, std::nullopt) << node.name;
        EXPECT_EQ(offer.free, std::nullopt) << node.name;
      }
  }
  ASSERT_EQ(inventory.unread.size(), 1U);
  EXPECT_EQ(inventory.unread[0].what, "pods");
}

TEST(KubernetesReader, PodsThatMayNotBeListedLeaveUseUnknownAndSayWhy) {
  Capture from = capture({{"GET /api/v1/nodes", data("nodes-apiserver-1.20.json")}});
  from.outputs.push_back(
      {"GET /api/v1/pods",
       {},
       403,
       R"({"kind":"Status","message":"pods is forbidden: User \"x\" cannot list"})",
       ""});
  const Inventory inventory = read(from);
  ASSERT_EQ(inventory.unread.size(), 1U);
  EXPECT_THAT(inventory.unread[0].why, HasSubstr("403 pods is forbidden"));
  EXPECT_EQ(node_of(inventory, "a100-1").cards[0].offers[0].free, std::nullopt);
}

TEST(KubernetesReader, PagesAreOneList) {
  const Inventory inventory = read(capture({
      {"GET /api/v1/nodes",
       R"({"kind":"NodeList","metadata":{"continue":"abc"},"items":[{"metadata":{"name":"b"}}]})"},
      {"GET /api/v1/nodes page 2",
       R"({"kind":"NodeList","metadata":{},"items":[{"metadata":{"name":"a"}}]})"},
      {"GET /api/v1/pods", pods({})},
  }));
  ASSERT_EQ(inventory.nodes.size(), 2U);
  EXPECT_EQ(inventory.nodes[0].name, "a");
  EXPECT_THAT(inventory.unread, IsEmpty());
}

TEST(KubernetesReader, AListThatGoesOnIsSaidToBeIncomplete) {
  const Inventory inventory = read(capture({
      {"GET /api/v1/nodes",
       R"({"kind":"NodeList","metadata":{"continue":"abc"},"items":[{"metadata":{"name":"b"}}]})"},
      {"GET /api/v1/pods", R"({"kind":"PodList","metadata":{"continue":"x"},"items":[]})"},
  }));
  ASSERT_EQ(inventory.unread.size(), 2U);
  EXPECT_EQ(inventory.nodes[0].cpu_free_milli, std::nullopt);
}

TEST(KubernetesReader, TheVersionOfTheServerIsReported) {
  const Inventory inventory = read(capture({
      {"GET /version", R"({"major":"1","minor":"20","gitVersion":"v1.20.2","goVersion":"x"})"},
      {"GET /api/v1/nodes", one_node("", "")},
      {"GET /api/v1/pods", pods({})},
  }));
  EXPECT_EQ(inventory.tool, "kube-apiserver");
  EXPECT_EQ(inventory.tool_version, "1.20.2");
}

// Captures of the real server as `probe_kubernetes` took them, by a user who may list pods and by
// one who may not.
Inventory recorded(const std::string& file) {
  const auto saved = parse_json(data("recorded/" + file), file, tool_output_limits());
  EXPECT_TRUE(saved) << saved.error().message;
  const auto from = capture_from_json(*saved);
  EXPECT_TRUE(from) << from.error().message;
  return from ? read(*from) : Inventory{};
}

TEST(KubernetesReplay, TheRecordedServerReadsAsItsLists) {
  const Inventory replayed = recorded("discovery.json");
  EXPECT_EQ(replayed.nodes, sample().nodes);
  EXPECT_THAT(replayed.unread, IsEmpty());
  EXPECT_EQ(replayed.tool_version, "1.20.2");
}

TEST(KubernetesReplay, WithoutTheRightToListPodsOnlyUseIsUnknown) {
  const Inventory replayed = recorded("nodes-only.json");
  ASSERT_EQ(replayed.unread.size(), 1U);
  EXPECT_THAT(replayed.unread[0].why, HasSubstr("403 pods is forbidden"));
  ASSERT_EQ(replayed.nodes.size(), sample().nodes.size());
  for (size_t i = 0; i < replayed.nodes.size(); ++i) {
    const Node& node = replayed.nodes[i];
    EXPECT_EQ(node.cpu_milli, sample().nodes[i].cpu_milli);
    EXPECT_EQ(node.cpu_free_milli, std::nullopt);
    for (const CardSet& cards : node.cards)
      for (const Offer& offer : cards.offers) EXPECT_EQ(offer.free, std::nullopt) << node.name;
  }
}

// ---- what pods hold ---------------------------------------------------------------------------

struct PodCase {
  std::string what;
  std::string pod;
  int64_t used;
};

TEST(KubernetesPods, HoldWhatTheSchedulerCounts) {
  const auto c = [](std::string_view gpus, std::string_view more = "") {
    return fmt::format(R"({{"resources":{{"requests":{{"nvidia.com/gpu":"{}"}}}}{}}})", gpus, more);
  };
  const auto spec = [](const std::string& fields, std::string_view phase = "Running") {
    return fmt::format(R"("spec":{{"nodeName":"n1",{}}},"status":{{"phase":"{}"}})", fields, phase);
  };
  const std::string sidecar = R"(,"restartPolicy":"Always")";
  const std::vector<PodCase> cases = {
      {"the sum of its containers", spec(R"("containers":[)" + c("1") + "," + c("2") + "]"), 3},
      {"a larger init container instead",
       spec(R"("containers":[)" + c("1") + R"(],"initContainers":[)" + c("4") + "," + c("2") + "]"),
       4},
      {"not a smaller init container on top",
       spec(R"("containers":[)" + c("3") + R"(],"initContainers":[)" + c("2") + "]"), 3},
      {"sidecars beside the containers",
       spec(R"("containers":[)" + c("2") + R"(],"initContainers":[)" + c("1", sidecar) + "]"), 3},
      {"an init container with the sidecars started before it",
       spec(R"("containers":[)" + c("1") + R"(],"initContainers":[)" + c("2", sidecar) + "," +
            c("3") + "]"),
       5},
      {"an init container without the sidecars started after it",
       spec(R"("containers":[)" + c("1") + R"(],"initContainers":[)" + c("3") + "," +
            c("1", sidecar) + "]"),
       3},
      {"overhead on top",
       spec(R"("containers":[)" + c("2") + R"(],"overhead":{"nvidia.com/gpu":"1"})"), 3},
      {"limits where there are no requests",
       spec(R"("containers":[{"resources":{"limits":{"nvidia.com/gpu":"2"}}}])"), 2},
      {"bound but still pending", spec(R"("containers":[)" + c("2") + "]", "Pending"), 2},
      {"unknown", spec(R"("containers":[)" + c("2") + "]", "Unknown"), 2},
      {"nothing once succeeded", spec(R"("containers":[)" + c("2") + "]", "Succeeded"), 0},
      {"nothing once failed", spec(R"("containers":[)" + c("2") + "]", "Failed"), 0},
      {"nothing before they are bound",
       R"("spec":{"containers":[)" + c("2") + R"(]},"status":{"phase":"Pending"})", 0},
      {"nothing on another node",
       R"("spec":{"nodeName":"n2","containers":[)" + c("2") + R"(]},"status":{"phase":"Running"})",
       0},
      {"null lists as Go prints them",
       spec(R"("containers":[)" + c("1") + R"(],"initContainers":null,"overhead":null)"), 1},
      {"amounts in files written by hand",
       spec(R"("containers":[{"resources":{"requests":{"nvidia.com/gpu": 2 }}}])"), 2},
  };
  for (const PodCase& test : cases) {
    SCOPED_TRACE(test.what);
    const Inventory inventory =
        read(capture({{"GET /api/v1/nodes", one_node("", R"("nvidia.com/gpu":"8")")},
                      {"GET /api/v1/pods", pods({test.pod})}}));
    const Offer& offer = node_of(inventory, "n1").cards.at(0).offers.at(0);
    EXPECT_EQ(offer.used, test.used);
    EXPECT_EQ(offer.free, 8 - test.used);
  }
}

TEST(KubernetesPods, ThatHoldMoreThanIsAllocatableLeaveNothingFree) {
  const Inventory inventory = read(capture({
      {"GET /api/v1/nodes", one_node("", R"("nvidia.com/gpu":"2","cpu":"1","memory":"1Gi")")},
      {"GET /api/v1/pods",
       pods(
           {R"("spec":{"nodeName":"n1","containers":[{"resources":{"requests":{"nvidia.com/gpu":"5",)"
            R"("cpu":"7","memory":"9Gi"}}}]},"status":{"phase":"Running"})"})},
  }));
  const Node& node = node_of(inventory, "n1");
  EXPECT_EQ(node.cards[0].offers[0].used, 5);
  EXPECT_EQ(node.cards[0].offers[0].free, 0);
  EXPECT_EQ(node.cpu_free_milli, 0);
  EXPECT_EQ(node.memory_free_bytes, 0);
}

// ---- labels -----------------------------------------------------------------------------------

TEST(KubernetesCards, SharedSlicesAreSharesNotSlices) {
  const CardSet cards = one_card_set(
      R"("nvidia.com/gpu.product":"NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED","nvidia.com/gpu.replicas":"2",)"
      R"("nvidia.com/gpu.sharing-strategy":"time-slicing","nvidia.com/mig.strategy":"single")",
      R"("nvidia.com/gpu":"14")");
  EXPECT_EQ(cards.model, "A100-SXM4-40GB");
  EXPECT_EQ(cards.physical, std::nullopt);
  EXPECT_THAT(cards.offers,
              ElementsAre(Offer{Sharing::time_slice, "nvidia.com/gpu", "", 14, 0, 14}));
}

TEST(KubernetesCards, MpsIsToldFromTimeSlicing) {
  const CardSet cards =
      one_card_set(R"("nvidia.com/gpu.product":"NVIDIA-L4-SHARED","nvidia.com/gpu.replicas":"10",)"
                   R"("nvidia.com/gpu.count":"1","nvidia.com/gpu.sharing-strategy":"mps")",
                   R"("nvidia.com/gpu":"10")");
  EXPECT_EQ(cards.offers.at(0).sharing, Sharing::mps);
  EXPECT_EQ(cards.physical, 1);
  EXPECT_EQ(cards.model, "L4");
}

TEST(KubernetesCards, DuringAMigChangeNothingIsSaidToBeFree) {
  const CardSet cards = one_card_set(
      R"("nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3","nvidia.com/gpu.count":"8",)"
      R"("nvidia.com/mig.config":"all-1g.10gb","nvidia.com/mig.config.state":"pending",)"
      R"("nvidia.com/mig.strategy":"single")",
      R"("nvidia.com/gpu":"8")");
  EXPECT_EQ(cards.physical, std::nullopt);
  EXPECT_EQ(cards.offers.at(0).free, std::nullopt);
  EXPECT_THAT(cards.remark, HasSubstr("reconfigured"));
}

TEST(KubernetesCards, AMigProfileOfZeroIsConfiguredAway) {
  const CardSet cards =
      one_card_set("", R"("nvidia.com/mig-1g.5gb":"7","nvidia.com/mig-2g.10gb":"0")");
  EXPECT_THAT(cards.offers,
              ElementsAre(Offer{Sharing::mig, "nvidia.com/mig-1g.5gb", "1g.5gb", 7, 0, 7}));
  EXPECT_EQ(cards.physical, std::nullopt);
}

TEST(KubernetesCards, GkePartitionsAndSharesKeepThePlainNameAndAreToldByLabels) {
  const CardSet slices = one_card_set(
      R"("cloud.google.com/gke-accelerator":"nvidia-tesla-a100","cloud.google.com/gke-accelerator-count":"1",)"
      R"("cloud.google.com/gke-gpu-partition-size":"1g.5gb")",
      R"("nvidia.com/gpu":"7")");
  EXPECT_EQ(slices.offers.at(0).sharing, Sharing::mig);
  EXPECT_EQ(slices.offers.at(0).mig_profile, "1g.5gb");
  EXPECT_EQ(slices.physical, std::nullopt);
  const CardSet shares = one_card_set(
      R"("cloud.google.com/gke-accelerator":"nvidia-l4","cloud.google.com/gke-accelerator-count":"1",)"
      R"("cloud.google.com/gke-gpu-sharing-strategy":"time-sharing","cloud.google.com/gke-max-shared-clients-per-gpu":"4")",
      R"("nvidia.com/gpu":"4")");
  EXPECT_EQ(shares.offers.at(0).sharing, Sharing::time_slice);
  EXPECT_EQ(shares.physical, 1);
}

TEST(KubernetesCards, PassedThroughCardsAreNotOfferedToContainers) {
  const CardSet cards = one_card_set("", R"("nvidia.com/pgpu":"8")");
  EXPECT_EQ(cards.family, Family::other);
  EXPECT_NE(cards.offers.at(0).sharing, Sharing::whole);
  EXPECT_THAT(cards.remark, HasSubstr("virtual machines"));
}

TEST(KubernetesCards, ALabelThatCountsFewerCardsThanThePluginOffersIsNotBelieved) {
  const CardSet cards =
      one_card_set(R"("nvidia.com/gpu.product":"NVIDIA-L4","nvidia.com/gpu.count":"1")",
                   R"("nvidia.com/gpu":"4")");
  EXPECT_EQ(cards.physical, std::nullopt);
  EXPECT_THAT(cards.remark, HasSubstr("lag"));
}

TEST(KubernetesCards, TwoAmdModelsBehindOneResourceHaveNoModel) {
  const CardSet cards =
      one_card_set(R"("beta.amd.com/gpu.device-id.74a1":"4","beta.amd.com/gpu.device-id.740f":"2")",
                   R"("amd.com/gpu":"6")");
  EXPECT_EQ(cards.model, "");
  EXPECT_EQ(cards.physical, 6);
  EXPECT_THAT(cards.remark, HasSubstr("4 of 74a1"));
}

TEST(KubernetesCards, PartitionedAmdCardsAreNotCards) {
  const CardSet cards =
      one_card_set(R"("amd.com/gpu.device-id.74a1":"8")", R"("amd.com/gpu":"64")");
  EXPECT_EQ(cards.physical, 8);
  EXPECT_EQ(cards.offers.at(0).sharing, Sharing::time_slice);
}

TEST(KubernetesCards, SharedIntelDevicesAreNotCards) {
  const CardSet cards =
      one_card_set(R"("gpu.intel.com/device-id.0380-56c0.count":"1")",
                   R"("gpu.intel.com/i915":"10","gpu.intel.com/i915_monitoring":"1")");
  EXPECT_EQ(cards.physical, 1);
  EXPECT_THAT(cards.offers,
              ElementsAre(Offer{Sharing::time_slice, "gpu.intel.com/i915", "", 10, 0, 10}));
}

TEST(KubernetesCards, AResourceNobodyKnowsIsNoCard) {
  const Inventory inventory = read(capture({
      {"GET /api/v1/nodes", one_node("", R"("rdma/hca":"1000","smarter-devices/fuse":"x")")},
      {"GET /api/v1/pods", pods({})},
  }));
  EXPECT_THAT(node_of(inventory, "n1").cards, IsEmpty());
}

// ---- what cannot be read ----------------------------------------------------------------------

TEST(KubernetesReader, AMalformedAmountNamesNodeAndField) {
  EXPECT_THAT(
      refused(capture({{"GET /api/v1/nodes", one_node("", R"("nvidia.com/gpu":"eight")")}})),
      testing::AllOf(HasSubstr("n1"), HasSubstr("nvidia.com/gpu"), HasSubstr("eight")));
  EXPECT_THAT(refused(capture({{"GET /api/v1/nodes", one_node("", R"("cpu":"-4")")}})),
              testing::AllOf(HasSubstr("n1"), HasSubstr("cpu")));
}

TEST(KubernetesReader, MoreDevicesThanANodeCanHaveAreRefusedBeforeTheyAreAddedUp) {
  const std::string message = refused(capture(
      {{"GET /api/v1/nodes",
        one_node("", R"("nvidia.com/gpu":"9000000000000000000","nvidia.com/gpu.shared":"8")")}}));
  EXPECT_THAT(message, HasSubstr("n1"));
  EXPECT_THAT(message, HasSubstr("nvidia.com/gpu"));
  EXPECT_THAT(message, HasSubstr("out of range"));
  // a label is a hint: one that cannot be is as good as none
  const CardSet cards = one_card_set(
      R"("nvidia.com/gpu.product":"NVIDIA-L40S","nvidia.com/gpu.count":"9223372036854775807")",
      R"("nvidia.com/gpu":"2")");
  EXPECT_EQ(cards.physical, 2);
}

TEST(KubernetesReader, AMalformedRequestNamesThePod) {
  EXPECT_THAT(
      refused(capture({{"GET /api/v1/nodes", one_node("", "")},
                       {"GET /api/v1/pods",
                        pods({R"("spec":{"nodeName":"n1","containers":[{"resources":{"requests":)"
                              R"({"nvidia.com/gpu":"1x"}}}]})"})}})),
      testing::AllOf(HasSubstr("d/p0"), HasSubstr("nvidia.com/gpu")));
}

TEST(KubernetesReader, UnknownShapesAreNamedErrors) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "GET /api/v1/nodes"},
      {"not json", "GET /api/v1/nodes"},
      {R"({"kind":"Table","rows":[]})", "Table"},
      {R"({"kind":"Status","status":"Failure"})", "Status"},
      {R"({"items":{"a":1}})", "JSON"},
      {R"({"items":[{"metadata":{"name":7}}]})", "item 0"},
      {R"({"items":[{"metadata":{}}]})", "metadata.name"},
      {R"({"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"a"}}]})", "listed twice"},
      {R"({"items":[{"metadata":{"name":"a"}})", "JSON"},
  };
  for (const auto& [text, part] : cases) {
    SCOPED_TRACE(text);
    EXPECT_THAT(refused(capture({{"GET /api/v1/nodes", text}, {"GET /api/v1/pods", pods({})}})),
                HasSubstr(part));
  }
  EXPECT_THAT(refused(capture({})), HasSubstr("no answer to GET /api/v1/nodes"));
}

TEST(KubernetesReader, FieldsOfAFutureServerAreIgnored) {
  const Inventory inventory = read(capture(
      {{"GET /api/v1/nodes", one_node("", R"("cpu":"4")", R"(,"declaredFeatures":[{"a":[1,{}]}])")},
       {"GET /api/v1/pods", pods({})}}));
  EXPECT_EQ(node_of(inventory, "n1").cpu_milli, 4000);
}

TEST(KubernetesReader, EveryCutOfARecordedListIsRefused) {
  const std::string whole = data("node-vgpu-a16-rke2.json");
  for (size_t length = 0; length + 2 < whole.size(); length += 7) {
    const auto inventory =
        read_kubernetes(capture({{"GET /api/v1/nodes", whole.substr(0, length)}}));
    ASSERT_FALSE(inventory) << "the first " << length << " bytes were accepted";
  }
}

// ---- files ------------------------------------------------------------------------------------

TEST(KubernetesFiles, AreRecognisedByWhatTheyHold) {
  const std::vector<std::pair<std::string, std::optional<std::string>>> cases = {
      {data("nodes-apiserver-1.20.json"), "GET /api/v1/nodes"},
      {data("pods-apiserver-1.20.json"), "GET /api/v1/pods"},
      {data("node-vgpu-a16-rke2.json"), "GET /api/v1/nodes"},
      {data("dra-slices-v1.json"), "GET resourceslices"},
      {data("events-apiserver-1.20.json"), std::nullopt},
      {data("label-excerpts.json"), std::nullopt},
      {R"({"kind":"NodeList","apiVersion":"v1","items":null})", "GET /api/v1/nodes"},
      {R"({"kind":"List","apiVersion":"v1","items":[]})", "GET /api/v1/nodes"},
      {R"({"kind":"Status","apiVersion":"v1","status":"Failure"})", "GET /api/v1/nodes"},
      {R"({"kind":"List","apiVersion":"v1","items":[{"kind":"Node"},{"kind":"Pod"}]})",
       "kubectl get nodes,pods"},
      {"NodeName=a", std::nullopt},
      {"", std::nullopt},
      {"{", std::nullopt},
      {"[]", std::nullopt},
      {R"({"nodes":[]})", std::nullopt},
  };
  for (const auto& [text, question] : cases) {
    SCOPED_TRACE(text.substr(0, 60));
    EXPECT_EQ(recognise_kubernetes(text), question);
  }
}

TEST(KubernetesFiles, AFileWithoutNodesIsRefusedWithTheReason) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"kind":"NodeList","apiVersion":"v1","items":[]})", "names no node"},
      {R"({"kind":"List","apiVersion":"v1","items":[]})", "names no node"},
      {R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":)"
       R"("nodes is forbidden: User \"a\" cannot list","reason":"Forbidden","code":403})",
       "nodes is forbidden"},
  };
  for (const auto& [text, part] : cases) {
    const auto question = recognise_kubernetes(text);
    ASSERT_TRUE(question) << text;
    Capture given = capture({{*question, text}});
    given.transport = "file";
    EXPECT_THAT(refused(given), HasSubstr(part));
  }
}

// `kubectl get nodes,pods -o json` without -A lists one namespace and looks the same.
TEST(KubernetesFiles, PodsOfOneNamespaceAreCountedAndTheDoubtIsSaid) {
  const auto mixed = [](std::string_view second_namespace) {
    return fmt::format(
        R"({{"kind":"List","apiVersion":"v1","items":[)"
        R"({{"kind":"Node","metadata":{{"name":"n1"}},"status":{{"allocatable":{{"cpu":"4"}}}}}},)"
        R"({{"kind":"Pod","metadata":{{"name":"p","namespace":"a"}},"spec":{{"nodeName":"n1","containers":[)"
        R"({{"resources":{{"requests":{{"cpu":"1"}}}}}}]}}}},)"
        R"({{"kind":"Pod","metadata":{{"name":"q","namespace":"{}"}},"spec":{{}}}}]}})",
        second_namespace);
  };
  const Inventory one = read(capture({{"kubectl get nodes,pods", mixed("a")}}));
  EXPECT_EQ(node_of(one, "n1").cpu_free_milli, 3000);
  ASSERT_EQ(one.unread.size(), 1U);
  EXPECT_THAT(one.unread[0].why, HasSubstr("all are of namespace a"));
  const Inventory all = read(capture({{"kubectl get nodes,pods", mixed("b")}}));
  EXPECT_EQ(node_of(all, "n1").cpu_free_milli, 3000);
  EXPECT_TRUE(all.unread.empty());
  EXPECT_EQ(node_of(all, "n1").cpu_milli, 4000);
}

}  // namespace
}  // namespace exa
