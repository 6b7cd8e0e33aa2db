#include "cli/arguments.h"

#include <charconv>
#include <filesystem>

#include <fmt/format.h>

#include "base/boolean.h"
#include "base/text.h"

namespace exa {
namespace {

constexpr std::string_view kDigits = "0123456789";
// More do not survive a double; such a text is left for the check to refuse or to read.
constexpr size_t kMostDigits = 15;

json::value integer_or_text(const std::string& text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, number);
  const bool exact = status == std::errc{} && stop == end && std::to_string(number) == text;
  return exact ? json::value(number) : json::value(text);
}

bool is_plain_decimal(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view part = point == std::string_view::npos ? "0" : text.substr(point + 1);
  const auto digits = [](std::string_view run) {
    return !run.empty() && run.find_first_not_of(kDigits) == std::string_view::npos;
  };
  return digits(whole) && digits(part) && (whole == "0" || whole[0] != '0') &&
         whole.size() + part.size() <= kMostDigits;
}

json::value list_of(const std::string& text) {
  json::array list;
  for (const std::string_view part : split(text, ',')) {
    if (!trim(part).empty()) list.emplace_back(trim(part));
  }
  return list;
}

json::value value_of(const Param& param, const std::string& text) {
  switch (param.kind) {
    case Kind::integer:
      return integer_or_text(text);
    case Kind::decimal:
      return is_plain_decimal(text) ? number_from_text(text) : json::value(text);
    case Kind::flag:
      if (const auto given = parse_boolean(text)) return *given;
      return json::value(text);
    case Kind::csv:
      return list_of(text);
    case Kind::words:
      return json::array{json::value(text)};
    default:
      return json::value(text);
  }
}

// It is kept and read again later, from wherever the next command is run.
std::string absolute(const std::string& path, const Environment& environment) {
  const std::filesystem::path folder = environment.working_folder();
  return path.empty() || folder.empty() ? path : (folder / path).lexically_normal().string();
}

}  // namespace

Result<json::object> collect_arguments(const Invocation& invocation,
                                       const Environment& environment) {
  json::object args;
  std::vector<Problem> problems;
  for (const auto& [param, text] : invocation.values) {
    if (param->kind == Kind::saved) {
      args[param->name] = true;
      continue;
    }
    if (param->kind == Kind::words) {
      json::value& list = args[param->name];
      if (!list.is_array()) list = json::array();
      list.get_array().emplace_back(text);
      continue;
    }
    if (param->kind == Kind::path) {
      args[param->name] = absolute(text, environment);
      continue;
    }
    const bool is_file = param->kind == Kind::file || param->kind == Kind::document;
    if (!is_file && param->kind != Kind::secret) {
      args[param->name] = value_of(*param, text);
      // in a query an empty list would read as none: --fail-on "" must not be a gate without a bar
      const bool choosing = param->kind == Kind::csv && !param->choices.empty();
      if (choosing && param->in == In::query && args[param->name].as_array().empty()) {
        problems.push_back(
            {shown(*param),
             fmt::format("is empty; name some of {}",
                         fmt::join(param->choices.begin(), param->choices.end(), ", ")),
             ""});
      }
      continue;
    }
    auto content = environment.read_file(text, param->most_bytes);
    if (content && param->kind == Kind::secret) {
      if (content->ends_with('\n')) content->pop_back();
      if (content->ends_with('\r')) content->pop_back();
    }
    if (!content) {
      problems.push_back({shown(*param), content.error().message, ""});
    } else if (!is_valid_utf8(*content)) {
      problems.push_back({shown(*param), fmt::format("{} is not UTF-8 text", printable(text)), ""});
    } else {
      args[param->name] = *std::move(content);
    }
  }
  if (!problems.empty()) {
    return fail(invalid(fmt::format("exa {}", invocation.words), std::move(problems)));
  }
  return args;
}

}  // namespace exa
