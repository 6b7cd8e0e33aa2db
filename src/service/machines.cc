#include "service/machines.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/plural.h"
#include "base/text.h"
#include "service/clusters.h"
#include "service/machine_parts.h"
#include "service/platform_rows.h"
#include "service/stored.h"

namespace exa {
namespace {

constexpr std::string_view kSources =
    "SELECT s.spec, l.looked_at, l.succeeded_at, l.error FROM machine_source s LEFT JOIN "
    "machine_look l ON l.source = s.name";

json::object source_document(const StoredSource& stored) {
  json::object out = to_json(stored.source);
  out["created_at"] = format_rfc3339(stored.created_at);
  out["created_by"] = stored.created_by;
  return out;
}

Result<StoredSource> source_of_row(const Row& row) {
  EXA_ASSIGN(const json::object spec, parse_stored_object(row.text(0), "a stored machine source"));
  StoredSource stored;
  EXA_ASSIGN(stored.source, from_stored(machine_source_from_json(spec), "a stored machine source"));
  EXA_ASSIGN(stored.created_at, from_stored(parse_rfc3339(text_or(spec, "created_at", "")),
                                            "a stored machine source"));
  stored.created_by = text_or(spec, "created_by", "");
  if (row.is_null(1)) return stored;
  MachineLook look{Time{row.integer(1)}, {}, row.text_or_empty(3)};
  if (!row.is_null(2)) look.succeeded_at = Time{row.integer(2)};
  stored.look = std::move(look);
  return stored;
}

json::value time_or_null(const std::optional<Time>& time) {
  return time ? json::value(format_rfc3339(*time)) : json::value(nullptr);
}

json::object source_json(const StoredSource& stored) {
  json::object out = source_document(stored);
  const auto& look = stored.look;
  out["looked_at"] = time_or_null(look ? std::optional(look->looked_at) : std::nullopt);
  out["succeeded_at"] = time_or_null(look ? look->succeeded_at : std::nullopt);
  out["error"] = look && !look->error.empty() ? json::value(look->error) : json::value(nullptr);
  out["machines"] = stored.machines;
  return out;
}

// With what is known of the cluster that it may stand for.
Result<StoredSource> whole_source(Transaction& tx, const Row& row) {
  EXA_ASSIGN(StoredSource stored, source_of_row(row));
  if (stored.source.kind == MachineSourceKind::cluster) {
    const auto cluster = find_cluster(tx, stored.source.cluster);
    if (cluster) stored.max_age = cluster->max_age;
  }
  return stored;
}

Error no_such_machine(const std::string& id, const std::vector<StoredMachine>& machines) {
  std::vector<std::string> ids;
  for (const StoredMachine& each : machines) ids.push_back(each.machine.id);
  return Error{Code::not_found,
               fmt::format("there is no machine \"{}\"", printable(id)),
               {},
               ids.empty() ? "exa machine source add" : "exa machine list",
               close_matches(id, ids)};
}

Result<std::vector<StoredMachine>> machines_of(const std::vector<Row>& rows,
                                               const std::vector<StoredSource>& sources) {
  std::vector<StoredMachine> machines;
  machines.reserve(rows.size());
  for (const Row& row : rows) {
    EXA_ASSIGN(const json::value value, parse_stored(row.text(0), "a stored machine"));
    StoredMachine stored;
    EXA_ASSIGN(stored.watched, from_stored(watched_machine_from_json(value), "a stored machine"));
    MachineReport report = stored.watched.report;
    const auto source = std::ranges::find(
        sources, stored.watched.source,
        [](const StoredSource& each) -> const std::string& { return each.source.name; });
    if (source != sources.end()) add_tags(report, source->source.tags);
    stored.machine = read_machine(report);
    machines.push_back(std::move(stored));
  }
  return machines;
}

struct Picture {
  std::vector<StoredSource> sources;
  std::vector<StoredMachine> machines;
  MachineHolds holds;
};

// Of all machines, or of one.
Result<Picture> load_picture(Transaction& tx, const std::string& id = "") {
  Picture picture;
  EXA_ASSIGN(picture.sources, load_machine_sources(tx));
  if (!id.empty()) {
    EXA_ASSIGN(const auto rows, tx.rows("SELECT watched FROM machine WHERE id = $1", {id}));
    EXA_ASSIGN(picture.machines, machines_of(rows, picture.sources));
  }
  if (picture.machines.empty()) {  // all of them, at least for their names
    EXA_ASSIGN(picture.machines, load_machines(tx, picture.sources));
  }
  EXA_ASSIGN(const auto platforms, load_platforms(tx));
  picture.holds = holds_of(platforms);
  return picture;
}

json::array list_of(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

// One machine as lists show it: what it is, whether it is offered, why not.
json::object machine_json(const StoredMachine& stored, const Picture& picture, const Caller& caller,
                          Time now) {
  json::object out = to_json(stored.machine);
  std::vector<std::string> reasons = stored.machine.unfit;
  std::ranges::move(why_not_reliable(stored, picture.sources, now), std::back_inserter(reasons));
  json::array held;
  if (const auto at = picture.holds.find(stored.machine.id); at != picture.holds.end())
    for (const MachineHold& hold : at->second) held.emplace_back(held_words(hold, caller));
  for (const json::value& each : held) reasons.emplace_back(each.as_string());
  out["source"] = stored.watched.source;
  out["healthy"] = stored.watched.report.healthy;
  out["heard_at"] = time_or_null(stored.watched.heard_at);
  out["offered"] = reasons.empty();
  out["reasons"] = list_of(reasons);
  out["held"] = std::move(held);
  out["differences"] = list_of(stored.watched.differences);
  return out;
}

Result<StoredMachine> one_machine(const Picture& picture, const std::string& id) {
  for (const StoredMachine& each : picture.machines)
    if (each.machine.id == id) return each;
  return fail(no_such_machine(id, picture.machines));
}

std::string holders_of(const Picture& picture, const std::string& id, const Caller& caller) {
  const auto at = picture.holds.find(id);
  return at == picture.holds.end() ? "" : held_words(at->second.front(), caller);
}

}  // namespace

Result<StoredSource> find_machine_source(Transaction& tx, const std::string& name) {
  EXA_ASSIGN(const auto rows, tx.rows(fmt::format("{} WHERE s.name = $1", kSources), {name}));
  if (!rows.empty()) return whole_source(tx, rows[0]);
  EXA_ASSIGN(const auto others, tx.rows("SELECT name FROM machine_source ORDER BY name"));
  std::vector<std::string> names;
  for (const Row& row : others) names.push_back(row.text(0));
  return fail(Error{Code::not_found,
                    fmt::format("there is no machine source \"{}\"", printable(name)),
                    {},
                    names.empty() ? "exa machine source add NAME --kind folder --path FOLDER"
                                  : "exa machine source list",
                    close_matches(name, names)});
}

Result<std::optional<WatchedMachine>> load_watched(Transaction& tx, const std::string& id) {
  EXA_ASSIGN(const auto rows, tx.rows("SELECT watched FROM machine WHERE id = $1", {id}));
  std::optional<WatchedMachine> watched;
  if (rows.empty()) return watched;
  EXA_ASSIGN(const json::value value, parse_stored(rows[0].text(0), "a stored machine"));
  EXA_ASSIGN(watched, from_stored(watched_machine_from_json(value), "a stored machine"));
  return watched;
}

Result<void> put_watched(Transaction& tx, const WatchedMachine& watched) {
  EXA_TRY(
      tx.change("INSERT INTO machine VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO UPDATE SET source "
                "= $2, heard_at = $3, watched = $4",
                {watched.report.id, watched.source, watched.heard_at.value_or(Time{}).micros,
                 to_text(to_json(watched))}));
  return {};
}

WatchRules rules_of(const StoredSource& stored) {
  WatchRules rules;
  rules.max_age = stored.max_age.value_or(Duration{3 * stored.source.interval.micros});
  return rules;
}

Result<std::vector<StoredSource>> load_machine_sources(Transaction& tx) {
  EXA_ASSIGN(const auto rows, tx.rows(fmt::format("{} ORDER BY s.name", kSources)));
  std::vector<StoredSource> sources;
  for (const Row& row : rows) {
    EXA_ASSIGN(StoredSource source, whole_source(tx, row));
    sources.push_back(std::move(source));
  }
  return sources;
}

Result<std::vector<StoredMachine>> load_machines(Transaction& tx,
                                                 const std::vector<StoredSource>& sources) {
  EXA_ASSIGN(const auto rows, tx.rows("SELECT watched FROM machine ORDER BY id"));
  return machines_of(rows, sources);
}

std::vector<std::string> why_not_reliable(const StoredMachine& machine,
                                          const std::vector<StoredSource>& sources, Time now) {
  for (const StoredSource& each : sources) {
    if (each.source.name != machine.watched.source) continue;
    return why_not_believed(machine.watched, now, rules_of(each));
  }
  return {fmt::format("its source {} is no more", machine.watched.source)};
}

Result<Answer> add_machine_source(Service& service, const Caller& caller,
                                  const MachineSource& source) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    if (!source.cluster.empty()) EXA_TRY(find_cluster(tx, source.cluster));
    EXA_ASSIGN(const auto same,
               tx.rows("SELECT 1 FROM machine_source WHERE name = $1", {source.name}));
    if (!same.empty()) {
      return fail(Code::conflict,
                  fmt::format("there is a machine source \"{}\" already", source.name),
                  "exa machine source list");
    }
    const StoredSource stored{source, service.now(), caller.principal.name, {}};
    const json::object document = source_document(stored);
    EXA_TRY(
        tx.change("INSERT INTO machine_source VALUES ($1, $2)", {source.name, to_text(document)}));
    deed.object_kind = "machine_source";
    deed.object_name = source.name;
    deed.after = document;
    Answer answer;
    answer.status = 201;
    answer.body = source_json(stored);
    if (source.kind == MachineSourceKind::agent)
      answer.notices.push_back(fmt::format(
          "next, on each machine: exa agent --source {} --tag palette.ai=true", source.name));
    else
      answer.notices.push_back(
          fmt::format("nothing was looked at yet; next: exa machine discover {}", source.name));
    return answer;
  });
}

