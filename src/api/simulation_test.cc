// `exa simulate` through the router, and placing inside a cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing.h"

namespace exa {
namespace {

using testing::HasSubstr;

constexpr const char* kNodes =
    "sn,cpu_milli,memory_mib,gpu,model\n"
    "n1,64000,262144,2,T4\n"
    "n2,64000,262144,2,T4\n";
constexpr const char* kArrivals =
    "seq,pod,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
    "0,a,1000,1024,1,500,\n"
    "1,b,1000,1024,1,500,\n"
    "2,c,1000,1024,2,1000,T4\n"
    "3,d,1000,1024,1,1000,V100\n";

TEST(Simulate, ReplaysAnExactSequenceTheSameForEverybody) {
  TestExa exa;
  const json::object args{
      {"nodes", kNodes}, {"arrivals", kArrivals}, {"policy", json::array{"exa", "fgd"}}};
  const json::value first = exa.ask("simulation.run", args);
  EXPECT_EQ(first, exa.ask("simulation.run", args));
  const json::value run = first.at("items").at(0);
  EXPECT_EQ(run.at("policy"), "exa");
  EXPECT_EQ(run.at("placed"), 3);
  EXPECT_EQ(run.at("unplaced"), 1);  // nobody has a V100
  EXPECT_EQ(to_text(run.at("allocated_gpu_percent")), "75");
  EXPECT_EQ(run.at("marks").as_array().size(), 10U);
}

TEST(Simulate, BrokenRowsAreNamedByLineAllAtOnce) {
  TestExa exa;
  const Reply reply = exa.call("simulation.run", {{"nodes", kNodes},
                                                  {"arrivals",
                                                   "seq,pod,cpu_milli,memory_mib,num_gpu,gpu_milli,"
                                                   "gpu_spec\n0,a,x,1,1,500,\n1,b,1,1,2,500,\n"}});
  EXPECT_EQ(reply.exit_code, 2);
  EXPECT_THAT(reply.body, HasSubstr("arrivals line 2"));
  EXPECT_THAT(reply.body, HasSubstr("arrivals line 3"));
}

TEST(Simulate, AnswersWhatIf) {
  TestExa exa;
  const auto unplaced = [&](json::object args) {
    args["nodes"] = kNodes;
    args["arrivals"] =
        "seq,pod,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
        "0,a,0,0,1,1000,\n1,b,0,0,1,1000,\n2,c,0,0,1,1000,\n3,d,0,0,1,1000,\n4,e,0,0,1,1000,\n";
    return exa.ask("simulation.run", args).at("items").at(0).at("unplaced").to_number<int64_t>();
  };
  EXPECT_EQ(unplaced({}), 1);
  EXPECT_EQ(unplaced({{"add_nodes", json::array{"1=n1"}}}), 0);
  EXPECT_EQ(unplaced({{"share", 0.5}}), 0);
  EXPECT_EQ(exa.call("simulation.run", {{"nodes", kNodes},
                                        {"arrivals", kArrivals},
                                        {"add_nodes", json::array{"n1", "0=n1", "1=x"}}})
                .exit_code,
            2);
}

TEST(Simulate, ReadsWhatRanHere) {
  TestExa exa;
  exa.ask("pool.add", {{"name", "p"}, {"accelerator", "nvidia"}, {"count", 4}});
  exa.ask("placement.place", {{"name", "one"}, {"reserve", true}});
  exa.ask("placement.place", {{"name", "two"}, {"gpus", 2}, {"reserve", true}});
  std::string csv =
      "id,project,workload,profile,pool,device,model,region,started,ended,devices,"
      "held_milli\n";
  const json::value records = exa.ask("usage.records", {});
  for (const json::value& record : records.at("items").as_array()) {
    csv += std::string(record.at("id").as_string()) + ",default,w,,p,nvidia,,,,," +
           to_text(record.at("devices")) + "," + to_text(record.at("held_milli")) + "\n";
  }
  const json::value run =
      exa.ask("simulation.run", {{"nodes", kNodes}, {"arrivals", csv}}).at("items").at(0);
  EXPECT_EQ(run.at("placed"), 2);
  EXPECT_EQ(to_text(run.at("allocated_gpu_percent")), "75");
}

TEST(Simulate, DrawsAChartWhenAsked) {
  TestExa exa;
  const json::value reply =
      exa.ask("simulation.run", {{"nodes", kNodes}, {"arrivals", kArrivals}, {"chart", true}});
  EXPECT_THAT(std::string(reply.at("chart").as_string()), HasSubstr("<svg"));
}

TEST(PlaceInside, ChoosesNodesOfADiscoveredClusterAndKeepsTheDecision) {
  TestExa exa;
  exa.ask("cluster.add", {{"name", "hpc"}, {"kind", "slurm"}});
  EXPECT_EQ(exa.call("placement.place", {{"name", "t"}, {"cluster", "hpc"}}).exit_code, 3);
  exa.ask("cluster.discover",
          {{"name", "hpc"}, {"from", read_test_file("slurm/scontrol-show-node.txt")}});
  const Reply reply =
      exa.call("placement.place",
               {{"name", "t"}, {"cluster", "hpc"}, {"accelerator", "intel-gaudi"}, {"gpus", 4}});
  EXPECT_EQ(reply.exit_code, 0);
  const json::value body = parse_json(reply.body, "reply").value();
  EXPECT_EQ(body.at("placement").at("nodes").at(0).at("node"), "gaudi-01");
  EXPECT_EQ(exa.ask("placement.decisions", {}).at("items").at(0).at("id"), body.at("id"));
  EXPECT_EQ(exa.call("placement.place", {{"name", "t"}, {"cluster", "hpc"}, {"accelerator", "tpu"}})
                .exit_code,
            6);
  EXPECT_EQ(exa.call("placement.place", {{"name", "t"}, {"group", "x"}}).exit_code, 2);
  EXPECT_EQ(
      exa.call("placement.place", {{"name", "t"}, {"cluster", "hpc"}, {"reserve", true}}).exit_code,
      2);
}

TEST(PlaceInside, ObeysResidencyWhereTheClustersPoolStands) {
  TestExa exa;
  exa.ask("cluster.add", {{"name", "hpc"}, {"kind", "slurm"}});
  exa.ask("cluster.discover",
          {{"name", "hpc"}, {"from", read_test_file("slurm/scontrol-show-node.txt")}});
  const json::object ask{{"name", "t"}, {"cluster", "hpc"}, {"residency", "eu-only"}};
  EXPECT_EQ(exa.call("placement.place", ask).exit_code, 7) << "of no pool, no region is known";
  exa.ask("pool.add",
          {{"name", "p"}, {"accelerator", "nvidia"}, {"cluster", "hpc"}, {"region", "eu"}});
  EXPECT_EQ(exa.call("placement.place", ask).exit_code, 0);
}

}  // namespace
}  // namespace exa
