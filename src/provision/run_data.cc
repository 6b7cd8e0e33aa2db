#include "provision/run_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "provision/driver_table.h"

namespace exa {
namespace {

constexpr size_t kMostInputBytes = size_t{1} << 20;
constexpr int kDeepest = 32;
constexpr size_t kMostFiles = 64;
constexpr size_t kMostFileBytes = size_t{8} << 20;
constexpr size_t kLongestName = 100;
constexpr size_t kMostVariables = 64;
constexpr size_t kLongestVariable = 4096;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && is_letter(text[0]) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c); });
}

// What is exa's own in a work folder, or a driver's state.
constexpr std::array<std::string_view, 7> kTakenFiles = {
    work_names::kInputs,    work_names::kOutputs, work_names::kLog,          work_names::kTemplate,
    work_names::kTemporary, "terraform.tfstate",  "terraform.tfstate.backup"};

std::string file_problem(std::string_view name) {
  const bool plain = std::ranges::all_of(
      name, [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '.'; });
  if (name.empty() || name.size() > kLongestName || !plain || name[0] == '.' || name[0] == '-')
    return "is no name of a file: letters, digits, '_', '-' and '.', not beginning with '-' or '.'";
  if (std::ranges::find(kTakenFiles, name) != kTakenFiles.end())
    return "is the name of a file of the run itself";
  return "";
}

// What exa sets, and what says how programs are loaded or what they run first.
constexpr std::array<std::string_view, 18> kTakenVariables = {"PATH",
                                                              "HOME",
                                                              "LANG",
                                                              "TMPDIR",
                                                              "PWD",
                                                              "IFS",
                                                              "ENV",
                                                              "SHELLOPTS",
                                                              "CDPATH",
                                                              "GCONV_PATH",
                                                              "ANSIBLE_CONFIG",
                                                              "ANSIBLE_NOCOLOR",
                                                              "ANSIBLE_REMOTE_TEMP",
                                                              "TF_DATA_DIR",
                                                              "TF_CLI_CONFIG_FILE",
                                                              "TF_CLI_ARGS",
                                                              "TF_REATTACH_PROVIDERS",
                                                              "NODE_OPTIONS"};
constexpr std::array<std::string_view, 7> kTakenBeginnings = {"LD_",  "BASH", "PYTHON",      "PERL",
                                                              "RUBY", "EXA_", "TF_CLI_ARGS_"};

std::string variable_problem(std::string_view key, std::string_view value) {
  if (!is_name(key)) return "is no name of a variable: letters, digits and '_'";
  if (std::ranges::find(kTakenVariables, key) != kTakenVariables.end() ||
      std::ranges::any_of(kTakenBeginnings, [&](auto begin) { return key.starts_with(begin); }))
    return "is not for a run to set: it says how programs are run";
  if (value.size() > kLongestVariable)
    return fmt::format("is longer than {} bytes", kLongestVariable);
  if (value.find('\0') != std::string_view::npos) return "holds a NUL byte";
  return "";
}

void add_input_problems(const json::value& value, const std::string& where, int depth,
                        std::vector<Problem>& problems) {
  if (depth > kDeepest) {
    problems.push_back({where, fmt::format("is nested deeper than {}", kDeepest), ""});
  } else if (value.is_double() && !std::isfinite(value.get_double())) {
    problems.push_back({where, "is no number of JSON", ""});
  } else if (value.is_string()) {
    if (!is_valid_utf8(value.get_string()))
      problems.push_back({where, "is no text (UTF-8)", "give bytes as a file, or as base64"});
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.get_array().size(); ++i)
      add_input_problems(value.get_array()[i], fmt::format("{}/{}", where, i), depth + 1, problems);
  } else if (value.is_object()) {
    for (const auto& [key, inner] : value.get_object()) {
      const std::string inside = pointer(where, printable(key));
      if (!is_valid_utf8(key)) problems.push_back({inside, "is no text (UTF-8)", ""});
      add_input_problems(inner, inside, depth + 1, problems);
    }
  }
}

