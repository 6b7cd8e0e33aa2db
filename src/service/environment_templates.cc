#include "service/environment_templates.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "service/clusters.h"
#include "service/stored.h"

namespace exa {
namespace {

using Problems = std::vector<Problem>;

std::string activate_command(const EnvironmentTemplate& what) {
  return fmt::format("exa environment-template activate {} --version {}", what.name, what.version);
}
std::string disable_command(const EnvironmentTemplate& what) {
  return fmt::format("exa environment-template disable {} --version {}", what.name, what.version);
}
std::string add_command(const EnvironmentTemplate& what, std::string_view version) {
  return fmt::format("exa environment-template add {} --version {} --driver {} --folder FOLDER",
                     what.name, version, name(what.driver));
}
std::string add_next(const EnvironmentTemplate& what) {
  return add_command(what, "NEXT");
}

std::string changed_words(const EnvironmentTemplate& what) {
  return fmt::format("{} was changed since it was activated, and a version means one content",
                     what.key());
}

// Where a folder lies is for administrators.
std::string without_folder(std::string text, const EnvironmentTemplate& what) {
  for (const std::string& folder : {what.folder, printable(what.folder)})
    for (size_t at = 0; !folder.empty() && (at = text.find(folder, at)) != std::string::npos;)
      text.replace(at, folder.size(), "its folder");
  return text;
}

// The program of its driver and its cluster: no part of a version, and may come later.
Problems problems_of_surroundings(Transaction& tx, const EnvironmentTemplate& what) {
  Problems problems;
  if (const auto driver = provision_driver(what.driver)) {
    const std::string_view program = info(*driver).program;
    for (Problem& problem : check_driver(*driver, ProvisionAction::apply, what.folder))
      if (!program.empty() && problem.where == program) problems.push_back(std::move(problem));
    return problems;
  }
  if (what.cluster.empty()) return problems;
  const auto cluster = find_cluster(tx, what.cluster);
  if (!cluster) {
    problems.push_back({"/cluster", cluster.error().message, cluster.error().next});
  } else if (const std::string_view kind = name(cluster->address.kind); kind != name(what.driver)) {
    problems.push_back(
        {"/cluster",
         fmt::format("{} is a cluster of kind {}, not {}", what.cluster, kind, name(what.driver)),
         "exa cluster list"});
  }
  return problems;
}

// What its driver lacks in the folder, whatever runs it.
Problems problems_of_folder(const EnvironmentTemplate& what) {
  const auto driver = provision_driver(what.driver);
  if (!driver) return files_in_folder(what.folder).problems;
  Problems problems;
  const std::string_view program = info(*driver).program;
  for (const ProvisionAction action : {ProvisionAction::apply, ProvisionAction::destroy})
    for (Problem& problem : check_driver(*driver, action, what.folder))
      if ((program.empty() || problem.where != program) &&
          std::ranges::find(problems, problem) == problems.end())
        problems.push_back(std::move(problem));
  return problems;
}

Problems problems_of_content(const EnvironmentTemplate& what) {
  Problems problems;
  if (what.state == TemplateState::active) {
    if (const auto unchanged = check_unchanged(what, what.folder); !unchanged)
      problems.push_back({"", unchanged.error().message, unchanged.error().next});
    return problems;
  }
  const TemplateDeclaration now = read_declaration(what.folder, problems);
  if (problems.empty() && now != TemplateDeclaration{what.inputs, what.outputs})
    problems.push_back({std::string(kTemplateFile), "was changed since the draft was added",
                        add_command(what, what.version)});
  return problems;
}

Problems problems_of_state(const EnvironmentTemplate& what, bool drafts_too) {
  if (what.state == TemplateState::disabled)
    return {
        {"", fmt::format("{} is disabled: no new instances", what.key()), activate_command(what)}};
  if (what.state == TemplateState::draft && !drafts_too)
    return {{"", fmt::format("{} is a draft", what.key()), activate_command(what)}};
  return {};
}

void add(Problems& all, Problems more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// `problems` and what its folder and its surroundings lack, each once.
Problems problems_told(const EnvironmentTemplate& what, Problems problems, Transaction& tx) {
  Problems more = problems_of_folder(what);
  add(more, problems_of_surroundings(tx, what));
  for (Problem& problem : more)
    if (std::ranges::find(problems, problem) == problems.end())
      problems.push_back(std::move(problem));
  for (Problem& problem : problems)
    for (std::string* text : {&problem.where, &problem.message, &problem.suggestion})
      *text = without_folder(std::move(*text), what);
  return problems;
}

// "run: is not executable; the driver script needs an executable file run"
std::string in_one_line(const Problem& problem) {
  return fmt::format("{}{}{}{}{}", problem.where, problem.where.empty() ? "" : ": ",
                     problem.message, problem.suggestion.empty() ? "" : "; ", problem.suggestion);
}

json::object shown(const Caller& caller, const EnvironmentTemplate& what) {
  json::object out = to_json(what);
  if (!permitted(caller.principal.rights, "environment_template:write", ""))
    out["folder"] = nullptr;
  return out;
}

// With what keeps it from running here, whatever its state.
json::object shown_with_problems(const Caller& caller, const EnvironmentTemplate& what,
                                 const Problems& problems) {
  json::object out = shown(caller, what);
  json::array lines;
  for (const Problem& problem : problems) lines.emplace_back(in_one_line(problem));
  out["problems"] = std::move(lines);
  return out;
}

Answer answer_with(const Caller& caller, const EnvironmentTemplate& what,
                   const Problems& problems) {
  Answer answer;
  answer.body = shown_with_problems(caller, what, problems);
  if (what.state != TemplateState::disabled)
    for (const json::value& problem : answer.body["problems"].get_array())
      answer.notices.push_back(
          fmt::format("it could not run now: {}", std::string_view(problem.get_string())));
  return answer;
}

Result<void> put(Transaction& tx, const EnvironmentTemplate& what) {
  EXA_TRY(
      tx.change("INSERT INTO environment_template VALUES ($1, $2, $3) ON CONFLICT (id) DO "
                "UPDATE SET spec = $3",
                {what.key(), what.name, to_text(to_json(what))}));
  return {};
}

Result<EnvironmentTemplate> read_template(Service& service, const TemplateRef& ref) {
  return read_value<EnvironmentTemplate>(service.store(),
                                         [&](Transaction& tx) { return find_template(tx, ref); });
}

// A change of one that is there, found again in the transaction that writes it.
template <typename Decide>
Result<Answer> change(Service& service, const Caller& caller, const TemplateRef& ref,
                      Decide decide) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(EnvironmentTemplate what, find_template(tx, ref));
    deed.object_kind = "environment_template";
    deed.object_name = what.key();
    deed.before = to_json(what);
    EXA_TRY(decide(what));
    what.changed_at = service.now();
    EXA_TRY(put(tx, what));
    deed.after = to_json(what);
    // what it holds was looked at before: others wait for this transaction
    return answer_with(caller, what, problems_told(what, problems_of_state(what, true), tx));
  });
}

