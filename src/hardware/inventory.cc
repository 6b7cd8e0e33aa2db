#include "hardware/inventory.h"

#include <span>

#include "base/error.h"

namespace exa {
namespace {

template <typename Value>
struct Named {
  Value value;
  std::string_view name;
};

constexpr Named<Sharing> kSharings[] = {
    {Sharing::whole, "whole"},    {Sharing::mig, "mig"},     {Sharing::time_slice, "time-slice"},
    {Sharing::mps, "mps"},        {Sharing::shard, "shard"}, {Sharing::vgpu, "vgpu"},
    {Sharing::unread, "unknown"},
};

constexpr Named<Health> kHealths[] = {
    {Health::usable, "usable"},
    {Health::draining, "draining"},
    {Health::drained, "drained"},
    {Health::down, "down"},
    {Health::not_responding, "not-responding"},
    {Health::reserved, "reserved"},
    {Health::powered_down, "powered-down"},
    {Health::cordoned, "cordoned"},
    {Health::not_ready, "not-ready"},
    {Health::unknown, "unknown"},
};

constexpr Named<ClusterKind> kKinds[] = {
    {ClusterKind::host, "host"},
    {ClusterKind::slurm, "slurm"},
    {ClusterKind::flux, "flux"},
    {ClusterKind::kubernetes, "kubernetes"},
};

template <typename Value>
std::string_view name_of(std::span<const Named<Value>> table, Value value) {
  for (const Named<Value>& row : table)
    if (row.value == value) return row.name;
  EXA_ASSERT(false && "every value has a name");
}

template <typename Value>
std::optional<Value> value_of(std::span<const Named<Value>> table, std::string_view name) {
  for (const Named<Value>& row : table)
    if (row.name == name) return row.value;
  return std::nullopt;
}

}  // namespace

std::string_view name(Sharing sharing) {
  return name_of<Sharing>(kSharings, sharing);
}
std::string_view name(Health health) {
  return name_of<Health>(kHealths, health);
}
std::string_view name(ClusterKind kind) {
  return name_of<ClusterKind>(kKinds, kind);
}

std::optional<Sharing> find_sharing(std::string_view name) {
  return value_of<Sharing>(kSharings, name);
}
std::optional<Health> find_health(std::string_view name) {
  return value_of<Health>(kHealths, name);
}
std::optional<ClusterKind> find_cluster_kind(std::string_view name) {
  return value_of<ClusterKind>(kKinds, name);
}

}  // namespace exa
