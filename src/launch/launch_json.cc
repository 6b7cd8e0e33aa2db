#include "launch/launch_json.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quote.h"

namespace exa {
namespace {

constexpr std::pair<RunTime, std::string_view> kRunTimes[] = {{RunTime::head_node, "head_node"},
                                                              {RunTime::node_rank, "node_rank"},
                                                              {RunTime::job_id, "job_id"}};

std::string_view name(RunTime what) {
  const auto* row =
      std::ranges::find(kRunTimes, what, &std::pair<RunTime, std::string_view>::first);
  return row->second;
}

Failure damaged(std::string_view what) {
  return fail(Code::store_damaged, fmt::format("a stored launch has no readable {}", what));
}

Result<Word> word_from_json(const json::value& stored) {
  Word word;
  if (stored.is_string()) return Word(std::string(stored.get_string()));
  if (!stored.is_array()) return damaged("command");
  for (const json::value& part : stored.get_array()) {
    if (part.is_string()) {
      word.parts.emplace_back(std::string(part.get_string()));
      continue;
    }
    const std::string_view known = part.is_object() ? text_or(part, "at_run_time", "") : "";
    const auto* row =
        std::ranges::find(kRunTimes, known, &std::pair<RunTime, std::string_view>::second);
    if (row == std::end(kRunTimes)) return damaged("command");
    word.parts.emplace_back(row->first);
  }
  return word;
}

struct NumberField {
  std::string_view key;
  int64_t& (*of)(LaunchSpec&);
};
constexpr NumberField kNumbers[] = {
    {"gpus", [](LaunchSpec& s) -> int64_t& { return s.resources.gpus; }},
    {"fraction_milli", [](LaunchSpec& s) -> int64_t& { return s.resources.fraction_milli; }},
    {"cpu_milli", [](LaunchSpec& s) -> int64_t& { return s.resources.cpu_milli; }},
    {"memory_bytes", [](LaunchSpec& s) -> int64_t& { return s.resources.memory_bytes; }},
    {"nodes", [](LaunchSpec& s) -> int64_t& { return s.resources.nodes; }},
    {"port", [](LaunchSpec& s) -> int64_t& { return s.port; }},
    {"volume_bytes", [](LaunchSpec& s) -> int64_t& { return s.volume.bytes; }},
    {"replicas", [](LaunchSpec& s) -> int64_t& { return s.replicas; }},
    {"restarts", [](LaunchSpec& s) -> int64_t& { return s.restarts; }},
    {"shares_per_device", [](LaunchSpec& s) -> int64_t& { return s.options.shares_per_device; }},
    {"time_limit_micros", [](LaunchSpec& s) -> int64_t& { return s.options.time_limit.micros; }},
};

struct TextField {
  std::string_view key;
  std::string& (*of)(LaunchSpec&);
};
constexpr TextField kTexts[] = {
    {"project", [](LaunchSpec& s) -> std::string& { return s.project; }},
    {"name", [](LaunchSpec& s) -> std::string& { return s.name; }},
    {"id", [](LaunchSpec& s) -> std::string& { return s.id; }},
    {"model", [](LaunchSpec& s) -> std::string& { return s.resources.model; }},
    {"mig_profile", [](LaunchSpec& s) -> std::string& { return s.resources.mig_profile; }},
    {"folder", [](LaunchSpec& s) -> std::string& { return s.folder; }},
    {"image", [](LaunchSpec& s) -> std::string& { return s.image; }},
    {"mount", [](LaunchSpec& s) -> std::string& { return s.volume.mount; }},
    {"partition", [](LaunchSpec& s) -> std::string& { return s.options.partition; }},
    {"account", [](LaunchSpec& s) -> std::string& { return s.options.account; }},
    {"qos", [](LaunchSpec& s) -> std::string& { return s.options.qos; }},
    {"device", [](LaunchSpec& s) -> std::string& { return s.options.device; }},
    {"namespace", [](LaunchSpec& s) -> std::string& { return s.options.name_space; }},
};

json::value to_json(const std::optional<KServe>& kserve) {
  if (!kserve) return nullptr;
  return json::object{{"most", kserve->most}, {"target", kserve->target}};
}

// What launches had before these were known: none of them.
Result<void> read_files(const json::object& stored, LaunchSpec& spec) {
  const json::value* files = stored.if_contains("files");
  if (files == nullptr) return {};
  if (!files->is_array()) return damaged("files");
  for (const json::value& each : files->get_array()) {
    if (!each.is_object()) return damaged("files");
    spec.files.push_back(
        {std::string(text_or(each, "name", "")), std::string(text_or(each, "text", ""))});
  }
  return {};
}

Result<void> read_kserve(const json::object& stored, LaunchSpec& spec) {
  const json::value* kserve = stored.if_contains("kserve");
  if (kserve == nullptr || kserve->is_null()) return {};
  const json::value* most = find(*kserve, "most");
  const json::value* target = find(*kserve, "target");
  const bool whole = most != nullptr && most->is_int64() && target != nullptr && target->is_int64();
  if (!whole) return damaged("kserve");
  spec.kserve = KServe{most->get_int64(), target->get_int64()};
  return {};
}

}  // namespace

json::value to_json(const Word& word) {
  if (word.is_literal()) return json::value(std::get<std::string>(word.parts[0]));
  json::array parts;
  for (const auto& part : word.parts) {
    if (const auto* literal = std::get_if<std::string>(&part))
      parts.emplace_back(*literal);
    else
      parts.emplace_back(json::object{{"at_run_time", name(std::get<RunTime>(part))}});
  }
  return parts;
}

json::array to_json(const CommandLine& command) {
  json::array words;
  for (const Word& word : command) words.push_back(to_json(word));
  return words;
}

json::object to_json(const LaunchSpec& spec) {
  LaunchSpec copy = spec;  // the tables of fields name members to write, too
  json::object out{{"kind", launch_kind(spec.kind)}, {"family", info(spec.resources.family).name}};
  for (const TextField& field : kTexts) out[field.key] = field.of(copy);
  for (const NumberField& field : kNumbers) out[field.key] = field.of(copy);
  out["command"] = to_json(spec.command);
  json::array environment;
  for (const auto& [key, value] : spec.environment)
    environment.push_back(json::object{{"name", key}, {"value", value}});
  out["environment"] = std::move(environment);
  json::array files;
  for (const RenderedFile& file : spec.files)
    files.push_back(json::object{{"name", file.name}, {"text", file.text}});
  out["files"] = std::move(files);
  out["kserve"] = to_json(spec.kserve);
  out["installed_by"] = spec.installed_by;
  return out;
}

Result<LaunchSpec> launch_spec_from_json(const json::object& stored) {
  LaunchSpec spec;
  const auto kind = find_launch_kind(text_or(stored, "kind", ""));
  const auto family = find_family(text_or(stored, "family", ""));
  if (!kind || !family) return damaged("kind or family");
  spec.kind = *kind;
  spec.resources.family = *family;
  for (const TextField& field : kTexts) {
    const json::value* value = stored.if_contains(field.key);
    if (value == nullptr || !value->is_string()) return damaged(field.key);
    field.of(spec) = std::string(value->get_string());
  }
  for (const NumberField& field : kNumbers) {
    const json::value* value = stored.if_contains(field.key);
    if (value == nullptr || !value->is_int64()) return damaged(field.key);
    field.of(spec) = value->get_int64();
  }
  const json::value* command = stored.if_contains("command");
  if (command == nullptr || !command->is_array()) return damaged("command");
  for (const json::value& each : command->get_array()) {
    EXA_ASSIGN(Word word, word_from_json(each));
    spec.command.push_back(std::move(word));
  }
  const json::value* environment = stored.if_contains("environment");
  if (environment == nullptr || !environment->is_array()) return damaged("environment");
  for (const json::value& each : environment->get_array()) {
    if (!each.is_object()) return damaged("environment");
    spec.environment.emplace_back(text_or(each, "name", ""), text_or(each, "value", ""));
  }
  EXA_TRY(read_files(stored, spec));
  EXA_TRY(read_kserve(stored, spec));
  spec.installed_by = text_or(stored, "installed_by", "");
  return spec;
}

std::string to_text(const CommandLine& command) {
  std::string line;
  for (const Word& word : command) {
    if (!line.empty()) line += ' ';
    for (const auto& part : word.parts) {
      if (const auto* literal = std::get_if<std::string>(&part))
        line += literal->empty() && word.parts.size() > 1 ? "" : shell_quote(*literal);
      else
        line += fmt::format("<{}>", name(std::get<RunTime>(part)));
    }
  }
  return line;
}

}  // namespace exa
