// The public header alone, used as its comment says.
#include <gtest/gtest.h>

#include <exa/hardware.h>

namespace {

TEST(Library, TheDocumentsSnippetInCpp) {
  exa::PoolRegistry registry;
  ASSERT_TRUE(registry.add({{"name", "hpc-mi300"},
                            {"target", "hpc"},
                            {"accelerator", "amd"},
                            {"count", 4},
                            {"region", "eu"},
                            {"cost_per_hour", "1.8"},
                            {"carbon_factor", 250},
                            {"capabilities", "fp8"}}));
  exa::PlaceAsk ask;
  ask.workload = {.name = "train-llm",
                  .accelerator = exa::Family::amd,
                  .capabilities = {"fp8"},
                  .target = exa::Target::hpc,
                  .engine = "vllm"};
  const auto decision = registry.decide(ask);
  ASSERT_TRUE(decision.has_value());
  const exa::PlaceAnswer answer = exa::answer_of(*decision);
  const auto* placement = std::get_if<exa::Placement>(&answer);
  ASSERT_NE(placement, nullptr);
  EXPECT_EQ(placement->pool, "hpc-mi300");
  const auto accounting = exa::device_accounting(*placement, exa::hours(10));
  EXPECT_EQ(exa::format_money(*accounting->cost), "18 USD");
  EXPECT_EQ(accounting->carbon_micrograms, 2'500 * exa::kMicro);
  EXPECT_EQ(*exa::place(ask.workload, registry.pools()), answer);
}

TEST(Library, ARegistryMergesDrainsAndRemoves) {
  exa::PoolRegistry registry;
  ASSERT_TRUE(registry.add({{"name", "b"}, {"accelerator", "amd"}, {"cost_per_hour", 2}}));
  ASSERT_TRUE(registry.add({{"name", "a"}, {"accelerator", "amd"}, {"cost_per_hour", 3}}));
  ASSERT_TRUE(registry.add({{"name", "a"}, {"cost_per_hour", 1}}));
  EXPECT_EQ(registry.pools().front().name, "a");
  EXPECT_EQ(registry.pools().size(), 2U);
  exa::PlaceAsk ask;
  ask.workload = {.name = "w", .accelerator = exa::Family::amd};
  EXPECT_EQ(registry.decide(ask)->chosen, 0U);
  ASSERT_TRUE(registry.drain("a", "ticket 7"));
  EXPECT_EQ(registry.decide(ask)->chosen, 1U);
  ASSERT_TRUE(registry.resume("a"));
  EXPECT_EQ(registry.decide(ask)->chosen, 0U);
  ASSERT_TRUE(registry.remove("a"));
  EXPECT_EQ(registry.remove("a").error().code, exa::Code::not_found);
}

}  // namespace
