#include "place/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace exa {
namespace {

using testing::HasSubstr;
using testing::Not;

Simulation a_run(std::string policy, double end) {
  Simulation run;
  run.policy = std::move(policy);
  for (int64_t at = 10; at <= 130; at += 10)
    run.marks.push_back({at, std::min(static_cast<double>(at), end), 0, 0});
  return run;
}

TEST(Chart, EveryPolicyIsNamedAtItsMean) {
  const Simulation runs[] = {a_run("exa", 96), a_run("exa", 97), a_run("fgd", 95)};
  const std::string svg = chart_of(runs);
  EXPECT_THAT(svg, HasSubstr(">exa 96.5</text>"));
  EXPECT_THAT(svg, HasSubstr(">fgd 95.0</text>"));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(svg, HasSubstr("requested so far, % of all GPUs"));
  EXPECT_EQ(svg, chart_of(runs));
}

TEST(Chart, NamesAreWrittenAsTextOnly) {
  const Simulation runs[] = {a_run("<script>&\"\x01", 90)};
  const std::string svg = chart_of(runs);
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;&amp;&quot; 90.0"));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
}

TEST(Chart, NothingToShowIsStillAChart) {
  EXPECT_THAT(chart_of({}), HasSubstr("</svg>"));
  Simulation empty;
  empty.policy = "exa";
  EXPECT_THAT(chart_of(std::span(&empty, 1)), HasSubstr("exa 0.0"));
}

}  // namespace
}  // namespace exa
