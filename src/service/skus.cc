// Changing compute profiles: each change is a new version, or a change of what stands beside them.
#include "service/skus.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "catalogue/rafay.h"
#include "catalogue/sku_diff.h"
#include "service/profile_rows.h"
#include "service/sharing.h"
#include "service/sku_parts.h"

namespace exa {
namespace {

std::string version_name(const SkuVersion& stored) {
  return fmt::format("{}/{}@{}", stored.project, stored.sku.name, stored.version);
}

// "/inputs/2" of a document that was given: there; of a field that was given beside it, or of what
// is stored: as it is.
void place_in_document(const WriteSku& what, std::vector<Problem>& problems) {
  if (!what.document) return;
  for (Problem& problem : problems) {
    const std::string_view where = problem.where;
    const std::string_view rest = where.substr(std::min<size_t>(1, where.size()));
    if (!what.fields.contains(rest.substr(0, rest.find('/')))) problem.where.insert(0, "/file");
  }
}

// Labels are given one by one; any other field is the whole of it.
void put_field(json::object& document, std::string_view key, const json::value& value) {
  const bool pairs = key == "labels" || key == "annotations";
  json::value& member = document[key];
  if (!pairs || !member.is_object() || !value.is_object()) {
    member = value;
    return;
  }
  for (const auto& pair : value.get_object()) member.get_object()[pair.key()] = pair.value();
}

// What only exa says, as a reply shows it beside the document, is no part of it.
std::vector<std::string> drop_facts(json::object& document) {
  std::vector<std::string> dropped;
  for (const std::string_view fact : sku_facts())
    if (document.erase(fact) > 0) dropped.emplace_back(fact);
  return dropped;
}

struct ReadSku {
  ComputeSku sku;
  std::vector<std::string> notices;
};
// `before`: what is there; nullptr: nothing.
Result<ReadSku> read_sku(const WriteSku& what, const ComputeSku* before) {
  ReadSku read;
  json::object document;
  if (what.document) {
    document = *what.document;
    const auto dropped = drop_facts(document);
    if (!dropped.empty())
      read.notices.push_back(fmt::format("left out what only exa says: {}", join(dropped, ", ")));
  } else if (before != nullptr) {
    document = to_json(*before);
  }
  std::vector<Problem> problems;
  const json::value* named = document.if_contains("name");
  if (named != nullptr && !named->is_null() && *named != json::value(what.name))
    problems.push_back(
        {"/name",
         before != nullptr
             ? fmt::format("is {} for good: a name cannot be changed, it is immutable", what.name)
             : fmt::format("is {}, but {} is created; leave it out", to_text(*named), what.name),
         ""});
  document["name"] = what.name;
  for (const auto& field : what.fields) put_field(document, field.key(), field.value());
  auto sku = compute_sku_from_json(document);
  if (!sku)
    for (Problem& problem : sku.error().problems) problems.push_back(std::move(problem));
  if (!problems.empty()) {
    place_in_document(what, problems);
    return fail(invalid("the compute profile", std::move(problems)));
  }
  read.sku = *std::move(sku);
  return read;
}

// Of one that is there to be changed: its own project's, not deleted.
Result<FoundSku> find_own(Transaction& tx, const Caller& caller, const std::string& project,
                          const std::string& name) {
  EXA_TRY(require_project(tx, project));
  EXA_ASSIGN(FoundSku found, find_sku(tx, caller, project, {.name = name}));
  if (!found.head.deleted_at) return found;
  return fail(Code::not_found,
              fmt::format("compute profile {} was deleted by {} at {}", name, found.head.deleted_by,
                          format_rfc3339(*found.head.deleted_at)),
              fmt::format("exa compute-profile create {} --file FILE", name));
}

// Until put_head says otherwise it leaves things as they are, which the log vouches for as well.
void start_deed(Deed& deed, const SkuHead& head) {
  deed.object_kind = "sku";
  deed.object_name = head.key();
  deed.project = head.project;
  deed.version = head.latest_version;
  deed.before = deed.after = to_json(head);
}

Result<void> put_head(Service& service, Transaction& tx, const Caller& caller, Deed& deed,
                      SkuHead& head) {
  head.changed_at = service.now();
  head.changed_by = caller.principal.name;
  EXA_TRY(put_sku_head(tx, head));
  deed.version = head.latest_version;
  deed.after = to_json(head);
  return {};
}

Result<void> add_version(Service& service, Transaction& tx, const Caller& caller, Deed& deed,
                         SkuHead& head, SkuVersion& stored) {
  stored.project = head.project;
  stored.version = ++head.latest_version;
  stored.created_at = service.now();
  stored.created_by = caller.principal.name;
  EXA_TRY(put_head(service, tx, caller, deed, head));
  EXA_TRY(insert_sku_version(tx, stored));
  also_wrote(deed, "sku_version", version_name(stored), to_stored_json(stored));
  deed.reason = stored.reason;
  return {};
}

// A published version is launched at once: what would keep it from that refuses it. Of a draft the
// same is only told.
Result<std::vector<std::string>> check_launchable(Transaction& tx, const SkuHead& head,
                                                  const ComputeSku& sku, const WriteSku& what) {
  EXA_ASSIGN(std::vector<Problem> problems, problems_of_publishing(tx, head.project, sku));
  std::vector<std::string> notices;
  if (head.published && !problems.empty()) {
    place_in_document(what, problems);
    return fail(invalid("what is published", std::move(problems)));
  }
  for (const Problem& problem : problems)
    notices.push_back(
        fmt::format("it cannot be published yet: {} {}", problem.where, problem.message));
  return notices;
}

void append(std::vector<std::string>& notices, std::vector<std::string> more) {
  for (std::string& notice : more) notices.push_back(std::move(notice));
}

Result<Answer> answer_of(Transaction& tx, const Caller& caller, const SkuHead& head,
                         const SkuVersion& stored) {
  Answer answer;
  EXA_ASSIGN(answer.body, shown_sku(tx, caller, head.project, {head, stored}));
  return answer;
}

// The first version of a name, or the next of one that was deleted.
Result<Answer> start_sku(Service& service, Transaction& tx, const Caller& caller, Deed& deed,
                         const std::optional<SkuHead>& deleted, const WriteSku& what,
                         SkuVersion stored) {
  SkuHead head;
  head.project = what.project;
  head.name = stored.sku.name;
  head.created_at = service.now();
  head.created_by = caller.principal.name;
  if (deleted) {
    start_deed(deed, *deleted);
    head.latest_version = deleted->latest_version;
  }
  deed.object_kind = "sku";
  deed.object_name = head.key();
  deed.project = head.project;
  EXA_TRY(add_version(service, tx, caller, deed, head, stored));
  EXA_ASSIGN(Answer answer, answer_of(tx, caller, head, stored));
  answer.status = 201;
  EXA_ASSIGN(answer.notices, check_launchable(tx, head, stored.sku, what));
  if (answer.notices.empty())
    answer.notices.push_back(fmt::format(
        "a draft, which only those see who may write it; next: exa compute-profile publish {}",
        head.name));
  if (deleted)
    answer.notices.push_back(
        fmt::format("{} was deleted before; its numbers go on, and it is published and shared anew",
                    head.name));
  return answer;
}

Result<Answer> go_on_with(Service& service, Transaction& tx, const Caller& caller, Deed& deed,
                          FoundSku found, const WriteSku& what, SkuVersion stored) {
  start_deed(deed, found.head);
  const SkuVersion before = std::move(found.stored);
  if (stored.sku == before.sku && stored.rafay == before.rafay) {
    EXA_ASSIGN(Answer answer, answer_of(tx, caller, found.head, before));
    answer.notices.push_back(
        fmt::format("nothing changed: {} stays version {}", found.head.name, before.version));
    return answer;
  }
  EXA_ASSIGN(auto notices, check_launchable(tx, found.head, stored.sku, what));
  EXA_TRY(add_version(service, tx, caller, deed, found.head, stored));
  EXA_ASSIGN(Answer answer, answer_of(tx, caller, found.head, stored));
  const std::string changes = in_words(diff(before.sku, stored.sku));
  if (!changes.empty()) answer.notices.push_back(changes);
  answer.notices.push_back(fmt::format("running instances keep version {}; new ones get version {}",
                                       before.version, stored.version));
  append(answer.notices, std::move(notices));
  return answer;
}

Result<std::optional<SkuHead>> deleted_head(Transaction& tx, const std::string& project,
                                            const std::string& name) {
  EXA_ASSIGN(auto head, load_sku_head(tx, project, name));
  if (!head || head->deleted_at) return head;
  return fail(Code::conflict,
              fmt::format("there is a compute profile \"{}\" in project {} already", name, project),
              fmt::format("exa compute-profile edit {} --file FILE", name));
}

}  // namespace

Result<Answer> create_sku(Service& service, const Caller& caller, const WriteSku& what) {
  EXA_ASSIGN(const ReadSku read, read_sku(what, nullptr));
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(require_project(tx, what.project));
    EXA_ASSIGN(const auto deleted, deleted_head(tx, what.project, what.name));
    SkuVersion stored;
    stored.sku = read.sku;
    stored.reason = what.reason;
    EXA_ASSIGN(Answer answer,
               start_sku(service, tx, caller, deed, deleted, what, std::move(stored)));
    append(answer.notices, read.notices);
    return answer;
  });
}