Result<Answer> list_machine_sources(Service& service) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(auto sources, load_machine_sources(tx));
    EXA_ASSIGN(const auto counts,
               tx.rows("SELECT source, COUNT(*), MAX(heard_at) FROM machine GROUP BY source"));
    for (StoredSource& each : sources) {
      const auto row =
          std::ranges::find(counts, each.source.name,
                            [](const Row& count) -> const std::string& { return count.text(0); });
      if (row == counts.end()) continue;
      each.machines = row->integer(1);
      // nobody looks at agents: their last report is the last look
      if (each.source.kind == MachineSourceKind::agent)
        each.look = MachineLook{Time{row->integer(2)}, Time{row->integer(2)}, ""};
    }
    json::array items;
    for (const StoredSource& each : sources) items.emplace_back(source_json(each));
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", nullptr}};
    return answer;
  });
}

Result<Answer> remove_machine_source(Service& service, const Caller& caller,
                                     const std::string& name) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const StoredSource stored, find_machine_source(tx, name));
    EXA_ASSIGN(const Picture picture, load_picture(tx));
    int64_t forgotten = 0;
    for (const StoredMachine& each : picture.machines) {
      if (each.watched.source != name) continue;
      ++forgotten;
      const std::string held = holders_of(picture, each.machine.id, caller);
      if (!held.empty()) {
        return fail(Code::in_use,
                    fmt::format("machine {} of {} is {}", each.machine.id, name, held),
                    "exa mlplatform list");
      }
    }
    EXA_TRY(tx.change("DELETE FROM machine WHERE source = $1", {name}));
    EXA_TRY(tx.change("DELETE FROM machine_look WHERE source = $1", {name}));
    EXA_TRY(tx.change("DELETE FROM machine_source WHERE name = $1", {name}));
    deed.object_kind = "machine_source";
    deed.object_name = name;
    deed.before = source_document(stored);
    deed.details = {{"machines", forgotten}};
    Answer answer;
    answer.body = {{"name", name}, {"removed", true}, {"machines", forgotten}};
    return answer;
  });
}

