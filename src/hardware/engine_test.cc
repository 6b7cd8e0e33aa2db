#include "hardware/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace exa {
namespace {

using testing::ElementsAre;

// The document's table, cell by cell: 1 where the engine stands beside the accelerator.
TEST(Engine, RunsWhereTheDocumentSays) {
  struct Row {
    std::string_view engine;
    std::array<bool, 5> runs;  // nvidia, amd, intel-gaudi, tpu, cpu
  };
  constexpr Row kRows[] = {{"vllm", {true, true, false, false, false}},
                           {"sglang", {true, false, false, false, false}},
                           {"ipex", {false, false, true, false, true}},
                           {"cpu", {false, false, false, false, true}},
                           {"generic", {true, true, true, true, true}}};
  constexpr std::string_view kAccelerators[] = {"nvidia", "amd", "intel-gaudi", "tpu", "cpu"};
  for (const Row& row : kRows)
    for (size_t i = 0; i < row.runs.size(); ++i)
      EXPECT_EQ(portable(shipped_engines(), row.engine, kAccelerators[i])->portable, row.runs[i])
          << row.engine << " " << kAccelerators[i];
  EXPECT_EQ(shipped_engines().engines.size(), std::size(kRows));
}

TEST(Engine, TheRefusalIsTheDocumentsSentence) {
  EXPECT_EQ(portable(shipped_engines(), "sglang", "amd")->reason,
            "engine 'sglang' cannot run on amd (needs backend rocm; supports ('cuda',))");
  EXPECT_EQ(portable(shipped_engines(), "vllm", "tpu")->reason,
            "engine 'vllm' cannot run on tpu (needs backend xla; supports ('cuda', 'rocm'))");
}

TEST(Engine, BothUnknownNamesAreSaidAtOnceWithTheNearestSpelling) {
  const auto answer = portable(shipped_engines(), "vlm", "nvidai");
  ASSERT_FALSE(answer.has_value());
  ASSERT_EQ(answer.error().problems.size(), 2U);
  EXPECT_EQ(answer.error().problems[0].suggestion, "did you mean vllm?");
  EXPECT_EQ(answer.error().problems[1].suggestion, "did you mean nvidia?");
  // a family that is only ever discovered is not asked for
  EXPECT_FALSE(portable(shipped_engines(), "vllm", "other").has_value());
}

TEST(Engine, AnAdminAddsReplacesAndRemovesTheirOwn) {
  const auto added = with_engine(shipped_engines(), {"tgi", {"cuda", "rocm"}, false});
  ASSERT_TRUE(added.has_value());
  EXPECT_TRUE(portable(*added, "tgi", "amd")->portable);
  const auto replaced = with_engine(*added, {"tgi", {"cuda"}, false});
  EXPECT_FALSE(portable(*replaced, "tgi", "amd")->portable);
  EXPECT_EQ(replaced->engines.size(), shipped_engines().engines.size() + 1);
  EXPECT_EQ(find_engine(*without_engine(*replaced, "tgi"), "tgi"), nullptr);
}

TEST(Engine, ShippedOnesStayAsTheyAre) {
  EXPECT_EQ(with_engine(shipped_engines(), {"vllm", {"cpu"}, false}).error().code, Code::conflict);
  EXPECT_EQ(without_engine(shipped_engines(), "vllm").error().code, Code::conflict);
  const auto gone = without_engine(shipped_engines(), "vlm");
  EXPECT_EQ(gone.error().code, Code::not_found);
  EXPECT_THAT(gone.error().alternatives, ElementsAre("vllm"));
}

TEST(Engine, EveryProblemIsSaidAtOnce) {
  const auto problems = problems_of_engine({"My Engine", {"cuda", "roc", "cuda"}, false});
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_EQ(problems[0].where, "/name");
  EXPECT_EQ(problems[1].suggestion, "did you mean rocm?");
  EXPECT_EQ(problems[2].where, "/backends/2");
  EXPECT_EQ(problems_of_engine({"x", {}, false}).size(), 1U);
}

TEST(Engine, IsReadBackFromItsJson) {
  for (const Engine& engine : shipped_engines().engines)
    EXPECT_EQ(engine_from_json(to_json(engine)), engine);
  EXPECT_EQ(engine_from_json({{"name", "x"}}).error().code, Code::store_damaged);
}

}  // namespace
}  // namespace exa
