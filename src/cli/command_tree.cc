#include "cli/command_tree.h"

#include <algorithm>
#include <array>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/boolean.h"
#include "base/text.h"
#include "cli/errors.h"
#include "store/open.h"

namespace exa {
namespace {

constexpr std::array<std::string_view, 7> kFormats = {"table", "wide", "json", "jsonl",
                                                      "yaml",  "csv",  "name"};

constexpr GlobalFlag kEverywhere[] = {
    {"-o,--output", "FORMAT", "table, wide, json, jsonl, yaml, csv or name (default table)"},
    {"--json", "", "the same as -o json"},
    {"--data", "DIR", "the data folder (default $EXA_HOME, else the XDG data folder)"},
    {"--store", "STORE", "sqlite:FOLDER or postgresql://USER@HOST/DATABASE (default $EXA_STORE)"},
    {"--server", "URL",
     "ask the server at this address (default $EXA_SERVER, else the one signed in to)"},
    {"--no-color", "", "no colour, as with NO_COLOR or TERM=dumb"},
    {"-q,--quiet", "", "no notices on standard error"},
    {"-h,--help", "", "this help"},
};
constexpr GlobalFlag kYes = {"--yes", "", "do it without asking"};
constexpr GlobalFlag kWait = {"--wait", "", "wait until it is done (the default)"};
constexpr GlobalFlag kNoWait = {"--no-wait", "", "leave it to the server, and print the operation"};
constexpr GlobalFlag kVersion = {"--version", "", "print the version"};

// Parameters of many rows, which people put where they put these.
constexpr GlobalFlag kAlsoEarly[] = {{"--project", "NAME", ""}, {"--dry-run", "", ""}};

// The flag of that name that may stand before the command's words; nullptr: none.
const GlobalFlag* early_flag(std::string_view flag) {
  for (const std::span<const GlobalFlag> rows :
       {std::span<const GlobalFlag>(kEverywhere), std::span(&kYes, 1), std::span(&kVersion, 1),
        std::span<const GlobalFlag>(kAlsoEarly)}) {
    for (const GlobalFlag& row : rows)
      if (row.is(flag)) return &row;
  }
  return nullptr;
}

bool is_flag(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && !(word[1] >= '0' && word[1] <= '9');
}

std::string_view name_of_flag(std::string_view word) {
  return word.substr(0, word.find('='));
}

std::string joined(std::string_view words, std::string_view word) {
  return words.empty() ? std::string(word) : fmt::format("{} {}", words, word);
}

bool leads_somewhere(CommandTable commands, std::string_view words) {
  return std::ranges::any_of(commands, [&](const Route* route) {
    return route->command == words ||
           (route->command.starts_with(words) && route->command[words.size()] == ' ');
  });
}

const Route* find_row(CommandTable commands, std::string_view words) {
  const auto found = std::ranges::find(commands, words, [](const Route* r) { return r->command; });
  return found == commands.end() ? nullptr : *found;
}

std::vector<std::string> flag_names(const Route* route) {
  std::vector<std::string> names;
  if (route != nullptr) {
    for (const Param& param : route->params) {
      if (!param.flag.empty()) names.emplace_back(param.flag);
    }
  }
  for (const GlobalFlag& flag : global_flags(route)) {
    for (const std::string_view name : split(flag.names, ',')) names.emplace_back(name);
  }
  return names;
}

std::string help_of(std::string_view words) {
  return words.empty() ? std::string("exa --help") : fmt::format("exa {} --help", words);
}

std::string in_quotes(std::string_view word) {
  return fmt::format("\"{}\"", echoed(word));
}

// Of one or two letters nearly every short word is one slip away: a guess would be nonsense.
std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const size_t letters = word.size() - std::min(word.size(), word.find_first_not_of('-'));
  return letters < 3 ? std::string() : did_you_mean(word, known);
}

// "exa profile list" where "exa hardware profile list" is meant, or a slip of the pen in one word.
std::vector<std::string> commands_like(CommandTable commands, std::string_view group,
                                       std::span<const std::string> typed) {
  const std::string wanted = joined(group, join(typed, " "));
  std::vector<std::string> ends;
  for (const Route* route : commands) {
    if (route->command.empty()) continue;
    for (size_t n = typed.size(); n > 0; --n) {
      const std::string tail = " " + joined(group, join(typed.first(n), " "));
      if (!route->command.ends_with(tail)) continue;
      ends.push_back(fmt::format("exa {}", route->command));
      break;
    }
  }
  if (ends.size() > 3) ends.resize(3);
  return ends;
}

Error unknown_command(CommandTable commands, std::string_view group,
                      std::span<const std::string> typed) {
  std::vector<std::string> known;
  for (const Child& child : children(commands, group)) known.emplace_back(child.word);
  const std::string hint = suggestion(typed[0], known);
  Error error;
  error.code = Code::usage;
  error.message = fmt::format("there is no command {}", in_quotes(joined(group, typed[0])));
  if (!hint.empty()) error.message += "; " + hint;
  error.alternatives = commands_like(commands, group, typed);
  error.next = help_of(group);
  return error;
}

class Line {
 public:
  explicit Line(const Descent& descent) : descent_(descent), route_(descent.route) {
    app_.set_help_flag();
    app_.allow_extras();
    for (const GlobalFlag& flag : global_flags(route_)) {
      globals_.push_back(flag.takes_value() ? app_.add_option(std::string(flag.names))
                                            : app_.add_flag(std::string(flag.names)));
    }
    if (route_ != nullptr) {
      for (const Param& param : route_->params) params_.push_back(add(param));
    }
    for (CLI::Option* option : app_.get_options()) {
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
  }

  Result<Invocation> read(CommandTable commands) {
    check_values();
    if (!problems_.empty()) return fail(usage());
    std::vector<std::string> reversed(descent_.rest.rbegin(), descent_.rest.rend());
    try {
      app_.parse(reversed);
    } catch (const CLI::Error& error) {
      return fail(Code::usage, why(error), help_of(descent_.words));
    }
    invocation_.words = descent_.words;
    invocation_.route = route_;
    read_globals();
    EXA_TRY(check_extras(commands));
    read_params();
    if (!problems_.empty()) return fail(usage());
    return std::move(invocation_);
  }

 private:
  CLI::Option* add(const Param& param) {
    if (param.flag.empty()) {
      auto* option = app_.add_option(fmt::format("p{}", params_.size()));
      return param.kind == Kind::words ? option->expected(-1) : option;
    }
    const std::string flag(param.flag);
    return param.kind == Kind::flag ? app_.add_flag(flag) : app_.add_option(flag);
  }

  // Whether a flag of this command takes a value; nullopt: it has no such flag.
  std::optional<bool> takes_value(std::string_view flag) const {
    if (route_ != nullptr) {
      const auto own = std::ranges::find(route_->params, flag, &Param::flag);
      if (!flag.empty() && own != route_->params.end()) return own->kind != Kind::flag;
    }
    for (const GlobalFlag& global : global_flags(route_)) {
      if (global.is(flag)) return global.takes_value();
    }
    return std::nullopt;
  }

  bool takes_a_line(std::string_view flag) const {
    if (route_ == nullptr) return false;
    const auto own = std::ranges::find(route_->params, flag, &Param::flag);
    return own != route_->params.end() && own->is_line;
  }

  // CLI11 reads `--reason= --dry-run` and `--reason --dry-run` as the reason "--dry-run", and any
  // text after `--yes=` as consent. So what a flag may carry is decided before it sees the words.
  void check_values() {
    const std::vector<std::string>& words = descent_.rest;
    for (size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
      const std::string flag(name_of_flag(words[i]));
      const std::optional<bool> takes = takes_value(flag);
      if (!takes) continue;
      if (flag.size() != words[i].size()) {
        check_attached(flag, words[i].substr(flag.size() + 1), *takes);
      } else if (*takes && i + 1 < words.size()) {
        const std::string& next = words[i + 1];
        if (!takes_a_line(flag) && takes_value(name_of_flag(next))) {
          problems_.push_back(
              {flag,
               fmt::format("needs a value, and {0} is a flag; write {1}={0} if that "
                           "is the value",
                           echoed(next), flag),
               ""});
        } else {
          ++i;
        }
      }
    }
  }

  void check_attached(const std::string& flag, const std::string& value, bool takes) {
    if (takes && value.empty()) {
      problems_.push_back({flag, "needs a value after the \"=\"", ""});
    } else if (!takes && !parse_boolean(value)) {
      problems_.push_back({flag, fmt::format("is true or false, not {}", in_quotes(value)), ""});
    }
  }

  // CLI11 names the option in its own way; the usual mistake deserves a plain sentence.
  std::string why(const CLI::Error& error) const {
    const std::string last = descent_.rest.empty() ? "" : descent_.rest.back();
    if (is_flag(last)) return fmt::format("{} needs a value", echoed(last));
    return printable(error.what());
  }

  bool given(std::string_view flag) const {
    return app_.get_option(std::string(flag))->count() > 0;
  }
  std::string text(size_t global) const { return globals_[global]->results().back(); }

  void read_globals() {
    Globals& globals = invocation_.globals;
    const std::vector<GlobalFlag> rows = global_flags(route_);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (globals_[i]->count() == 0) continue;
      const std::string_view name = split(rows[i].names, ',').back();
      const bool on = parse_boolean(text(i)).value_or(false);  // of those without a value
      if (name == "--output") read_format(*(output_ = text(i)));
      if (name == "--json" && on) read_json();
      if (name == "--data") read_where(name, text(i), globals.where.data_folder);
      if (name == "--store") read_store(text(i));
      if (name == "--server") read_where(name, text(i), globals.where.server);
      if (name == "--no-color") globals.no_color = on;
      if (name == "--quiet") globals.quiet = on;
      if (name == "--help") globals.help = on;
      if (name == "--yes") globals.yes = on;
      if (name == "--wait") globals.no_wait = !on;
      if (name == "--no-wait") globals.no_wait = on;
      if (name == "--no-wait" && given("--wait"))
        problems_.push_back({"--no-wait", "contradicts --wait", ""});
      if (name == "--version") globals.version = on;
    }
  }

