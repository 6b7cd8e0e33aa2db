// What importing a text gives, as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "launch/vocabulary.h"
#include "profile/validate.h"

namespace exa::sample {

// The fields as JSON, or every problem: "error WHERE MESSAGE (SUGGESTION)".
inline std::string read_as(std::string_view vocabulary, std::string_view text,
                           std::string_view file = "") {
  const auto read = import_shape(*find_vocabulary(vocabulary), {text, file});
  if (read) return exa::to_text(read->fields);
  std::string problems;
  if (read.error().problems.empty()) problems = "error " + read.error().message;
  for (const Problem& problem : read.error().problems) {
    problems += fmt::format("error {} {}", problem.where, problem.message);
    if (!problem.suggestion.empty()) problems += fmt::format(" ({})", problem.suggestion);
    problems += "\n";
  }
  return problems;
}

inline std::vector<std::string> notes_of(std::string_view vocabulary, std::string_view text,
                                         std::string_view file = "") {
  std::vector<std::string> notes;
  const auto read = import_shape(*find_vocabulary(vocabulary), {text, file});
  if (!read) return {"error " + read.error().message};
  for (const VocabularyNote& note : read->notes)
    notes.push_back(fmt::format("{} {}", note.where, note.message));
  return notes;
}

inline std::vector<std::string> open_in(std::string_view vocabulary, std::string_view text) {
  const auto read = import_shape(*find_vocabulary(vocabulary), {text, "f"});
  if (!read) return {"error " + read.error().message};
  std::vector<std::string> fields;
  for (const auto& [field, why] : read->open) fields.push_back(field);
  return fields;
}

// A shape of these fields, written into a text.
inline std::string write_over(std::string_view vocabulary, std::string_view fields,
                              std::string_view text) {
  const auto parsed = parse_json(fields, "fields");
  if (!parsed) return "error in the test: " + parsed.error().message;
  const auto shape = read_shape(parsed->get_object());
  if (!shape) return "error in the test: " + shape.error().message;
  const auto over = render_shape_over(*find_vocabulary(vocabulary), *shape, "small", {text, "f"});
  return over ? over->text : "error " + over.error().message;
}

}  // namespace exa::sample
