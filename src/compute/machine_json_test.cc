#include <gmock/gmock.h>

#include "base/quantity.h"
#include "compute/machine_watch.h"
#include "compute/machines_for_test.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::Pair;

MachineReport full_report() {
  MachineReport report = gpu_report("edge-1", "NVIDIA H100 80GB HBM3", 8,
                                    {{"palette.ai.rg/region/us-west", "zone-a"}, {"note", ""}});
  report.sequence = 41;
  report.healthy = false;
  report.reason = "a fan stands still";
  report.address = "10.0.0.7";
  report.memory_bytes = 1024 * kGiB;
  report.gpus->front().memory_bytes = 81'559 * kMiB;
  return report;
}

std::vector<std::string> places(const Error& error) {
  std::vector<std::string> list;
  for (const Problem& problem : error.problems) list.push_back(problem.where);
  return list;
}

TEST(ReportJson, ComesBackAsItWas) {
  MachineReport undetected;
  undetected.id = "a";
  for (const MachineReport& report :
       {full_report(), cpu_report("edge-2", 4), tagged_report("edge-3"), undetected}) {
    const auto text = to_text(to_json(report));
    const auto back = machine_report_from_json(*parse_json(text, "report"), "");
    ASSERT_TRUE(back) << text;
    EXPECT_EQ(*back, report) << text;
  }
}

TEST(ReportJson, TagsMayBeAListOrHoldYamlsBooleansAndNumbers) {
  const auto as_list =
      machine_report_from_json(*parse_json(R"({"id": "a", "reported_at": "2027-01-15T08:00:00Z",
                      "tags": ["palette.ai: true", "gpus=8", "palette.ai.rg/pool: \"1\""]})",
                                           "report"),
                               "");
  ASSERT_TRUE(as_list);
  EXPECT_THAT(as_list->tags, ElementsAre(Pair("gpus", "8"), Pair("palette.ai", "true"),
                                         Pair("palette.ai.rg/pool", "1")));
  const auto as_object =
      machine_report_from_json(*parse_json(R"({"id": "a", "reported_at": "2027-01-15T08:00:00Z",
                      "tags": {"palette.ai": true, "gpus": 8, "palette.ai.rg/pool": "1"}})",
                                           "report"),
                               "");
  ASSERT_TRUE(as_object);
  EXPECT_EQ(as_object->tags, as_list->tags);
}

TEST(ReportJson, AllProblemsAreFoundAtOnceEachWithItsPlace) {
  const auto refused = machine_report_from_json(
      *parse_json(R"({"id": "../a", "sequence": -1, "healthy": "yes", "reason": 7,
                      "address": "a\u001b", "cpus": 8.5, "memory_bytes": "1G",
                      "gpus": [{"count": -8, "family": 3, "color": 1}, 4, {}],
                      "tags": {"a": 1.5, "": "x"}, "reported": "now"})",
                  "report"),
      "/machines/3");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid_input);
  EXPECT_THAT(places(refused.error()),
              ElementsAre("/machines/3/id", "/machines/3/sequence", "/machines/3/healthy",
                          "/machines/3/reason", "/machines/3/address", "/machines/3/cpus",
                          "/machines/3/memory_bytes", "/machines/3/gpus/0/family",
                          "/machines/3/gpus/0/count", "/machines/3/gpus/0/color",
                          "/machines/3/gpus/1", "/machines/3/gpus/2/count", "/machines/3/tags/a",
                          "/machines/3/tags/", "/machines/3/reported_at", "/machines/3/reported"));
  EXPECT_EQ(refused.error().problems.back().suggestion, "did you mean reported_at?");
}

TEST(ReportJson, WhatIsNoObjectOrTooLongIsRefused) {
  EXPECT_FALSE(machine_report_from_json(json::value("x"), ""));
  EXPECT_FALSE(machine_report_from_json(json::value(nullptr), ""));
  json::object value = to_json(cpu_report("a", 4));
  value["reason"] = std::string(5'000, 'x');
  EXPECT_FALSE(machine_report_from_json(value, ""));
  value = to_json(cpu_report("a", 4));
  value["tags"] = json::array{"gpus: 8", "gpus: 9"};
  const auto twice = machine_report_from_json(value, "");
  ASSERT_FALSE(twice);
  EXPECT_THAT(places(twice.error()), ElementsAre("/tags/1"));
}

TEST(MachineJson, SaysWhatIsKnownAndFromWhere) {
  const Machine machine =
      read_machine(gpu_report("edge-1", "NVIDIA H100", 8,
                              {{"gpu-memory", "80G"}, {"palette.ai.rg/pool", "1"}, {"cpus", "6"}}));
  EXPECT_EQ(to_text(to_json(machine)),
            R"({"id":"edge-1","address":"edge-1","architecture":"AMD64","role":"worker",)"
            R"("tagged":true,"worker_tagged":false,"cpus":{"value":64,"from":"agent"},)"
            R"("memory_bytes":null,"gpus":{"value":8,"from":"agent"},)"
            R"("gpu_family":{"value":"NVIDIA H100","from":"agent"},)"
            R"("gpu_memory_bytes":{"value":80000000000,"from":"tag"},)"
            R"("resource_groups":{"pool":"1"},"unfit":[],)"
            R"("notes":["tag cpus says 6, the agent detected 64: the agent's counts"]})");
}

TEST(WatchedMachineJson, ComesBackAsItWas) {
  WatchedMachine never_believed;
  never_believed.source = "rack";
  never_believed.report.id = "edge-9";
  never_believed.refused = "dated tomorrow";
  never_believed.refused_at = kTestNow;
  WatchedMachine differing;
  differing.source = "rack";
  differing.report = full_report();
  differing.heard_at = kTestNow;
  differing.health_changes = {kTestNow + seconds(-60), kTestNow};
  differing.differs = cpu_report("edge-1", 4);
  differing.differences = {"gpus: 8 before, 7 now"};
  for (const WatchedMachine& machine : {never_believed, differing}) {
    const auto text = to_text(to_json(machine));
    const auto back = watched_machine_from_json(*parse_json(text, "machine"));
    ASSERT_TRUE(back) << text;
    EXPECT_EQ(*back, machine) << text;
  }
}

TEST(WatchedMachineJson, ProblemsOfTheReportsInItHaveTheirPlace) {
  const auto refused = watched_machine_from_json(
      *parse_json(R"({"report": {"id": "a"}, "differs": {"reported_at": 1},
                      "health_changes": ["soon"], "differences": [1], "heard_at": "x", "y": 1})",
                  "machine"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(
      places(refused.error()),
      ElementsAre("/report/reported_at", "/heard_at", "/health_changes", "/differs/reported_at",
                  "/differs/id", "/differences/0", "/source", "/y"));
}

}  // namespace
}  // namespace exa