  // an empty variable in a script must not lead to the default one
  void read_where(std::string_view flag, const std::string& text, std::string& where) {
    if (text.empty()) problems_.push_back({std::string(flag), "is empty", ""});
    where = text;
  }

  void read_store(const std::string& text) {
    read_where("--store", text, invocation_.globals.where.store);
    if (auto problem = problem_of_store_argument("--store", text))
      problems_.push_back(*std::move(problem));
  }

  // after --output, whose row stands first
  void read_json() {
    const bool other = output_ && *output_ != "json";
    if (other) problems_.push_back({"--json", "contradicts --output " + printable(*output_), ""});
    invocation_.globals.format = Format::json;
  }

  void read_format(const std::string& text) {
    const auto* found = std::ranges::find(kFormats, text);
    if (found != kFormats.end()) {
      invocation_.globals.format = static_cast<Format>(found - kFormats.begin());
      return;
    }
    const std::vector<std::string> known(kFormats.begin(), kFormats.end());
    problems_.push_back({"--output",
                         fmt::format("{} is not one of {}", in_quotes(text), join(known, ", ")),
                         suggestion(text, known)});
  }

  Result<void> check_extras(CommandTable commands) {
    std::vector<std::string> flags;
    std::vector<std::string> words;
    bool words_only = false;
    for (std::string& extra : app_.remaining()) {
      if (extra == "--" && !words_only) {
        words_only = true;
        continue;
      }
      const bool flag = is_flag(extra) && !words_only;
      (flag ? flags : words).push_back(std::move(extra));
    }
    for (const std::string& flag : flags) {
      problems_.push_back({echoed(name_of_flag(flag)), "there is no such flag here",
                           suggestion(name_of_flag(flag), flag_names(route_))});
    }
    // after an unknown flag the next word may be its value: one mistake, not two
    if (!flags.empty() || words.empty() || invocation_.globals.help) return {};
    if (route_ == nullptr) return fail(unknown_command(commands, descent_.words, words));
    for (const std::string& word : words) {
      problems_.push_back({in_quotes(word),
                           words_only
                               ? "is one word too many: after -- a flag is a word like any other"
                               : "is one word too many",
                           ""});
    }
    return {};
  }

