// Every recorded output of the sample cluster gives the one right reading
// (testdata/slurm/README.md).
#include <algorithm>

#include "base/quantity.h"
#include "discover/slurm_samples_for_test.h"

namespace exa {
namespace {

using namespace slurm_sample;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

}  // namespace
}  // namespace exa
