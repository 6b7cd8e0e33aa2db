// Discovery of a real Slurm, which tests/with_slurm starts: what is read must be what scontrol
// shows, counted here by other means than the reader's.
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>

#include <gmock/gmock.h>

#include "base/process.h"
#include "base/text.h"
#include "discover/probe.h"
#include "discover/readers.h"

namespace exa {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  EXPECT_NE(value, nullptr) << name << " is not set; run this through tests/with_slurm";
  return value == nullptr ? "" : value;
}

std::string output_of(std::vector<std::string> argv) {
  const auto finished = run_command({.argv = std::move(argv), .extra_env = {}, .input = {}});
  EXPECT_TRUE(finished) << finished.error().message;
  EXPECT_EQ(finished->exit_code, 0) << finished->err;
  return finished->out;
}

Result<Inventory> discover(const ClusterAddress& address) {
  const auto transport = local_transport(address.timeout);
  EXA_ASSIGN(const Capture capture, probe_slurm(address, *transport, Time{0}));
  return read_slurm(capture);
}

ClusterAddress tools() {
  environment("SLURM_CONF");
  ClusterAddress address;
  address.kind = ClusterKind::slurm;
  return address;
}

// name -> field of `scontrol -d -o show node`, by a pattern over the line.
std::map<std::string, std::string> shown(const std::string& pattern) {
  std::map<std::string, std::string> fields;
  const std::string text = output_of({"scontrol", "-d", "-o", "show", "node"});
  const std::regex name("NodeName=(\\S+)");
  const std::regex field(" " + pattern);
  for (const std::string_view view : split(text, '\n')) {
    const std::string line(view);
    std::smatch who;
    std::smatch what;
    if (!std::regex_search(line, who, name)) continue;
    fields[who[1]] = std::regex_search(line, what, field) ? what[1].str() : "";
  }
  return fields;
}

// "gpu:a100" -> sum over all nodes of the counts in a gres list.
std::map<std::string, int64_t> sums(const std::map<std::string, std::string>& lists) {
  std::map<std::string, int64_t> sums;
  const std::regex entry(
      "([a-z]+(?::[a-zA-Z][\\w.-]*|:[0-9][\\w.-]*[a-z][\\w.-]*)?):(\\d+)(\\([^)]*\\))?");
  for (const auto& [node, list] : lists) {
    for (std::sregex_iterator at(list.begin(), list.end(), entry), end; at != end; ++at) {
      const int64_t count = std::stoll((*at)[2]);
      if (count > 0) sums[(*at)[1]] += count;
    }
  }
  return sums;
}

const Node& node(const Inventory& inventory, std::string_view name) {
  for (const Node& node : inventory.nodes)
    if (node.name == name) return node;
  ADD_FAILURE() << "no node " << name;
  static const Node kNone;
  return kNone;
}

const Offer& offer(const Inventory& inventory, std::string_view name, std::string_view resource) {
  for (const CardSet& cards : node(inventory, name).cards)
    for (const Offer& offer : cards.offers)
      if (offer.resource == resource) return offer;
  ADD_FAILURE() << "no " << resource << " on " << name;
  static const Offer kNone;
  return kNone;
}

TEST(LiveSlurm, CountsAreWhatScontrolShows) {
  const auto inventory = discover(tools());
  ASSERT_TRUE(inventory) << inventory.error().message;
  std::map<std::string, int64_t> units;
  std::map<std::string, int64_t> used;
  for (const Node& node : inventory->nodes) {
    for (const CardSet& cards : node.cards) {
      for (const Offer& offer : cards.offers) {
        // bad-01 stands in Gres with what was found, and in slurm.conf with one more
        units[offer.resource] += offer.units - (node.name == "bad-01" ? 1 : 0);
        if (offer.used.value_or(-1) != 0) used[offer.resource] += offer.used.value_or(-1);
      }
    }
  }
  EXPECT_EQ(units, sums(shown("Gres=(\\S+)")));
  auto shown_used = sums(shown("GresUsed=(\\S+)"));
  EXPECT_EQ(shown_used["shard:l40s"], 1);  // the card touched; the job asked for four shards
  shown_used["shard:l40s"] = 4;
  EXPECT_EQ(used, shown_used);
}

