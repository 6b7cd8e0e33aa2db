#include "service/profiles.h"

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/plural.h"
#include "profile/diff.h"
#include "service/consumers.h"
#include "service/resolutions.h"

namespace exa {
namespace {

json::object label_json(const std::string& label, int64_t version) {
  return {{"label", label}, {"version", version}};
}

json::object move_json(const LabelMove& move) {
  return {{"label", move.label},
          {"from_version", number_or_null(move.from_version)},
          {"to_version", number_or_null(move.to_version)},
          {"moved_at", format_rfc3339(move.at)},
          {"moved_by", move.by}};
}

std::string versioned(const std::string& name, int64_t version) {
  return fmt::format("{}@{}", name, version);
}

json::array labels_array(const std::vector<std::string>& labels) {
  return json::array(labels.begin(), labels.end());
}

// The document's keys first, then what the store knows about the version.
json::object with_store_facts(const StoredVersion& stored, json::array resolutions) {
  json::object object = to_json(stored.profile);
  object["labels"] = labels_array(stored.labels);
  object["deprecated"] = nullptr;
  if (stored.deprecation) {
    object["deprecated"] = json::object{{"redirect", stored.deprecation->redirect},
                                        {"redirect_gone", stored.deprecation->redirect_gone},
                                        {"reason", stored.deprecation->reason},
                                        {"at", format_rfc3339(stored.deprecation->at)},
                                        {"by", stored.deprecation->by}};
  }
  object["resolutions"] = std::move(resolutions);
  return object;
}

// A name whose label active points nowhere is still shown.
json::object head_without_active(const ProfileHead& head, const std::string& project) {
  json::array labels;
  for (const auto& [label, version] : head.labels) labels.emplace_back(label_json(label, version));
  return {{"name", head.name},
          {"version", nullptr},
          {"project", project},
          {"note", "no active version"},
          {"latest_version", head.latest_version},
          {"other_labels", std::move(labels)}};
}

bool applies_to(const Shape& shape, Surface wanted) {
  return std::ranges::any_of(shape.applicability, [&](Surface surface) {
    return surface == wanted || surface == Surface::any;
  });
}

json::object impact_of(const Consumer& consumer) {
  json::object object = to_json(consumer);
  object["effect"] = "keeps running on the shape it has; cannot be created again from this version";
  return object;
}

// Consumers that a delete would leave without their version.
Error still_in_use(const std::string& what, const std::vector<Consumer>& consumers,
                   int64_t others) {
  Error error;
  error.code = Code::in_use;
  error.message = fmt::format("{} is used by {}", what,
                              counted(static_cast<int64_t>(consumers.size()) + others, "consumer"));
  if (others > 0) error.message += fmt::format(", {} of them in projects not yours", others);
  for (const Consumer& consumer : consumers) {
    error.problems.push_back(
        {fmt::format("{}/{}", consumer.kind, consumer.ref),
         fmt::format("runs on {}; it would keep its shape, but could not be created again from it",
                     versioned(consumer.profile, consumer.version)),
         ""});
  }
  error.next =
      "exa hardware profile deprecate NAME --redirect OTHER, or delete --force --reason \"…\"";
  return error;
}

}  // namespace

Result<json::object> stored_json(Transaction& tx, const StoredVersion& stored, Time now) {
  const HardwareProfile& profile = stored.profile;
  EXA_ASSIGN(json::array resolutions,
             last_resolutions(tx, profile.project, profile.name, profile.version, now));
  return with_store_facts(stored, std::move(resolutions));
}

Result<Answer> set_profile(Service& service, const Caller& caller, const SetProfile& what) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(require_project(tx, what.project));
    const Time now = service.now();
    EXA_ASSIGN(const int64_t version, take_version_number(tx, what.project, what.name));
    HardwareProfile profile{what.project, what.name, version,
                            what.shape,   now,       caller.principal.name};
    EXA_ASSIGN(const auto earlier, last_version(tx, what.project, what.name));
    EXA_TRY(insert_version(tx, profile));
    EXA_TRY(
        move_label(tx, what.project, what.name, what.label, version, now, caller.principal.name));
    EXA_TRY(refresh_version(tx, profile, now));
    deed = {"hardware_profile",
            what.name,
            what.project,
            version,
            {},
            shape_to_json(what.shape),
            "",
            {{"label", what.label}, {"at", format_rfc3339(now)}}};
    if (earlier) deed.before = shape_to_json(earlier->profile.shape);
    Answer answer;
    answer.status = 201;
    EXA_ASSIGN(const StoredVersion stored,
               find_profile(tx, what.project, {what.name, version, {}}));
    EXA_ASSIGN(answer.body, stored_json(tx, stored, now));
    if (stored.deprecation) {
      answer.notices.push_back(
          fmt::format("{} is retired, and so is this version; {}, or take it back: exa hardware "
                      "profile deprecate {} --undo",
                      what.name, advice(*stored.deprecation), what.name));
    }
    if (what.label != "active") {
      EXA_ASSIGN(
          const auto labels,
          tx.rows(
              "SELECT 1 FROM profile_label WHERE project = $1 AND name = $2 AND label = 'active'",
              {what.project, what.name}));
      if (labels.empty()) {
        answer.notices.push_back(
            fmt::format("{} has no active version yet; exa hardware profile label {} "
                        "active --version {} makes this one active",
                        what.name, what.name, version));
      }
    }
    return answer;
  });
}

