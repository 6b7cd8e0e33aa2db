#include "place/lease.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace exa {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Time kNow = parse_rfc3339("2026-11-30T12:00:00Z").value();

Pool cut_pool(int64_t count) {
  Pool pool;
  pool.name = "cut";
  pool.count = count;
  pool.supports_fractions = true;
  return pool;
}

// The decision for one device of the pool, or part of it, beside what is held.
Decision decided(Pool pool, std::span<const Lease> open, int64_t fraction_milli, int64_t gpus = 1) {
  pool.leases = held(open, kNow);
  Workload workload;
  workload.name = "w";
  workload.fraction_milli = fraction_milli;
  workload.gpus = gpus;
  return place({.workload = workload}, build_pools({std::move(pool)}), kNow).value();
}

TEST(Lease, HoldsUntilItEndsOrExpires) {
  Lease lease;
  lease.taken_at = kNow;
  lease.expires_at = kNow + hours(1);
  EXPECT_TRUE(lease.open(kNow));
  EXPECT_FALSE(lease.open(kNow + hours(1)));
  EXPECT_EQ(lease.end(kNow + hours(2)), kNow + hours(1));
  lease.ended_at = kNow + minutes(10);
  EXPECT_FALSE(lease.open(kNow + minutes(5)));
  EXPECT_EQ(lease.end(kNow + hours(2)), kNow + minutes(10));
}

TEST(Lease, PartsShareTheFullestDeviceWithRoom) {
  std::vector<Lease> open;
  for (const int64_t milli : {500, 300, 200}) {
    open.push_back(lease_of(decided(cut_pool(4), open, milli), open, hours(1)));
    open.back().id = std::to_string(milli);
  }
  for (const Lease& lease : open)
    EXPECT_THAT(lease.parts, ElementsAre(LeasedPart{0, lease.held_milli, {}, 0}));
  const PoolLeases all = held(open, kNow);
  EXPECT_EQ(all.devices, 1);
  EXPECT_THAT(all.rests, IsEmpty());
}

TEST(Lease, AnAskOfSeveralPartsTakesDistinctDevices) {
  const Lease lease = lease_of(decided(cut_pool(4), {}, 500, 2), {}, hours(1));
  EXPECT_THAT(lease.parts, ElementsAre(LeasedPart{0, 500, {}, 0}, LeasedPart{1, 500, {}, 0}));
}

// A card holds 4g.40gb and 3g.40gb (7 compute and 8 memory slices), or 4g.40gb and twice 1g.20gb.
TEST(Lease, InstancesArePackedByComputeAndMemorySlices) {
  Pool pool = cut_pool(1);
  pool.model = "A100-SXM4-80GB";
  for (const std::vector<int64_t>& shares :
       {std::vector<int64_t>{500, 400}, std::vector<int64_t>{500, 140, 140},
        std::vector<int64_t>{125, 125, 125, 125, 125, 125, 125}}) {
    std::vector<Lease> open;
    for (const int64_t milli : shares) {
      const Decision decision = decided(pool, open, milli);
      ASSERT_TRUE(decision.chosen) << milli << " beside " << open.size();
      open.push_back(lease_of(decision, open, hours(1)));
      EXPECT_EQ(lease_from_json(to_stored_json(open.back())).value(), open.back());
    }
    EXPECT_EQ(held(open, kNow).devices, 1);
    EXPECT_FALSE(decided(pool, open, 500).chosen);
  }
}

// Whatever is taken and given back: no device is ever held beyond itself, and never more devices
// than there are.
TEST(Lease, RandomTakingAndReleasingNeverHoldsADeviceTwice) {
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::vector<Lease> open;
    for (int step = 0; step < 200; ++step) {
      if (!open.empty() && random() % 3 == 0) {
        open.erase(open.begin() + static_cast<long>(random() % open.size()));
        continue;
      }
      const int64_t milli =
          random() % 4 == 0 ? 1000 : 50 + 50 * static_cast<int64_t>(random() % 19);
      const Decision decision = decided(cut_pool(3), open, milli);
      if (!decision.chosen) continue;
      open.push_back(lease_of(decision, open, hours(1)));
      const PoolLeases now = held(open, kNow);
      ASSERT_LE(now.devices, 3);
      std::map<int64_t, int64_t> by_device;
      for (const Lease& lease : open)
        for (const LeasedPart& part : lease.parts) by_device[part.device] += part.milli;
      for (const auto& [device, held_milli] : by_device) ASSERT_LE(held_milli, 1000) << device;
    }
  }
}

TEST(Lease, IsReadBackAsItWasStored) {
  Lease lease = lease_of(decided(cut_pool(4), {}, 250), {}, hours(1));
  lease.id = "id-1";
  lease.project = "default";
  lease.price = Money{2'500'000, "EUR"};
  lease.carbon = CarbonRate{300'000'000, true};
  lease.ended_at = kNow + minutes(1);
  EXPECT_EQ(lease_from_json(to_stored_json(lease)).value(), lease);
}

TEST(Lease, AStoredLeaseThatWasDamagedIsNamed) {
  json::object stored = to_stored_json(lease_of(decided(cut_pool(4), {}, 250), {}, hours(1)));
  for (const char* key : {"devices", "held", "target", "device", "taken_at", "parts"}) {
    json::object damaged = stored;
    damaged[key] = json::object{{"x", 1}};
    const auto read = lease_from_json(damaged);
    ASSERT_FALSE(read) << key;
    EXPECT_EQ(read.error().code, Code::store_damaged) << key;
  }
}

}  // namespace
}  // namespace exa