// --- who uses it

bool names_template(const json::value& document, const EnvironmentTemplate& what, int depth = 0) {
  constexpr int kDeepest = 3;
  if (!document.is_object() || depth > kDeepest) return false;
  for (const auto& [key, value] : document.get_object()) {
    if (key == "environment_template" && text_or(value, "name", "") == what.name &&
        text_or(value, "version", "") == what.version)
      return true;
    if (names_template(value, what, depth + 1)) return true;
  }
  return false;
}

struct UserRow {
  std::string_view table;
  std::string_view word;
};
constexpr UserRow kUsers[] = {{"sku_version", "compute profile"}, {"instance", "instance"}};

Result<void> check_unused(Transaction& tx, const Caller& caller, const EnvironmentTemplate& what) {
  for (const UserRow& user : kUsers) {
    EXA_ASSIGN(
        const auto rows,
        tx.rows(fmt::format("SELECT id, project, spec FROM {} WHERE spec LIKE $1 ORDER BY id",
                            user.table),
                {fmt::format("%\"{}\"%", what.name)}));
    for (const Row& row : rows) {
      EXA_ASSIGN(const json::value spec,
                 parse_stored(row.text(2), "a stored " + std::string(user.word)));
      if (!names_template(spec, what)) continue;
      return fail(Code::in_use,
                  caller.known.contains(row.text(1))
                      ? fmt::format("{} {} uses {}", user.word, row.text(0), what.key())
                      : fmt::format("{} {} of another project uses {}",
                                    user.word == "instance" ? "an" : "a", user.word, what.key()),
                  what.state == TemplateState::disabled ? "" : disable_command(what));
    }
  }
  return {};
}

}  // namespace

std::vector<Problem> problems_of_launching(Transaction& tx, const EnvironmentTemplate& what,
                                           bool drafts_too) {
  Problems problems = problems_of_state(what, drafts_too);
  if (what.state != TemplateState::disabled) add(problems, problems_of_content(what));
  return problems_told(what, std::move(problems), tx);
}

Result<void> check_unchanged(const EnvironmentTemplate& what, const std::string& folder) {
  if (what.digest.empty()) return {};
  const auto digest = digest_of_folder(folder);
  if (digest && *digest == what.digest) return {};
  return fail(Code::conflict, changed_words(what), add_next(what));
}

Result<std::vector<RenderedFile>> files_of(const EnvironmentTemplate& what) {
  TemplateFiles found = files_in_folder(what.folder);
  if (!found.problems.empty()) return fail(invalid(what.key(), std::move(found.problems)));
  // after they were read: a change before or since is seen
  if (const auto unchanged = check_unchanged(what, what.folder); !unchanged) {
    Error error = unchanged.error();
    error.code = Code::invalid_input;
    return fail(std::move(error));
  }
  return std::move(found.files);
}