void add_file_problems(const ProvisionRun& run, std::vector<Problem>& problems) {
  std::set<std::string_view> names;
  size_t bytes = 0;
  for (const ProvisionFile& file : run.files) {
    const std::string where = pointer("/files", printable(file.name));
    if (std::string wrong = file_problem(file.name); !wrong.empty())
      problems.push_back({where, std::move(wrong), ""});
    if (!names.insert(file.name).second) problems.push_back({where, "stands there twice", ""});
    bytes += file.text.size();
  }
  if (run.files.size() > kMostFiles)
    problems.push_back({"/files", fmt::format("are more than {}", kMostFiles), ""});
  if (bytes > kMostFileBytes)
    problems.push_back({"/files", fmt::format("are more than {} bytes", kMostFileBytes), ""});
}

void add_variable_problems(const ProvisionRun& run, std::vector<Problem>& problems) {
  std::set<std::string_view> keys;
  for (const auto& [key, value] : run.environment) {
    const std::string where = pointer("/environment", printable(key));
    if (std::string wrong = variable_problem(key, value); !wrong.empty())
      problems.push_back({where, std::move(wrong), ""});
    if (!keys.insert(key).second) problems.push_back({where, "stands there twice", ""});
  }
  if (run.environment.size() > kMostVariables)
    problems.push_back({"/environment", fmt::format("are more than {}", kMostVariables), ""});
}

bool lies_in(const std::filesystem::path& inner, const std::filesystem::path& outer) {
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

// A slash at the end would count as a name.
std::filesystem::path without_links(const std::string& folder) {
  std::error_code ignored;
  const auto path = std::filesystem::weakly_canonical(folder, ignored);
  return path.has_filename() ? path : path.parent_path();
}

void add_folder_problems(const ProvisionRun& run, std::vector<Problem>& problems) {
  const std::pair<const char*, const std::string*> folders[] = {
      {"/template_folder", &run.template_folder}, {"/work_folder", &run.work_folder}};
  for (const auto& [where, folder] : folders)
    if (!folder->starts_with('/') || folder->find('\0') != std::string::npos)
      problems.push_back({where, "is no absolute path", ""});
  const auto from = without_links(run.template_folder);
  const auto to = without_links(run.work_folder);
  if (lies_in(from, to) || lies_in(to, from))
    problems.push_back({"/work_folder", "lies in the template folder, or holds it", ""});
}

// Escaped to ASCII: YAML refuses some characters that JSON lets stand.
std::string quoted_for_yaml(std::string_view text) {
  std::string quoted = "\"";
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    EXA_ASSERT(point.length > 0);
    if (point.value == '"' || point.value == '\\')
      quoted += fmt::format("\\{}", static_cast<char>(point.value));
    else if (point.value >= ' ' && point.value < 0x7f)
      quoted += static_cast<char>(point.value);
    else
      quoted += fmt::format("\\U{:08x}", point.value);
    at += point.length;
  }
  return quoted + "\"";
}

// Flow style on one line; doubles need their tag, since YAML 1.1 takes 1E300 for a text.
void add_yaml(const json::value& value, std::string& text) {
  if (value.is_string()) {
    text += "!unsafe " + quoted_for_yaml(value.get_string());
  } else if (value.is_array()) {
    text += "[";
    for (const json::value& inner : value.get_array()) {
      add_yaml(inner, text);
      text += ", ";
    }
    text += "]";
  } else if (value.is_object()) {
    text += "{";
    for (const auto& [key, inner] : value.get_object()) {
      text += fmt::format("? {} : ", quoted_for_yaml(key));
      add_yaml(inner, text);
      text += ", ";
    }
    text += "}";
  } else if (value.is_double()) {
    text += fmt::format("!!float \"{}\"", to_text(value));
  } else {
    text += to_text(value);
  }
}

bool is_plain(const json::value& value) {
  return !value.is_object() && !value.is_array();
}

