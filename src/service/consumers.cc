#include "service/consumers.h"

#include <fmt/format.h>

#include "base/text.h"
#include "profile/diff.h"
#include "service/resolutions.h"
#include "service/stored.h"

namespace exa {
namespace {

Result<Consumer> consumer_of(const Row& row, const std::string& project) {
  EXA_ASSIGN(const json::object shape, parse_stored_object(row.text(4), "a consumer's shape"));
  Consumer consumer;
  consumer.project = project;
  consumer.kind = row.text(0);
  consumer.ref = row.text(1);
  consumer.profile = row.text(2);
  consumer.version = row.integer(3);
  EXA_ASSIGN(consumer.shape, from_stored(shape_from_json(shape), "a consumer's shape"));
  consumer.cluster = row.text_or_empty(5);
  consumer.since = Time{row.integer(6)};
  consumer.recorded_by = row.text(7);
  return consumer;
}

// What happened to the profile since: nothing, or what a person should know.
struct Drift {
  std::string kind;  // current, newer-version, older-version, version-deleted, profile-deleted,
                     // retired
  std::string detail;
};

Result<Drift> drift_of(Transaction& tx, const Consumer& consumer) {
  const size_t slash = consumer.profile.find('/');
  const bool shared = slash != std::string::npos;
  EXA_ASSIGN(const auto versions,
             load_versions(tx, shared ? consumer.profile.substr(0, slash) : consumer.project,
                           shared ? consumer.profile.substr(slash + 1) : consumer.profile, false));
  if (versions.empty())
    return Drift{"profile-deleted", "the profile was deleted; the shape is kept here"};
  const auto own = std::ranges::find(versions, consumer.version, [](const StoredVersion& stored) {
    return stored.profile.version;
  });
  if (own == versions.end()) {
    return Drift{"version-deleted",
                 fmt::format("version {} was deleted; the shape is kept here", consumer.version)};
  }
  if (own->deprecation) return Drift{"retired", advice(*own->deprecation)};
  for (const StoredVersion& stored : versions) {
    const bool active = std::ranges::find(stored.labels, "active") != stored.labels.end();
    if (!active || stored.profile.version == consumer.version) continue;
    if (!has_drifted(consumer.shape, stored.profile.shape)) break;
    const bool newer = stored.profile.version > consumer.version;
    return Drift{newer ? "newer-version" : "older-version",
                 fmt::format("active is {}{}@{}, which asks for something else",
                             newer ? "" : "back at ", consumer.profile, stored.profile.version)};
  }
  return Drift{"current", ""};
}

bool needs_attention(Status status) {
  return status == Status::degraded || status == Status::unresolvable;
}

// Names of consumers are written into audit entries, tables and paths.
Result<void> check_consumer_name(const std::string& name) {
  const bool fine = !name.empty() && name.size() <= 128 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_.").find(c) != std::string_view::npos;
  });
  if (fine) return {};
  return fail(invalid("use", {{"/as", "is 1 to 128 letters, digits, '-', '_' or '.'", ""}}));
}

}  // namespace

json::object to_json(const Consumer& consumer) {
  return {
      {"kind", consumer.kind},
      {"name", consumer.ref},
      {"project", consumer.project},
      {"profile", fmt::format("{}@{}", consumer.profile, consumer.version)},
      {"cluster", consumer.cluster.empty() ? json::value(nullptr) : json::value(consumer.cluster)},
      {"shape", shape_to_json(consumer.shape)},
      {"since", format_rfc3339(consumer.since)},
      {"recorded_by", consumer.recorded_by}};
}

Result<std::vector<Consumer>> load_consumers(Transaction& tx, const std::string& project,
                                             const std::string& profile,
                                             std::optional<int64_t> version) {
  EXA_ASSIGN(
      const auto rows,
      tx.rows(
          "SELECT kind, ref, profile, version, shape, cluster, since, recorded_by FROM consumer "
          "WHERE project = $1 AND ($2 = '' OR profile = $2) AND ($3 = 0 OR version = $3) "
          "ORDER BY kind, ref",
          {project, profile, version.value_or(0)}));
  std::vector<Consumer> consumers;
  for (const Row& row : rows) {
    EXA_ASSIGN(Consumer consumer, consumer_of(row, project));
    consumers.push_back(std::move(consumer));
  }
  return consumers;
}

