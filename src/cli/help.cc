#include "cli/help.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

constexpr size_t kWidth = 80;

// Words of a paragraph in lines of at most kWidth, each after `indent` blanks.
std::string wrapped(std::string_view text, size_t indent) {
  std::string out;
  size_t column = 0;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    const bool fits = column != 0 && column + 1 + word.size() <= kWidth;
    if (column == 0) {
      out.append(indent, ' ');
      column = indent;
    } else if (fits) {
      out += ' ';
      ++column;
    } else {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

// Two columns, the right one wrapped below itself.
std::string pair_line(std::string_view left, std::string_view right, size_t left_width) {
  const size_t indent = left_width + 4;
  std::string text = wrapped(right, indent);
  if (left.size() <= left_width) {
    text.replace(0, indent, fmt::format("  {:<{}}  ", left, left_width));
    return text;
  }
  return fmt::format("  {}\n{}", left, text);
}

struct Entry {
  std::string left;
  std::string right;
};

std::string section(std::string_view title, const std::vector<Entry>& entries) {
  if (entries.empty()) return {};
  size_t width = 0;
  for (const Entry& entry : entries) {
    if (entry.left.size() <= 28) width = std::max(width, entry.left.size());
  }
  std::string text = fmt::format("\n{}:\n", title);
  for (const Entry& entry : entries) text += pair_line(entry.left, entry.right, width);
  return text;
}

std::string spelled(const GlobalFlag& flag) {
  std::string text;
  for (const std::string_view name : split(flag.names, ',')) {
    text += text.empty() ? "" : ", ";
    text += name;
  }
  return flag.takes_value() ? fmt::format("{} {}", text, flag.value) : text;
}

std::string_view value_word(const Param& param) {
  switch (param.kind) {
    case Kind::integer:
      return "N";
    case Kind::decimal:
      return "N";
    case Kind::csv:
      return "A,B";
    case Kind::words:
      return "TEXT";
    case Kind::duration:
      return "TIME";
    case Kind::path:
    case Kind::file:
    case Kind::document:
    case Kind::secret:
    case Kind::saved:
      return "FILE";
    default:
      return "TEXT";
  }
}

std::vector<Entry> globals_of(const Route* route) {
  std::vector<Entry> entries;
  for (const GlobalFlag& flag : global_flags(route)) {
    entries.push_back({spelled(flag), std::string(flag.help)});
  }
  return entries;
}

}  // namespace

std::string spelled(const Param& param) {
  if (param.flag.empty() || param.kind == Kind::flag) return shown(param);
  if (param.kind == Kind::choice) return fmt::format("{} CHOICE", param.flag);
  return fmt::format("{} {}", param.flag, value_word(param));
}

std::string facts(const Param& param) {
  std::string text(param.help);
  if (!param.choices.empty()) {
    text += fmt::format(": {}", fmt::join(param.choices.begin(), param.choices.end(), ", "));
  }
  if (!param.fallback.empty()) text += fmt::format(" (default {})", param.fallback);
  if (param.required && !param.flag.empty()) text += " [required]";
  return text;
}

std::string changes_sentence(const Route& route) {
  if (!route.changes.empty()) return std::string(route.changes);
  switch (route.tier) {
    case Tier::read_only:
      return "Reads only.";
    case Tier::mutating:
      return "Changes what is stored, and is audited.";
    case Tier::destructive:
      return "Removes something, is audited, and asks first.";
  }
  return {};
}

std::string usage_line(const Route& route) {
  std::string line = fmt::format("exa {}", route.command);
  for (const Param& param : route.params) {
    if (param.flag.empty())
      line +=
          param.required ? fmt::format(" {}", shown(param)) : fmt::format(" [{}]", shown(param));
  }
  for (const Param& param : route.params) {
    if (!param.flag.empty() && param.required) line += " " + spelled(param);
  }
  return line + " [flags]";
}

std::string group_help(CommandTable commands, std::string_view group) {
  std::string text = group.empty()
                         ? wrapped(
                               "exa keeps named compute shapes and says honestly which of your "
                               "clusters can hold them.",
                               0)
                         : std::string();
  std::vector<Entry> entries;
  for (const Child& child : children(commands, group)) {
    std::string right;
    if (child.route != nullptr) {
      right = child.route->summary;
    } else {
      const std::string path =
          group.empty() ? std::string(child.word) : fmt::format("{} {}", group, child.word);
      std::vector<std::string> inner;
      for (const Child& next : children(commands, path)) inner.emplace_back(next.word);
      right = join(inner, ", ");
    }
    entries.push_back({std::string(child.word), std::move(right)});
  }
  const std::string words = group.empty() ? "exa" : fmt::format("exa {}", group);
  text += section(fmt::format("{} COMMAND", words), entries);
  text += section("Flags of every command", globals_of(nullptr));
  text += fmt::format("\n{} COMMAND --help explains one.\n", words);
  return group.empty() ? text : text.substr(1);
}

std::string command_help(const Route& route) {
  std::string text = wrapped(fmt::format("{}.", route.summary), 0);
  text += fmt::format("\n  {}\n", usage_line(route));
  if (!route.detail.empty()) text += "\n" + wrapped(route.detail, 0);
  std::vector<Entry> words;
  std::vector<Entry> flags;
  for (const Param& param : route.params) {
    (param.flag.empty() ? words : flags).push_back({spelled(param), facts(param)});
  }
  text += section("Words", words);
  text += section("Flags", flags);
  text += section("Flags of every command", globals_of(&route));
  if (!route.examples.empty()) text += "\nExamples:\n";
  for (const std::string_view example : route.examples) text += fmt::format("  {}\n", example);
  text += "\n" + changes_sentence(route) + "\n";
  return text;
}

}  // namespace exa
