#include "api/describe.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/call.h"
#include "base/text.h"

namespace exa {
namespace {

bool changes(const Route& route) {
  return route.tier != Tier::read_only;
}

bool has_param(const Route& route, auto wanted) {
  return std::ranges::any_of(route.params, wanted);
}

bool asks_a_cluster(const Route& route) {
  return route.action == "cluster:discover";
}

bool always(const Route&) {
  return true;
}

bool takes_anything(const Route& route) {
  return !route.params.empty();
}

bool replaces(const Route& route) {
  return route.if_match;
}

// A probe of a cluster that was replaced meanwhile is stale as well.
bool may_be_overtaken(const Route& route) {
  return replaces(route) || asks_a_cluster(route);
}

bool reads_output(const Route& route) {
  return asks_a_cluster(route) ||
         has_param(route, [](const Param& param) { return param.kind == Kind::file; });
}

bool rests_on_the_log(const Route& route) {
  return changes(route) || route.action.starts_with("audit:");
}

bool is_long(const Route& route) {
  return route.is_long;
}

bool as_the_row_says(const Route&) {
  return false;
}

bool never(const Route&) {
  return false;
}

struct When {
  Code code;
  bool (*holds)(const Route&);
};

constexpr When kWhen[] = {
    {Code::unexpected, always},
    {Code::usage, always},
    {Code::method_not_allowed, never},  // of a path, not of a route
    {Code::invalid_input, always},
    {Code::not_found, takes_anything},
    {Code::unauthenticated, always},
    {Code::forbidden, always},
    {Code::conflict, changes},
    {Code::in_use, changes},
    {Code::stale, may_be_overtaken},
    {Code::match_needed, replaces},
    {Code::unresolvable, changes},
    {Code::blocked, changes},
    {Code::confirmation_needed, never},  // of the command line, before it sends anything
    {Code::inapplicable, as_the_row_says},
    {Code::unreadable_output, reads_output},
    {Code::probe_failed, asks_a_cluster},
    {Code::store_unwritable, always},
    {Code::store_full, changes},
    {Code::store_locked, changes},
    {Code::store_newer, always},
    {Code::store_damaged, always},
    {Code::audit_broken, rests_on_the_log},
    {Code::unreachable, never},  // of whoever asks
    {Code::fail_on, never},      // an exit code, not an error
    {Code::interrupted, is_long},
    {Code::too_many_requests, is_long},
    {Code::history_gone, as_the_row_says},
    {Code::store_unreachable, always},
    {Code::outcome_unknown, changes},
};

std::string_view json_type(Kind kind) {
  switch (kind) {
    case Kind::integer:
      return "integer";
    case Kind::decimal:
      return "number";
    case Kind::flag:
    case Kind::saved:
      return "boolean";
    case Kind::csv:
    case Kind::words:
      return "array";
    default:
      return "string";
  }
}

// The words of a command line, as far as examples use its syntax: blanks and double quotes.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool quoted = false;
  bool inside = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (c != '"') words.back() += c;
  }
  return words;
}

json::value argument(const Param& param, const std::string& word) {
  if (param.kind == Kind::saved) return true;
  if (param.kind == Kind::document) return json::object();  // what stands in the file is not known
  if (param.kind == Kind::file || param.kind == Kind::secret)
    return json::string(fmt::format("… the content of {} …", word));
  if (param.kind == Kind::decimal) return number_from_text(word);
  return value_of_text(param, word);
}

// Flags of every command, which are not sent: whether one takes a value.
std::optional<bool> global_takes_value(std::string_view word) {
  if (word == "--yes" || word == "--json") return false;
  if (word == "-o") return true;
  return std::nullopt;
}

}  // namespace

std::string group_of(const Route& route) {
  std::string group(route.id.substr(0, route.id.find('.')));
  std::ranges::replace(group, '_', ' ');
  return group;
}

std::vector<int> success_statuses(const Route& route) {
  if (!route.creates) return {200};
  // what is put may have been there
  return route.method == Method::put ? std::vector{200, 201} : std::vector{201};
}

std::vector<Code> error_codes_of(const Route& route) {
  std::vector<Code> codes;
  for (const CodeInfo& code : all_codes()) {
    const auto* when = std::ranges::find(kWhen, code.code, &When::code);
    EXA_ASSERT(when != std::end(kWhen));  // a new code says here where it can be met
    if (when->holds(route) ||
        std::ranges::find(route.fails_with, code.code) != route.fails_with.end())
      codes.push_back(code.code);
  }
  return codes;
}

bool takes_idempotency_key(const Route& route) {
  return changes(route);
}

bool carries_etag(std::span<const Route> table, const Route& route) {
  if (route.if_match) return route.method != Method::del;
  return route.method == Method::get && std::ranges::any_of(table, [&](const Route& other) {
           return other.if_match && other.path == route.path;
         });
}

json::object schema_of(const Param& param) {
  json::object schema{{"type", json_type(param.kind)}};
  if (param.kind == Kind::document) schema["type"] = json::array{"object", "string"};
  json::array choices(param.choices.begin(), param.choices.end());
  if (param.kind == Kind::csv || param.kind == Kind::words) {
    json::object items{{"type", "string"}};
    if (!choices.empty()) items["enum"] = std::move(choices);
    schema["items"] = std::move(items);
  } else if (!choices.empty()) {
    schema["enum"] = std::move(choices);
  }
  if (param.kind == Kind::integer) {
    schema["minimum"] = param.least;
    if (param.most != INT64_MAX) schema["maximum"] = param.most;
  }
  if (param.kind == Kind::duration) schema["pattern"] = "^[0-9]";
  if (!param.fallback.empty()) schema["default"] = fallback_of(param);
  return schema;
}

Result<json::object> example_args(const Route& route, std::string_view line) {
  const std::string start = fmt::format("exa {}", route.command);
  const auto refuse = [&](std::string_view what) {
    return fail(Code::usage, fmt::format("example \"{}\": {}", line, what));
  };
  if (!(std::string(line) + " ").starts_with(start + " ")) return refuse("is of another command");
  const std::vector<std::string> words = words_of(line.substr(start.size()));
  auto positional = std::ranges::find(route.params, std::string_view(), &Param::flag);
  json::object args;
  for (size_t i = 0; i < words.size(); ++i) {
    if (const auto value = global_takes_value(words[i])) {
      if (*value) ++i;
      continue;
    }
    if (words[i] == "--") {
      const auto rest = std::ranges::find_if(route.params, [](const Param& each) {
        return each.kind == Kind::words && each.flag.empty();
      });
      if (rest == route.params.end()) return refuse("nothing may follow --");
      args[rest->name] = json::array(words.begin() + static_cast<ptrdiff_t>(i) + 1, words.end());
      break;
    }
    auto param = positional;
    const bool flag = words[i].starts_with("--");
    if (flag) param = std::ranges::find(route.params, std::string_view(words[i]), &Param::flag);
    if (param == route.params.end()) return refuse(fmt::format("what is {}?", words[i]));
    if (param->kind == Kind::flag) {
      args[param->name] = true;
      continue;
    }
    if (flag && ++i == words.size()) return refuse("a value is missing");
    args[param->name] = argument(*param, words[i]);
    if (!flag)
      positional =
          std::ranges::find(param + 1, route.params.end(), std::string_view(), &Param::flag);
  }
  return args;
}

}  // namespace exa