Result<Answer> list_machines(Service& service, const Caller& caller, const ListMachines& what) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const Picture picture, load_picture(tx));
    json::array items;
    json::value next = nullptr;
    for (const StoredMachine& each : picture.machines) {
      if (each.machine.id <= what.after) continue;
      if (static_cast<int64_t>(items.size()) == what.limit) {
        next = text_or(items.back(), "id", "");
        break;
      }
      items.emplace_back(machine_json(each, picture, caller, service.now()));
    }
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", std::move(next)}};
    return answer;
  });
}

Result<Answer> show_machine(Service& service, const Caller& caller, const std::string& id) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const Picture picture, load_picture(tx, id));
    EXA_ASSIGN(const StoredMachine stored, one_machine(picture, id));
    Answer answer;
    answer.body = machine_json(stored, picture, caller, service.now());
    return answer;
  });
}

Result<Answer> report_machine(Service& service, const Caller& caller, const std::string& source,
                              const MachineReport& report) {
  std::optional<Error> refused;
  Answer answer;
  const auto keep = [&](Transaction& tx) -> Result<void> {
    EXA_ASSIGN(const StoredSource stored, find_machine_source(tx, source));
    if (stored.source.kind != MachineSourceKind::agent) {
      return fail(
          Code::conflict,
          fmt::format("{} is not a source of agents but a {}", source, name(stored.source.kind)),
          fmt::format("exa machine discover {}", source));
    }
    EXA_ASSIGN(const auto before, load_watched(tx, report.id));
    const Heard heard = hear(before, source, report, service.now(), rules_of(stored));
    refused = heard.refused;
    EXA_TRY(put_watched(tx, heard.machine));
    answer.body = {{"id", report.id},
                   {"changed", heard.changed},
                   {"differences", list_of(heard.machine.differences)},
                   {"interval", format_duration(stored.source.interval)}};
    return {};
  };
  EXA_TRY(caller.dry_run ? service.store().rehearse(keep) : service.store().write(keep));
  if (refused) return fail(*std::move(refused));
  return answer;
}

