#include "discover/probe.h"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>

namespace exa {
namespace {

const Clock kNoon = [] { return Time{1'000'000}; };

class EmptyPath : public testing::Test {
 protected:
  void SetUp() override { ::setenv("PATH", "/nowhere", 1); }
  void TearDown() override { ::setenv("PATH", before_.c_str(), 1); }

 private:
  const std::string before_ = std::getenv("PATH");
};

TEST(Probe, ABadSshDestinationIsRefusedBeforeAnythingRuns) {
  for (ClusterKind kind : {ClusterKind::host, ClusterKind::slurm, ClusterKind::flux}) {
    ClusterAddress address;
    address.kind = kind;
    address.ssh = "-oProxyCommand=id";
    const auto capture = probe(address, kNoon);
    ASSERT_FALSE(capture) << name(kind);
    EXPECT_EQ(capture.error().code, Code::invalid_input);
  }
}

TEST(Probe, ThisMachineIsCapturedWithTheClocksTime) {
  const auto capture = probe({}, kNoon);
  ASSERT_TRUE(capture) << capture.error().message;
  EXPECT_EQ(capture->kind, ClusterKind::host);
  EXPECT_EQ(capture->taken_at, Time{1'000'000});
  EXPECT_EQ(capture->transport, "local");
  EXPECT_FALSE(capture->outputs.empty());
}

TEST_F(EmptyPath, ASchedulerThatIsNotHereIsAnError) {
  for (ClusterKind kind : {ClusterKind::slurm, ClusterKind::flux}) {
    ClusterAddress address;
    address.kind = kind;
    EXPECT_FALSE(probe(address, kNoon)) << name(kind);
  }
}

TEST_F(EmptyPath, WithoutSshAFarMachineCannotBeReached) {
  for (ClusterKind kind : {ClusterKind::host, ClusterKind::slurm, ClusterKind::flux}) {
    ClusterAddress address;
    address.kind = kind;
    address.ssh = "login";
    const auto capture = probe(address, kNoon);
    ASSERT_FALSE(capture) << name(kind);
    EXPECT_EQ(capture.error().code, Code::probe_failed) << capture.error().message;
  }
}

TEST_F(EmptyPath, KubernetesNeedsNoProgramAndNoTransport) {
  ClusterAddress address;
  address.kind = ClusterKind::kubernetes;
  address.ssh = "-not-looked-at";
  address.server = "https://127.0.0.1:1";
  address.timeout = seconds(5);
  const auto capture = probe(address, kNoon);
  ASSERT_FALSE(capture);
  EXPECT_NE(capture.error().code, Code::invalid_input) << capture.error().message;
}

}  // namespace
}  // namespace exa