Result<Answer> edit_sku(Service& service, const Caller& caller, const WriteSku& what) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(FoundSku found, find_own(tx, caller, what.project, what.name));
    EXA_ASSIGN(ReadSku read, read_sku(what, &found.stored.sku));
    SkuVersion stored;
    stored.sku = std::move(read.sku);
    stored.reason = what.reason;
    stored.rafay = found.stored.rafay;
    EXA_ASSIGN(Answer answer,
               go_on_with(service, tx, caller, deed, std::move(found), what, std::move(stored)));
    append(answer.notices, std::move(read.notices));
    return answer;
  });
}

Result<Answer> import_sku(Service& service, const Caller& caller, const ImportSku& what) {
  EXA_ASSIGN(const RafaySku read, read_rafay_sku(what.text, "file"));
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(require_project(tx, what.project));
    const WriteSku as{what.project, read.sku.name, {}, {}, ""};
    SkuVersion stored;
    stored.sku = read.sku;
    stored.rafay = read.document;
    EXA_ASSIGN(const auto head, load_sku_head(tx, what.project, as.name));
    Answer answer;
    if (!head || head->deleted_at) {
      EXA_ASSIGN(answer, start_sku(service, tx, caller, deed, head, as, std::move(stored)));
    } else {
      EXA_ASSIGN(FoundSku found, find_own(tx, caller, what.project, as.name));
      EXA_ASSIGN(answer,
                 go_on_with(service, tx, caller, deed, std::move(found), as, std::move(stored)));
    }
    for (const RafayNote& note : read.notes)
      answer.notices.push_back(fmt::format("{}: {}", note.where, note.message));
    return answer;
  });
}

