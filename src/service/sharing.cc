#include "service/sharing.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/validate.h"
#include "service/account_rows.h"
#include "service/profiles.h"
#include "service/stored.h"
#include "service/visibility.h"

namespace exa {
namespace {

std::string key_of(const std::string& project, const std::string& name) {
  return fmt::format("{}/{}", project, name);
}

bool reaches(const json::object& share, const std::string& project) {
  const json::value* with = share.if_contains("with");
  if (with == nullptr) return false;
  if (with->is_string()) return with->get_string() == "all";
  const auto names = texts_of(share, "with");
  return std::ranges::find(names, project) != names.end();
}

Failure not_shared(const std::string& owner, const std::string& name,
                   const std::vector<std::string>& shared) {
  Error error;
  error.code = Code::not_found;
  error.message =
      fmt::format("there is no hardware profile \"{}\" that is shared with this project",
                  printable(key_of(owner, name)));
  error.alternatives = close_matches(key_of(owner, name), shared);
  error.next = "exa hardware profile list --shared";
  return fail(std::move(error));
}

// Keys of profiles that are shared with a project and still there, after a key, at most so many.
Result<std::vector<std::string>> shared_keys(Transaction& tx, const std::string& project,
                                             const std::string& after, int64_t limit) {
  EXA_ASSIGN(
      const auto rows,
      tx.rows("SELECT s.name, s.spec FROM profile_share s WHERE s.project <> $1 AND s.name > "
              "$2 AND EXISTS (SELECT 1 FROM profile_version v WHERE v.project = s.project "
              "AND s.project || '/' || v.name = s.name AND v.deleted_at IS NULL) ORDER BY "
              "s.name",
              {project, after}));
  std::vector<std::string> keys;
  for (const Row& row : rows) {
    EXA_ASSIGN(const json::object share, parse_stored_object(row.text(1), "stored share"));
    if (!reaches(share, project)) continue;
    keys.push_back(row.text(0));
    if (static_cast<int64_t>(keys.size()) == limit) break;
  }
  return keys;
}

}  // namespace

Result<json::value> sharing_of(const std::string& project, const std::vector<std::string>& with) {
  const auto says = [&](std::string_view word) {
    return std::ranges::find(with, word) != with.end();
  };
  if (with.size() == 1 && (says("none") || says("all"))) return json::value(with[0]);
  std::vector<Problem> problems;
  if (with.empty()) problems.push_back({"/with", "names nobody; none, all or projects", ""});
  if (says("none") || says("all")) problems.push_back({"/with", "none and all stand alone", ""});
  for (const std::string& other : with) {
    if (!check_name(other, "project name"))
      problems.push_back({"/with", fmt::format("\"{}\" is no name", printable(other)), ""});
    if (other == project)
      problems.push_back({"/with", fmt::format("{} has it already: it is its own", project), ""});
  }
  if (!problems.empty()) return fail(invalid("share", std::move(problems)));
  return json::value(json::array(with.begin(), with.end()));
}

Result<std::vector<std::string>> notices_of_sharing(Transaction& tx, const Caller& caller,
                                                    const json::value& with) {
  std::vector<std::string> notices;
  if (!with.is_array()) return notices;
  for (const json::value& each : with.get_array()) {
    const std::string project(each.get_string());
    if (caller.known.all) {
      EXA_TRY(require_project(tx, project));
    } else if (!caller.known.contains(project)) {
      // saying whether it exists would tell of projects that are not the caller's
      notices.push_back(fmt::format(
          "{} is none of your projects: it is shared with one of that name, if there is one",
          project));
    }
  }
  return notices;
}

Result<Answer> share_profile(Service& service, const Caller& caller, const ShareProfile& what) {
  EXA_ASSIGN(const json::value with, sharing_of(what.project, what.with));
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(require_project(tx, what.project));
    EXA_ASSIGN(const auto versions, load_versions(tx, what.project, what.name, false));
    if (versions.empty()) EXA_TRY(find_profile(tx, what.project, {.name = what.name}));
    Answer answer;
    EXA_ASSIGN(answer.notices, notices_of_sharing(tx, caller, with));
    const std::string key = key_of(what.project, what.name);
    EXA_ASSIGN(const auto before, find_document(tx, "profile_share", "name", key));
    deed.object_kind = "profile_share";
    deed.object_name = key;
    deed.project = what.project;
    if (before) deed.before = *before;
    EXA_TRY(tx.change("DELETE FROM profile_share WHERE name = $1", {key}));
    if (with != "none") {
      const json::object spec{{"name", key},
                              {"project", what.project},
                              {"profile", what.name},
                              {"with", with},
                              {"shared_at", format_rfc3339(service.now())},
                              {"shared_by", caller.principal.name}};
      EXA_TRY(tx.change("INSERT INTO profile_share (name, spec, project) VALUES ($1, $2, $3)",
                        {key, to_text(spec), what.project}));
      deed.after = spec;
    }
    answer.body = {{"name", what.name}, {"project", what.project}, {"shared_with", with}};
    return answer;
  });
}

Result<Answer> list_shared_profiles(Service& service, const HeadQuery& page) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_TRY(require_project(tx, page.project));
    EXA_ASSIGN(auto keys, shared_keys(tx, page.project, page.after, page.limit + 1));
    const bool more = static_cast<int64_t>(keys.size()) > page.limit;
    if (more) keys.pop_back();
    json::array items;
    for (const std::string& key : keys) {
      const size_t slash = key.find('/');
      const std::string owner = key.substr(0, slash);
      const std::string name = key.substr(slash + 1);
      const auto stored = find_profile(tx, owner, {.name = name});
      if (!stored && stored.error().code == Code::not_found) {
        items.emplace_back(json::object{{"name", key},
                                        {"version", nullptr},
                                        {"project", owner},
                                        {"note", "no active version"}});
        continue;
      }
      if (!stored) return fail(stored.error());
      EXA_ASSIGN(json::object item, stored_json(tx, *stored, service.now()));
      item["name"] = key;  // as it is referred to from here
      items.emplace_back(std::move(item));
    }
    Answer answer;
    answer.body = {{"items", std::move(items)},
                   {"next_cursor", more ? json::value(keys.back()) : json::value(nullptr)}};
    return answer;
  });
}

Result<void> require_shared(Transaction& tx, const std::string& owner, const std::string& name,
                            const std::string& with) {
  EXA_ASSIGN(const auto share, find_document(tx, "profile_share", "name", key_of(owner, name)));
  if (share && owner != with && reaches(*share, with)) {
    EXA_ASSIGN(const auto last, last_version(tx, owner, name));
    if (last) return {};
  }
  EXA_ASSIGN(const auto keys, shared_keys(tx, with, "", INT64_MAX));  // for what was meant
  return not_shared(owner, name, keys);
}

}  // namespace exa
