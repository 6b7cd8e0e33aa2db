#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/quantity.h"
#include "discover/readers.h"

namespace exa {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::string sample(const std::string& name) {
  std::ifstream file(std::string(EXA_TESTDATA) + "/host/" + name);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Capture capture_saying(const std::vector<std::pair<std::string, std::string>>& answers) {
  Capture capture;
  for (const auto& [question, text] : answers)
    capture.outputs.push_back({question, {}, 0, text, ""});
  return capture;
}

Inventory read_well(const Capture& capture) {
  auto inventory = read_host(capture);
  if (!inventory) {
    ADD_FAILURE() << inventory.error().message;
    Inventory none;
    none.nodes.emplace_back();
    return none;
  }
  EXPECT_EQ(inventory->nodes.size(), 1U);
  return *inventory;
}

// A raw file as `--from FILE` gives it: recognised, then read alone.
Inventory read_file_alone(const std::string& name) {
  std::string text = sample(name);
  auto question = recognise_host(text);
  EXPECT_TRUE(question) << name;
  return read_well(capture_saying({{question.value_or(""), text}}));
}

const std::vector<CardSet>& cards(const Inventory& inventory) {
  return inventory.nodes[0].cards;
}

std::string offers(const CardSet& set) {
  std::string text;
  for (const Offer& offer : set.offers)
    text += fmt::format("{}{}x{}", text.empty() ? "" : " ", offer.units,
                        offer.sharing == Sharing::mig ? offer.mig_profile : name(offer.sharing));
  return text;
}

struct Right {
  std::string file, question, reported, model, offers;
  int64_t physical;
  std::optional<int64_t> memory_mib;
  Family family = Family::nvidia;
};

TEST(Host, EveryToolSampleIsReadRight) {
  constexpr Family kAmd = Family::amd, kGaudi = Family::intel_gaudi;
  for (const Right& right : std::vector<Right>{
           {"nvidia-smi-qx-a100-mig.xml", "nvidia-smi -q -x", "NVIDIA A100-SXM4-40GB",
            "A100-SXM4-40GB", "2x3g.20gb", 1, 40960},
           {"nvidia-smi-qx-a100-v12.xml", "nvidia-smi -q -x", "NVIDIA A100-SXM4-80GB",
            "A100-SXM4-80GB", "4x1g.20gb", 1, 81920},
           {"nvidia-smi-qx-p100.xml", "nvidia-smi -q -x", "Tesla P100-PCIE-16GB", "P100-PCIE-16GB",
            "1xwhole", 1, 16384},
           {"nvidia-smi-qx-a10g.xml", "nvidia-smi -q -x", "NVIDIA A10G", "A10G", "1xwhole", 1,
            23028},
           {"nvidia-smi-qx-t4.xml", "nvidia-smi -q -x", "Tesla T4", "T4", "1xwhole", 1, 15360},
           {"nvidia-smi-L-h100.txt",
            "nvidia-smi -L",
            "NVIDIA H100 80GB HBM3",
            "H100-SXM5-80GB",
            "1xwhole",
            1,
            {}},
           {"nvidia-smi-L-h100-mig.txt",
            "nvidia-smi -L",
            "NVIDIA H100 80GB HBM3",
            "H100-SXM5-80GB",
            "1x3g.40gb 1x2g.20gb 2x1g.10gb",
            1,
            {}},
           {"nvidia-smi-L-h200-mig.txt",
            "nvidia-smi -L",
            "NVIDIA H200",
            "",
            "1x3g.71gb 1x2g.35gb 2x1g.18gb",
            1,
            {}},
           {"nvidia-smi-L-l40s.txt", "nvidia-smi -L", "NVIDIA L40S", "L40S", "1xwhole", 1, {}},
           {"nvidia-smi-query-gpu-h100.csv", "nvidia-smi --query-gpu", "NVIDIA H100 80GB HBM3",
            "H100-SXM5-80GB", "1xwhole", 1, 81559},
           {"nvidia-smi-query-gpu-h100-mig.csv", "nvidia-smi --query-gpu", "NVIDIA H100 80GB HBM3",
            "H100-SXM5-80GB", "", 1, 81559},
           {"nvidia-smi-query-gpu-h200-mig.csv", "nvidia-smi --query-gpu", "NVIDIA H200", "", "", 1,
            143771},
           {"nvidia-smi-query-gpu-l40s.csv", "nvidia-smi --query-gpu", "NVIDIA L40S", "L40S",
            "1xwhole", 1, 46068},
           {"nvidia-smi-table-h100.txt", "nvidia-smi", "NVIDIA H100 80GB HBM3", "H100-SXM5-80GB",
            "1xwhole", 1, 81559},
           {"nvidia-smi-table-h100-mig.txt", "nvidia-smi", "NVIDIA H100 80GB HBM3",
            "H100-SXM5-80GB", "1x3g.40gb 1x2g.20gb 2x1g.10gb", 1, 81559},
           {"nvidia-smi-table-h200-mig.txt", "nvidia-smi", "NVIDIA H200", "",
            "1x3g.71gb 1x2g.35gb 2x1g.18gb", 1, 143771},
           {"nvidia-smi-table-l40s.txt", "nvidia-smi", "NVIDIA L40S", "L40S", "1xwhole", 1, 46068},
           {"nvidia-smi-q-h100-mig.txt",
            "nvidia-smi -q",
            "NVIDIA H100 80GB HBM3",
            "H100-SXM5-80GB",
            "1x3g.40gb 1x2g.20gb 2x1g.10gb",
            1,
            {}},
           {"nvidia-smi-topo-h100.txt", "nvidia-smi topo -m", "", "", "1xwhole", 1, {}},
           {"rocm-smi-mi100_rocm602.json", "rocm-smi --json", "Arcturus GL-XL [Instinct MI100]",
            "MI100", "4xwhole", 4, 32752, kAmd},
           {"rocm-smi-rx6700xt_rocm612.json", "rocm-smi --json",
            "Navi 22 [Radeon RX 6700/6700 XT / 6800M]", "", "1xwhole", 1, 12272, kAmd},
           {"rocm-smi-vega-20-WKS-GL-XE.json", "rocm-smi --json", "Radeon Instinct MI50 32GB",
            "MI50-32GB", "1xwhole", 1, 32752, kAmd},
           {"amd-smi-static-mi210-wrapped.json", "amd-smi static --json", "AMD Instinct MI210",
            "MI210", "1xwhole", 1, 65520, kAmd},
           {"amd-smi-static-mi300x-flat.json", "amd-smi static --json", "MI300X", "MI300X",
            "1xwhole", 1, 196592, kAmd},
           {"amd-smi-static-mi300x-wrapped.json", "amd-smi static --json", "MI300X", "MI300X",
            "1xwhole", 1, 196592, kAmd},
           {"hl-smi-Q-gaudi3.csv", "hl-smi -Q", "HL-325L", "Gaudi-3-OAM", "2xwhole", 2, 131072,
            kGaudi},
           {"hl-smi-table-gaudi2.txt", "hl-smi", "HL-225", "Gaudi-2", "2xwhole", 2, 98304,
            kGaudi}}) {
    SCOPED_TRACE(right.file);
    EXPECT_EQ(recognise_host(sample(right.file)), right.question);
    Inventory inventory = read_file_alone(right.file);
    ASSERT_EQ(cards(inventory).size(), 1U);
    const CardSet& set = cards(inventory)[0];
    EXPECT_EQ(set.family, right.family);
    EXPECT_EQ(set.reported, right.reported);
    EXPECT_EQ(set.model, right.model);
    EXPECT_EQ(set.physical, right.physical);
    EXPECT_EQ(offers(set), right.offers);
    if (right.memory_mib) {
      ASSERT_TRUE(set.memory_bytes);
      EXPECT_EQ(*set.memory_bytes / kMiB, *right.memory_mib);
    } else {
      EXPECT_EQ(set.memory_bytes, std::nullopt);
    }
    for (const Offer& offer : set.offers) {
      EXPECT_EQ(offer.used, std::nullopt);
      EXPECT_EQ(offer.free, std::nullopt);
    }
  }
}

TEST(Host, VersionsOfDriverAndToolkitAreSoftware) {
  struct Case {
    std::string file;
    std::vector<Software> software;
  };
  for (const Case& c : std::vector<Case>{
           {"nvidia-smi-qx-a100-v12.xml", {{"nvidia-driver", "535.54.03"}, {"cuda", "12.2"}}},
           {"nvidia-smi-table-h100.txt", {{"nvidia-driver", "590.48.01"}, {"cuda", "13.1"}}},
           {"nvidia-smi-q-h100-mig.txt", {{"nvidia-driver", "590.48.01"}, {"cuda", "13.1"}}},
           {"nvidia-smi-query-gpu-l40s.csv", {{"nvidia-driver", "595.80"}}},
           {"rocm-smi-rx6700xt_rocm612.json", {{"amdgpu-driver", "6.3.6"}}},
           {"amd-smi-static-mi300x-wrapped.json", {{"amdgpu-driver", "6.12.12"}}},
           {"amd-smi-static-mi210-wrapped.json", {}},  // a kernel's banner is no version
           {"hl-smi-table-gaudi2.txt", {{"habanalabs-driver", "1.21.1-ead2cb0"}}},
           {"hl-smi-Q-gaudi3.csv", {{"habanalabs-driver", "1.22.1-97ec1a4"}}}})
    EXPECT_EQ(read_file_alone(c.file).nodes[0].software, c.software) << c.file;
}

TEST(Host, GpusThatAreAttachedAndNotDescribedAreNamed) {
  EXPECT_THAT(read_file_alone("nvidia-smi-qx-a100-v12.xml").unread,
              Contains(Unread{"nvidia-smi -q -x", "4 GPUs are attached and 1 described"}));
}

// ---- The bus ----------------------------------------------------------------------------------

std::vector<std::string> summary(const Inventory& inventory) {
  std::vector<std::string> lines;
  for (const CardSet& set : cards(inventory))
    lines.push_back(fmt::format("{} {} {}", info(set.family).name, set.reported,
                                set.physical ? std::to_string(*set.physical) : "unknown"));
  return lines;
}

TEST(HostPci, TheListOfSeveralMachinesIsReadRight) {
  Inventory inventory = read_file_alone("lspci-nn-mixed.txt");
  EXPECT_THAT(summary(inventory),
              UnorderedElementsAre("nvidia A30 1", "nvidia GeForce GTX 1050 1", "nvidia T4 1",
                                   "nvidia A40 unknown", "amd MI300X 1", "amd MI250X 2",
                                   "amd MI300X unknown", "intel-gaudi Gaudi-2 2",
                                   "intel-gaudi Gaudi 2E 1"));
  for (const CardSet& set : cards(inventory)) {
    EXPECT_THAT(set.offers, IsEmpty()) << set.reported;
    EXPECT_THAT(set.remark, HasSubstr("seen on the PCI bus")) << set.reported;
  }
}

TEST(HostPci, WhatTheBusAloneShowsIsPresentAndNotUsable) {
  Inventory inventory = read_file_alone("sysfs-pci-mixed.txt");
  EXPECT_THAT(summary(inventory),
              UnorderedElementsAre("nvidia A100-SXM4-80GB 2", "nvidia H100-SXM5-80GB 1",
                                   "amd MI300X 1", "amd MI250X 1", "intel-gaudi Gaudi-2 1",
                                   "tpu TPU-v5e 1", "other Flex-170 1"));
  for (const CardSet& set : cards(inventory)) EXPECT_THAT(set.offers, IsEmpty()) << set.reported;
  for (const CardSet& set : cards(inventory))
    EXPECT_EQ(set.remark.find("virtual machine") != std::string::npos,
              set.reported == "H100-SXM5-80GB" || set.family == Family::tpu)
        << set.reported;
}

TEST(HostPci, AMachineWithoutAcceleratorsHasNoneAndNoQuestionIsOpen) {
  Capture capture = capture_saying({{"/sys pci", sample("sysfs-pci-this-kind-no-gpu.txt")},
                                    {"/proc/cpuinfo", sample("proc-cpuinfo.txt")},
                                    {"/proc/meminfo", sample("proc-meminfo.txt")},
                                    {"hostname", "box\n"}});
  capture.outputs.push_back({"nvidia-smi -q -x", {}, 127, "", "not found"});
  Inventory inventory = read_well(capture);
  EXPECT_THAT(cards(inventory), IsEmpty());
  EXPECT_THAT(inventory.unread, IsEmpty());
  EXPECT_EQ(inventory.nodes[0].name, "box");
  EXPECT_EQ(inventory.nodes[0].cpu_milli, 2000);
  EXPECT_EQ(inventory.nodes[0].memory_bytes, 24683620 * kKiB);
  EXPECT_EQ(inventory.nodes[0].cpu_free_milli, std::nullopt);
}

TEST(HostPci, NoToolOnThePathIsNotNoGpu) {
  Capture with_bus = capture_saying({{"/sys pci", sample("sysfs-pci-mixed.txt")}});
  Capture without = capture_saying({{"/proc/cpuinfo", sample("proc-cpuinfo.txt")}});
  for (Capture* capture : {&with_bus, &without})
    for (std::string question :
         {"nvidia-smi -q -x", "nvidia-smi -L", "amd-smi static --json", "rocm-smi --json"})
      capture->outputs.push_back({question, {}, 127, "", "not found"});
  Inventory seen = read_well(with_bus);
  EXPECT_THAT(
      seen.unread,
      Contains(Unread{"nvidia-smi",
                      "not found on the PATH; 3 devices of its vendor are on the PCI bus"}));
  EXPECT_THAT(cards(seen), Contains(Field(&CardSet::remark, HasSubstr("nvidia-smi not found"))));
  Inventory unseen = read_well(without);
  EXPECT_THAT(
      unseen.unread,
      Contains(Unread{"nvidia-smi", "not found on the PATH; the PCI bus was not read either"}));
  EXPECT_THAT(unseen.unread, Contains(Field(&Unread::what, "/sys pci")));
}

std::string nvidia_query(const std::vector<std::string>& rows) {
  std::string text =
      "index, name, pci.bus_id, memory.total [MiB], mig.mode.current, compute_mode\n";
  for (const std::string& row : rows) text += row + "\n";
  return text;
}

TEST(HostPci, AToolsListAndTheBusAreOneSetOfDevices) {
  Capture capture = capture_saying(
      {{"/sys pci", sample("sysfs-pci-mixed.txt")},
       {"nvidia-smi --query-gpu",
        nvidia_query(
            {"0, NVIDIA A100-SXM4-80GB, 00000000:10:00.0, 81920 MiB, Disabled, Default",
             "1, NVIDIA A100-SXM4-80GB, 00000000:16:00.0, 81920 MiB, Disabled, Default"})}});
  Inventory inventory = read_well(capture);
  EXPECT_THAT(summary(inventory),
              testing::IsSupersetOf({"nvidia NVIDIA A100-SXM4-80GB 2", "nvidia H100-SXM5-80GB 1"}));
  EXPECT_EQ(offers(cards(inventory)[0]), "2xwhole");
  EXPECT_THAT(cards(inventory)[1].offers, IsEmpty());
}

TEST(HostPci, AListWithoutAddressesStandsForTheDevicesThatADriverServes) {
  Capture capture = capture_saying({{"/sys pci", sample("sysfs-pci-mixed.txt")},
                                    {"nvidia-smi -L",
                                     "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1)\n"
                                     "GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-2)\n"}});
  Inventory inventory = read_well(capture);
  int64_t nvidia = 0;
  for (const CardSet& set : cards(inventory))
    if (set.family == Family::nvidia) nvidia += set.physical.value_or(0);
  EXPECT_EQ(nvidia, 3);
  EXPECT_THAT(cards(inventory), Contains(Field(&CardSet::remark, HasSubstr("vfio-pci"))));
}

TEST(HostPci, AManagementChipAProcessorsGraphicsAndASoundFunctionAreNoDevices) {
  for (std::string line : {"07:00.0 VGA compatible controller [0300]: ASPEED [1a03:2000]",
                           "03:00.0 VGA compatible controller [0300]: Matrox [102b:0536]",
                           "00:02.0 VGA compatible controller [0300]: Intel [8086:46a6]",
                           "01:00.1 Audio device [0403]: NVIDIA [10de:0fb9]",
                           "c1:00.0 Bridge [0680]: NVIDIA NVSwitch [10de:22a3]"})
    EXPECT_THAT(cards(read_well(capture_saying(
                    {{"lspci -nn", line}, {"/proc/cpuinfo", sample("proc-cpuinfo.txt")}}))),
                IsEmpty())
        << line;
}

// ---- Conditions -------------------------------------------------------------------------------

TEST(Host, UnknownWordsAreUnknownAndALostGpuOffersNothing) {
  struct Case {
    std::string row, offers, remark;
  };
  for (const Case& c : std::vector<Case>{
           {"0, NVIDIA L4, 00000000:01:00.0, [N/A], [N/A], Default", "1xwhole", ""},
           {"0, NVIDIA L4, 00000000:01:00.0, [Not Supported], [Not Supported], [N/A]", "1xwhole",
            ""},
           {"0, NVIDIA L4, 00000000:01:00.0, ERR!, Disabled, Default", "1xwhole", ""},
           {"0, NVIDIA L4, 00000000:01:00.0, [Unknown Error], Disabled, Default", "1xwhole", ""},
           {"0, NVIDIA L4, 00000000:01:00.0, [GPU is lost], [GPU is lost], [GPU is lost]", "",
            "GPU is lost"},
           {"0, [GPU is lost], 00000000:01:00.0, [N/A], [N/A], Default", "", "GPU is lost"},
           {"0, NVIDIA L4, 00000000:01:00.0, [N/A], [Unknown Error], Default", "", "MIG mode"},
           {"0, NVIDIA L4, 00000000:01:00.0, [N/A], Disabled, Prohibited", "", "Prohibited"}}) {
    Inventory inventory =
        read_well(capture_saying({{"nvidia-smi --query-gpu", nvidia_query({c.row})}}));
    ASSERT_EQ(cards(inventory).size(), 1U) << c.row;
    const CardSet& set = cards(inventory)[0];
    EXPECT_EQ(set.physical, 1) << c.row;
    EXPECT_EQ(set.memory_bytes, std::nullopt) << c.row;
    EXPECT_EQ(offers(set), c.offers) << c.row;
    EXPECT_THAT(set.remark, HasSubstr(c.remark)) << c.row;
  }
}

TEST(Host, ExitCodesOfNvidiaSmiAreNamed) {
  struct Case {
    int exit_code;
    std::string why;
    bool reads_output;
  };
  for (const Case& c : std::vector<Case>{{6, "no device", false},
                                         {9, "driver is not loaded", false},
                                         {12, "NVML library", false},
                                         {14, "infoROM", true},
                                         {15, "GPU is lost", true},
                                         {255, "exit 255", false}}) {
    Capture capture = capture_saying({{"/proc/cpuinfo", sample("proc-cpuinfo.txt")}});
    capture.outputs.push_back(
        {"nvidia-smi -q -x",
         {},
         c.exit_code,
         sample("nvidia-smi-qx-t4.xml") + "WARNING: infoROM is corrupted at gpu 0000:00:1E.0\n",
         ""});
    Inventory inventory = read_well(capture);
    EXPECT_THAT(inventory.unread, Contains(testing::AllOf(Field(&Unread::what, "nvidia-smi -q -x"),
                                                          Field(&Unread::why, HasSubstr(c.why)))))
        << c.exit_code;
    EXPECT_EQ(cards(inventory).size(), c.reads_output ? 1U : 0U) << c.exit_code;
  }
}

TEST(Host, ADriverThatIsNotLoadedLeavesTheCardsPresent) {
  Capture capture = capture_saying({{"/sys pci", sample("sysfs-pci-mixed.txt")}});
  capture.outputs.push_back(
      {"nvidia-smi -q -x", {}, 9, "NVIDIA-SMI has failed because it couldn't communicate", ""});
  Inventory inventory = read_well(capture);
  EXPECT_THAT(
      cards(inventory),
      Contains(testing::AllOf(Field(&CardSet::reported, "A100-SXM4-80GB"),
                              Field(&CardSet::physical, 2), Field(&CardSet::offers, IsEmpty()),
                              Field(&CardSet::remark, HasSubstr("driver is not loaded")))));
}

TEST(Host, ALostGpuIsCountedAndNotOffered) {
  Inventory inventory =
      read_well(capture_saying({{"nvidia-smi -L",
                                 "GPU 0: NVIDIA L4 (UUID: GPU-1)\n"
                                 "Unable to determine the device handle for GPU1: 0000:02:00.0: "
                                 "GPU is lost.  Reboot the system\n"}}));
  ASSERT_EQ(cards(inventory).size(), 2U);
  EXPECT_EQ(offers(cards(inventory)[0]), "1xwhole");
  EXPECT_EQ(offers(cards(inventory)[1]), "");
  EXPECT_EQ(cards(inventory)[1].physical, 1);
}

TEST(HostMig, ComputeInstancesShareTheirGpuInstance) {
  struct Case {
    std::vector<std::string> lines;
    std::string offers;
  };
  for (const Case& c :
       std::vector<Case>{{{"1c.3g.71gb", "2c.3g.71gb"}, "1x3g.71gb"},
                         {{"1c.3g.71gb", "1c.3g.71gb", "1c.3g.71gb", "1c.3g.71gb"}, "2x3g.71gb"},
                         {{"2c.3g.71gb", "2c.3g.71gb"}, "2x3g.71gb"},
                         {{"3g.71gb", "3g.71gb"}, "2x3g.71gb"},
                         // slices that no card has are not added up past int64
                         {{"5000000000000000000c.9000000000000000000g.71gb",
                           "5000000000000000000c.9000000000000000000g.71gb"},
                          "2x9000000000000000000g.71gb"},
                         {{"1g.18gb+me", "1g.18gb"}, "1x1g.18gb+me 1x1g.18gb"}}) {
    std::string text = "GPU 0: NVIDIA H200 (UUID: GPU-1)\n";
    for (const std::string& line : c.lines)
      text += fmt::format("  MIG {:<11} Device  0: (UUID: MIG-1)\n", line);
    EXPECT_EQ(offers(cards(read_well(capture_saying({{"nvidia-smi -L", text}})))[0]), c.offers)
        << text;
  }
}

TEST(HostMig, AListOfNamesFillsWhatAQueryLeavesOpen) {
  Inventory inventory = read_well(
      capture_saying({{"nvidia-smi --query-gpu", sample("nvidia-smi-query-gpu-h100-mig.csv")},
                      {"nvidia-smi -L", sample("nvidia-smi-L-h100-mig.txt")}}));
  ASSERT_EQ(cards(inventory).size(), 1U);
  EXPECT_EQ(offers(cards(inventory)[0]), "1x3g.40gb 1x2g.20gb 2x1g.10gb");
  EXPECT_EQ(cards(inventory)[0].physical, 1);
}

TEST(HostMig, InstancesThatAQueryCannotListAreUnknownAndNotNone) {
  Inventory inventory = read_file_alone("nvidia-smi-query-gpu-h100-mig.csv");
  EXPECT_THAT(cards(inventory)[0].remark, HasSubstr("MIG is on"));
  EXPECT_THAT(cards(inventory)[0].offers_unread, ElementsAre(Sharing::mig));
  Inventory listed = read_well(
      capture_saying({{"nvidia-smi --query-gpu", sample("nvidia-smi-query-gpu-h100-mig.csv")},
                      {"nvidia-smi -L", "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n"}}));
  EXPECT_THAT(cards(listed)[0].offers, IsEmpty());
  EXPECT_THAT(cards(listed)[0].offers_unread, IsEmpty());
}

TEST(Host, FilesOfProcLeaveTheDevicesOfEveryFamilyUnread) {
  const Capture files = capture_saying({{"/proc/cpuinfo", sample("proc-cpuinfo.txt")},
                                        {"/proc/meminfo", sample("proc-meminfo.txt")}});
  EXPECT_EQ(read_well(files).nodes[0].devices_unread, device_families());
  Capture with_tool = files;
  with_tool.outputs.push_back({"nvidia-smi -q -x", {}, 0, sample("nvidia-smi-qx-t4.xml"), ""});
  EXPECT_THAT(read_well(with_tool).nodes[0].devices_unread,
              ElementsAre(Family::amd, Family::intel_gaudi, Family::tpu));
  Capture with_bus = files;
  with_bus.outputs.push_back({"/sys pci", {}, 0, sample("sysfs-pci-this-kind-no-gpu.txt"), ""});
  EXPECT_THAT(read_well(with_bus).nodes[0].devices_unread, IsEmpty());
}

TEST(HostPci, WhetherACardOfItsVendorsDriverCanBeAskedForIsNotKnownUntilAToolSpeaks) {
  struct Case {
    std::string rule, driver;
    int exit_code;  // of nvidia-smi
    bool open;
  };
  for (const Case& c :
       std::vector<Case>{{"the vendor's driver, no tool", "nvidia", 127, true},
                         {"the vendor's driver, a failing tool", "nvidia", 255, true},
                         {"a driver that the tool denies", "nvidia", 9, false},
                         {"of a virtual machine", "vfio-pci", 127, false},
                         {"another driver", "nouveau", 127, false},
                         {"no driver", "", 127, false}}) {
    const std::string at = "/sys/bus/pci/devices/0000:10:00.0/";
    std::string bus = at + "class=0x030200\n" + at + "vendor=0x10de\n" + at + "device=0x20b2\n";
    if (!c.driver.empty()) bus += at + "driver->" + c.driver + "\n";
    Capture capture = capture_saying({{"/sys pci", bus}});
    capture.outputs.push_back({"nvidia-smi -q -x", {}, c.exit_code, "", "went wrong"});
    const CardSet set = cards(read_well(capture)).at(0);
    EXPECT_EQ(set.physical, 1) << c.rule;
    EXPECT_THAT(set.offers, IsEmpty()) << c.rule;
    EXPECT_EQ(!set.offers_unread.empty(), c.open) << c.rule;
  }
  const Inventory without_drivers = read_file_alone("lspci-nn-mixed.txt");
  for (const CardSet& set : cards(without_drivers))
    EXPECT_FALSE(set.offers_unread.empty()) << "lspci -nn names no driver: " << set.reported;
}

TEST(HostMig, AnInstanceOfUnknownSizeKeepsNoGuessedName) {
  std::string xml = sample("nvidia-smi-qx-a100-mig.xml");
  for (size_t at; (at = xml.find("<total>19968 MiB</total>")) != std::string::npos;)
    xml.replace(at, 24, "<total>30000 MiB</total>");
  const CardSet set = cards(read_well(capture_saying({{"nvidia-smi -q -x", xml}})))[0];
  EXPECT_EQ(offers(set), "2x");
  EXPECT_THAT(set.remark, HasSubstr("no known profile"));
}

// ---- NVML ------------------------------------------------------------------------------------

TEST(Host, NvmlSaysTheSameAsTheTool) {
  constexpr std::string_view kReport =
      R"({"driver_version":"510.47.03","cuda_version":"11.6","gpus":[{"name":"NVIDIA A100-SXM4-40GB",)"
      R"("bus_id":"00000000:00:04.0","memory_bytes":42949672960,"mig_mode":"Enabled","mig_devices":[)"
      R"({"name":"NVIDIA A100-SXM4-40GB MIG 3g.20gb","gpu_instance":1,"compute_instance":0},)"
      R"({"gpu_instance":2,"copy_engines":3,"ofa_engines":0,"memory_bytes":20937965568}]},)"
      R"({"error":"GPU is lost"}]})";
  EXPECT_EQ(recognise_host(kReport), "nvml");
  Inventory inventory = read_well(capture_saying({{"nvml", std::string(kReport)}}));
  ASSERT_EQ(cards(inventory).size(), 2U);
  EXPECT_EQ(offers(cards(inventory)[0]), "2x3g.20gb");
  EXPECT_EQ(cards(inventory)[1].remark, "GPU is lost");
  EXPECT_THAT(inventory.nodes[0].software, Contains(Software{"cuda", "11.6"}));
}

// ---- Limits ----------------------------------------------------------------------------------

TEST(HostLimits, UsableIsTheLesserOfMachineAndGroupAndSaysWhich) {
  struct Case {
    std::string facts;
    int64_t cpu_milli, memory_bytes;
    std::string said;
  };
  const int64_t memory = 24683620 * kKiB;
  for (const Case& c : std::vector<Case>{
           {"/sys/fs/cgroup/cpu.max=max 100000\n/sys/fs/cgroup/memory.max=max\n", 2000, memory,
            "up"},
           {"/sys/fs/cgroup/cpu.max=50000 100000\n", 500, memory,
            "cpu 0.5 of 2 (/sys/fs/cgroup/cpu.max)"},
           {"/sys/fs/cgroup/cpu.max=400000 100000\n", 2000, memory, "up"},
           {"/sys/fs/cgroup/a/memory.max=4294967296\n/sys/fs/cgroup/memory.max=8589934592\n", 2000,
            int64_t{4} << 30, "(/sys/fs/cgroup/a/memory.max)"},
           {"/sys/fs/cgroup/cpuset.cpus.effective=1\n", 1000, memory, "cpu 1 of 2"},
           {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us=-1\n/sys/fs/cgroup/memory/"
            "memory.limit_in_bytes=9223372036854771712\n",
            2000, memory, "up"},
           {"/sys/fs/cgroup/cpu/j/cpu.cfs_quota_us=150000\n/sys/fs/cgroup/cpu/j/"
            "cpu.cfs_period_us=100000\n",
            1500, memory, "cpu 1.5 of 2"}}) {
    Inventory inventory = read_well(capture_saying({{"/proc/cpuinfo", sample("proc-cpuinfo.txt")},
                                                    {"/proc/meminfo", sample("proc-meminfo.txt")},
                                                    {"cgroup", c.facts}}));
    EXPECT_EQ(inventory.nodes[0].cpu_milli, c.cpu_milli) << c.facts;
    EXPECT_EQ(inventory.nodes[0].memory_bytes, c.memory_bytes) << c.facts;
    EXPECT_THAT(inventory.nodes[0].state, HasSubstr(c.said)) << c.facts;
  }
}

// ---- What cannot be read ----------------------------------------------------------------------

TEST(Host, AShapeItDoesNotKnowIsANamedError) {
  struct Case {
    std::string question, text, place;
  };
  for (const Case& c : std::vector<Case>{
           {"nvidia-smi -q -x", "<nvidia_smi_log><gpu id=\"0\">", "cut off"},
           {"nvidia-smi -q -x", "<a></b>", "line 1"},
           {"nvidia-smi -q -x", "<nvidia_smi_log><gpu></gpu></nvidia_smi_log>", "product_name"},
           {"nvidia-smi -q -x", "<!DOCTYPE x [<!ENTITY a \"b\">]><nvidia_smi_log/>",
            "declarations"},
           {"nvidia-smi -q -x",
            "<nvidia_smi_log><attached_gpus>many</attached_gpus></nvidia_smi_log>",
            "attached_gpus"},
           {"nvidia-smi --query-gpu", "name, memory.total [MiB]\nL4, lots\n", "line 2"},
           {"nvidia-smi --query-gpu", "name, memory.total [MiB]\nL4\n", "line 2"},
           {"nvidia-smi -L", "hello\n", "line 1"},
           {"nvidia-smi", "hello\n", "no table"},
           {"nvml", "{}", "/gpus"},
           {"amd-smi static --json", "{\"gpu\": []}", "no list"},
           {"amd-smi static --json",
            "[{\"gpu\":0,\"asic\":{},\"vram\":{\"size\":{\"value\":192,\"unit\":\"GB\"}}}]",
            "entry 0"},
           {"rocm-smi --json", "{\"disk0\": {}}", "disk0"},
           {"hl-smi -Q", "0, x, RTX, 1, 2 MiB\n", "line 1"},
           {"lspci -nn", "00:02.0 VGA compatible controller: Intel\n", "line 1"},
           {"/sys pci", "/sys/bus/pci/devices/0000:07:00.0/class=red\n", "line 1"},
           {"/proc/cpuinfo", "nothing", "/proc/cpuinfo"},
           {"/proc/meminfo", "MemTotal: lots", "/proc/meminfo"},
           {"cgroup", "/sys/fs/cgroup/cpu.max=fast\n", "cpu.max"}}) {
    auto inventory = read_host(capture_saying({{c.question, c.text}}));
    ASSERT_FALSE(inventory) << c.question << ": " << c.text;
    EXPECT_EQ(inventory.error().code, Code::unreadable_output) << c.text;
    EXPECT_THAT(inventory.error().message, HasSubstr(c.place)) << c.text;
  }
}

TEST(Host, WhatIsNoToolOfAHostIsNotRecognised) {
  for (std::string text :
       {"", "hello", "{}", "[]", "<html></html>", "NodeName=a", "STATE NNODES NODELIST"})
    EXPECT_EQ(recognise_host(text), std::nullopt) << text;
}

}  // namespace
}  // namespace exa
