#include "discover/slurm_state.h"

#include <gmock/gmock.h>

namespace exa {
namespace {

using ::testing::HasSubstr;

TEST(SlurmState, EveryToolsSpellingGivesTheHealth) {
  const struct {
    std::string text;
    Health health;
  } rows[] = {
      // scontrol
      {"IDLE", Health::usable},
      {"ALLOCATED", Health::usable},
      {"MIXED", Health::usable},
      {"MIXED+CLOUD", Health::usable},
      {"MIXED+PLANNED", Health::usable},
      {"IDLE+COMPLETING", Health::usable},
      {"IDLE+DYNAMIC_NORM", Health::usable},
      {"IDLE+REBOOT_REQUESTED", Health::usable},
      {"MIXED+DRAIN", Health::draining},
      {"ALLOCATED+DRAIN", Health::draining},
      {"IDLE+COMPLETING+DRAIN", Health::draining},
      {"IDLE+DRAIN", Health::drained},
      {"IDLE+DRAIN+NOT_RESPONDING", Health::drained},
      {"UNKNOWN+DRAIN+INVALID_REG", Health::down},
      {"DOWN+NOT_RESPONDING", Health::down},
      {"DOWN*+CLOUD+POWERED_DOWN", Health::down},
      {"DOWN+DRAIN", Health::down},
      {"IDLE+FAIL", Health::down},
      {"ERROR", Health::down},
      {"IDLE+NOT_RESPONDING", Health::not_responding},
      {"MIXED*", Health::not_responding},
      {"IDLE+CLOUD+POWERED_DOWN", Health::powered_down},
      {"IDLE~", Health::powered_down},
      {"IDLE+POWERING_DOWN", Health::powered_down},
      {"MIXED+CLOUD+POWERING_UP", Health::powered_down},
      {"IDLE+MAINTENANCE", Health::reserved},
      {"IDLE+RESERVED", Health::reserved},
      {"MIXED+MAINT+RESERVED", Health::reserved},
      {"FUTURE", Health::unknown},
      {"UNKNOWN", Health::unknown},
      // sinfo, long and short
      {"allocated+drain", Health::draining},
      {"unknown+drain+invalid_reg", Health::down},
      {"draining", Health::draining},
      {"drng", Health::draining},
      {"drained", Health::drained},
      {"drained*", Health::drained},
      {"inval", Health::down},
      {"down*", Health::down},
      {"idle~", Health::powered_down},
      {"idle#", Health::powered_down},
      {"idle%", Health::powered_down},
      {"idle!", Health::powered_down},
      {"mixed@", Health::usable},
      {"mixed-", Health::usable},
      {"allocated+", Health::usable},
      {"reboot^", Health::powered_down},
      {"maint", Health::reserved},
      {"idle$", Health::reserved},
      {"reserved", Health::reserved},
      {"planned", Health::usable},
      {"completing", Health::usable},
      {"failing", Health::down},
      {"unk*", Health::not_responding},
  };
  for (const auto& row : rows) {
    const auto state = read_slurm_state(row.text);
    ASSERT_TRUE(state) << row.text << ": " << state.error().message;
    EXPECT_EQ(name(health(*state)), name(row.health)) << row.text;
  }
}

TEST(SlurmState, AWordThatIsNotKnownFailsByName) {
  for (const std::string text : {"", "MIXE", "IDLE+NEWFLAG", "unknown+drain+invali", "+", "5"}) {
    const auto state = read_slurm_state(text);
    ASSERT_FALSE(state) << text;
    EXPECT_EQ(state.error().code, Code::unreadable_output);
    EXPECT_THAT(state.error().message, HasSubstr("\"" + text + "\""));
  }
}

}  // namespace
}  // namespace exa