  // Names, addresses and paths: an empty one is a variable of a script that was not set, and would
  // mean the same as no flag at all. Free text may be empty: that is how it is taken back.
  static bool needs_text(const Param& param) {
    constexpr std::array<std::string_view, 2> kFree = {"description", "reason"};
    const bool text = param.kind == Kind::text || param.kind == Kind::path ||
                      param.kind == Kind::file || param.kind == Kind::document ||
                      param.kind == Kind::secret || param.kind == Kind::saved;
    return param.in == In::path || (text && std::ranges::find(kFree, param.name) == kFree.end());
  }

  void read_words(const Param& param, const std::vector<std::string>& given) {
    for (const std::string& word : given) {
      if (!is_valid_utf8(word)) problems_.push_back({shown(param), "is not UTF-8 text", ""});
      invocation_.values.emplace_back(&param, word);
    }
  }

  void read_params() {
    if (route_ == nullptr || invocation_.globals.help) return;
    for (size_t i = 0; i < params_.size(); ++i) {
      const Param& param = route_->params[i];
      const std::vector<std::string>& given = params_[i]->results();
      if (params_[i]->count() == 0) {
        // without it there is no request; everything else the route's own check names, all at once
        const bool needed = param.in == In::path || (param.flag.empty() && param.required);
        if (needed) problems_.push_back({shown(param), "is missing", ""});
        continue;
      }
      if (param.kind == Kind::words) {
        read_words(param, given);
        continue;
      }
      if (given.size() > 1 && param.kind != Kind::csv) {
        problems_.push_back({shown(param), "is given twice", ""});
      }
      for (const std::string& value : given) {
        if (!is_valid_utf8(value)) problems_.push_back({shown(param), "is not UTF-8 text", ""});
      }
      if (given[0].empty() && needs_text(param)) {
        problems_.push_back({shown(param), "is empty", ""});
      }
      invocation_.values.emplace_back(&param, join(given, ","));
    }
  }

