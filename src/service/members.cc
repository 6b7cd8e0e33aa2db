#include "service/members.h"

#include <map>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/text.h"
#include "hardware/family.h"
#include "service/account_rows.h"
#include "service/leases.h"
#include "service/profile_rows.h"
#include "service/stored.h"
#include "service/visibility.h"

namespace exa {
namespace {

json::object member_json(const json::object& binding) {
  return {{"name", binding.at("subject")},      {"kind", binding.at("subject_kind")},
          {"role", binding.at("role")},         {"project", binding.at("project")},
          {"given_at", binding.at("given_at")}, {"given_by", binding.at("given_by")}};
}

Result<json::object> stored_limits(Transaction& tx, const std::string& project) {
  EXA_ASSIGN(auto found, find_document(tx, "project_limits", "name", project));
  if (found) return *std::move(found);
  return json::object{{"project", project}, {"families", json::object()}};
}

std::optional<int64_t> limit_in(const json::object& spec, std::string_view family,
                                std::string_view which) {
  const json::value* families = spec.if_contains("families");
  const json::value* row = families == nullptr ? nullptr : find(*families, family);
  const json::value* limit = row == nullptr ? nullptr : find(*row, which);
  if (limit == nullptr || !limit->is_int64()) return std::nullopt;
  return limit->get_int64();
}

Result<std::map<std::string, int64_t>> held_by(Transaction& tx, const std::string& project,
                                               Time now) {
  EXA_ASSIGN(const auto open, open_leases_of_project(tx, project, now));
  std::map<std::string, int64_t> held;
  for (const Lease& lease : open) held[std::string(info(lease.device).name)] += lease.devices;
  return held;
}

Result<json::object> limits_json(Transaction& tx, const json::object& spec,
                                 const std::string& project, Time now) {
  EXA_ASSIGN(const auto held, held_by(tx, project, now));
  json::array items;
  for (const FamilyInfo& family : families()) {
    const auto at_once = limit_in(spec, family.name, "at_once");
    const auto per_request = limit_in(spec, family.name, "per_request");
    const auto taken = held.find(std::string(family.name));
    if (!at_once && !per_request && taken == held.end()) continue;
    items.emplace_back(json::object{{"family", family.name},
                                    {"at_once", number_or_null(at_once)},
                                    {"per_request", number_or_null(per_request)},
                                    {"held", taken == held.end() ? 0 : taken->second}});
  }
  return json::object{{"project", project}, {"items", std::move(items)}, {"next_cursor", nullptr}};
}

}  // namespace

Result<Answer> list_members(Service& service, const std::string& project) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_TRY(require_project(tx, project));
    EXA_ASSIGN(const auto rows, tx.rows("SELECT spec FROM role_binding WHERE project = $1 ORDER BY "
                                        "subject_kind DESC, subject",
                                        {project}));
    json::array items;
    for (const Row& row : rows) {
      EXA_ASSIGN(const json::object spec, parse_stored_object(row.text(0), "stored role"));
      items.emplace_back(member_json(spec));
    }
    Answer answer;
    answer.body = {{"project", project}, {"items", std::move(items)}, {"next_cursor", nullptr}};
    return answer;
  });
}

Result<Answer> set_member(Service& service, const Caller& caller, const Member& who, Role role) {
  const auto lacking = lacking_for_role(caller.principal.rights, role, who.project);
  if (!lacking.empty()) {
    return fail(Code::forbidden, fmt::format("nobody gives what they lack: {} may not do {}",
                                             caller.principal.name, join(lacking, ", ")));
  }
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(require_project(tx, who.project));
    EXA_TRY(who.kind == "group" ? find_group(tx, who.name) : find_user(tx, who.name));
    const Binding binding{who.project, who.kind, who.name, std::string(name(role))};
    EXA_ASSIGN(const auto before, find_binding(tx, binding));
    const json::object spec = binding_spec(binding, service.now(), caller.principal.name);
    EXA_TRY(put_binding(tx, spec, binding));
    deed = {"role_binding", key_of(binding), who.project, {}, {}, spec, "", {}};
    if (before) deed.before = *before;
    deed.details["role"] = binding.role;
    Answer answer;
    answer.status = before ? 200 : 201;
    answer.body = member_json(spec);
    return answer;
  });
}

