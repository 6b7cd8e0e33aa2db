#include "service/provisioners.h"

#include <fmt/format.h>

#include "base/text.h"
#include "service/platform_rows.h"
#include "service/stored.h"

namespace exa {
namespace {

json::object to_json(const Provisioner& what) {
  return {{"name", what.name},
          {"driver", info(what.driver).name},
          {"folder", what.folder},
          {"time_limit", format_duration(what.time_limit)},
          {"outputs", json::array(what.outputs.begin(), what.outputs.end())},
          {"created_at", format_rfc3339(what.created_at)},
          {"created_by", what.created_by}};
}

Result<Provisioner> from_row(const Row& row) {
  EXA_ASSIGN(const json::object spec, parse_stored_object(row.text(0), "a stored provisioner"));
  Provisioner what;
  what.name = text_or(spec, "name", "");
  const ProvisionDriverInfo* driver = find_provision_driver(text_or(spec, "driver", ""));
  if (driver == nullptr)
    return fail(Code::store_damaged, "a stored provisioner has no readable driver");
  what.driver = driver->driver;
  what.folder = text_or(spec, "folder", "");
  EXA_ASSIGN(what.time_limit, from_stored(parse_duration(text_or(spec, "time_limit", "30m")),
                                          "a stored provisioner"));
  if (const json::value* outputs = spec.if_contains("outputs");
      outputs != nullptr && outputs->is_array())
    for (const json::value& each : outputs->get_array())
      if (each.is_string()) what.outputs.emplace_back(each.get_string());
  EXA_ASSIGN(what.created_at,
             from_stored(parse_rfc3339(text_or(spec, "created_at", "")), "a stored provisioner"));
  what.created_by = text_or(spec, "created_by", "");
  return what;
}

Result<std::vector<Provisioner>> load_all(Transaction& tx) {
  EXA_ASSIGN(const auto rows, tx.rows("SELECT spec FROM provisioner ORDER BY name"));
  std::vector<Provisioner> all;
  for (const Row& row : rows) {
    EXA_ASSIGN(Provisioner what, from_row(row));
    all.push_back(std::move(what));
  }
  return all;
}

// With what stands in its way on this machine now.
json::object shown(const Provisioner& what) {
  json::object out = to_json(what);
  json::array problems;
  for (const Problem& problem : check_driver(what.driver, ProvisionAction::apply, what.folder))
    problems.emplace_back(
        fmt::format("{}{}{}", problem.where, problem.where.empty() ? "" : ": ", problem.message));
  out["problems"] = std::move(problems);
  return out;
}

}  // namespace

Result<Provisioner> find_provisioner(Transaction& tx, const std::string& name) {
  EXA_ASSIGN(auto all, load_all(tx));
  std::vector<std::string> names;
  for (Provisioner& each : all) {
    if (each.name == name) return std::move(each);
    names.push_back(each.name);
  }
  return fail(Error{Code::not_found,
                    fmt::format("there is no provisioner \"{}\"", printable(name)),
                    {},
                    names.empty() ? "exa provisioner add NAME --driver script --folder FOLDER"
                                  : "exa provisioner list",
                    close_matches(name, names)});
}

Result<Answer> add_provisioner(Service& service, const Caller& caller, Provisioner what) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const auto same, tx.rows("SELECT 1 FROM provisioner WHERE name = $1", {what.name}));
    if (!same.empty()) {
      return fail(Code::conflict, fmt::format("there is a provisioner \"{}\" already", what.name),
                  "exa provisioner list");
    }
    what.created_at = service.now();
    what.created_by = caller.principal.name;
    EXA_TRY(
        tx.change("INSERT INTO provisioner VALUES ($1, $2)", {what.name, to_text(to_json(what))}));
    deed.object_kind = "provisioner";
    deed.object_name = what.name;
    deed.after = to_json(what);
    Answer answer;
    answer.status = 201;
    answer.body = shown(what);
    for (const json::value& problem : answer.body["problems"].get_array())
      answer.notices.push_back(
          fmt::format("it could not run now: {}", std::string_view(problem.get_string())));
    return answer;
  });
}

Result<Answer> list_provisioners(Service& service) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const auto all, load_all(tx));
    json::array items;
    for (const Provisioner& each : all) items.emplace_back(shown(each));
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", nullptr}};
    return answer;
  });
}

Result<Answer> remove_provisioner(Service& service, const Caller& caller, const std::string& name) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const Provisioner what, find_provisioner(tx, name));
    EXA_ASSIGN(const auto platforms, load_platforms(tx));
    for (const MlPlatform& platform : platforms) {
      if (platform.provisioner != name) continue;
      return fail(Code::in_use,
                  caller.known.contains(platform.project)
                      ? fmt::format("platform {} is built by {}", platform.key(), name)
                      : fmt::format("a platform of another project is built by {}", name),
                  "exa mlplatform list");
    }
    EXA_TRY(tx.change("DELETE FROM provisioner WHERE name = $1", {name}));
    deed.object_kind = "provisioner";
    deed.object_name = name;
    deed.before = to_json(what);
    Answer answer;
    answer.body = {{"name", name}, {"removed", true}};
    return answer;
  });
}

}  // namespace exa