  Error usage() {
    const std::string command = joined("exa", descent_.words);
    Error error = invalid(command, std::move(problems_));
    error.code = Code::usage;
    error.message = fmt::format("`{}` cannot be run like this", command);
    error.next = help_of(descent_.words);
    return error;
  }

  const Descent& descent_;
  const Route* route_;
  CLI::App app_;
  std::vector<CLI::Option*> globals_;
  std::vector<CLI::Option*> params_;
  Invocation invocation_;
  std::vector<Problem> problems_;
  std::optional<std::string> output_;  // as typed
};

}  // namespace

bool GlobalFlag::is(std::string_view flag) const {
  const auto all = split(names, ',');
  return std::ranges::find(all, flag) != all.end();
}

std::vector<GlobalFlag> global_flags(const Route* route) {
  std::vector<GlobalFlag> flags;
  const auto taken = [&](std::string_view names) {
    return route != nullptr && std::ranges::any_of(route->params, [&](const Param& param) {
             const auto own = split(names, ',');
             return std::ranges::find(own, param.flag) != own.end();
           });
  };
  for (const GlobalFlag& flag : kEverywhere) {
    if (!taken(flag.names)) flags.push_back(flag);
  }
  if (route != nullptr && route->tier == Tier::destructive) flags.push_back(kYes);
  if (route != nullptr && route->is_long) flags.insert(flags.end(), {kWait, kNoWait});
  if (!taken(kVersion.names)) flags.push_back(kVersion);
  return flags;
}