Result<Answer> list_profiles(Service& service, const ListProfiles& what) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_TRY(require_project(tx, what.page.project));
    HeadQuery query = what.page;
    ++query.limit;  // one more than asked tells whether there is a next page
    EXA_ASSIGN(auto heads, load_heads(tx, query));
    const bool more = static_cast<int64_t>(heads.size()) > what.page.limit;
    if (more) heads.pop_back();
    ResolutionsByName resolutions;
    if (!heads.empty()) {
      EXA_ASSIGN(resolutions, last_resolutions_of_page(tx, what.page.project, what.page.after,
                                                       heads.back().name, service.now()));
    }
    json::array items;
    for (const ProfileHead& head : heads) {
      if (!head.active) {
        if (!what.applicability) items.emplace_back(head_without_active(head, what.page.project));
        continue;
      }
      if (what.applicability && !applies_to(head.active->profile.shape, *what.applicability))
        continue;
      items.emplace_back(with_store_facts(*head.active, std::move(resolutions[head.name])));
    }
    Answer answer;
    answer.body["items"] = std::move(items);
    answer.body["next_cursor"] = more ? json::value(heads.back().name) : json::value(nullptr);
    return answer;
  });
}

Result<ProfileRef> combine_reference(std::string_view text, std::optional<int64_t> version,
                                     const std::string& label) {
  EXA_ASSIGN(ProfileRef ref, parse_reference(text));
  const bool pinned = ref.version || ref.label;
  if ((pinned && (version || !label.empty())) || (version && !label.empty())) {
    return fail(
        Code::usage,
        fmt::format("\"{}\" names a version or label in more than one way; give one of name@3, "
                    "--version 3 or --label active",
                    text));
  }
  if (version) ref.version = version;
  if (!label.empty()) ref.label = label;
  return ref;
}

Result<Answer> show_profile(Service& service, const ShowProfile& what) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const StoredVersion stored, find_profile(tx, what.project, what.ref));
    Answer answer;
    EXA_ASSIGN(answer.body, stored_json(tx, stored, service.now()));
    if (!what.cluster.empty()) {
      EXA_ASSIGN(const Resolution resolution,
                 resolve_on(tx, stored.profile.shape, what.cluster, service.now()));
      answer.body["resolution"] = to_json(resolution);
    }
    return answer;
  });
}