namespace {

Result<std::vector<Consumer>> load_consumers_elsewhere(Transaction& tx, const std::string& project,
                                                       const std::string& profile,
                                                       std::optional<int64_t> version) {
  EXA_ASSIGN(
      const auto rows,
      tx.rows(
          "SELECT kind, ref, profile, version, shape, cluster, since, recorded_by, project FROM "
          "consumer WHERE project <> $1 AND profile LIKE $2 AND ($3 = 0 OR version = $3) ORDER "
          "BY project, kind, ref",
          {project, fmt::format("{}/{}", project, profile.empty() ? "%" : profile),
           version.value_or(0)}));
  std::vector<Consumer> consumers;
  for (const Row& row : rows) {
    EXA_ASSIGN(Consumer consumer, consumer_of(row, row.text(8)));
    consumers.push_back(std::move(consumer));
  }
  return consumers;
}

}  // namespace

std::string runs_on(std::string_view project_column, std::string_view name_column) {
  return fmt::format("(u.project = {0} AND u.profile = {1} OR u.profile = {0} || '/' || {1})",
                     project_column, name_column);
}

Result<SeenConsumers> consumers_seen_by(Transaction& tx, const Caller& caller,
                                        const std::string& project, const std::string& profile,
                                        std::optional<int64_t> version) {
  SeenConsumers seen;
  EXA_ASSIGN(seen.known, load_consumers(tx, project, profile, version));
  EXA_ASSIGN(auto elsewhere, load_consumers_elsewhere(tx, project, profile, version));
  for (Consumer& consumer : elsewhere) {
    if (caller.known.contains(consumer.project))
      seen.known.push_back(std::move(consumer));
    else
      ++seen.others;
  }
  return seen;
}

Result<Consumer> load_consumer(Transaction& tx, const std::string& project, const std::string& kind,
                               const std::string& ref) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT kind, ref, profile, version, shape, cluster, since, recorded_by FROM "
                     "consumer WHERE project = $1 AND kind = $2 AND ref = $3",
                     {project, kind, ref}));
  if (rows.empty()) return fail(Code::not_found, fmt::format("there is no {} {}", kind, ref));
  return consumer_of(rows[0], project);
}

Result<void> insert_consumer(Transaction& tx, const Consumer& consumer) {
  EXA_ASSIGN(
      const auto same,
      tx.rows("SELECT profile, version FROM consumer WHERE project = $1 AND kind = $2 AND ref = $3",
              {consumer.project, consumer.kind, consumer.ref}));
  if (!same.empty()) {
    return fail(
        Code::conflict,
        fmt::format("{}/{} runs on {}@{} already", consumer.kind, consumer.ref, same[0].text(0),
                    same[0].integer(1)),
        fmt::format("exa hardware profile release {} --for {}", consumer.ref, consumer.kind));
  }
  EXA_TRY(tx.change("INSERT INTO consumer VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                    {consumer.project, consumer.kind, consumer.ref, consumer.profile,
                     consumer.version, to_text(shape_to_json(consumer.shape)),
                     consumer.cluster.empty() ? Value(nullptr) : Value(consumer.cluster),
                     consumer.since.micros, consumer.recorded_by}));
  return {};
}

Result<void> remove_consumer(Transaction& tx, const Consumer& consumer) {
  EXA_TRY(tx.change("DELETE FROM consumer WHERE project = $1 AND kind = $2 AND ref = $3",
                    {consumer.project, consumer.kind, consumer.ref}));
  return {};
}

