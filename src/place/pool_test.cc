// Reading workloads and pools: every problem at once, each with its place; merging; JSON both ways.
#include "place/pool.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/quantity.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Workload> read(const json::object& input) {
  return read_workload(input, shipped_engines());
}

std::vector<std::string> places(const Error& error) {
  std::vector<std::string> list;
  for (const Problem& problem : error.problems) list.push_back(problem.where);
  return list;
}

json::object object_of(std::string_view text) {
  return parse_json(text, "test")->as_object();
}

TEST(Workload, TheDocumentsSnippetIsRead) {
  const auto work =
      read(object_of(R"({"name":"train-llm","accelerator":"amd","capabilities":["fp8"],
    "target":"hpc","engine":"vllm","fraction":1.0})"));
  ASSERT_TRUE(work.has_value());
  EXPECT_EQ(work->accelerator, Family::amd);
  EXPECT_THAT(work->capabilities, ElementsAre("fp8"));
  EXPECT_EQ(work->target, Target::hpc);
  EXPECT_EQ(work->engine, "vllm");
  EXPECT_EQ(work->fraction_milli, 1000);
  EXPECT_EQ(work->devices(), 1);
}

TEST(Workload, WhatIsNotSaidIsNotAsked) {
  const auto work = read({{"name", "train"}, {"target", nullptr}});
  EXPECT_EQ(work->target, Target::any);
  EXPECT_EQ(work->engine, "generic");
  EXPECT_TRUE(work->allow_fallback);
  EXPECT_EQ(*work, (Workload{.name = "train"}));
}

TEST(Workload, BadInputIsRefusedWithASentence) {
  struct Row {
    std::string_view field, value, says, suggestion;
  };
  constexpr Row kRows[] = {
      {"fraction", "0", "more than 0", ""},
      {"fraction", "3.0", "at most 1, not 3", ""},
      {"fraction", "-0.5", "must not be negative", ""},
      {"fraction", "0.0001", "", ""},
      {"fraction", "\"nan\"", "", ""},
      {"fraction", "true", "must be a number", ""},
      {"gpus", "0", "must be 1 to 1024 on a node, not 0", ""},
      {"gpus", "1.5", "", ""},
      {"gpus", "1e300", "out of range", ""},
      {"nodes", "-1", "must not be negative", ""},
      {"accelerator", "\"nvidai\"", "is not an accelerator", "did you mean nvidia?"},
      {"accelerator", "\"other\"", "cannot be asked for", ""},
      {"engine", "\"vlm\"", "is not an engine", "did you mean vllm?"},
      {"target", "\"clod\"", "is not a target", "did you mean cloud?"},
      {"capabilities", "\"fp8,f p\"", "is not a capability tag", ""},
      {"capabilities", "[1]", "must hold texts", ""},
      {"gpu_memory", "80", "needs a unit", ""},
      {"gpu_memory", "\"80\"", "", ""},
      {"memory_gb", "9999999999", "too large", ""},
      {"cpu", "\"8 cores\"", "", ""},
      {"name", "\"Train LLM\"", "", ""},
      {"fallback", "\"yes\"", "true or false", ""},
  };
  for (const Row& row : kRows) {
    const auto work =
        read(object_of("{" + std::string(row.field == "name" ? "" : "\"name\":\"t\",") + "\"" +
                       std::string(row.field) + "\":" + std::string(row.value) + "}"));
    SCOPED_TRACE(row.field);
    ASSERT_FALSE(work.has_value()) << row.value;
    ASSERT_EQ(work.error().problems.size(), 1U) << row.value;
    EXPECT_EQ(work.error().problems[0].where, "/" + std::string(row.field));
    EXPECT_THAT(work.error().problems[0].message, HasSubstr(std::string(row.says)));
    EXPECT_EQ(work.error().problems[0].suggestion, row.suggestion);
  }
}

TEST(Workload, EveryProblemIsSaidAtOnceAndUnknownKeysLast) {
  const auto work = read(
      object_of(R"({"gpuss":1,"accelerator":"amdd","engine":"x","fraction":2,"gpus":"many"})"));
  ASSERT_FALSE(work.has_value());
  EXPECT_THAT(places(work.error()),
              ElementsAre("/accelerator", "/gpus", "/name", "/engine", "/fraction", "/gpuss"));
  EXPECT_EQ(work.error().problems.back().suggestion, "did you mean gpus?");
}