std::vector<const Route*> command_table(std::span<const Route> routes,
                                        std::span<const Route> local) {
  std::vector<const Route*> table;
  table.reserve(routes.size() + local.size());
  for (const Route& route : routes) {
    if (!route.command.empty()) table.push_back(&route);
  }
  for (const Route& route : local) table.push_back(&route);
  return table;
}

Descent descend(CommandTable commands, std::span<const std::string> words) {
  Descent descent;
  size_t i = 0;
  for (; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (is_flag(word)) {
      const std::string_view flag = name_of_flag(word);
      const GlobalFlag* early = early_flag(flag);
      if (early == nullptr) break;
      descent.rest.push_back(word);
      if (early->takes_value() && flag == word && i + 1 < words.size())
        descent.rest.push_back(words[++i]);
      continue;
    }
    std::string longer = joined(descent.words, word);
    if (word.empty() || !leads_somewhere(commands, longer)) break;
    descent.words = std::move(longer);
    if (find_row(commands, descent.words) != nullptr && children(commands, descent.words).empty()) {
      ++i;
      break;
    }
  }
  descent.rest.insert(descent.rest.end(), words.begin() + static_cast<ptrdiff_t>(i), words.end());
  descent.route = find_row(commands, descent.words);
  return descent;
}

Result<Invocation> read_words(CommandTable commands, std::span<const std::string> words) {
  Descent descent = descend(commands, words);
  // as kubectl has it, wherever a command takes a file
  if (descent.route != nullptr && std::ranges::find(descent.route->params, "--file",
                                                    &Param::flag) != descent.route->params.end()) {
    for (auto word = descent.rest.begin(); word != descent.rest.end() && *word != "--"; ++word)
      if (*word == "-f") *word = "--file";
  }
  return Line(descent).read(commands);
}

std::vector<Child> children(CommandTable commands, std::string_view group) {
  std::vector<Child> result;
  for (const Route* route : commands) {
    std::string_view rest = route->command;
    if (!group.empty()) {
      if (!rest.starts_with(group) || rest.size() <= group.size() || rest[group.size()] != ' ') {
        continue;
      }
      rest.remove_prefix(group.size() + 1);
    }
    const std::string_view word = rest.substr(0, rest.find(' '));
    const Route* ends = word.size() == rest.size() ? route : nullptr;
    const auto known = std::ranges::find(result, word, &Child::word);
    if (known == result.end()) {
      result.push_back({word, ends});
    } else if (ends != nullptr) {
      known->route = ends;
    }
  }
  std::ranges::sort(result, {}, &Child::word);
  return result;
}

bool asks_for_json(std::span<const std::string> words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") return false;
    constexpr std::array<std::string_view, 4> kWays = {"--json", "--json=true", "-ojson",
                                                       "--output=json"};
    if (std::ranges::find(kWays, words[i]) != kWays.end()) return true;
    const bool output = words[i] == "-o" || words[i] == "--output";
    if (output && i + 1 < words.size() && words[i + 1] == "json") return true;
  }
  return false;
}

std::span<const std::string_view> format_names() {
  return kFormats;
}

std::string shown(const Param& param) {
  if (!param.flag.empty()) return std::string(param.flag);
  std::string name(param.name);
  for (char& c : name) c = c == '_' ? '-' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  return name;
}

const Param* find_param_named(const Route& route, std::string_view name) {
  const auto found = std::ranges::find(route.params, name, &Param::name);
  return found == route.params.end() ? nullptr : &*found;
}

}  // namespace exa
