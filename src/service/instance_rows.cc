#include "service/instance_rows.h"

#include <fmt/format.h>

#include "base/text.h"
#include "service/profile_rows.h"
#include "service/stored.h"

namespace exa {
namespace {

Result<std::vector<ComputeInstance>> instances_of(Result<std::vector<Row>> rows) {
  if (!rows) return fail(rows.error());
  std::vector<ComputeInstance> instances;
  for (const Row& row : *rows) {
    EXA_ASSIGN(const json::object spec, parse_stored_object(row.text(0), "a stored instance"));
    EXA_ASSIGN(ComputeInstance instance, instance_from_json(spec));
    instances.push_back(std::move(instance));
  }
  return instances;
}

}  // namespace

Result<std::optional<ComputeInstance>> load_instance(Transaction& tx, const std::string& project,
                                                     const std::string& name) {
  EXA_ASSIGN(auto found, instances_of(tx.rows("SELECT spec FROM instance WHERE id = $1",
                                              {fmt::format("{}/{}", project, name)})));
  std::optional<ComputeInstance> instance;
  if (!found.empty()) instance = std::move(found[0]);
  return instance;
}

Result<ComputeInstance> find_instance(Transaction& tx, const std::string& project,
                                      const std::string& name) {
  EXA_TRY(require_project(tx, project));
  EXA_ASSIGN(auto found, load_instance(tx, project, name));
  if (found) return *std::move(found);
  EXA_ASSIGN(const auto all, load_instances_of(tx, project));
  std::vector<std::string> names;
  for (const ComputeInstance& each : all) names.push_back(each.name);
  return fail(Error{Code::not_found,
                    fmt::format("there is no instance \"{}\" in this project", printable(name)),
                    {},
                    "exa instance list",
                    close_matches(name, names)});
}

Result<std::vector<ComputeInstance>> load_instances(Transaction& tx) {
  return instances_of(tx.rows("SELECT spec FROM instance ORDER BY id"));
}

Result<std::vector<ComputeInstance>> load_instances_of(Transaction& tx,
                                                       const std::string& project) {
  return instances_of(
      tx.rows("SELECT spec FROM instance WHERE project = $1 ORDER BY id", {project}));
}

Result<void> put_instance(Transaction& tx, const ComputeInstance& instance) {
  EXA_TRY(tx.change(
      "INSERT INTO instance VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO UPDATE SET spec = $5",
      {instance.key(), instance.project, instance.sku_key(), instance.created_at.micros,
       to_text(to_json(instance))}));
  return {};
}

Result<void> drop_instance(Transaction& tx, const ComputeInstance& instance) {
  EXA_TRY(tx.change("DELETE FROM instance WHERE id = $1", {instance.key()}));
  return {};
}

Result<InstanceLimits> load_instance_limits(Transaction& tx, const std::string& project) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT spec FROM instance_limits WHERE project = $1", {project}));
  if (rows.empty()) return InstanceLimits{};
  EXA_ASSIGN(const json::object spec,
             parse_stored_object(rows[0].text(0), "stored limits of instances"));
  return instance_limits_from_json(spec);
}

InstancesHeld held_among(const std::vector<ComputeInstance>& all, const std::string& owner,
                         const std::string& but) {
  InstancesHeld held;
  for (const ComputeInstance& each : all) {
    using enum InstanceState;
    // what waits or was refused holds nothing
    if (each.name == but || each.state == waiting || each.state == rejected) continue;
    const bool own = each.owner == owner;
    ++held.instances;
    held.instances_of_owner += own ? 1 : 0;
    if (!holds_resources(each.state)) continue;
    held.prices.push_back(each.price_per_hour);
    if (own) held.prices_of_owner.push_back(each.price_per_hour);
  }
  return held;
}

Result<InstancesHeld> instances_held(Transaction& tx, const std::string& project,
                                     const std::string& owner, const std::string& but) {
  EXA_TRY(tx.change("UPDATE instance_limits SET project = project WHERE project = $1", {project}));
  EXA_ASSIGN(const auto all, load_instances_of(tx, project));
  return held_among(all, owner, but);
}

Result<void> keep_instance(Transaction& tx, Deed& deed,
                           const std::optional<ComputeInstance>& before,
                           const ComputeInstance& instance) {
  EXA_TRY(put_instance(tx, instance));
  deed.object_kind = "instance";
  deed.object_name = instance.key();
  deed.project = instance.project;
  if (before) deed.before = to_json(*before);
  deed.after = to_json(instance);
  deed.details["state"] = name(instance.state);
  deed.details["compute_profile"] = fmt::format("{}@{}", instance.sku_key(), instance.sku_version);
  if (!instance.reason.empty()) deed.details["reason"] = instance.reason;
  return {};
}

}  // namespace exa