Result<Answer> add_environment_template(Service& service, const Caller& caller,
                                        EnvironmentTemplate what) {
  Problems problems;
  if (what.folder.starts_with('/')) {
    TemplateDeclaration declared = read_declaration(what.folder, problems);
    what.inputs = std::move(declared.inputs);
    what.outputs = std::move(declared.outputs);
  }
  const Problems of_folder = std::move(problems);
  problems = problems_of(what);
  add(problems, of_folder);
  EXA_ASSIGN(Problems of_cluster,
             read_value<Problems>(service.store(), [&](Transaction& tx) -> Result<Problems> {
               return provision_driver(what.driver) ? Problems()
                                                    : problems_of_surroundings(tx, what);
             }));
  add(problems, std::move(of_cluster));
  if (!problems.empty()) return fail(invalid("environment template", std::move(problems)));

  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    what.state = TemplateState::draft;
    what.created_at = what.changed_at = service.now();
    what.created_by = caller.principal.name;
    const auto there = find_template(tx, {what.name, what.version});
    if (!there && there.error().code != Code::not_found) return fail(there.error());
    if (there && there->state != TemplateState::draft)
      return fail(
          Code::conflict,
          fmt::format("{} is {}, and a version means one content", what.key(), name(there->state)),
          add_next(what));
    if (there) {
      what.created_at = there->created_at;
      what.created_by = there->created_by;
      deed.before = to_json(*there);
    }
    EXA_TRY(put(tx, what));
    deed.object_kind = "environment_template";
    deed.object_name = what.key();
    deed.after = to_json(what);
    Answer answer = answer_with(caller, what, problems_of_launching(tx, what, true));
    answer.status = there ? 200 : 201;
    return answer;
  });
}

Result<Answer> list_environment_templates(Service& service, const Caller& caller) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const auto rows, tx.rows("SELECT spec FROM environment_template ORDER BY id"));
    json::array items;
    for (const Row& row : rows) {
      EXA_ASSIGN(const json::object stored,
                 parse_stored_object(row.text(0), "a stored environment template"));
      EXA_ASSIGN(const EnvironmentTemplate what, environment_template_from_json(stored));
      items.emplace_back(shown(caller, what));
    }
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", nullptr}};
    return answer;
  });
}

Result<Answer> show_environment_template(Service& service, const Caller& caller,
                                         const TemplateRef& ref) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const EnvironmentTemplate what, find_template(tx, ref));
    Answer answer;
    answer.body =
        shown_with_problems(caller, what, problems_of_launching(tx, what, /*drafts_too=*/true));
    return answer;
  });
}

Result<Answer> activate_environment_template(Service& service, const Caller& caller,
                                             const TemplateRef& ref) {
  // a large folder is read before anybody has to wait for it
  EXA_ASSIGN(EnvironmentTemplate seen, read_template(service, ref));
  const json::object before = to_json(seen);
  Problems problems;
  TemplateDeclaration declared = read_declaration(seen.folder, problems);
  seen.inputs = declared.inputs;
  seen.outputs = declared.outputs;
  add(problems, problems_of(seen));
  for (Problem& problem : problems_of_folder(seen))
    if (std::ranges::find(problems, problem) == problems.end()) problems.push_back(problem);
  if (!problems.empty()) return fail(invalid(seen.key(), std::move(problems)));
  EXA_ASSIGN(const std::string digest, digest_of_folder(seen.folder));
  return change(service, caller, ref, [&](EnvironmentTemplate& what) -> Result<void> {
    if (to_json(what) != before)
      return fail(Code::conflict, fmt::format("{} was changed meanwhile", what.key()),
                  activate_command(what));
    if (!what.digest.empty() && what.digest != digest)
      return fail(Code::conflict, changed_words(what), add_next(what));
    what.state = TemplateState::active;
    what.digest = digest;
    what.inputs = std::move(declared.inputs);
    what.outputs = std::move(declared.outputs);
    return {};
  });
}

Result<Answer> disable_environment_template(Service& service, const Caller& caller,
                                            const TemplateRef& ref) {
  return change(service, caller, ref, [&](EnvironmentTemplate& what) -> Result<void> {
    if (what.state == TemplateState::disabled)
      return fail(Code::conflict, fmt::format("{} is disabled already", what.key()),
                  activate_command(what));
    what.state = TemplateState::disabled;
    return {};
  });
}

Result<Answer> remove_environment_template(Service& service, const Caller& caller,
                                           const TemplateRef& ref) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const EnvironmentTemplate what, find_template(tx, ref));
    EXA_TRY(check_unused(tx, caller, what));
    if (what.state == TemplateState::active)
      return fail(Code::conflict, fmt::format("{} is active", what.key()), disable_command(what));
    EXA_TRY(tx.change("DELETE FROM environment_template WHERE id = $1", {what.key()}));
    deed.object_kind = "environment_template";
    deed.object_name = what.key();
    deed.before = to_json(what);
    Answer answer;
    answer.body = {{"name", what.name}, {"version", what.version}, {"removed", true}};
    return answer;
  });
}

}  // namespace exa
