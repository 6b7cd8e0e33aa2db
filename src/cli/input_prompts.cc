#include "cli/input_prompts.h"

#include <set>

#include <fmt/format.h>

#include "api/router.h"
#include "base/text.h"
#include "cli/errors.h"

namespace exa {
namespace {

constexpr int kTries = 3;

bool says(const json::value& object, std::string_view key) {
  const json::value* value = find(object, key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

bool is_null(const json::value& object, std::string_view key) {
  const json::value* value = find(object, key);
  return value == nullptr || value->is_null();
}

std::set<std::string> given_names(const json::object& args) {
  std::set<std::string> names;
  if (const json::value* words = args.if_contains("input"); words != nullptr && words->is_array())
    for (const json::value& word : words->get_array())
      if (word.is_string()) names.emplace(split(word.get_string(), '=').front());
  if (const json::value* object = args.if_contains("inputs");
      object != nullptr && object->is_object())
    for (const auto& member : object->get_object()) names.emplace(member.key());
  return names;
}

// Asked for is what must be there, has no default and depends on nothing.
bool is_asked_for(const json::value& setting) {
  return says(setting, "required") && is_null(setting, "default") &&
         is_null(setting, "depends_on") && text_or(setting, "type", "") != "secret";
}

json::object profile_args(const json::object& args) {
  json::object of{{"name", args.at("compute_profile")}};
  if (const json::value* project = args.if_contains("project")) of["project"] = *project;
  return of;
}

json::object with_answer(json::object args, const std::string& name, const std::string& answer) {
  json::value& words = args["input"];
  if (!words.is_array()) words = json::array();
  words.get_array().emplace_back(fmt::format("{}={}", name, answer));
  return args;
}

// What the profile says against this answer; empty: nothing.
std::string wrong(const Send& send, const json::object& args, const std::string& name,
                  const std::string& answer) {
  json::object of = profile_args(args);
  of["input"] = json::array{fmt::format("{}={}", name, answer)};
  const Reply reply = send(build_request(*find_route("compute_profile.check"), of));
  if (reply.status < 400) return "";
  for (const Problem& problem : error_of(reply).problems)
    if (problem.where == "/inputs/" + name) return problem.message;
  return "";  // of others, which come next
}

std::string question(const json::value& setting) {
  const std::string_view label = text_or(setting, "label", "");
  const std::string_view description = text_or(setting, "description", "");
  return fmt::format("{}{}{}: ", label.empty() ? text_or(setting, "name", "") : label,
                     description.empty() ? "" : ", ",
                     std::string_view(description).substr(0, description.find('\n')));
}

}  // namespace

void ask_for_missing_inputs(const Send& send, const Environment& environment, json::object& args) {
  const bool on_terminal = environment.in_is_terminal && environment.err_is_terminal;
  if (!on_terminal || !args.contains("compute_profile")) return;
  const Reply reply =
      send(build_request(*find_route("compute_profile.inputs"), profile_args(args)));
  if (reply.status >= 400) return;  // the launch says it
  const auto body = parse_json(reply.body, "reply", tool_output_limits());
  const json::value* items = body ? find(*body, "items") : nullptr;
  if (items == nullptr || !items->is_array()) return;
  const std::set<std::string> given = given_names(args);
  for (const json::value& setting : items->get_array()) {
    const std::string name(text_or(setting, "name", ""));
    if (given.contains(name) || !is_asked_for(setting)) continue;
    for (int tried = 0; tried < kTries; ++tried) {
      const auto answer = environment.ask(question(setting));
      if (!answer || trim(*answer).empty()) return;  // the launch says what is missing
      const std::string problem = wrong(send, args, name, std::string(trim(*answer)));
      if (problem.empty()) {
        args = with_answer(std::move(args), name, std::string(trim(*answer)));
        break;
      }
      environment.err(fmt::format("{} {}\n", name, problem));
    }
  }
}

}  // namespace exa
