// Traces as CSV: what is read, and that every broken row is named with its line.
#include "place/trace.h"

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/quantity.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kPods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n";

std::string file(std::string_view name) {
  std::ifstream in(std::string(EXA_TESTDATA) + "/openb/" + std::string(name));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> places(const Error& error) {
  std::vector<std::string> where;
  for (const Problem& problem : error.problems) where.push_back(problem.where);
  return where;
}

TEST(Trace, TheOpenbListsAreReadWhole) {
  const auto gpu = read_trace_nodes(file("openb_node_list_gpu_node.csv"), "nodes");
  ASSERT_TRUE(gpu);
  EXPECT_EQ(gpu->size(), 1213U);
  int64_t cards = 0;
  for (const DeviceNode& node : *gpu) cards += node.cards;
  EXPECT_EQ(cards, 6212);
  const auto all = read_trace_nodes(file("openb_node_list_all_node.csv"), "nodes");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 1523U);
  const auto pods = read_trace_pods(file("openb_pod_list_default.csv"), "pods");
  ASSERT_TRUE(pods);
  EXPECT_EQ(pods->size(), 8152U);
  int64_t milli = 0;
  for (const TracePod& pod : *pods) milli += pod.ask.milli_per_node();
  EXPECT_EQ(milli, 6'086'800);
}

TEST(Trace, ARowBecomesAnAsk) {
  const auto pods = read_trace_pods(
      std::string(kPods) + "a,3152,5744,1,810,T4|P100|T4\r\nb,500,1,0,0,\r\n", "pods");
  ASSERT_TRUE(pods);
  const DeviceAsk& ask = (*pods)[0].ask;
  EXPECT_EQ(ask.cpu_milli, 3152);
  EXPECT_EQ(ask.memory_bytes, 5744 * kMiB);
  EXPECT_EQ(ask.share_milli, 810);
  EXPECT_THAT(ask.models, ElementsAre("P100", "T4"));
  EXPECT_EQ((*pods)[1].ask.devices, 0);
  EXPECT_EQ((*pods)[1].ask.milli_per_node(), 0);
}

TEST(Trace, EveryBrokenRowIsNamedAtOnce) {
  struct Row {
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      {"a,1,1,1", "4 cells, the header has 6"},
      {"b,-1,1,1,500,", "cpu_milli"},
      {"c,1.5,1,1,500,", "cpu_milli"},
      {"d,1,NaN,1,500,", "memory_mib"},
      {"e,1,1,17,1000,", "num_gpu 17 is more than 16"},
      {"f,1,1,0,500,", "gpu_milli 500 with num_gpu 0"},
      {"g,1,1,1,0,", "gpu_milli 0"},
      {"h,1,1,1,1001,", "gpu_milli 1001"},
      {"i,1,1,2,500,", "only one GPU can be shared"},
      {",1,1,1,500,", "name is empty"},
      {"k,1,1,1,500,T4||P100", "an empty or unreadable model"},
      {"l,99999999999999999999,1,1,500,", "cpu_milli"},
      {"\"m\",1,1,1,500,", "quoted cells are not read"},
      {"n,1,1,1,500,", ""},
      {"n,1,1,1,500,", "task n stands twice"},
  };
  std::string text(kPods);
  for (const Row& row : rows) text += std::string(row.text) + "\n";
  const auto read = read_trace_pods(text, "pods.csv");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::invalid_input);
  size_t line = 1;
  auto problem = read.error().problems.begin();
  for (const Row& row : rows) {
    ++line;
    if (*row.message == '\0') continue;
    ASSERT_NE(problem, read.error().problems.end());
    EXPECT_EQ(problem->where, "pods.csv line " + std::to_string(line));
    EXPECT_THAT(problem->message, HasSubstr(row.message));
    ++problem;
  }
  EXPECT_EQ(problem, read.error().problems.end());
}

TEST(Trace, AHeaderThatLacksAColumnIsRefusedWithASuggestion) {
  const auto read = read_trace_nodes("sn,cpu_mili,memory_mib,gpu,model\na,1,1,0,\n", "nodes.csv");
  ASSERT_FALSE(read);
  ASSERT_EQ(read.error().problems.size(), 1U);
  EXPECT_EQ(read.error().problems[0].message, "no column cpu_milli");
  EXPECT_THAT(read.error().problems[0].suggestion, HasSubstr("cpu_mili"));
}

TEST(Trace, NodesWithoutSenseAreNamed) {
  const auto read = read_trace_nodes(
      "sn,cpu_milli,memory_mib,gpu,model\na,1,1,0,T4\nb,1,1,2,T4\nb,1,1,2,T4\n", "nodes.csv");
  ASSERT_FALSE(read);
  EXPECT_THAT(places(read.error()), ElementsAre("nodes.csv line 2", "nodes.csv line 4"));
}

TEST(Trace, AnEmptyFileAndAFloodOfBadRowsAreBothShortAnswers) {
  EXPECT_FALSE(read_trace_pods("", "pods.csv"));
  EXPECT_FALSE(read_trace_pods(kPods, "pods.csv"));
  std::string flood(kPods);
  for (int i = 0; i < 5000; ++i) flood += "x\n";
  const auto read = read_trace_pods(flood, "pods.csv");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().problems.size(), 201U);
  EXPECT_THAT(read.error().problems.back().message, HasSubstr("4800 more"));
}

TEST(Trace, ArrivalsKeepTheirOrderAndMustAscend) {
  const std::string header = "seq,pod,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n";
  const auto read = read_arrivals(header + "0,b,1,1,1,500,\n1,a,1,1,1,500,T4\n5,b,1,1,0,0,\n", "a");
  ASSERT_TRUE(read);
  EXPECT_EQ((*read)[0].name, "b");
  EXPECT_EQ((*read)[2].name, "b");
  const auto back = read_arrivals(header + "1,a,1,1,0,0,\n1,b,1,1,0,0,\n", "a");
  ASSERT_FALSE(back);
  EXPECT_THAT(back.error().problems[0].message, HasSubstr("it must ascend"));
}

}  // namespace
}  // namespace exa