Result<Answer> accept_machine(Service& service, const Caller& caller, const std::string& id) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(Picture picture, load_picture(tx, id));
    EXA_ASSIGN(StoredMachine stored, one_machine(picture, id));
    deed.object_kind = "machine";
    deed.object_name = id;
    deed.details = {{"differences", list_of(stored.watched.differences)}};
    EXA_ASSIGN(const WatchedMachine accepted, accept_difference(stored.watched));
    EXA_TRY(put_watched(tx, accepted));
    EXA_ASSIGN(picture, load_picture(tx, id));
    EXA_ASSIGN(stored, one_machine(picture, id));
    Answer answer;
    answer.body = machine_json(stored, picture, caller, service.now());
    return answer;
  });
}

Result<Answer> forget_machine(Service& service, const Caller& caller, const std::string& id) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const Picture picture, load_picture(tx, id));
    EXA_ASSIGN(const StoredMachine stored, one_machine(picture, id));
    if (const std::string held = holders_of(picture, id, caller); !held.empty())
      return fail(Code::in_use, fmt::format("machine {} is {}", id, held), "exa mlplatform list");
    EXA_TRY(tx.change("DELETE FROM machine WHERE id = $1", {id}));
    deed.object_kind = "machine";
    deed.object_name = id;
    deed.details = {{"source", stored.watched.source}};
    Answer answer;
    answer.body = {{"id", id}, {"forgotten", true}};
    return answer;
  });
}

}  // namespace exa
