// What lies in the folder of an environment template: what template.json declares, a digest of all
// of it, and the files that a scheduler's job is given. Reads; runs and changes nothing.
#pragma once

#include <string>
#include <vector>

#include "catalogue/input_setting.h"
#include "launch/launch_spec.h"

namespace exa {

struct DeclaredInput {
  std::string name;
  InputType type = InputType::text;
  bool required = false;

  bool operator==(const DeclaredInput&) const = default;
};
struct DeclaredOutput {
  std::string name;
  bool is_secret = false;

  bool operator==(const DeclaredOutput&) const = default;
};
struct TemplateDeclaration {
  std::vector<DeclaredInput> inputs;
  std::vector<DeclaredOutput> outputs;

  bool operator==(const TemplateDeclaration&) const = default;
};

inline constexpr std::string_view kTemplateFile = "template.json";

// {"inputs": {"gpu_count": {"type": "number", "required": true}},
//  "outputs": {"url": {}, "token": {"secret": true}}}
// Both may be absent, types are those of name(InputType). Problems are at "template.json/inputs/x";
// the declaration is meant only when there were none. Pure.
TemplateDeclaration declaration_from_json(const json::value& value, std::vector<Problem>& problems);
// The same of the file.
TemplateDeclaration read_declaration(const std::string& folder, std::vector<Problem>& problems);

// SHA-256 over the names, kinds and contents of all that lies in the folder, and over whether each
// file may be executed: other bits of a mode do not reach whoever runs it. Equal for a copy. Fails
// with invalid_input where something is neither file nor folder, or is too large to be a template
// (provision/work_folder.h); `where` names it.
Result<std::string> digest_of_folder(const std::string& folder);

// The files that a job is given: all but template.json, each text (UTF-8) under a name that
// problems_of(files) takes; no folders and no links. `run` is among them.
inline constexpr size_t kMostTemplateFiles = 64;
inline constexpr size_t kMostTemplateBytes = size_t{512} << 10;  // in all
struct TemplateFiles {
  std::vector<RenderedFile> files;  // by name
  std::vector<Problem> problems;    // `where` names the file
};
TemplateFiles files_in_folder(const std::string& folder);

}  // namespace exa
