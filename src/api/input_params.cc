#include "api/input_params.h"

#include <fmt/format.h>

#include "api/handlers.h"
#include "base/text.h"

namespace exa {

std::vector<Param> input_params() {
  return {{.name = "input",
           .in = In::body,
           .kind = Kind::words,
           .flag = "--input",
           .help = "NAME=VALUE, typed as the profile says; may be repeated; no secrets"},
          {.name = "inputs",
           .in = In::body,
           .kind = Kind::document,
           .flag = "--inputs",
           .help = "JSON or YAML of values by name, secrets too (- for standard input)"}};
}

std::vector<Problem> check_input_args(const json::object& args) {
  std::vector<Problem> problems;
  const json::value* list = args.if_contains("input");
  if (list == nullptr || !list->is_array()) return problems;
  for (size_t i = 0; i < list->get_array().size(); ++i) {
    const json::value& each = list->get_array()[i];
    if (!each.is_string()) continue;
    const std::string_view text = each.get_string();
    if (const size_t equals = text.find('='); equals == std::string_view::npos || equals == 0)
      problems.push_back({fmt::format("/input/{}", i), "is not NAME=VALUE", ""});
  }
  return problems;
}

GivenInputs given_inputs(const Call& call) {
  GivenInputs given;
  if (const json::value* values = call.args.if_contains("inputs");
      values != nullptr && values->is_object())
    given.values = values->get_object();
  for (const std::string& text : texts_arg(call, "input")) {
    const size_t equals = std::min(text.find('='), text.size());
    given.texts.emplace_back(text.substr(0, equals),
                             text.substr(std::min(equals + 1, text.size())));
  }
  return given;
}

}  // namespace exa
