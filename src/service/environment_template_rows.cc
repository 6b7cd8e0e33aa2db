// Environment templates as they are kept, and found again.
#include <algorithm>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/text.h"
#include "service/environment_templates.h"
#include "service/stored.h"

namespace exa {
namespace {

constexpr std::string_view kDrivers[] = {"script", "ansible", "opentofu", "slurm", "kubernetes"};
constexpr std::string_view kStates[] = {"draft", "active", "disabled"};
constexpr std::string_view kWhat = "a stored environment template";

template <typename E, size_t N>
std::optional<E> find_in(const std::string_view (&names)[N], std::string_view name) {
  const auto* found = std::ranges::find(names, name);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<E>(found - names);
}

Failure damaged(std::string_view key) {
  return fail(Code::store_damaged, fmt::format("{} has no readable {}", kWhat, key),
              "exa audit verify");
}

const json::array& list_in(const json::object& stored, std::string_view key) {
  static const json::array kNone;
  const json::value* list = find(stored, key);
  return list != nullptr && list->is_array() ? list->get_array() : kNone;
}

bool flag_in(const json::value& object, std::string_view key) {
  const json::value* flag = find(object, key);
  return flag != nullptr && flag->is_bool() && flag->get_bool();
}

Result<Time> time_in(const json::object& stored, std::string_view key) {
  return from_stored(parse_rfc3339(text_or(stored, key, "")), kWhat);
}

Result<void> read_declared(const json::object& stored, EnvironmentTemplate& what) {
  for (const json::value& each : list_in(stored, "inputs")) {
    const auto type = find_input_type(text_or(each, "type", ""));
    if (!type) return damaged("inputs");
    what.inputs.push_back(
        {std::string(text_or(each, "name", "")), *type, flag_in(each, "required")});
  }
  for (const json::value& each : list_in(stored, "outputs"))
    what.outputs.push_back({std::string(text_or(each, "name", "")), flag_in(each, "secret")});
  return {};
}

}  // namespace

std::string_view name(TemplateDriver driver) {
  return kDrivers[static_cast<size_t>(driver)];
}
std::optional<TemplateDriver> find_template_driver(std::string_view name) {
  return find_in<TemplateDriver>(kDrivers, name);
}

std::string_view name(TemplateState state) {
  return kStates[static_cast<size_t>(state)];
}
std::optional<TemplateState> find_template_state(std::string_view name) {
  return find_in<TemplateState>(kStates, name);
}

std::optional<ProvisionDriver> provision_driver(TemplateDriver driver) {
  const ProvisionDriverInfo* found = find_provision_driver(name(driver));
  return found == nullptr ? std::nullopt : std::optional(found->driver);
}

json::object to_json(const EnvironmentTemplate& what) {
  json::array inputs;
  for (const DeclaredInput& input : what.inputs)
    inputs.emplace_back(json::object{
        {"name", input.name}, {"type", name(input.type)}, {"required", input.required}});
  json::array outputs;
  for (const DeclaredOutput& output : what.outputs)
    outputs.emplace_back(json::object{{"name", output.name}, {"secret", output.is_secret}});
  return {{"name", what.name},
          {"version", what.version},
          {"driver", name(what.driver)},
          {"state", name(what.state)},
          {"folder", what.folder},
          {"digest", text_or_null(what.digest)},
          {"time_limit", format_duration(what.time_limit)},
          {"inputs", std::move(inputs)},
          {"outputs", std::move(outputs)},
          {"cluster", text_or_null(what.cluster)},
          {"image", text_or_null(what.image)},
          {"partition", text_or_null(what.options.partition)},
          {"account", text_or_null(what.options.account)},
          {"qos", text_or_null(what.options.qos)},
          {"namespace", text_or_null(what.options.name_space)},
          {"created_at", format_rfc3339(what.created_at)},
          {"created_by", what.created_by},
          {"changed_at", format_rfc3339(what.changed_at)}};
}

Result<EnvironmentTemplate> environment_template_from_json(const json::object& stored) {
  EnvironmentTemplate what;
  const auto driver = find_template_driver(text_or(stored, "driver", ""));
  if (!driver) return damaged("driver");
  const auto state = find_template_state(text_or(stored, "state", ""));
  if (!state) return damaged("state");
  what.driver = *driver;
  what.state = *state;
  const std::pair<std::string_view, std::string*> texts[] = {
      {"name", &what.name},
      {"version", &what.version},
      {"folder", &what.folder},
      {"digest", &what.digest},
      {"cluster", &what.cluster},
      {"image", &what.image},
      {"partition", &what.options.partition},
      {"account", &what.options.account},
      {"qos", &what.options.qos},
      {"namespace", &what.options.name_space},
      {"created_by", &what.created_by}};
  for (const auto& [key, text] : texts) *text = text_or(stored, key, "");
  EXA_ASSIGN(what.time_limit,
             from_stored(parse_duration(text_or(stored, "time_limit", "")), kWhat));
  EXA_TRY(read_declared(stored, what));
  EXA_ASSIGN(what.created_at, time_in(stored, "created_at"));
  EXA_ASSIGN(what.changed_at, time_in(stored, "changed_at"));
  return what;
}

Result<EnvironmentTemplate> find_template(Transaction& tx, const TemplateRef& ref) {
  const std::string key = ref.name + "@" + ref.version;
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT spec FROM environment_template WHERE id = $1", {key}));
  if (!rows.empty()) {
    EXA_ASSIGN(const json::object stored, parse_stored_object(rows[0].text(0), kWhat));
    return environment_template_from_json(stored);
  }
  EXA_ASSIGN(const auto others, tx.rows("SELECT id FROM environment_template ORDER BY id"));
  std::vector<std::string> versions;
  std::vector<std::string> all;
  for (const Row& row : others) {
    all.push_back(row.text(0));
    if (all.back().starts_with(ref.name + "@")) versions.push_back(all.back());
  }
  constexpr size_t kMostNamed = 5;
  if (versions.size() > kMostNamed) versions.erase(versions.begin(), versions.end() - kMostNamed);
  return fail(Error{Code::not_found,
                    fmt::format("there is no environment template \"{}\"", printable(key)),
                    {},
                    "exa environment-template list",
                    versions.empty() ? close_matches(key, all) : versions});
}

}  // namespace exa
