#include "place/pool_set.h"

#include <algorithm>

#include "place/mig.h"

namespace exa {
namespace {

void count_devices(const Pool& pool, PreparedPool& row) {
  if (pool.declared())
    row.total = row.free.emplace(pool.count);
  else if (pool.seen) {
    row.total = devices_of(*pool.seen);
    row.free = free_devices_of(*pool.seen);
  }
  if (row.free) row.free = std::max<int64_t>(0, *row.free - pool.leases.devices);
}

// Label and report differ by rule (80 GB on the label, 81,559 MiB reported); the larger counts,
// since both are the same card.
int64_t memory_of(const DeviceModel& model) {
  return std::max(model.sold_memory_bytes, model.reported_memory_bytes);
}

void look_up_model(const Pool& pool, PreparedPool& row) {
  row.capabilities = pool.capabilities;
  if (pool.gpu_memory_bytes > 0) row.memory_least = row.memory_most = pool.gpu_memory_bytes;
  const auto meant = models_meant(pool.model);
  // a family's name means all of its models, which says nothing about a device
  if (pool.model.empty() || meant.empty()) return;
  std::vector<std::string> common(meant.front()->capabilities.begin(),
                                  meant.front()->capabilities.end());
  int64_t least = memory_of(*meant.front());
  int64_t most = least;
  for (const DeviceModel* model : meant) {
    std::erase_if(common, [&](const std::string& tag) {
      return std::ranges::find(model->capabilities, tag) == model->capabilities.end();
    });
    least = std::min(least, memory_of(*model));
    most = std::max(most, memory_of(*model));
  }
  if (!row.memory_least && least > 0) {
    row.memory_least = least;
    row.memory_most = most;
  }
  row.capabilities.insert(row.capabilities.end(), common.begin(), common.end());
  std::ranges::sort(row.capabilities);
  row.capabilities.erase(std::unique(row.capabilities.begin(), row.capabilities.end()),
                         row.capabilities.end());
}

// A MIG instance satisfies a fraction by compute and by memory slices, and takes the larger of
// both. Where it begins on a card is kept for cards of the usual cut.
ShareOption option_of(const DeviceModel& model, const MigProfile& profile) {
  const MigShare share = share_of(model, profile);
  ShareOption option;
  option.sharing = Sharing::mig;
  option.mig_profile = profile.name;
  option.honours_milli = share.satisfied;
  option.held_milli = share.taken;
  option.from_devices = true;
  if (whole_card(model) == MigSlices{kComputeSlices, kMemorySlices})
    option.slices = {profile.compute_slices, profile.memory_slices};
  return option;
}

void add_declared_shares(const Pool& pool, PreparedPool& row) {
  if (!pool.supports_fractions) return;
  const DeviceModel* model = single_model(pool.model);
  const bool has_mig =
      info(pool.accelerator).has_mig && (model == nullptr || !model->mig_profiles.empty());
  const Sharing sharing = pool.sharing.value_or(has_mig ? Sharing::mig : Sharing::time_slice);
  if (sharing == Sharing::mig && model != nullptr && !model->mig_profiles.empty()) {
    for (const MigProfile& profile : model->mig_profiles)
      row.shares.push_back(option_of(*model, profile));
    return;
  }
  ShareOption option;
  option.sharing = sharing;
  option.from_devices = true;
  if (sharing != Sharing::mig && pool.shares_per_device > 0) {
    for (int64_t shares = 1; shares < pool.shares_per_device; ++shares) {
      option.honours_milli = option.held_milli = shares * 1000 / pool.shares_per_device;
      row.shares.push_back(option);
    }
    return;
  }
  option.honours_milli = 999;  // any fraction, held exactly
  row.shares.push_back(option);
}

void add_seen_shares(const PoolSnapshot& seen, PreparedPool& row) {
  for (const PoolShares& shares : seen.shares) {
    if (shares.share_milli <= 0) continue;
    ShareOption option;
    option.sharing = shares.sharing;
    option.mig_profile = shares.mig_profile;
    option.honours_milli = option.held_milli = shares.share_milli;
    option.units = shares.units;
    option.free = shares.free;
    option.largest_on_node = shares.largest_on_node;
    row.shares.push_back(std::move(option));
  }
}

PreparedPool prepare(const Pool& pool, const PlaceRules& rules) {
  PreparedPool row;
  count_devices(pool, row);
  look_up_model(pool, row);
  if (const auto where = jurisdiction_of(rules.jurisdictions, pool.region))
    row.jurisdiction = std::string(*where);
  if (pool.declared())
    add_declared_shares(pool, row);
  else if (pool.seen)
    add_seen_shares(*pool.seen, row);
  std::ranges::sort(row.shares, [](const ShareOption& a, const ShareOption& b) {
    return std::tie(a.held_milli, a.honours_milli, a.sharing, a.mig_profile) <
           std::tie(b.held_milli, b.honours_milli, b.sharing, b.mig_profile);
  });
  return row;
}

}  // namespace

int64_t devices_of(const PoolSnapshot& seen) {
  int64_t total = 0;
  for (const PoolNodes& row : seen.nodes) total += row.nodes * row.devices;
  return total;
}

std::optional<int64_t> free_devices_of(const PoolSnapshot& seen) {
  int64_t total = 0;
  for (const PoolNodes& row : seen.nodes) {
    if (!row.free && row.nodes * row.devices > 0) return std::nullopt;
    total += row.nodes * row.free.value_or(0);
  }
  return total;
}

Pools build_pools(std::vector<Pool> pools, PlaceRules rules) {
  auto set = std::make_shared<PoolSet>();
  std::ranges::sort(pools, {}, &Pool::name);
  EXA_ASSERT(std::ranges::adjacent_find(pools, {}, &Pool::name) == pools.end());
  set->models.emplace_back();
  set->meant.emplace_back();
  for (const Pool& pool : pools) {
    PreparedPool row = prepare(pool, rules);
    const auto model = std::ranges::find(set->models, pool.model);
    row.model = static_cast<uint32_t>(model - set->models.begin());
    if (model == set->models.end()) {
      set->models.push_back(pool.model);
      set->meant.push_back(models_meant(pool.model));
    }
    set->prepared.push_back(std::move(row));
  }
  set->pools = std::move(pools);
  set->rules = std::move(rules);
  return set;
}

}  // namespace exa