TEST(LiveSlurm, CpusMemoryAndHealthAreWhatScontrolShows) {
  const auto inventory = discover(tools());
  ASSERT_TRUE(inventory) << inventory.error().message;
  auto cpus = shown("CPUTot=(\\d+)");
  auto cpus_allocated = shown("CPUAlloc=(\\d+)");
  auto memory = shown("RealMemory=(\\d+)");
  auto memory_allocated = shown("AllocMem=(\\d+)");
  auto states = shown("State=(\\S+)");
  ASSERT_EQ(inventory->nodes.size(), states.size());
  for (const Node& node : inventory->nodes) {
    SCOPED_TRACE(node.name);
    const int64_t total = std::stoll(cpus[node.name]);
    EXPECT_EQ(node.cpu_milli, total * 1000);
    EXPECT_EQ(node.cpu_free_milli, (total - std::stoll(cpus_allocated[node.name])) * 1000);
    const int64_t mib = std::stoll(memory[node.name]);
    EXPECT_EQ(node.memory_bytes, mib << 20);
    EXPECT_EQ(node.memory_free_bytes, (mib - std::stoll(memory_allocated[node.name])) << 20);
    EXPECT_EQ(node.state, states[node.name]);
    const std::regex unusable(
        "DOWN|DRAIN|FAIL|INVALID_REG|NOT_RESPONDING|MAINT|RESERVED|POWERED_DOWN");
    EXPECT_EQ(node.usable(), !std::regex_search(states[node.name], unusable));
  }
  EXPECT_EQ(node(*inventory, "drain-01").health, Health::drained);
  EXPECT_EQ(node(*inventory, "drain-01").reason, "bad NVLink on GPU 3");
  EXPECT_EQ(node(*inventory, "down-01").health, Health::down);
  EXPECT_EQ(node(*inventory, "a100-02").health, Health::draining);
  EXPECT_EQ(node(*inventory, "resv-01").reason, "reservation course");
}

TEST(LiveSlurm, ClusterAndVersionAreKnown) {
  const auto inventory = discover(tools());
  ASSERT_TRUE(inventory) << inventory.error().message;
  EXPECT_EQ(inventory->cluster_name, "exatest");
  EXPECT_THAT(output_of({"sinfo", "--version"}), HasSubstr(inventory->tool_version));
  EXPECT_FALSE(inventory->tool_version.empty());
  EXPECT_EQ(inventory->tool, "scontrol show node");
  EXPECT_THAT(inventory->unread, IsEmpty());
}

// A card that carries shards cannot be had whole; the shards in use come from the jobs, because
// this cluster has no accounting.
TEST(LiveSlurm, SharesInUseAreCountedWithoutAccounting) {
  const auto inventory = discover(tools());
  ASSERT_TRUE(inventory) << inventory.error().message;
  EXPECT_EQ(offer(*inventory, "shard-01", "shard:l40s").used, 4);
  EXPECT_EQ(offer(*inventory, "shard-01", "shard:l40s").free, 12);
  EXPECT_EQ(offer(*inventory, "shard-01", "gpu:l40s").free, 1);
}

TEST(LiveSlurm, SlurmrestdGivesTheSameNodes) {
  const auto by_tools = discover(tools());
  ASSERT_TRUE(by_tools) << by_tools.error().message;
  ClusterAddress address = tools();
  address.slurmrestd = "unix:" + environment("SLURM_REST_SOCKET");
  const auto by_rest = discover(address);
  ASSERT_TRUE(by_rest) << by_rest.error().message;
  EXPECT_EQ(by_rest->tool, "slurmrestd nodes");
  EXPECT_EQ(by_rest->tool_version, by_tools->tool_version);
  ASSERT_EQ(by_rest->nodes.size(), by_tools->nodes.size());
  for (size_t i = 0; i < by_tools->nodes.size(); ++i) {
    Node rest = by_rest->nodes[i];
    const Node& tool = by_tools->nodes[i];
    SCOPED_TRACE(tool.name);
    rest.reason = tool.reason;              // this release names no reservation there
    if (rest.name == "shard-01") continue;  // no jobs are asked for there, so the use is unknown
    EXPECT_EQ(rest, tool);
  }
  EXPECT_EQ(offer(*by_rest, "shard-01", "shard:l40s").used, std::nullopt);
}

TEST(LiveSlurm, SlurmrestdOverTcpWantsAToken) {
  ClusterAddress address = tools();
  address.slurmrestd = environment("SLURM_REST_URL");
  const auto without = discover(address);
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, Code::probe_failed);

  const std::string file = environment("SLURM_TEST_DIR") + "/token";
  std::ofstream(file) << output_of({"scontrol", "token", "lifespan=600", "username=root"});
  address.token_file = file;
  const auto with = discover(address);
  ASSERT_TRUE(with) << with.error().message;
  EXPECT_EQ(with->nodes.size(), 16u);
}

TEST(LiveSlurm, AControllerThatCannotBeAskedFailsWithItsWords) {
  const auto transport = local_transport(seconds(20));
  const std::string conf = environment("SLURM_CONF");
  ::setenv("SLURM_CONF", "/nonexistent/slurm.conf", 1);
  const auto capture = probe_slurm(tools(), *transport, Time{0});
  ::setenv("SLURM_CONF", conf.c_str(), 1);
  ASSERT_FALSE(capture);
  EXPECT_EQ(capture.error().code, Code::probe_failed);
  EXPECT_THAT(capture.error().message, HasSubstr("scontrol"));
}

}  // namespace
}  // namespace exa
