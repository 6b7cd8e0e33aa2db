#include "server/gauges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing.h"

namespace exa {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string scraped(TestExa& exa, Metrics& metrics) {
  read_gauges(exa.service(), metrics);
  return metrics.text();
}

TEST(Gauges, AKeptAnswerAgesWithItsSnapshot) {
  TestExa exa;
  Metrics metrics;
  prepare(exa);
  exa.ask("hardware_profile.resolve", {{"name", "eight"}, {"cluster", "hpc"}});
  EXPECT_THAT(scraped(exa, metrics), HasSubstr("exa_profile_resolutions{status=\"verified\"} 1\n"));
  exa.now = exa.now + hours(24 * 7);
  EXPECT_THAT(scraped(exa, metrics), HasSubstr("exa_profile_resolutions{status=\"verified\"} 0\n"));
}

TEST(Gauges, WhetherClustersFailIsReadByWhoeverIsScraped) {
  TestExa exa;
  Metrics metrics;
  prepare(exa);
  EXPECT_THAT(scraped(exa, metrics), HasSubstr("exa_clusters_failing 0\n"));
  exa.probe = [] { return fail(Code::probe_failed, "nobody answers"); };
  exa.call("cluster.discover", {{"name", "hpc"}});
  EXPECT_THAT(scraped(exa, metrics), HasSubstr("exa_clusters_failing 1\n"));
}

TEST(Gauges, AnAgeThatIsNotKnownIsLeftOut) {
  TestExa exa;
  Metrics metrics;
  prepare(exa);
  exa.now = exa.now + seconds(90);
  EXPECT_THAT(scraped(exa, metrics), HasSubstr("exa_cluster_snapshot_age_seconds 90\n"));
  exa.ask("cluster.remove", {{"name", "hpc"}});
  EXPECT_THAT(scraped(exa, metrics), Not(HasSubstr("exa_cluster_snapshot_age_seconds")));
}

}  // namespace
}  // namespace exa