Result<Answer> delete_profile(Service& service, const Caller& caller, const DeleteProfile& what) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    // The whole name: all that is left of it. One version: that one, which must be there.
    EXA_TRY(require_project(tx, what.project));
    EXA_ASSIGN(auto versions, load_versions(tx, what.project, what.name, false));
    if (what.version || versions.empty()) {
      EXA_ASSIGN(auto one, find_profile(tx, what.project, {what.name, what.version, {}}));
      versions = {std::move(one)};
    }
    EXA_ASSIGN(const SeenConsumers seen,
               consumers_seen_by(tx, caller, what.project, what.name, what.version));
    const auto& [consumers, others] = seen;
    const std::string subject = what.version ? versioned(what.name, *what.version) : what.name;
    if ((!consumers.empty() || others > 0) && !what.force)
      return fail(still_in_use(subject, consumers, others));
    if (what.force && what.reason.empty()) {
      return fail(invalid("delete", {{"/reason", "--force needs a reason", ""}}));
    }
    const Time now = service.now();
    json::array deleted;
    json::array dropped;
    Answer answer;
    for (const StoredVersion& stored : versions) {
      for (const std::string& label : stored.labels) {
        EXA_TRY(move_label(tx, what.project, what.name, label, {}, now, caller.principal.name));
        dropped.emplace_back(label_json(label, stored.profile.version));
        answer.notices.push_back(fmt::format("label {} pointed at {} and was dropped", label,
                                             versioned(what.name, stored.profile.version)));
      }
      EXA_TRY(bury_version(tx, what.project, what.name, stored.profile.version, now,
                           caller.principal.name));
      deleted.emplace_back(stored.profile.version);
    }
    EXA_ASSIGN(const auto leading_here, redirects_to(tx, what.project, what.name));
    for (const std::string& name : leading_here) {
      answer.notices.push_back(
          fmt::format("{} is retired in favour of {}; give it another redirect", name, subject));
    }
    json::array affected;
    for (const Consumer& consumer : consumers) {
      affected.emplace_back(impact_of(consumer));
      answer.notices.push_back(fmt::format("{}/{} runs on {} and keeps its shape", consumer.kind,
                                           consumer.ref,
                                           versioned(consumer.profile, consumer.version)));
    }
    deed = {"hardware_profile",
            what.name,
            what.project,
            what.version,
            {},
            {},
            what.reason,
            {{"versions", deleted},
             {"consumers", int64_t(consumers.size()) + others},
             {"at", format_rfc3339(now)}}};
    if (versions.size() == 1) deed.before = shape_to_json(versions[0].profile.shape);
    answer.body = {{"name", what.name},
                   {"project", what.project},
                   {"deleted_versions", std::move(deleted)},
                   {"dropped_labels", std::move(dropped)},
                   {"consumers", std::move(affected)}};
    return answer;
  });
}

Result<Answer> label_profile(Service& service, const Caller& caller, const MoveLabel& what) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const StoredVersion stored,
               find_profile(tx, what.project, {what.name, what.version, {}}));
    const Time now = service.now();
    EXA_ASSIGN(
        const auto before,
        tx.rows("SELECT version FROM profile_label WHERE project = $1 AND name = $2 AND label = $3",
                {what.project, what.name, what.label}));
    Answer answer;
    answer.body = {{"name", what.name},
                   {"project", what.project},
                   {"label", what.label},
                   {"version", what.version},
                   {"previous_version",
                    before.empty() ? json::value(nullptr) : json::value(before[0].integer(0))}};
    deed = {"hardware_profile",
            what.name,
            what.project,
            what.version,
            {},
            {},
            "",
            {{"label", what.label}, {"at", format_rfc3339(now)}}};
    if (!before.empty()) deed.before = json::value(before[0].integer(0));
    deed.after = json::value(what.version);
    if (std::ranges::find(stored.labels, what.label) != stored.labels.end()) {
      answer.notices.push_back(
          fmt::format("{} is {} already", versioned(what.name, what.version), what.label));
      return answer;
    }
    EXA_TRY(move_label(tx, what.project, what.name, what.label, what.version, now,
                       caller.principal.name));
    EXA_TRY(refresh_version(tx, stored.profile, now));
    return answer;
  });
}

Result<Answer> profile_history(Service& service, const std::string& asking, const ProfileRef& ref) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const std::string project, home_of(tx, asking, ref));
    const std::string& name = ref.name;
    EXA_ASSIGN(const auto versions, load_versions(tx, project, name, true));
    if (versions.empty()) {
      EXA_TRY(find_profile(tx, project, {name, {}, {}}));  // says that it is not there
    }
    EXA_ASSIGN(const auto moves, load_label_moves(tx, project, name));
    json::array version_list;
    for (const StoredVersion& stored : versions) {
      json::object object = to_json(stored.profile);
      object["labels"] = labels_array(stored.labels);
      object["deleted_at"] = stored.deleted_at ? json::value(format_rfc3339(*stored.deleted_at))
                                               : json::value(nullptr);
      object["deleted_by"] =
          stored.deleted_at ? json::value(stored.deleted_by) : json::value(nullptr);
      version_list.emplace_back(std::move(object));
    }
    json::array move_list;
    for (const LabelMove& move : moves) move_list.emplace_back(move_json(move));
    Answer answer;
    answer.body = {{"name", name},
                   {"project", project},
                   {"items", std::move(version_list)},
                   {"label_moves", std::move(move_list)}};
    return answer;
  });
}

