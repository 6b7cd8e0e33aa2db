// What counts as a trouble, case by case.
#include "service/status.h"

#include <gtest/gtest.h>

namespace exa {
namespace {

Standing on(std::string cluster, std::string status, bool active = true,
            std::vector<std::string> consumers = {}) {
  return {"default", "small", 1,     std::move(cluster),  std::move(status), "why",
          Time{1},   active,  false, std::move(consumers)};
}

std::vector<std::string> places(std::vector<Standing> standings) {
  std::vector<std::string> names;
  for (const Standing& standing : troubles(std::move(standings)))
    names.push_back(standing.cluster + " " + standing.status);
  return names;
}

using Places = std::vector<std::string>;

TEST(OverallStatus, AnActiveVersionNeedsOneClusterOnly) {
  EXPECT_EQ(places({on("a", "unresolvable"), on("b", "verified")}), Places{});
}

TEST(OverallStatus, WhereItIsNowhereVerifiedTheBestPlaceIsNamedOnce) {
  EXPECT_EQ(places({on("a", "unresolvable"), on("b", "degraded"), on("c", "degraded")}),
            Places{"b degraded"});
}

TEST(OverallStatus, WhoRunsThereIsToldWhateverOtherClustersHold) {
  EXPECT_EQ(places({on("a", "unresolvable", true, {"workbench/nb"}), on("b", "verified")}),
            Places{"a unresolvable"});
}

TEST(OverallStatus, AVersionInUseThatIsNotActiveIsATroubleOnlyWhereItRuns) {
  EXPECT_EQ(places({on("a", "degraded", false, {"training/run"}), on("b", "unresolvable", false)}),
            Places{"a degraded"});
}

TEST(OverallStatus, TheWorstComesFirst) {
  EXPECT_EQ(places({on("a", "degraded", true, {"workbench/x"}),
                    on("b", "unresolvable", true, {"workbench/y"})}),
            (Places{"b unresolvable", "a degraded"}));
}

}  // namespace
}  // namespace exa
