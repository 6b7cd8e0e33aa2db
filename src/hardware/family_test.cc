#include "hardware/family.h"

#include <set>

#include <gmock/gmock.h>

#include "hardware/inventory.h"

namespace exa {
namespace {

using testing::ElementsAre;

TEST(Family, EveryFamilyIsFoundByTheDocumentsSpelling) {
  for (const FamilyInfo& row : families()) {
    EXPECT_EQ(find_family(row.name), row.family);
    EXPECT_EQ(&info(row.family), &row);
  }
}

TEST(Family, AnotherSpellingIsNotGuessed) {
  for (const char* name : {"", "NVIDIA", "intel_gaudi", "gaudi", "gpu", "nvidia "})
    EXPECT_EQ(find_family(name), std::nullopt) << name;
}

TEST(Family, OtherCanBeDiscoveredButNotAskedFor) {
  EXPECT_THAT(askable_family_names(), ElementsAre("nvidia", "amd", "intel-gaudi", "tpu", "cpu"));
}

TEST(Family, BackendsAreThoseOfTheDocument) {
  EXPECT_EQ(info(Family::nvidia).backend, "cuda");
  EXPECT_EQ(info(Family::amd).backend, "rocm");
  EXPECT_EQ(info(Family::intel_gaudi).backend, "ipex");
  EXPECT_EQ(info(Family::tpu).backend, "xla");
  EXPECT_EQ(info(Family::cpu).backend, "cpu");
}

TEST(Family, AKubernetesResourceBelongsToOneFamily) {
  std::set<std::string_view> seen;
  for (const FamilyInfo& row : families())
    for (std::string_view resource : row.kubernetes_resources)
      EXPECT_TRUE(seen.insert(resource).second) << resource;
  EXPECT_TRUE(seen.contains("nvidia.com/gpu"));
  EXPECT_FALSE(seen.contains("gpu.intel.com/i915_monitoring"));
}

TEST(Family, OnlyNvidiaHasMig) {
  for (const FamilyInfo& row : families()) EXPECT_EQ(row.has_mig, row.family == Family::nvidia);
}

TEST(InventoryNames, EveryValueHasANameThatLeadsBack) {
  for (int i = 0; i <= static_cast<int>(Health::unknown); ++i) {
    const auto health = static_cast<Health>(i);
    EXPECT_EQ(find_health(name(health)), health);
  }
  for (Sharing sharing : {Sharing::whole, Sharing::mig, Sharing::time_slice, Sharing::mps})
    EXPECT_EQ(find_sharing(name(sharing)), sharing);
  for (ClusterKind kind :
       {ClusterKind::host, ClusterKind::slurm, ClusterKind::flux, ClusterKind::kubernetes})
    EXPECT_EQ(find_cluster_kind(name(kind)), kind);
  EXPECT_EQ(find_health("Usable"), std::nullopt);
  EXPECT_EQ(find_cluster_kind("k8s"), std::nullopt);
}

}  // namespace
}  // namespace exa