Result<Answer> diff_profiles(Service& service, const std::string& project, const ProfileRef& from,
                             const ProfileRef& to) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const StoredVersion before, find_profile(tx, project, from));
    EXA_ASSIGN(const StoredVersion after, find_profile(tx, project, to));
    json::array fields;
    for (const FieldChange& change : diff(before.profile.shape, after.profile.shape)) {
      fields.emplace_back(to_json(change));
    }
    Answer answer;
    answer.exit_code = fields.empty() ? 0 : 1;
    answer.body = {{"from", versioned(before.profile.name, before.profile.version)},
                   {"to", versioned(after.profile.name, after.profile.version)},
                   {"same", fields.empty()},
                   {"items", std::move(fields)}};
    return answer;
  });
}

Result<Answer> deprecate_profile(Service& service, const Caller& caller,
                                 const DeprecateProfile& what) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    std::string subject = what.ref.name;
    int64_t version = 0;
    if (what.ref.version || what.ref.label) {
      EXA_ASSIGN(const StoredVersion stored, find_profile(tx, what.project, what.ref));
      version = stored.profile.version;
      subject = versioned(what.ref.name, version);
    } else {
      EXA_ASSIGN(const auto versions, load_versions(tx, what.project, what.ref.name, false));
      if (versions.empty()) EXA_TRY(find_profile(tx, what.project, what.ref));
    }
    const Time now = service.now();
    std::optional<Deprecation> deprecation;
    if (!what.undo) {
      EXA_ASSIGN(const ProfileRef target, parse_reference(what.redirect));
      EXA_ASSIGN(const StoredVersion replacement, find_profile(tx, what.project, target));
      const bool itself =
          target.name == what.ref.name && (version == 0 || version == replacement.profile.version);
      if (itself) {
        return fail(
            invalid("deprecate",
                    {{"/redirect", fmt::format("{} cannot be replaced by itself", subject), ""}}));
      }
      if (replacement.deprecation) {
        // a chain could lead back to where it began
        return fail(
            invalid("deprecate", {{"/redirect",
                                   fmt::format("{} is retired itself; name what it leads to: {}",
                                               what.redirect, replacement.deprecation->redirect),
                                   ""}}));
      }
      EXA_ASSIGN(const auto here, redirects_to(tx, what.project, what.ref.name));
      if (!here.empty()) {
        return fail(
            Code::conflict,
            fmt::format("{} leads to {}; give it another redirect first", here[0], subject),
            fmt::format("exa hardware profile deprecate {} --redirect {}", here[0], what.redirect));
      }
      deprecation = Deprecation{version, what.redirect, what.reason, now, caller.principal.name};
    }
    EXA_TRY(store_deprecation(tx, what.project, what.ref.name, version, deprecation));
    deed = {"hardware_profile",
            what.ref.name,
            what.project,
            version == 0 ? std::optional<int64_t>() : version,
            {},
            {},
            what.reason,
            {{"redirect", what.redirect}, {"undo", what.undo}, {"at", format_rfc3339(now)}}};
    if (deprecation)
      deed.after = json::object{{"version", version},
                                {"redirect", deprecation->redirect},
                                {"reason", deprecation->reason},
                                {"at", format_rfc3339(deprecation->at)},
                                {"by", deprecation->by}};
    Answer answer;
    answer.body = {{"name", what.ref.name},
                   {"project", what.project},
                   {"version", version == 0 ? json::value(nullptr) : json::value(version)},
                   {"deprecated", !what.undo},
                   {"redirect", what.undo ? json::value(nullptr) : json::value(what.redirect)},
                   {"reason", what.reason}};
    if (!what.undo)
      answer.notices.push_back(fmt::format("{} still works; who uses it is told to move", subject));
    return answer;
  });
}

}  // namespace exa
