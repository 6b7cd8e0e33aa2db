#include "service/audit_replay.h"

#include <algorithm>

#include <fmt/format.h>

namespace exa {
namespace {

constexpr DocumentTable kDocuments[] = {
    {"pool", "pool", "name"},
    {"engine", "engine", "name"},
    {"region", "region", "name"},
    {"burst_policy", "burst_policy", "name"},
    {"project_residency", "project_residency", "name"},
    {"decision", "decision", "id"},
    {"lease", "lease", "id"},
    {"burst_event", "burst_event", "id"},
    {"permit", "permit", "id"},
    {"user", "account_user", "name"},
    {"user_password", "user_password", "name"},
    {"group", "account_group", "name"},
    {"group_member", "group_member", "name"},
    {"service_account", "service_account", "name"},
    {"role_binding", "role_binding", "name"},
    {"token", "access_token", "id"},
    {"session", "sign_in_session", "id"},
    {"setup_code", "setup_code", "name"},
    {"project_limits", "project_limits", "name"},
    {"profile_share", "profile_share", "name"},
    {"launch", "launch", "id"},
    {"manifest", "manifest", "id"},
    {"machine_source", "machine_source", "name"},
    {"ml_platform", "ml_platform", "id"},
    {"provisioner", "provisioner", "name"},
    {"sku", "sku", "id"},
    {"sku_version", "sku_version", "id"},
    {"environment_template", "environment_template", "id"},
    {"instance", "instance", "id"},
    {"instance_limits", "instance_limits", "project"},
};

std::string detail(const AuditEntry& entry, std::string_view key) {
  return std::string(text_or(entry.details, key, ""));
}

void move_to(ReplayedProfile& profile, const std::string& label, std::optional<int64_t> to,
             const AuditEntry& entry) {
  const auto held = profile.labels.find(label);
  const auto from =
      held == profile.labels.end() ? std::optional<int64_t>() : std::optional(held->second);
  if (from == to) return;  // it pointed there already: nothing was moved
  profile.moves[label].push_back({from, to, entry.actor_name, detail(entry, "at")});
  if (to)
    profile.labels[label] = *to;
  else
    profile.labels.erase(held);
}

void replay_set(ReplayedProfile& profile, const AuditEntry& entry) {
  if (!entry.object_version) return;
  profile.versions[*entry.object_version] = {
      entry.after_digest, entry.actor_name, detail(entry, "at"), false, "", ""};
  move_to(profile, detail(entry, "label"), entry.object_version, entry);
}

void replay_label(ReplayedProfile& profile, const AuditEntry& entry) {
  if (entry.object_version) move_to(profile, detail(entry, "label"), entry.object_version, entry);
}

void bury(ReplayedProfile& profile, int64_t version, const AuditEntry& entry) {
  ReplayedVersion& buried = profile.versions[version];
  buried.deleted = true;
  buried.deleted_by = entry.actor_name;
  buried.deleted_at = detail(entry, "at");
  std::vector<std::string> dropped;
  for (const auto& [label, at] : profile.labels)
    if (at == version) dropped.push_back(label);
  for (const std::string& label : dropped) move_to(profile, label, {}, entry);
}

void replay_delete(ReplayedProfile& profile, const AuditEntry& entry) {
  const json::value* versions = entry.details.if_contains("versions");
  if (versions == nullptr || !versions->is_array()) return;
  for (const json::value& version : versions->get_array())
    if (version.is_int64()) bury(profile, version.get_int64(), entry);
}

void replay_deprecate(ReplayedProfile& profile, const AuditEntry& entry) {
  const int64_t version = entry.object_version.value_or(0);
  profile.deprecations.erase(version);
  const json::value* undo = entry.details.if_contains("undo");
  if (undo != nullptr && undo->is_bool() && undo->get_bool()) return;
  profile.deprecations[version] = {detail(entry, "redirect"), entry.reason, entry.actor_name,
                                   detail(entry, "at")};
}

struct ProfileAction {
  std::string_view action;
  void (*replay)(ReplayedProfile&, const AuditEntry&);
};
constexpr ProfileAction kProfileActions[] = {
    {"hardware_profile.set", replay_set},
    {"hardware_profile.import", replay_set},
    {"hardware_profile.label", replay_label},
    {"hardware_profile.delete", replay_delete},
    {"hardware_profile.deprecate", replay_deprecate},
};

void replay_cluster(ReplayedState& state, const AuditEntry& entry) {
  std::vector<ReplayedCluster>& named = state.clusters[entry.object_name];
  if (entry.action == "cluster.add") {
    named.push_back({entry.after_digest, detail(entry, "uid"), false, ""});
  } else if (entry.action == "cluster.remove" && !named.empty()) {
    named.back().removed = true;
    named.back().removed_at = detail(entry, "at");
  } else if (entry.action == "cluster.discover") {
    state.snapshots[detail(entry, "snapshot")] = entry.after_digest;
    const json::value* dropped = find(entry.details, "dropped_snapshots");
    if (dropped == nullptr || !dropped->is_array()) return;
    for (const json::value& id : dropped->get_array())
      if (id.is_string()) state.snapshots.erase(std::string(id.get_string()));
  }
}

// Projects that came to be with their manifest.
void replay_made_projects(ReplayedState& state, const AuditEntry& entry) {
  const json::value* made = entry.details.if_contains("projects");
  if (made == nullptr || !made->is_array()) return;
  for (const json::value& one : made->get_array())
    state.projects[std::string(text_or(one, "name", ""))] = {entry.actor_name,
                                                             std::string(text_or(one, "at", ""))};
}

void replay_documents(ReplayedState& state, const AuditEntry& entry) {
  if (std::ranges::find(kDocuments, entry.object_kind, &DocumentTable::kind) !=
      std::end(kDocuments))
    state.documents[{entry.object_kind, entry.object_name}] = entry.after_digest;
  const json::value* also = entry.details.if_contains("also");
  if (also == nullptr || !also->is_array()) return;
  for (const json::value& one : also->get_array()) {
    const std::string kind(text_or(one, "kind", ""));
    const std::string name(text_or(one, "name", ""));
    // launches keep and release their consumers; `use` and `release` have entries of their own
    if (kind == "consumer")
      state.consumers[name] = text_or(one, "digest", "");
    else
      state.documents[{kind, name}] = text_or(one, "digest", "");
  }
}

}  // namespace

std::span<const DocumentColumn> document_columns() {
  static constexpr DocumentColumn kColumns[] = {
      {"decision", "project", "project"},
      {"decision", "workload", "workload/name"},
      {"decision", "outcome", "decision"},
      {"decision", "decided_at", "decided_at"},
      {"decision", "decided_by", "decided_by"},
      {"lease", "project", "project"},
      {"lease", "pool", "pool"},
      {"lease", "taken_at", "taken_at"},
      {"lease", "expires_at", "expires_at"},
      {"lease", "ended_at", "ended_at"},
      {"burst_event", "project", "project"},
      {"burst_event", "workload", "workload"},
      {"burst_event", "allowed", "allowed"},
      {"burst_event", "attempted_at", "attempted_at"},
      {"burst_event", "attempted_by", "attempted_by"},
      {"permit", "expires_at", "expires_at"},
      {"user", "oidc", "oidc"},
      {"user", "disabled_at", "disabled_at"},
      {"user_password", "hash", "hash"},
      {"group", "oidc_group", "oidc_group"},
      {"group_member", "group_name", "group"},
      {"group_member", "user_name", "user"},
      {"service_account", "disabled_at", "disabled_at"},
      {"role_binding", "project", "project"},
      {"role_binding", "subject_kind", "subject_kind"},
      {"role_binding", "subject", "subject"},
      {"role_binding", "role", "role"},
      {"token", "sha256", "sha256"},
      {"token", "owner_kind", "owner_kind"},
      {"token", "owner", "owner"},
      {"token", "expires_at", "expires_at"},
      {"token", "revoked_at", "revoked_at"},
      {"session", "sha256", "sha256"},
      {"session", "user_name", "user"},
      {"session", "expires_at", "expires_at"},
      {"setup_code", "sha256", "sha256"},
      {"setup_code", "used_at", "used_at"},
      {"project_limits", "name", "project"},
      {"profile_share", "project", "project"},
      {"launch", "project", "spec/project"},
      {"launch", "kind", "spec/kind"},
      {"launch", "created_at", "created_at"},
      {"manifest", "project", "project"},
      {"manifest", "kind", "kind"},
      {"manifest", "name", "name"},
      {"ml_platform", "project", "project"},
      {"sku", "project", "project"},
      {"sku", "name", "name"},
      {"sku_version", "project", "project"},
      {"sku_version", "name", "name"},
      {"sku_version", "version", "version"},
  };
  return kColumns;
}

std::span<const DocumentTable> document_tables() {
  return kDocuments;
}

void replay(ReplayedState& state, const AuditEntry& entry) {
  if (entry.outcome != "done") return;
  replay_documents(state, entry);
  replay_made_projects(state, entry);
  if (entry.object_kind == "hardware_profile") {
    const auto* row = std::ranges::find(kProfileActions, entry.action, &ProfileAction::action);
    if (row != std::end(kProfileActions))
      row->replay(state.profiles[{entry.project, entry.object_name}], entry);
  } else if (entry.object_kind == "cluster") {
    replay_cluster(state, entry);
  } else if (entry.object_kind == "consumer") {
    state.consumers[fmt::format("{}/{}/{}", entry.project, detail(entry, "kind"),
                                entry.object_name)] = entry.after_digest;
  } else if (entry.action == "project.create") {
    state.projects[entry.object_name] = {entry.actor_name, detail(entry, "at")};
  }
}

}  // namespace exa