Result<Answer> remove_member(Service& service, const Caller& caller, const Member& who) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(require_project(tx, who.project));
    const Binding binding{who.project, who.kind, who.name, ""};
    EXA_ASSIGN(const auto before, find_binding(tx, binding));
    if (!before) {
      return fail(Code::not_found,
                  fmt::format("{} {} is no member of project {}", who.kind, printable(who.name),
                              who.project),
                  fmt::format("exa project members list {}", who.project));
    }
    EXA_TRY(drop_binding(tx, binding));
    deed = {"role_binding", key_of(binding), who.project, {}, *before, {}, "", {}};
    Answer answer;
    answer.body = member_json(*before);
    answer.body["removed"] = true;
    return answer;
  });
}

Result<Answer> get_limits(Service& service, const std::string& project) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_TRY(require_project(tx, project));
    EXA_ASSIGN(const json::object spec, stored_limits(tx, project));
    Answer answer;
    EXA_ASSIGN(answer.body, limits_json(tx, spec, project, service.now()));
    return answer;
  });
}

Result<Answer> set_limits(Service& service, const Caller& caller, const SetLimits& what) {
  if (what.lift == (what.at_once || what.per_request)) {
    return fail(invalid(
        "limits", {{"/at_once", "give --at-once, --per-request or both; or --lift alone", ""}}));
  }
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(require_project(tx, what.project));
    EXA_ASSIGN(const json::object before, stored_limits(tx, what.project));
    json::object spec = before;
    json::object& families = spec.at("families").as_object();
    if (what.lift) {
      families.erase(what.family);
    } else {
      json::value& row = families[what.family];
      if (!row.is_object()) row = json::object{{"at_once", nullptr}, {"per_request", nullptr}};
      if (what.at_once) row.as_object()["at_once"] = *what.at_once;
      if (what.per_request) row.as_object()["per_request"] = *what.per_request;
    }
    EXA_TRY(
        tx.change("INSERT INTO project_limits (name, spec) VALUES ($1, $2) ON CONFLICT (name) "
                  "DO UPDATE SET spec = $2",
                  {what.project, to_text(spec)}));
    deed = {"project_limits", what.project, what.project, {}, before, spec, "", {}};
    Answer answer;
    EXA_ASSIGN(answer.body, limits_json(tx, spec, what.project, service.now()));
    return answer;
  });
}

Result<void> within_limits(Transaction& tx, const Lease& lease, Time now) {
  EXA_ASSIGN(const int64_t locked,
             tx.change("UPDATE project_limits SET name = name WHERE name = $1", {lease.project}));
  if (locked == 0) return {};  // it has none
  EXA_ASSIGN(const json::object spec, stored_limits(tx, lease.project));
  const std::string family(info(lease.device).name);
  const std::string next = fmt::format("exa project limits get {}", lease.project);
  const auto per_request = limit_in(spec, family, "per_request");
  if (per_request && lease.devices > *per_request) {
    return fail(Code::blocked,
                fmt::format("project {} may take at most {} {} devices in one request; asked {}",
                            lease.project, *per_request, family, lease.devices),
                next);
  }
  const auto at_once = limit_in(spec, family, "at_once");
  if (!at_once) return {};
  EXA_ASSIGN(auto held, held_by(tx, lease.project, now));
  if (held[family] + lease.devices <= *at_once) return {};
  return fail(Code::blocked,
              fmt::format("project {} may hold at most {} {} devices at once; held {}, asked {}",
                          lease.project, *at_once, family, held[family], lease.devices),
              next);
}

}  // namespace exa
