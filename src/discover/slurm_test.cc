#include <algorithm>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "base/json.h"
#include "base/quantity.h"
#include "base/text.h"
#include "discover/readers.h"

namespace exa {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::nullopt_t kUnknown = std::nullopt;

std::string sample(const std::string& file) {
  std::ifstream in(std::string(EXA_TESTDATA) + "/slurm/" + file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Capture capture_of(const std::string& name, std::string text) {
  Capture capture;
  capture.kind = ClusterKind::slurm;
  capture.outputs.push_back({name, {}, 0, std::move(text), ""});
  return capture;
}

Inventory read(const std::string& name, const std::string& file) {
  auto inventory = read_slurm(capture_of(name, sample(file)));
  EXPECT_TRUE(inventory) << file << ": " << inventory.error().message;
  return inventory ? *inventory : Inventory();
}

const Node& node(const Inventory& inventory, std::string_view name) {
  for (const Node& node : inventory.nodes)
    if (node.name == name) return node;
  ADD_FAILURE() << "no node " << name;
  static const Node kNone;
  return kNone;
}

// scontrol's text with this instead of a node's Gres and GresUsed.
Inventory with_gres(const std::string& gres, const std::string& used) {
  std::string text =
      "NodeName=n1 CPUTot=64 CPUAlloc=0 RealMemory=512000 AllocMem=0 State=IDLE\n   "
      "CfgTRES=cpu=64\n   AllocTRES=\n   Gres=" +
      gres + "\n";
  if (!used.empty()) text += "   GresUsed=" + used + "\n";
  auto inventory = read_slurm(capture_of("scontrol show node", text));
  EXPECT_TRUE(inventory) << inventory.error().message;
  return inventory ? *inventory : Inventory();
}

TEST(SlurmSentinels, ACountThatIsNotSetLeavesTheDevicesThereAndTheirNumberOpen) {
  for (const std::string unset : {"4294967294", "4294967295", "-2", "18446744073709551614"}) {
    const Inventory inventory = with_gres("gpu:a100:" + unset, "");
    const CardSet& cards = node(inventory, "n1").cards.at(0);
    EXPECT_EQ(cards.family, Family::nvidia);
    EXPECT_EQ(cards.physical, kUnknown) << unset;
    EXPECT_THAT(cards.offers, IsEmpty());
    EXPECT_THAT(cards.offers_unread, ElementsAre(Sharing::whole));
  }
}

TEST(SlurmSentinels, AUseThatIsNotSetIsNotNone) {
  const Inventory inventory = with_gres("gpu:a100:4", "gpu:a100:4294967294(IDX:N/A)");
  const Offer& offer = node(inventory, "n1").cards.at(0).offers.at(0);
  EXPECT_EQ(offer.units, 4);
  EXPECT_EQ(offer.used, kUnknown);
  EXPECT_EQ(offer.free, kUnknown);
}

TEST(SlurmSentinels, MoreDevicesThanAMachineHasAreRefusedByName) {
  std::string text =
      "NodeName=n1 CPUTot=64 CPUAlloc=0 RealMemory=512000 AllocMem=0 State=IDLE\n   "
      "CfgTRES=cpu=64\n   AllocTRES=\n   Gres=gpu:a100:4097\n";
  const auto inventory = read_capture(capture_of("scontrol show node", text));
  ASSERT_FALSE(inventory);
  EXPECT_EQ(inventory.error().code, Code::unreadable_output);
  EXPECT_THAT(inventory.error().message, HasSubstr("node n1: 4097 is no number of devices"));
}

// A row of the table "The right reading" of testdata/slurm/README.md.
struct Reading {
  std::string resource;
  int64_t total = 0;
  std::optional<int64_t> used;
  std::optional<int64_t> free;  // and usable
  int64_t reserved = 0;
  int64_t powered_down = 0;
  int64_t unusable = 0;  // neither used nor to be had, for another reason
  bool operator==(const Reading&) const = default;
};

void PrintTo(const Reading& r, std::ostream* out) {
  const auto show = [](std::optional<int64_t> n) { return n ? std::to_string(*n) : "?"; };
  *out << r.resource << " total " << r.total << " used " << show(r.used) << " free " << show(r.free)
       << " reserved " << r.reserved << " powered down " << r.powered_down << " unusable "
       << r.unusable;
}

void add(std::optional<int64_t>& sum, std::optional<int64_t> part) {
  if (sum && part) {
    *sum += *part;
  } else {
    sum.reset();
  }
}

std::vector<Reading> readings(const Inventory& inventory) {
  std::map<std::string, Reading> by_resource;
  for (const Node& node : inventory.nodes) {
    for (const CardSet& set : node.cards) {
      for (const Offer& offer : set.offers) {
        auto [at, is_new] = by_resource.try_emplace(offer.resource);
        Reading& sum = at->second;
        if (is_new) sum = {offer.resource, 0, 0, 0, 0, 0, 0};
        sum.total += offer.units;
        add(sum.used, offer.used);
        const int64_t lost = offer.units - offer.used.value_or(0);
        if (node.usable()) {
          add(sum.free, offer.free);
        } else if (node.health == Health::reserved) {
          sum.reserved += lost;
        } else if (node.health == Health::powered_down) {
          sum.powered_down += lost;
        } else {
          sum.unusable += lost;
        }
      }
    }
  }
  std::vector<Reading> rows;
  for (auto& [resource, row] : by_resource) rows.push_back(row);
  return rows;
}

constexpr std::string_view kMig = "gpu:nvidia_a100-sxm4-80gb";

std::vector<Reading> whole_table() {
  return {
      {"gpu", 4, 1, 3, 0, 0, 0},
      {"gpu:a100", 20, 3, 3, 4, 0, 10},
      {"gpu:a10g", 2, 1, 0, 0, 1, 0},
      {"gpu:h100", 16, 3, 5, 0, 0, 8},
      {"gpu:l40s", 2, 0, 1, 0, 0, 0},
      {"gpu:mi300x", 8, 8, 0, 0, 0, 0},
      {std::string(kMig), 2, 0, 2, 0, 0, 0},
      {std::string(kMig) + "_1g.10gb", 7, 2, 5, 0, 0, 0},
      {std::string(kMig) + "_3g.40gb", 2, 0, 2, 0, 0, 0},
      {"hpu:gaudi2", 8, 3, 5, 0, 0, 0},
      {"shard:l40s", 16, 4, 12, 0, 0, 0},
  };
}

// The table with what a source does not tell made unknown.
std::vector<Reading> table_without(const std::vector<std::string>& used_unknown,
                                   const std::vector<std::string>& free_unknown) {
  std::vector<Reading> rows = whole_table();
  for (Reading& row : rows) {
    if (std::ranges::find(used_unknown, row.resource) != used_unknown.end()) {
      row.used = row.free = kUnknown;
    }
    if (std::ranges::find(free_unknown, row.resource) != free_unknown.end()) row.free = kUnknown;
  }
  return rows;
}

// Without any word on use, what is lost on unusable nodes includes what is in use there.
std::vector<Reading> table_without_use() {
  std::vector<Reading> rows = whole_table();
  for (Reading& row : rows) {
    row.used = row.free = kUnknown;
    if (row.resource == "gpu:a100") row.unusable = 12;
  }
  return rows;
}

struct Source {
  std::string name;
  std::string file;
  std::vector<Reading> table;
};

std::vector<Source> sources() {
  const std::string mig(kMig);
  // gres/gpu of mig-01 counts cards and slices in one number; shards sit on nobody knows what cards
  const auto by_tres = table_without({mig, mig + "_1g.10gb", mig + "_3g.40gb"}, {"gpu:l40s"});
  const auto by_used_list = table_without({"shard:l40s"}, {});
  return {
      {"scontrol show node", "scontrol-show-node.txt", by_tres},
      {"scontrol show node", "scontrol-show-node-oneline.txt", by_tres},
      {"sinfo -N -O", "sinfo-N-O.txt", by_used_list},
      {"sinfo -N -o", "sinfo-N-o.txt", table_without_use()},
      {"sinfo --json", "sinfo.json", whole_table()},
      {"slurmrestd nodes", "rest-nodes-v0.0.38.json", whole_table()},
      {"scontrol show node", "without-accounting/scontrol-show-node.txt", table_without_use()},
      {"scontrol show node", "without-accounting/scontrol-show-node-oneline.txt",
       table_without_use()},
      {"sinfo -N -O", "without-accounting/sinfo-N-O.txt", by_used_list},
      {"sinfo --json", "without-accounting/sinfo.json", by_used_list},
  };
}

TEST(SlurmSamples, EveryFormatGivesTheRightReading) {
  for (const Source& source : sources()) {
    SCOPED_TRACE(source.file);
    const Inventory inventory = read(source.name, source.file);
    EXPECT_EQ(inventory.kind, ClusterKind::slurm);
    EXPECT_EQ(inventory.tool, source.name);
    EXPECT_EQ(inventory.nodes.size(), 16u);
    EXPECT_THAT(inventory.unread, IsEmpty());
    EXPECT_THAT(readings(inventory), ::testing::ElementsAreArray(source.table));
  }
}

TEST(SlurmSamples, EveryFormatGivesTheSameNodes) {
  const struct {
    std::string name;
    Health health;
    int64_t cpus;
    int64_t cpus_free;
    int64_t memory_mib;
    std::optional<int64_t> memory_free_mib;  // where the format tells
    std::vector<std::string> partitions;
    std::string reason;
  } rows[] = {
      {"a100-01", Health::usable, 64, 56, 512000, 448000, {"gpu", "overlap"}, ""},
      {"a100-02",
       Health::draining,
       64,
       56,
       512000,
       448000,
       {"gpu", "overlap"},
       "scheduled firmware update"},
      {"bad-01",
       Health::down,
       64,
       64,
       512000,
       512000,
       {"gpu"},
       "gres/gpu count reported lower than configured (3 < 4)"},
      {"cloud-01", Health::usable, 16, 15, 64000, 63000, {"cloud"}, ""},
      {"cloud-02", Health::powered_down, 16, 16, 64000, 64000, {"cloud"}, ""},
      {"cpu-01", Health::usable, 16, 0, 64000, 48000, {"cpu", "overlap"}, ""},
      {"cpu-02", Health::usable, 16, 16, 64000, 64000, {"cpu"}, ""},
      {"down-01", Health::down, 64, 64, 512000, 512000, {"gpu"}, "power supply failed"},
      {"drain-01", Health::drained, 64, 64, 512000, 512000, {"gpu"}, "bad NVLink on GPU 3"},
      {"gaudi-01", Health::usable, 64, 60, 512000, 502000, {"habana"}, ""},
      {"h100-01", Health::usable, 64, 52, 512000, 412000, {"closed", "gpu", "private"}, ""},
      {"mi300-01", Health::usable, 64, 0, 512000, 0, {"amd", "overlap"}, ""},
      {"mig-01", Health::usable, 64, 60, 512000, 492000, {"mig"}, ""},
      {"plain-01", Health::usable, 64, 60, 512000, 502000, {"plain"}, ""},
      {"resv-01", Health::reserved, 64, 64, 512000, 512000, {"gpu"}, ""},
      {"shard-01", Health::usable, 64, 60, 512000, 492000, {"mig"}, ""},
  };
  for (const Source& source : sources()) {
    const Inventory inventory = read(source.name, source.file);
    ASSERT_EQ(inventory.nodes.size(), std::size(rows));
    for (size_t i = 0; i < std::size(rows); ++i) {
      SCOPED_TRACE(source.file + " " + rows[i].name);
      const Node& node = inventory.nodes[i];
      EXPECT_EQ(node.name, rows[i].name);
      EXPECT_EQ(name(node.health), name(rows[i].health));
      EXPECT_EQ(node.cpu_milli, rows[i].cpus * 1000);
      EXPECT_EQ(node.cpu_free_milli, rows[i].cpus_free * 1000);
      EXPECT_EQ(node.memory_bytes, rows[i].memory_mib * kMiB);
      if (source.name == "sinfo -N -o") {  // %e is what the operating system has left
        EXPECT_EQ(node.memory_free_bytes, std::nullopt);
      } else {
        EXPECT_EQ(node.memory_free_bytes, *rows[i].memory_free_mib * kMiB);
      }
      EXPECT_EQ(node.partitions, rows[i].partitions);
      EXPECT_EQ(node.reason, rows[i].reason);
    }
    EXPECT_THAT(node(inventory, "a100-01").features,
                ElementsAre("a100", "nvlink", "ib", "gpu80g", "cuda-12.4"));
    EXPECT_THAT(node(inventory, "a100-01").software, ElementsAre(Software{"cuda", "12.4"}));
    EXPECT_THAT(node(inventory, "mi300-01").software, ElementsAre(Software{"rocm", "6.1"}));
    EXPECT_THAT(node(inventory, "plain-01").features, IsEmpty());
  }
}

TEST(SlurmSamples, FamiliesAndModelsAreAsTheTypesSay) {
  const struct {
    std::string node;
    Family family;
    std::string reported;
    std::string model;
    std::optional<int64_t> physical;
  } rows[] = {
      {"a100-01", Family::nvidia, "a100", "", 4},  // which A100 is not said
      {"mi300-01", Family::amd, "mi300x", "MI300X", 8},
      {"gaudi-01", Family::intel_gaudi, "gaudi2", "Gaudi-2", 8},
      {"plain-01", Family::other, "", "", 4},
      {"shard-01", Family::nvidia, "l40s", "L40S", 2},
      {"mig-01", Family::nvidia, "nvidia_a100-sxm4-80gb", "A100-SXM4-80GB", 2},
  };
  for (const Source& source : sources()) {
    const Inventory inventory = read(source.name, source.file);
    for (const auto& row : rows) {
      SCOPED_TRACE(source.file + " " + row.node);
      const auto& cards = node(inventory, row.node).cards;
      ASSERT_FALSE(cards.empty());
      EXPECT_EQ(cards[0].family, row.family);
      EXPECT_EQ(cards[0].reported, row.reported);
      EXPECT_EQ(cards[0].model, row.model);
      EXPECT_EQ(cards[0].physical, row.physical);
    }
    const auto& mig = node(inventory, "mig-01").cards;
    ASSERT_EQ(mig.size(), 2u);  // whole cards, and slices of others
    EXPECT_EQ(mig[1].physical, std::nullopt);
    EXPECT_EQ(mig[1].model, "A100-SXM4-80GB");
    ASSERT_EQ(mig[1].offers.size(), 2u);
    EXPECT_EQ(mig[1].offers[0].mig_profile, "1g.10gb");
    EXPECT_EQ(node(inventory, "bad-01").cards[0].remark, "3 of 4 configured found");
  }
}

// ---- the other outputs of a capture -------------------------------------------------------------

TEST(SlurmCapture, ConfigurationReservationsAndVersionAreAdded) {
  Capture capture = capture_of("scontrol show node", sample("scontrol-show-node-oneline.txt"));
  capture.outputs.push_back(
      {"scontrol show config", {}, 0, sample("scontrol-show-config.txt"), ""});
  capture.outputs.push_back(
      {"scontrol show reservation -o", {}, 0, sample("scontrol-show-reservation-oneline.txt"), ""});
  capture.outputs.push_back(
      {"scontrol show partition -o", {}, 0, sample("scontrol-show-partition-oneline.txt"), ""});
  const auto inventory = read_slurm(capture);
  ASSERT_TRUE(inventory) << inventory.error().message;
  EXPECT_EQ(inventory->tool_version, "22.05.8");
  EXPECT_EQ(inventory->cluster_name, "exatest");
  EXPECT_EQ(node(*inventory, "resv-01").reason, "reservation course");
  EXPECT_THAT(inventory->unread, IsEmpty());
}

TEST(SlurmCapture, JobsTellTheShardsWhenAccountingDoesNot) {
  Capture capture = capture_of("sinfo -N -O", sample("without-accounting/sinfo-N-O.txt"));
  capture.outputs.push_back({"squeue --json", {}, 0, sample("squeue.json"), ""});
  capture.outputs.push_back(
      {"scontrol show config", {}, 0, sample("scontrol-show-config.txt"), ""});
  const auto inventory = read_slurm(capture);
  ASSERT_TRUE(inventory) << inventory.error().message;
  EXPECT_THAT(readings(*inventory), ::testing::ElementsAreArray(whole_table()));
}

TEST(SlurmCapture, JobsThatMayBeHiddenTellNothing) {
  Capture capture = capture_of("sinfo -N -O", sample("without-accounting/sinfo-N-O.txt"));
  capture.outputs.push_back({"squeue --json", {}, 0, sample("squeue.json"), ""});
  for (const std::string config : {"", "PrivateData = jobs,cloud\n"}) {
    Capture with_config = capture;
    if (!config.empty()) with_config.outputs.push_back({"scontrol show config", {}, 0, config, ""});
    const auto inventory = read_slurm(with_config);
    ASSERT_TRUE(inventory) << inventory.error().message;
    EXPECT_THAT(readings(*inventory),
                ::testing::ElementsAreArray(table_without({"shard:l40s"}, {})));
    ASSERT_EQ(inventory->unread.size(), 1u);
    EXPECT_EQ(inventory->unread[0].what, "squeue --json");
  }
}

TEST(SlurmCapture, WhatFailedBesideTheNodesIsNoted) {
  Capture capture = capture_of("scontrol show node", sample("scontrol-show-node.txt"));
  capture.outputs.push_back({"scontrol show config", {}, 1, "", "Access denied\n"});
  const auto inventory = read_slurm(capture);
  ASSERT_TRUE(inventory);
  EXPECT_THAT(inventory->unread, ElementsAre(Unread{"scontrol show config", "Access denied"}));
}

TEST(SlurmCapture, ACaptureWithoutAListOfNodesFails) {
  EXPECT_EQ(read_slurm(capture_of("scontrol show config", "ClusterName = x\n")).error().code,
            Code::unreadable_output);
  Capture failed = capture_of("scontrol show node", "");
  failed.outputs[0].exit_code = 1;
  failed.outputs[0].err = "slurm_load_node error: Unable to contact slurm controller";
  EXPECT_THAT(read_slurm(failed).error().message, HasSubstr("Unable to contact"));
}

TEST(SlurmCapture, AnErrorAnswerOfTheServerIsItsError) {
  const auto inventory =
      read_slurm(capture_of("slurmrestd nodes", sample("rest-node-nosuch.json")));
  ASSERT_FALSE(inventory);
  EXPECT_THAT(inventory.error().message, HasSubstr("Invalid node name specified"));
}

// ---- shapes of other releases -------------------------------------------------------------------

// The JSON of 22.05 in the shape of 23.02 and later.
json::value in_later_shape(json::value document) {
  for (json::value& node : document.as_object()["nodes"].as_array()) {
    json::object& fields = node.as_object();
    json::array states = {json::string(fields["state"].as_string())};
    for (char& c : states[0].as_string()) c = static_cast<char>(std::toupper(c));
    for (const json::value& flag : fields["state_flags"].as_array()) states.push_back(flag);
    fields["state"] = states;
    fields.erase("state_flags");
    for (const std::string_view key : {"features", "active_features"}) {
      json::array words;
      for (const auto word : split(fields[key].as_string(), ','))
        if (!word.empty()) words.push_back(json::string(word));
      fields[key] = words;
    }
    fields["effective_cpus"] = fields["cpus"];
    fields["specialized_memory"] = 0;
    for (const std::string_view key : {"alloc_memory", "alloc_cpus"}) {
      fields[key] = {{"set", true}, {"infinite", false}, {"number", fields[key]}};
    }
    fields["free_mem"] = {{"set", false}, {"infinite", false}, {"number", 0}};
  }
  document.as_object()["meta"] = {{"command", json::array{"show", "node"}},
                                  {"slurm", {{"release", "23.11.4"}, {"cluster", "exatest"}}}};
  return document;
}

TEST(SlurmReleases, ObjectsForNumbersAndListsOfStatesReadAlike) {
  const auto old_shape = parse_json(sample("sinfo.json"), "sinfo.json", tool_output_limits());
  ASSERT_TRUE(old_shape);
  const std::string text = to_text(in_later_shape(*old_shape));
  ASSERT_EQ(recognise_slurm(text), "scontrol show node --json");
  const auto later = read_slurm(capture_of("scontrol show node --json", text));
  ASSERT_TRUE(later) << later.error().message;
  EXPECT_EQ(later->tool_version, "23.11.4");
  EXPECT_EQ(later->cluster_name, "exatest");
  EXPECT_EQ(later->nodes, read("sinfo --json", "sinfo.json").nodes);
}

// One node of JSON with a field replaced.
Result<Inventory> with_field(const std::string& key, const std::string& value) {
  json::value document = {{"errors", json::array{}},
                          {"nodes",
                           {{{"name", "n1"},
                             {"state", {"IDLE"}},
                             {"gres", "gpu:a100:4"},
                             {"gres_used", "gpu:a100:0"},
                             {"cpus", 64},
                             {"alloc_cpus", 0},
                             {"real_memory", 512000},
                             {"alloc_memory", 0},
                             {"partitions", json::array{"gpu"}}}}}};
  document.as_object()["nodes"].as_array()[0].as_object()[key] = json::parse(value);
  return read_slurm(capture_of("slurmrestd nodes", to_text(document)));
}

TEST(SlurmReleases, NumbersThatStandForNotSetAreUnknown) {
  for (const std::string value : {"4294967294", "4294967295", "-2", "18446744073709551614", "null",
                                  R"({"set":false,"infinite":false,"number":0})",
                                  R"({"set":true,"infinite":true,"number":0})",
                                  R"({"set":true,"infinite":false,"number":4294967294})"}) {
    const auto memory = with_field("real_memory", value);
    ASSERT_TRUE(memory) << value << ": " << memory.error().message;
    EXPECT_EQ(memory->nodes[0].memory_bytes, std::nullopt) << value;
    EXPECT_EQ(memory->nodes[0].memory_free_bytes, std::nullopt) << value;
    const auto allocated = with_field("alloc_cpus", value);
    ASSERT_TRUE(allocated);
    EXPECT_EQ(allocated->nodes[0].cpu_milli, 64000);
    EXPECT_EQ(allocated->nodes[0].cpu_free_milli, std::nullopt) << value;
  }
  EXPECT_EQ(with_field("real_memory", "1")->nodes[0].memory_bytes, std::nullopt);
  EXPECT_EQ(with_field("specialized_memory", "12000")->nodes[0].memory_bytes, 500000 * kMiB);
  EXPECT_EQ(with_field("effective_cpus", "60")->nodes[0].cpu_milli, 60000);
}

TEST(SlurmReleases, AShapeThatIsNotKnownIsANamedError) {
  const struct {
    std::string key;
    std::string value;
  } rows[] = {
      {"cpus", "\"64\""},
      {"real_memory", "[512000]"},
      {"real_memory", "-1.5"},
      {"state", "[\"NEWSTATE\"]"},
      {"state", "{}"},
      {"gres", "[\"gpu:4\"]"},
      {"gres_used", "\"gpu:a100:x,\""},
      {"partitions", "[1]"},
      {"real_memory", R"({"number":1})"},
      {"cpus", "9999999999999"},
      {"state", "[]"},
      {"alloc_memory", "true"},
  };
  for (const auto& row : rows) {
    const auto inventory = with_field(row.key, row.value);
    ASSERT_FALSE(inventory) << row.key << " " << row.value;
    EXPECT_EQ(inventory.error().code, Code::unreadable_output);
    EXPECT_THAT(inventory.error().message, HasSubstr("node n1")) << row.key;
    EXPECT_EQ(inventory.error().problems.at(0).where, "/nodes/0");
  }
}

TEST(SlurmReleases, SummedSinfoPointsToTheListing) {
  const auto inventory =
      read_slurm(capture_of("sinfo --json", R"({"sinfo":[],"meta":{"slurm":{}},"errors":[]})"));
  ASSERT_FALSE(inventory);
  EXPECT_THAT(inventory.error().message, HasSubstr("scontrol show node --json"));
}

// ---- scontrol text ------------------------------------------------------------------------------

std::string record(const std::string& middle, const std::string& end = "") {
  return "NodeName=n1 Arch=x86_64 CoresPerSocket=16 CPUAlloc=8 CPUTot=64 CPULoad=4.03 "
         "AvailableFeatures=x ActiveFeatures=x " +
         middle + " Partitions=p CfgTRES=cpu=64 AllocTRES= CapWatts=n/a" + end + "\n";
}

TEST(SlurmText, TheReasonCannotPoseAsFields) {
  const auto inventory = read_slurm(capture_of(
      "scontrol show node",
      record(
          "Gres=gpu:a100:4 RealMemory=1000 AllocMem=0 State=IDLE+DRAIN",
          " Reason=GresUsed=gpu:a100:0 State=IDLE [broken] fan [root@2026-11-30T07:09:26]        "
          "MemSpecLimit=5 Comment=x")));
  ASSERT_TRUE(inventory) << inventory.error().message;
  const Node& node = inventory->nodes[0];
  EXPECT_EQ(node.health, Health::drained);
  EXPECT_EQ(node.reason, "GresUsed=gpu:a100:0 State=IDLE [broken] fan");
  EXPECT_EQ(node.cards[0].offers[0].used, std::nullopt);
  EXPECT_EQ(node.memory_bytes, 1000 * kMiB);
}

TEST(SlurmText, CoresAndMemoryKeptForTheSystemAreNotCapacity) {
  const auto inventory = read_slurm(capture_of(
      "scontrol show node", record("CPUEfctv=60 Gres=(null) RealMemory=1000 AllocMem=100 "
                                   "MemSpecLimit=200 State=MIXED")));
  ASSERT_TRUE(inventory) << inventory.error().message;
  const Node& node = inventory->nodes[0];
  EXPECT_EQ(node.cpu_milli, 60000);
  EXPECT_EQ(node.cpu_free_milli, 52000);
  EXPECT_EQ(node.memory_bytes, 800 * kMiB);
  EXPECT_EQ(node.memory_free_bytes, 700 * kMiB);
}

TEST(SlurmText, MemoryThatNobodyWroteDownIsUnknown) {
  const auto inventory = read_slurm(
      capture_of("scontrol show node", record("Gres= RealMemory=1 AllocMem=0 State=IDLE")));
  ASSERT_TRUE(inventory) << inventory.error().message;
  EXPECT_EQ(inventory->nodes[0].memory_bytes, std::nullopt);
  EXPECT_EQ(inventory->nodes[0].memory_free_bytes, std::nullopt);
}

TEST(SlurmText, ErrorsNameTheLineTheNodeAndTheField) {
  const std::string good = record("Gres=gpu:a100:4 RealMemory=1000 AllocMem=0 State=IDLE");
  const struct {
    std::string middle;
    std::string field;
  } rows[] = {
      {"Gres=gpu:a100:4 RealMemory=1000 AllocMem=0 State=IDLE+SLEEPY", "State"},
      {"Gres=gpu:a100:4(S:0 RealMemory=1000 AllocMem=0 State=IDLE", "Gres"},
      {"Gres=gpu:a100:4 RealMemory=lots AllocMem=0 State=IDLE", "RealMemory"},
      {"Gres=gpu:a100:4 RealMemory=1000 State=IDLE", "AllocMem"},
      {"RealMemory=1000 AllocMem=0 State=IDLE", "Gres"},
      {"Gres=gpu:a100:4 GresUsed=gpu:a100:? RealMemory=1000 AllocMem=0 State=IDLE", "GresUsed"},
  };
  for (const auto& row : rows) {
    const auto inventory =
        read_slurm(capture_of("scontrol show node", "\n\n" + record(row.middle) + good));
    ASSERT_FALSE(inventory) << row.middle;
    EXPECT_EQ(inventory.error().code, Code::unreadable_output);
    EXPECT_THAT(inventory.error().message,
                ::testing::StartsWith("scontrol show node, line 3, node n1: " + row.field));
  }
  EXPECT_THAT(read_slurm(capture_of("scontrol show node", good + good)).error().message,
              HasSubstr("n1 is listed twice"));
  EXPECT_FALSE(read_slurm(capture_of("scontrol show node", "")));
  EXPECT_FALSE(read_slurm(capture_of("scontrol show node", "slurm_load_node error: x\n")));
  EXPECT_TRUE(read_slurm(capture_of("scontrol show node", "No nodes in the system\n")));
}

// Whatever is cut off, the rest is never read as something else.
TEST(SlurmTextProperty, ACutListingFailsOrSaysNothingNew) {
  for (const std::string file : {"scontrol-show-node.txt", "scontrol-show-node-oneline.txt"}) {
    const std::string text = sample(file);
    const Inventory whole = read("scontrol show node", file);
    size_t read_well = 0;
    for (size_t length = 0; length < text.size(); length += 3) {
      auto cut = read_slurm(capture_of("scontrol show node", text.substr(0, length)));
      if (!cut) {
        EXPECT_EQ(cut.error().code, Code::unreadable_output);
        continue;
      }
      ++read_well;
      for (Node& part : cut->nodes) {
        Node expected = node(whole, part.name);
        // the reason stands last and its stamp of who and when may have lost its end
        const bool begins_alike =
            expected.reason.starts_with(part.reason) || part.reason.starts_with(expected.reason);
        if (begins_alike) expected.reason = part.reason;
        ASSERT_EQ(part, expected) << file << " cut at " << length << ", node " << part.name;
      }
    }
    EXPECT_GT(read_well, 100u);
  }
}

// ---- sinfo columns ------------------------------------------------------------------------------

TEST(SlurmColumns, ACutColumnIsRefused) {
  const std::string rows[] = {
      // -O without widths: GRES_USED runs into CPUS
      "a100-01             gpu*                mixed               gpu:a100:4(S:0-1)   "
      "gpu:a100:1(IDX:0),hp8/56/0/64           512000              64000               a100 none\n",
      // two resources cut at the same width
      "n1 gpu* idle gpu:nvidia_a100-sxm4gpu:nvidia_a100-sxm4-80gb:0(IDX:N/A) 0/64/0/64 512000 0 x "
      "none\n",
      // a state that was cut
      "bad-01 gpu* unknown+drain+invali gpu:a100:3 gpu:a100:0 0/0/64/64 512000 0 a100 none\n",
      "n1 gpu* idle gpu:a100 gpu:a100:0 0/64/0/64 512000 0 x none\n",
      "n[1-2] gpu* idle gpu:a100:4 gpu:a100:0 0/64/0/64 512000 0 x none\n",
      "n1 gpu* idle gpu:a100:4\n",
  };
  for (const std::string& row : rows) {
    const auto inventory = read_slurm(capture_of("sinfo -N -O", row));
    ASSERT_FALSE(inventory) << row;
    EXPECT_EQ(inventory.error().code, Code::unreadable_output);
    EXPECT_THAT(inventory.error().message, HasSubstr("line 1"));
  }
}

TEST(SlurmColumns, TheHeadingShowsWhereAColumnWasCut) {
  const std::string heading =
      "NODELIST  PARTITION STATECOMPLETE  GRES        GRES_USED    CPUS(A/I/O/T) MEMORY ALLOCMEM "
      "AVAIL_FEATURES  REASON\n";
  const std::string whole =
      "n1        gpu*      idle           gpu:a100:4  gpu:a100:0   0/64/0/64     512000 0        "
      "a100,ib         none\n";
  const std::string cut =
      "n1        gpu*      idle           gpu:a100:4  gpu:a100:0   0/64/0/64     512000 0        "
      "a100,ib,cuda-12.too hot inside\n";
  EXPECT_TRUE(read_slurm(capture_of("sinfo -N -O", heading + whole)));
  const auto inventory = read_slurm(capture_of("sinfo -N -O", heading + cut));
  ASSERT_FALSE(inventory);
  EXPECT_THAT(inventory.error().message, HasSubstr("line 2: a column is cut"));
}

TEST(SlurmColumns, BarsInTheReasonBelongToIt) {
  const auto inventory = read_slurm(capture_of(
      "sinfo -N -o",
      "NODELIST|PARTITION|STATE|STATE|CPUS|MEMORY|GRES|AVAIL_FEATURES|FREE_MEM|CPUS(A/I/O/"
      "T)|REASON\n"
      "n1|gpu*|drained|drain|64|512000|gpu:a100:4|(null)|N/A|0/0/64/64|fan 1|2 broken\n"));
  ASSERT_TRUE(inventory) << inventory.error().message;
  EXPECT_EQ(inventory->nodes[0].reason, "fan 1|2 broken");
  EXPECT_THAT(inventory->nodes[0].partitions, ElementsAre("gpu"));
  EXPECT_FALSE(read_slurm(capture_of("sinfo -N -o", "n1|gpu*|idle\n")));
}

// ---- recognising --------------------------------------------------------------------------------

TEST(SlurmRecognise, FilesAreKnownByWhatTheyHold) {
  const struct {
    std::string file;
    std::optional<std::string> name;
  } rows[] = {
      {"scontrol-show-node.txt", "scontrol show node"},
      {"scontrol-show-node-oneline.txt", "scontrol show node"},
      {"scontrol-d-show-node-a100-01.txt", "scontrol show node"},
      {"sinfo-N-o.txt", "sinfo -N -o"},
      {"sinfo-N-O.txt", "sinfo -N -O"},
      // byte for byte the same
      {"sinfo.json", "sinfo --json or slurmrestd nodes"},
      {"rest-nodes-v0.0.38.json", "sinfo --json or slurmrestd nodes"},
      {"rest-node-nosuch.json", "sinfo --json or slurmrestd nodes"},
      {"squeue.json", "squeue --json"},
      {"rest-partitions-v0.0.38.json", std::nullopt},
      {"rest-ping.json", std::nullopt},
      {"scontrol-show-config.txt", "scontrol show config"},
      {"scontrol-show-partition-oneline.txt", "scontrol show partition -o"},
      {"scontrol-show-reservation-oneline.txt", "scontrol show reservation -o"},
      {"scontrol-show-job-oneline.txt", std::nullopt},
      {"sinfo-summary.txt", std::nullopt},
      {"squeue.txt", std::nullopt},
      {"squeue-O-tres.txt", std::nullopt},
      {"sacct.txt", std::nullopt},
      {"slurm.conf", std::nullopt},
      {"gres.conf", std::nullopt},
  };
  for (const auto& row : rows) EXPECT_EQ(recognise_slurm(sample(row.file)), row.name) << row.file;
  EXPECT_EQ(recognise_slurm("slurm-wlm 22.05.8\n"), "sinfo --version");
  EXPECT_EQ(recognise_slurm(""), std::nullopt);
  EXPECT_EQ(recognise_slurm("{}"), std::nullopt);
}

TEST(SlurmRecognise, AFileThatNamesNoNodeSaysSo) {
  const std::string text = R"({"meta":{"Slurm":{"release":"22.05.8"}},"errors":[],"nodes":[]})";
  const auto question = recognise_slurm(text);
  ASSERT_TRUE(question);
  Capture capture = capture_of(*question, text);
  capture.transport = "file";
  const auto refused = read_slurm(capture);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("names no node"));
}

TEST(SlurmRecognise, WithDetailsTheUsedDevicesAreRead) {
  const Inventory inventory = read("scontrol show node", "scontrol-d-show-node-a100-01.txt");
  ASSERT_EQ(inventory.nodes.size(), 1u);
  EXPECT_EQ(inventory.nodes[0].cards[0].offers[0].used, 1);
  EXPECT_EQ(inventory.nodes[0].cards[0].offers[0].free, 3);
}

}  // namespace
}  // namespace exa