TEST(Workload, AnUnknownResidencyClassIsKeptAsWritten) {
  EXPECT_EQ(read({{"name", "t"}, {"residency", "eu_only"}})->residency, "eu_only");
}

TEST(Workload, ComesBackFromItsJson) {
  Workload work;
  work.name = "train";
  work.accelerator = Family::intel_gaudi;
  work.capabilities = {"bf16", "fp8"};
  work.target = Target::cloud;
  work.fraction_milli = 125;
  work.gpus = 8;
  work.nodes = 4;
  work.cpu_milli = 500;
  work.memory_bytes = 32 * kGiB + 1;
  work.model = "Gaudi2";
  work.residency = "eu-only";
  work.allow_fallback = false;
  work.hardware_profile = "train@3";
  for (const int64_t bytes :
       {int64_t{0}, 80 * kGiB, int64_t{80'000'000'000}, int64_t{12'345'678'901}}) {
    work.gpu_memory_bytes = bytes;
    EXPECT_EQ(read(to_json(work)), work) << to_text(to_json(work));
  }
}

// --- pools

json::object given(std::string_view more) {
  return object_of(R"({"name":"hpc","accelerator":"nvidia")" + std::string(more) + "}");
}

TEST(Pool, TheDocumentsLinesAreRead) {
  const auto pool = merge_pool(
      nullptr, object_of(R"({"name":"hpc-nvidia","target":"hpc","accelerator":"nvidia","count":8,
        "region":"eu","cost_per_hour":2.5,"carbon_factor":300,"supports_fractions":true})"));
  ASSERT_TRUE(pool.has_value());
  EXPECT_EQ(pool->price, (Money{2'500'000, "USD"}));
  EXPECT_EQ(pool->carbon_micrograms, 300 * kMicro);
  EXPECT_TRUE(pool->declared());
  EXPECT_EQ(merge_pool(nullptr, object_of(R"({"name":"a","accelerator":"amd"})"))->price,
            std::nullopt);
}