// What `tofu output -json` prints: {"address": {"sensitive": false, "type": "string", "value": …}}.
Result<ProvisionOutputs> unwrapped(const json::object& printed) {
  ProvisionOutputs outputs;
  for (const auto& [name, output] : printed) {
    const json::value* value = find(output, "value");
    if (value == nullptr)
      return fail(Code::unreadable_output,
                  fmt::format("tofu printed no value for {}", printable(name)));
    outputs.values[name] = *value;
    const json::value* sensitive = find(output, "sensitive");
    if (sensitive != nullptr && sensitive->is_bool() && sensitive->get_bool())
      outputs.secret.emplace_back(name);
  }
  return outputs;
}

Result<void> check_outputs(const json::object& values) {
  for (const auto& [name, value] : values) {
    const bool fine =
        is_plain(value) || (value.is_array() && std::ranges::all_of(value.get_array(), is_plain));
    if (!is_name(name))
      return fail(Code::unreadable_output,
                  fmt::format("outputs.json: '{}' is no name of an output: letters, digits and '_'",
                              printable(std::string_view(name).substr(0, kLongestName))));
    if (!fine)
      return fail(Code::unreadable_output,
                  fmt::format("outputs.json: {} is neither a text, number, bool nor a list of them",
                              std::string_view(name)));
  }
  return {};
}

}  // namespace

std::vector<Problem> problems_of(const ProvisionRun& run) {
  std::vector<Problem> problems;
  add_folder_problems(run, problems);
  const size_t before = problems.size();
  for (const auto& [name, value] : run.inputs) {
    const std::string where = pointer("/inputs", printable(name));
    if (!is_name(name))
      problems.push_back({where, "is no name of an input: letters, digits and '_'", ""});
    add_input_problems(value, where, 1, problems);
  }
  if (problems.size() == before && to_text(run.inputs).size() > kMostInputBytes)
    problems.push_back({"/inputs", fmt::format("are more than {} bytes", kMostInputBytes), ""});
  add_file_problems(run, problems);
  add_variable_problems(run, problems);
  for (const std::string& name : run.outputs)
    if (!is_name(name))
      problems.push_back({pointer("/outputs", printable(name)), "is no name of an output", ""});
  return problems;
}

std::string ansible_variables(const ProvisionRun& run) {
  std::string text;
  const auto add = [&](std::string_view name, const json::value& value) {
    text += fmt::format("{}: ", name);
    add_yaml(value, text);
    text += "\n";
  };
  const auto path = [&](const char* name) {
    return json::value(json::string(fmt::format("{}/{}", run.work_folder, name)));
  };
  add("exa_action", json::value(json::string(name_of(run.action))));
  add("exa_inputs", json::value(run.inputs));
  add("exa_inputs_file", path(work_names::kInputs));
  add("exa_outputs_file", path(work_names::kOutputs));
  return text;
}

Result<ProvisionOutputs> read_outputs(ProvisionDriver driver, std::string_view text,
                                      const std::vector<std::string>& declared, bool all_needed) {
  const auto parsed = parse_json(text, "outputs.json", {.max_bytes = kMostOutputBytes});
  if (!parsed)
    return fail(Code::unreadable_output,
                fmt::format("outputs.json is no JSON object: {}",
                            parsed.error().problems.empty() ? parsed.error().message
                                                            : parsed.error().problems[0].message));
  if (!parsed->is_object())
    return fail(Code::unreadable_output, "outputs.json is no JSON object, but another JSON value");
  ProvisionOutputs all{parsed->get_object(), {}};
  if (driver == ProvisionDriver::opentofu) {
    EXA_ASSIGN(all, unwrapped(parsed->get_object()));
  }
  ProvisionOutputs kept;
  std::vector<std::string> missing;
  for (const std::string& name : declared) {
    if (const json::value* value = find(all.values, name))
      kept.values[name] = *value;
    else
      missing.push_back(name);
    if (std::ranges::find(all.secret, name) != all.secret.end()) kept.secret.push_back(name);
  }
  if (all_needed && !missing.empty())
    return fail(Code::unreadable_output, fmt::format("outputs.json lacks {}", join(missing, ", ")));
  EXA_TRY(check_outputs(kept.values));
  return kept;
}

}  // namespace exa