Result<Answer> use_profile(Service& service, const Caller& caller, const UseProfile& what) {
  EXA_TRY(check_consumer_name(what.as));
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const StoredVersion stored, find_profile(tx, what.project, what.ref));
    EXA_TRY(check_applicable(stored.profile, what.surface));
    EXA_ASSIGN(const Resolution resolution,
               resolve_on(tx, stored.profile.shape, what.cluster, service.now()));
    if (resolution.status == Status::unresolvable) {
      return fail(Code::unresolvable, resolution.reason,
                  fmt::format("exa hardware profile resolve {} --cluster {}", to_text(what.ref),
                              what.cluster));
    }
    const std::string kind(name(what.surface));
    const Consumer consumer{what.project,
                            kind,
                            what.as,
                            stored.profile.project == what.project
                                ? stored.profile.name
                                : fmt::format("{}/{}", stored.profile.project, stored.profile.name),
                            stored.profile.version,
                            stored.profile.shape,
                            what.cluster,
                            service.now(),
                            caller.principal.name};
    EXA_TRY(insert_consumer(tx, consumer));
    deed = {"consumer",
            what.as,
            what.project,
            {},
            {},
            json::value(to_json(consumer)),
            "",
            {{"kind", kind},
             {"profile", fmt::format("{}@{}", consumer.profile, consumer.version)},
             {"status", name(resolution.status)}}};
    Answer answer;
    answer.status = 201;
    answer.body = to_json(consumer);
    answer.body["resolution"] = to_json(resolution);
    if (stored.deprecation) {
      answer.notices.push_back(fmt::format("{}@{} is retired; {}", consumer.profile,
                                           consumer.version, advice(*stored.deprecation)));
    }
    if (resolution.status == Status::degraded)
      answer.notices.push_back("degraded: " + resolution.reason);
    return answer;
  });
}

Result<Answer> release_profile(Service& service, const Caller& caller, const std::string& project,
                               const std::string& kind, const std::string& ref) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(require_project(tx, project));
    EXA_ASSIGN(const auto all, load_consumers(tx, project, "", {}));
    const auto found = std::ranges::find_if(all, [&](const Consumer& consumer) {
      return consumer.kind == kind && consumer.ref == ref;
    });
    if (found == all.end()) {
      std::vector<std::string> names;
      for (const Consumer& consumer : all) names.push_back(consumer.ref);
      Error error{Code::not_found,
                  fmt::format("there is no {} \"{}\" in this project", kind, printable(ref)),
                  {},
                  "exa hardware profile in-use",
                  close_matches(ref, names)};
      return fail(std::move(error));
    }
    EXA_TRY(remove_consumer(tx, *found));
    deed = {"consumer", ref, project, {}, json::value(to_json(*found)), {}, "", {{"kind", kind}}};
    Answer answer;
    answer.body = to_json(*found);
    answer.body["released"] = true;
    return answer;
  });
}

Result<Answer> profiles_in_use(Service& service, const Caller& caller, const std::string& project,
                               const std::string& profile) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_TRY(require_project(tx, project));
    EXA_ASSIGN(const SeenConsumers seen, consumers_seen_by(tx, caller, project, profile, {}));
    json::array items;
    int64_t attention = 0;
    for (const Consumer& consumer : seen.known) {
      json::object object = to_json(consumer);
      EXA_ASSIGN(const Drift drift, drift_of(tx, consumer));
      const Result<Resolution> resolution =
          resolve_on(tx, consumer.shape, consumer.cluster, service.now());
      if (!resolution && resolution.error().code != Code::not_found)
        return fail(resolution.error());
      // a cluster that was removed under --force: nothing can be said about it any more
      object["status"] =
          resolution ? json::value(name(resolution->status)) : json::value("unchecked");
      object["reason"] = resolution ? resolution->reason : resolution.error().message;
      object["drift"] = drift.kind;
      object["drift_detail"] = drift.detail;
      if (!resolution || needs_attention(resolution->status)) ++attention;
      items.emplace_back(std::move(object));
    }
    Answer answer;
    answer.body = {
        {"items", std::move(items)}, {"needs_attention", attention}, {"next_cursor", nullptr}};
    if (seen.others > 0) answer.body["in_other_projects"] = seen.others;
    return answer;
  });
}

}  // namespace exa
