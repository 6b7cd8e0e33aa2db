// From words to a command: groups and verbs come from the `command` column of the route table,
// flags and positional words from its parameters. Only the row that the words name becomes a CLI11
// parser, so that a cold start does not pay for the others.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/route.h"
#include "base/error.h"
#include "cli/environment.h"

namespace exa {

enum class Format { table, wide, json, jsonl, yaml, csv, name };

struct Globals {
  Format format = Format::table;
  bool no_color = false;
  bool quiet = false;
  bool yes = false;
  bool no_wait = false;
  bool help = false;
  bool version = false;
  Where where;
};

// A flag that commands take besides their own. It may stand before the command's words, too.
struct GlobalFlag {
  std::string_view names;  // "-o,--output"
  std::string_view value;  // what help calls it: "FORMAT"; empty: it takes none
  std::string_view help;

  bool is(std::string_view flag) const;  // whether that is one of its names
  bool takes_value() const { return !value.empty(); }
};
// Those that this command takes: --yes only where something is destroyed, --wait and --no-wait only
// for long work, --version only where no parameter of the row has that name. nullptr: a group.
std::vector<GlobalFlag> global_flags(const Route* route);

using CommandTable = std::span<const Route* const>;
std::vector<const Route*> command_table(std::span<const Route> routes,
                                        std::span<const Route> local);

struct Invocation {
  std::string words;             // what was matched: "hardware profile"
  const Route* route = nullptr;  // nullptr: a group, whose help is printed
  Globals globals;
  std::vector<std::pair<const Param*, std::string>> values;  // as typed, in the order of the row
};

// All mistakes at once, each with a nearest spelling where there is one; nothing is guessed.
Result<Invocation> read_words(CommandTable commands, std::span<const std::string> words);

// The command that the words lead to so far, and the words that are left. For completion.
struct Descent {
  std::string words;
  const Route* route = nullptr;
  std::vector<std::string> rest;
};
Descent descend(CommandTable commands, std::span<const std::string> words);

// The next words after a group, sorted, with the row when the word ends a command.
struct Child {
  std::string_view word;
  const Route* route = nullptr;
};
std::vector<Child> children(CommandTable commands, std::string_view group);

// Whether the words ask for JSON, even where they cannot be read otherwise: errors follow it.
bool asks_for_json(std::span<const std::string> words);

std::span<const std::string_view> format_names();
// How a parameter stands in a usage line: "--gpu" or "NAME".
std::string shown(const Param& param);
const Param* find_param_named(const Route& route, std::string_view name);

}  // namespace exa