TEST(Pool, AddingAgainChangesOnlyTheFieldsGiven) {
  const Pool before = *merge_pool(
      nullptr, given(R"(,"count":8,"cost_per_hour":"2.50","currency":"EUR","region":"eu",
        "capabilities":"fp8,nvlink","watts":700,"pue":1.2,"grid_intensity":300)"));
  Pool after = *merge_pool(&before, object_of(R"({"count":9})"));
  EXPECT_EQ(after.count, 9);
  after.count = 8;
  EXPECT_EQ(after, before);
  after = *merge_pool(&before, object_of(R"({"cost_per_hour":3,"pue":1.5})"));
  EXPECT_EQ(after.price, (Money{3'000'000, "EUR"}));
  EXPECT_EQ(after.power, (DevicePower{700'000, 1'500, 300'000}));
  // null clears
  after = *merge_pool(&before, object_of(R"({"cost_per_hour":null,"region":null,"watts":null})"));
  EXPECT_EQ(after.price, std::nullopt);
  EXPECT_EQ(after.region, "");
  EXPECT_EQ(after.power, std::nullopt);
}

TEST(Pool, BadInputIsRefusedWithItsPlace) {
  struct Row {
    std::string_view more, where, says;
  };
  constexpr Row kRows[] = {
      {R"(,"cost_per_hour":-1)", "/cost_per_hour", "must not be negative"},
      {R"(,"cost_per_hour":"nan")", "/cost_per_hour", "finite"},
      {R"(,"cost_per_hour":1000001)", "/cost_per_hour", "must be 0 to 1000000"},
      {R"(,"currency":"EUR")", "/currency", "without cost_per_hour"},
      {R"(,"cost_per_hour":1,"currency":"euro")", "/currency", "three capital letters"},
      {R"(,"count":-1)", "/count", "must not be negative"},
      {R"(,"count":1.5)", "/count", ""},
      {R"(,"target":"any")", "/target", "is not a target of a pool"},
      {R"(,"watts":700)", "/grid_intensity", "is missing"},
      {R"(,"watts":700,"grid_intensity":300,"pue":0.9)", "/pue", "at least what its devices do"},
      {R"(,"model":"MI300X")", "/model", "MI300X is a device of amd, not of nvidia"},
      {R"(,"sharing":"whole")", "/sharing", "whole devices are no fractions"},
      {R"(,"partition":"gpu")", "/partition", "name the cluster too"},
      {R"(,"cluster":"c","partition":"gpu","selector":"a=b")", "/selector", "by one of them"},
      {R"(,"colour":"red")", "/colour", "is not a field of a pool"},
  };
  for (const Row& row : kRows) {
    const auto pool = merge_pool(nullptr, given(row.more));
    SCOPED_TRACE(row.more);
    ASSERT_FALSE(pool.has_value());
    ASSERT_EQ(pool.error().problems.size(), 1U);
    EXPECT_EQ(pool.error().problems[0].where, row.where);
    EXPECT_THAT(pool.error().problems[0].message, HasSubstr(std::string(row.says)));
  }
  const auto gaudi = merge_pool(
      nullptr, object_of(R"({"name":"g","accelerator":"intel-gaudi","supports_fractions":true})"));
  EXPECT_THAT(gaudi.error().problems[0].message, HasSubstr("no mechanism for fractions"));
}

TEST(Pool, ANewPoolNeedsItsNameAndAccelerator) {
  EXPECT_THAT(places(merge_pool(nullptr, {}).error()), ElementsAre("/accelerator", "/name"));
  const Pool pool = *merge_pool(nullptr, given(""));
  EXPECT_THAT(places(merge_pool(&pool, object_of(R"({"name":"other"})")).error()),
              ElementsAre("/name"));
}

TEST(Pool, ComesBackFromItsJson) {
  Pool pool = *merge_pool(nullptr, given(""));
  EXPECT_EQ(pool_from_json(to_json(pool)), pool);
  pool = *merge_pool(nullptr,
                     given(R"(,"target":"cloud","model":"A100-80GB","count":0,"region":"eu-west-1",
        "cost_per_hour":0.000001,"currency":"EUR","carbon_factor":0.5,"watts":400.5,"pue":1.25,
        "grid_intensity":56.7,"supports_fractions":true,"sharing":"time-slice",
        "shares_per_device":4,"gpu_memory":"80GB","capabilities":["b","a"],"drained":true,
        "drain_reason":"ticket 7","cluster":"hpc","selector":"gpu=yes")"));
  EXPECT_EQ(pool_from_json(to_json(pool)), pool);
  EXPECT_EQ(pool_from_json({{"name", "x"}}).error().code, Code::store_damaged);
}

// Any JSON whatever: read or refused with problems, never a crash; what is read keeps every rule.
TEST(Pool, RandomInputIsReadSoundlyOrRefused) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const std::vector<std::string> values = {
      "null",    "true",    "0",         "1",       "-1",
      "0.5",     "1e400",   "1e30",      "\"\"",    "\"a\"",
      "[]",      "[1]",     "[\"fp8\"]", "{}",      "2.5",
      "\"2.5\"", "\"eu\"",  "\"80GB\"",  "\"mig\"", "\"nvidia\"",
      "\"amd\"", "\"hpc\"", "\"cloud\"", "\"EUR\"", "99999999999999999999"};
  const std::vector<std::string> keys = {"target",
                                         "model",
                                         "count",
                                         "region",
                                         "cost_per_hour",
                                         "currency",
                                         "carbon_factor",
                                         "watts",
                                         "pue",
                                         "grid_intensity",
                                         "supports_fractions",
                                         "sharing",
                                         "shares_per_device",
                                         "gpu_memory",
                                         "capabilities",
                                         "drained",
                                         "cluster",
                                         "partition",
                                         "engine",
                                         "fraction",
                                         "gpus",
                                         "nodes",
                                         "cpu",
                                         "memory_gb",
                                         "residency",
                                         "fallback",
                                         "x"};
  int read_pools = 0, read_workloads = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text =
        random() % 3 == 0 ? R"({"_":0)" : R"({"_":0,"name":"t","accelerator":"nvidia")";
    for (const std::string& key : keys)
      if (random() % 12 == 0) text += ",\"" + key + "\":" + values[random() % values.size()];
    auto parsed = parse_json(text + "}", "test");
    if (!parsed) continue;
    json::object input = parsed->as_object();
    input.erase("_");
    if (const auto pool = merge_pool(nullptr, input)) {
      ++read_pools;
      ASSERT_TRUE(problems_of_pool(*pool).empty());
      ASSERT_EQ(pool_from_json(to_json(*pool)), *pool) << text;
    }
    if (const auto work = read(input)) {
      ++read_workloads;
      ASSERT_TRUE(problems_of_workload(*work, shipped_engines()).empty());
      ASSERT_EQ(read(to_json(*work)), *work) << text;
    }
  }
  EXPECT_GT(read_workloads, 20);
  EXPECT_GT(read_pools, 20);
}

}  // namespace
}  // namespace exa
