#include "service/vocabularies.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/validate.h"
#include "service/profiles.h"

namespace exa {
namespace {

// More would bury the answer on a terminal; all of them stand in the JSON.
constexpr size_t kMostNotices = 20;

json::array notes_json(const std::vector<VocabularyNote>& notes) {
  json::array list;
  for (const VocabularyNote& note : notes) list.push_back(to_json(note));
  return list;
}

std::vector<std::string> notices_of(const std::vector<VocabularyNote>& notes) {
  std::vector<std::string> notices;
  for (const VocabularyNote& note : notes) {
    if (notices.size() == kMostNotices) {
      notices.push_back(
          fmt::format("and {} more: --json shows them all", notes.size() - kMostNotices));
      break;
    }
    notices.push_back(fmt::format("{}: {}", note.where, note.message));
  }
  return notices;
}

// A problem of a field that the text said stands where the text says it.
void place_in_text(const ImportedShape& read, const json::object& given,
                   std::vector<Problem>& problems) {
  for (Problem& problem : problems) {
    if (!problem.where.starts_with('/')) continue;
    const std::string_view field = std::string_view(problem.where).substr(1);
    const auto place = read.places.find(field);
    if (place == read.places.end() || place->second.empty() || given.contains(field)) continue;
    problem.message = fmt::format("{}: {}", field, problem.message);
    problem.where = place->second;
  }
}

// What a profile of these fields lacks or has wrong. What the text leaves open is no problem as
// long as nothing is made of it.
std::vector<Problem> problems_of(const ImportedShape& read, const json::object& fields,
                                 bool is_set) {
  std::vector<Problem> problems = problems_of_shape(fields);
  if (!is_set && !fields.contains("accelerator_family"))
    std::erase_if(problems,
                  [](const Problem& problem) { return problem.where == "/accelerator_family"; });
  if (!is_set) return problems;
  for (const auto& [field, why] : read.open) {
    if (fields.contains(field)) continue;
    Problem open{pointer("", field), fmt::format("is not said: {}", why), "give it beside"};
    const auto known = std::ranges::find(problems, open.where, &Problem::where);
    if (known == problems.end())
      problems.push_back(std::move(open));
    else
      *known = std::move(open);
  }
  return problems;
}

}  // namespace

Result<Answer> render_profile(Service& service, const RenderProfile& what) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const StoredVersion stored, find_profile(tx, what.project, what.ref));
    const HardwareProfile& profile = stored.profile;
    RenderedShape rendered;
    if (what.over) {
      EXA_ASSIGN(rendered, render_shape_over(*what.vocabulary, profile.shape, profile.name,
                                             {*what.over, "over"}));
    } else {
      rendered = render_shape(*what.vocabulary, profile.shape, profile.name);
    }
    ProfileRef version{profile.name, profile.version, {}, {}};
    if (profile.project != what.project) version.project = profile.project;
    Answer answer;
    answer.body = {{"vocabulary", what.vocabulary->name},
                   {"profile", to_text(version)},
                   {"text", rendered.text},
                   {"notes", notes_json(rendered.notes)}};
    answer.notices = notices_of(rendered.notes);
    if (stored.deprecation)
      answer.notices.push_back(
          fmt::format("{} is retired; {}", to_text(version), advice(*stored.deprecation)));
    return answer;
  });
}

Result<Answer> import_profile(Service& service, const Caller& caller, const ImportProfile& what) {
  EXA_TRY(read_value<bool>(service.store(), [&](Transaction& tx) -> Result<bool> {
    EXA_TRY(require_project(tx, what.project));
    return true;
  }));
  const Vocabulary* vocabulary = what.vocabulary;
  if (vocabulary == nullptr) {
    EXA_ASSIGN(vocabulary, recognise_vocabulary(what.text));
  }
  EXA_ASSIGN(ImportedShape read, import_shape(*vocabulary, what.text));
  json::object fields;
  for (const std::string_view field : shape_fields()) {
    const json::value* value = what.given.if_contains(field);
    if (value == nullptr) value = read.fields.if_contains(field);
    if (value != nullptr) fields[field] = *value;
  }
  std::vector<Problem> problems = problems_of(read, fields, !what.name.empty());
  place_in_text(read, what.given, problems);
  if (!problems.empty()) return fail(invalid("the imported profile", std::move(problems)));

  json::array open;
  for (const auto& [field, why] : read.open)
    if (!fields.contains(field)) open.push_back(json::string(field));
  Answer answer;
  if (!what.name.empty()) {
    EXA_ASSIGN(Shape shape, read_shape(fields));
    EXA_ASSIGN(answer, set_profile(service, caller,
                                   {what.project, what.name, std::move(shape), what.label}));
  }
  json::value profile = nullptr;
  if (!what.name.empty()) profile = std::move(answer.body);
  answer.status = 200;  // what was read, whether or not a version came to be of it
  answer.body = {{"vocabulary", vocabulary->name},
                 {"fields", std::move(fields)},
                 {"open", std::move(open)},
                 {"profile", std::move(profile)},
                 {"notes", notes_json(read.notes)}};
  for (std::string& notice : notices_of(read.notes)) answer.notices.push_back(std::move(notice));
  return answer;
}

}  // namespace exa
