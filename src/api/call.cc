#include "api/call.h"

#include <fmt/format.h>

#include "audit/digest.h"
#include "base/boolean.h"
#include "base/quantity.h"
#include "base/text.h"
#include "base/time.h"
#include "base/yaml.h"

namespace exa {
namespace {

bool is_parameter(std::string_view segment) {
  return segment.starts_with('{') && segment.ends_with('}');
}

// Takes the text up to the next '/' off `rest`, which is empty after the last.
std::string_view next_segment(std::string_view& rest) {
  const size_t end = std::min(rest.find('/'), rest.size());
  const std::string_view segment = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return segment;
}

// Without a copy: every request is held against many rows, and most differ in their third segment.
bool has_form(std::string_view path, std::string_view pattern) {
  if (std::ranges::count(path, '/') != std::ranges::count(pattern, '/')) return false;
  while (!pattern.empty() || !path.empty()) {
    const std::string_view wanted = next_segment(pattern);
    const std::string_view given = next_segment(path);
    if (!is_parameter(wanted) && wanted != given) return false;
  }
  return true;
}

// The path's arguments if it has the row's form.
std::optional<std::vector<std::pair<std::string, std::string>>> arguments_of(
    std::string_view pattern, std::string_view path) {
  if (!has_form(path, pattern)) return std::nullopt;
  std::vector<std::pair<std::string, std::string>> arguments;
  while (!pattern.empty() || !path.empty()) {
    const std::string_view wanted = next_segment(pattern);
    const std::string_view given = next_segment(path);
    if (!is_parameter(wanted)) continue;
    auto decoded = percent_decode(given);
    if (!decoded || decoded->empty()) return std::nullopt;
    arguments.emplace_back(wanted.substr(1, wanted.size() - 2), *std::move(decoded));
  }
  return arguments;
}

const Param* find_param(const Route& route, std::string_view name, In in) {
  const auto found = std::ranges::find_if(
      route.params, [&](const Param& param) { return param.name == name && param.in == in; });
  return found == route.params.end() ? nullptr : &*found;
}

std::vector<std::string> names_in(const Route& route, In in) {
  std::vector<std::string> names;
  for (const Param& param : route.params) {
    if (param.in == in) names.emplace_back(param.name);
  }
  return names;
}

std::string one_of(const std::vector<std::string_view>& choices) {
  return fmt::format("{}", fmt::join(choices, ", "));
}

void check_choice(const Param& param, std::string_view text, const std::string& where,
                  std::vector<Problem>& problems) {
  if (param.choices.empty() || std::ranges::find(param.choices, text) != param.choices.end())
    return;
  const std::vector<std::string> known(param.choices.begin(), param.choices.end());
  problems.push_back(
      {where, fmt::format("\"{}\" is not one of {}", printable(text), one_of(param.choices)),
       did_you_mean(text, known)});
}

void check_text(const Param& param, const json::value& value, const std::string& where,
                std::vector<Problem>& problems) {
  if (!value.is_string()) {
    problems.push_back({where, "is not a text", ""});
    return;
  }
  const std::string_view text = value.get_string();
  check_choice(param, text, where, problems);
  if (param.kind == Kind::duration) {
    if (const auto duration = parse_duration(text); !duration) {
      problems.push_back({where, duration.error().message, ""});
    }
  }
}

void check_list(const Param& param, const json::value& value, const std::string& where,
                std::vector<Problem>& problems) {
  if (!value.is_array()) {
    problems.push_back({where, "is not a list of texts", ""});
    return;
  }
  for (size_t i = 0; i < value.get_array().size(); ++i) {
    const std::string place = fmt::format("{}/{}", where, i);
    const json::value& element = value.get_array()[i];
    if (!element.is_string())
      problems.push_back({place, "is not a text", ""});
    else
      check_choice(param, element.get_string(), place, problems);
  }
}

// Of a file as people write it: JSON, or YAML of one document.
Result<json::value> document_of(const std::string& text) {
  // JSON first: YAML takes it as well, but not where tabs indent it, and says less of what is wrong
  const bool as_json = trim(text).starts_with('{');
  Result<json::value> read = fail(Code::invalid_input, "");
  if (as_json) read = parse_json(text, "file");
  if (read) return read;
  auto documents = parse_yaml(text, "file");
  if (!documents && as_json) return read;
  if (!documents) return fail(std::move(documents).error());
  if (documents->size() == 1) return std::move(documents->front().value);
  return fail(Code::invalid_input, fmt::format("holds {} documents, not one", documents->size()));
}

void read_document(const Param& param, json::value& value, std::vector<Problem>& problems) {
  const std::string where = pointer("", param.name);
  if (value.is_string()) {
    auto read = document_of(std::string(value.get_string()));
    if (!read) {
      const Error& error = read.error();
      if (error.problems.empty()) problems.push_back({where, error.message, error.next});
      for (const Problem& problem : error.problems)
        problems.push_back(
            {where, fmt::format("{} {}", problem.where, problem.message), problem.suggestion});
      return;
    }
    value = *std::move(read);
  }
  if (!value.is_object()) problems.push_back({where, "is not an object", ""});
}

void check_kind(const Param& param, const json::value& value, std::vector<Problem>& problems) {
  const std::string where = pointer("", param.name);
  switch (param.kind) {
    case Kind::integer:
      if (!value.is_int64() || value.get_int64() < 0)
        problems.push_back({where, "is not a whole number", ""});
      else if (value.get_int64() < param.least || value.get_int64() > param.most)
        problems.push_back(
            {where, fmt::format("is not between {} and {}", param.least, param.most), ""});
      break;
    case Kind::flag:
    case Kind::saved:
      if (!value.is_bool()) problems.push_back({where, "is neither true nor false", ""});
      break;
    case Kind::document:
      break;  // read_document
    case Kind::decimal:
      break;  // its meaning (cores, GiB, a share) decides: the row's own check
    case Kind::csv:
    case Kind::words:
      check_list(param, value, where, problems);
      break;
    default:
      check_text(param, value, where, problems);
      break;
  }
}

void collect_query(const Route& route, const Request& request, json::object& args,
                   std::vector<Problem>& problems) {
  for (const auto& [key, text] : request.query) {
    const Param* param = find_param(route, key, In::query);
    const std::string where = pointer("", key);
    if (param == nullptr) {
      problems.push_back(
          {where, "is not known here", did_you_mean(key, names_in(route, In::query))});
    } else if (args.contains(key)) {
      problems.push_back({where, "is given twice", ""});
    } else {
      args[key] = value_of_text(*param, text);
    }
  }
}

Result<void> collect_body(const Route& route, const Request& request, json::object& args,
                          std::vector<Problem>& problems) {
  if (request.body.empty()) return {};
  const bool takes_file = std::ranges::any_of(
      route.params, [](const Param& param) { return param.kind == Kind::file; });
  EXA_ASSIGN(json::value body, parse_json(request.body, "request body",
                                          takes_file ? tool_output_limits() : ReadLimits{}));
  if (!body.is_object()) return fail(invalid("request body", {{"", "is not a JSON object", ""}}));
  for (auto& [key, value] : body.get_object()) {
    if (find_param(route, key, In::body) == nullptr) {
      problems.push_back(
          {pointer("", key), "is not known here", did_you_mean(key, names_in(route, In::body))});
    } else if (!value.is_null()) {  // null means not given
      args[key] = std::move(value);
    }
  }
  return {};
}

}  // namespace

json::value value_of_text(const Param& param, const std::string& text) {
  switch (param.kind) {
    case Kind::integer:
      if (const auto number = parse_count(text, param.name)) return *number;
      return json::value(text);
    case Kind::flag:
    case Kind::saved:
      if (const auto given = parse_boolean(text)) return *given;
      return json::value(text);
    case Kind::words:
      return json::array{json::value(text)};
    case Kind::csv: {
      json::array list;
      for (const std::string_view part : split(text, ',')) {
        if (!trim(part).empty()) list.emplace_back(trim(part));
      }
      return list;
    }
    default:
      return json::value(text);
  }
}

json::value fallback_of(const Param& param) {
  if (param.kind == Kind::decimal) return number_from_text(param.fallback);
  return value_of_text(param, std::string(param.fallback));
}

std::string Call::text(std::string_view key) const {
  return std::string(text_or(args, key, ""));
}

bool Call::flag(std::string_view key) const {
  const json::value* value = args.if_contains(key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

bool Call::has(std::string_view key) const {
  return args.if_contains(key) != nullptr;
}

int64_t Call::integer(std::string_view key, int64_t otherwise) const {
  const json::value* value = args.if_contains(key);
  return value != nullptr && value->is_int64() ? value->get_int64() : otherwise;
}

Result<std::string> percent_decode(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    uint8_t byte = 0;
    const char* begin = text.data() + i + 1;
    if (i + 2 >= text.size() || std::from_chars(begin, begin + 2, byte, 16).ptr != begin + 2) {
      return fail(Code::usage, "the path holds a broken %-escape");
    }
    result += static_cast<char>(byte);
    i += 2;
  }
  return result;
}

Result<Matched> match_route(std::span<const Route> table, Method method, std::string_view path) {
  std::vector<std::string> allowed;
  for (const Route& route : table) {
    auto arguments = arguments_of(route.path, path);
    if (!arguments) continue;
    if (route.method == method) return Matched{&route, *std::move(arguments)};
    allowed.emplace_back(name(route.method));
  }
  if (allowed.empty())
    return fail(Code::not_found, fmt::format("there is nothing at {}", printable(path)));
  Error error{Code::method_not_allowed,
              fmt::format("{} does not take {}", printable(path), name(method)),
              {},
              "",
              allowed};
  return fail(std::move(error));
}

Result<Call> make_call(const Matched& matched, const Request& request) {
  const Route& route = *matched.route;
  std::vector<Problem> problems;
  Call call;
  call.route = &route;
  call.caller = {request.principal,
                 request.origin,
                 request.request_id,
                 std::string(route.id),
                 request.idempotency_key,
                 "",
                 false,
                 route.if_match,
                 request.if_match,
                 request.requires_match && route.if_match};
  if (!request.if_match.empty() && !route.if_match) {
    // who sends it counts on it
    problems.push_back({"If-Match", "means nothing here: nothing is replaced", ""});
  }
  // a launch whose answer was lost is gone on with by the same request, with or without a key
  const bool may_go_on = route.is_long && route.tier != Tier::read_only;
  if (!request.idempotency_key.empty() || may_go_on) {
    call.caller.request_digest =
        sha256_hex(fmt::format("{} {}?{}\n{}", name(request.method), request.path,
                               fmt::join(
                                   [&] {
                                     std::vector<std::string> pairs;
                                     for (const auto& [key, text] : request.query)
                                       pairs.push_back(key + "=" + text);
                                     return pairs;
                                   }(),
                                   "&"),
                               request.body));
  }
  for (const auto& [key, text] : matched.path_args) call.args[key] = text;
  collect_query(route, request, call.args, problems);
  EXA_TRY(collect_body(route, request, call.args, problems));
  for (const Param& param : route.params) {
    json::value* value = call.args.if_contains(param.name);
    if (value != nullptr && param.kind == Kind::document) read_document(param, *value, problems);
    if (value != nullptr)
      check_kind(param, *value, problems);
    else if (param.required)
      problems.push_back({pointer("", param.name), "is required", ""});
    else if (!param.fallback.empty())
      call.args[param.name] = fallback_of(param);
  }
  if (route.check != nullptr) {
    // one problem a place is enough, and the row's own rule says more than the type's
    std::vector<Problem> own = route.check(call.args);
    std::erase_if(problems, [&](const Problem& problem) {
      return std::ranges::any_of(own, [&](const Problem& better) {
        return (problem.where + "/").starts_with(better.where + "/") ||
               (better.where + "/").starts_with(problem.where + "/");
      });
    });
    problems.insert(problems.begin(), std::make_move_iterator(own.begin()),
                    std::make_move_iterator(own.end()));
  }
  call.caller.dry_run = call.flag("dry_run");
  call.caller.progress = request.progress;
  if (!problems.empty()) {
    return fail(invalid(route.command.empty() ? route.id : fmt::format("exa {}", route.command),
                        std::move(problems)));
  }
  return call;
}

}  // namespace exa