Result<Answer> publish_sku(Service& service, const Caller& caller, const std::string& project,
                           const std::string& name) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(FoundSku found, find_own(tx, caller, project, name));
    SkuHead& head = found.head;
    EXA_ASSIGN(auto problems, problems_of_publishing(tx, project, found.stored.sku));
    if (!problems.empty()) return fail(invalid("what is published", std::move(problems)));
    start_deed(deed, head);
    Answer answer;
    if (head.published) {
      answer.notices.push_back(fmt::format("{} is published already", name));
    } else {
      head.published = true;
      EXA_TRY(put_head(service, tx, caller, deed, head));
    }
    answer.body = {{"name", name},
                   {"project", project},
                   {"version", head.latest_version},
                   {"published", true}};
    return answer;
  });
}

Result<Answer> unpublish_sku(Service& service, const Caller& caller, const std::string& project,
                             const std::string& name) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(FoundSku found, find_own(tx, caller, project, name));
    SkuHead& head = found.head;
    start_deed(deed, head);
    Answer answer;
    if (!head.published) {
      answer.notices.push_back(fmt::format("{} is not published", name));
    } else {
      head.published = false;
      EXA_TRY(put_head(service, tx, caller, deed, head));
      answer.notices.emplace_back("nobody launches it any more; instances that run keep running");
    }
    answer.body = {{"name", name},
                   {"project", project},
                   {"version", head.latest_version},
                   {"published", false}};
    return answer;
  });
}

Result<Answer> share_sku(Service& service, const Caller& caller, const std::string& project,
                         const std::string& name, const std::vector<std::string>& with) {
  EXA_ASSIGN(const json::value shared, sharing_of(project, with));
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(FoundSku found, find_own(tx, caller, project, name));
    SkuHead& head = found.head;
    Answer answer;
    EXA_ASSIGN(answer.notices, notices_of_sharing(tx, caller, shared));
    start_deed(deed, head);
    const SkuSharing before = std::exchange(head.sharing, sku_sharing_from_json(shared));
    if (head.sharing == before) {
      answer.notices.push_back(fmt::format("{} is shared so already", name));
    } else {
      EXA_TRY(put_head(service, tx, caller, deed, head));
    }
    if (!head.published && head.sharing.with != SkuSharing::With::none)
      answer.notices.push_back(fmt::format(
          "it is a draft, which nobody else sees yet; next: exa compute-profile publish {}", name));
    answer.body = {{"name", name}, {"project", project}, {"shared_with", to_json(head.sharing)}};
    return answer;
  });
}

Result<Answer> delete_sku(Service& service, const Caller& caller, const std::string& project,
                          const std::string& name, const std::string& reason) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(FoundSku found, find_own(tx, caller, project, name));
    SkuHead& head = found.head;
    start_deed(deed, head);
    deed.reason = reason;
    head.published = false;
    head.deleted_at = service.now();
    head.deleted_by = caller.principal.name;
    EXA_TRY(put_head(service, tx, caller, deed, head));
    Answer answer;
    answer.body = {{"name", name},
                   {"project", project},
                   {"version", head.latest_version},
                   {"deleted_at", format_rfc3339(*head.deleted_at)}};
    answer.notices.push_back(fmt::format(
        "nothing is launched from it any more; instances that run keep their version, and exa "
        "compute-profile history {} still tells of it",
        name));
    return answer;
  });
}

}  // namespace exa
