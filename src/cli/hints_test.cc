// Every command that a hint or an explanation names must exist, with the flags named after it: a
// person who is in trouble already must not be sent into a second error.
#include <filesystem>
#include <fstream>
#include <regex>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/quote.h"
#include "base/text.h"
#include "cli/command_tree.h"
#include "cli/local_commands.h"

namespace exa {
namespace {

namespace fs = std::filesystem;

struct Mention {
  std::string place;
  std::string command;  // "exa cluster add NAME --kind host"
};

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void add_matches(const std::string& place, const std::string& text, const char* pattern,
                 std::vector<Mention>& mentions) {
  const std::regex expression(pattern);
  for (auto it = std::sregex_iterator(text.begin(), text.end(), expression);
       it != std::sregex_iterator(); ++it) {
    mentions.push_back({place, (*it)[1].str()});
  }
}

// In the sources a command stands at the start of a literal, in backticks, or after a colon; the
// sentences of error.cc and help.cc begin with the program's name as well.
std::vector<Mention> mentions_in_sources() {
  std::vector<Mention> mentions;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(EXA_TESTDATA) / "../src")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".cc" || name.ends_with("_test.cc")) continue;
    if (name == "complete.cc") continue;  // holds the shells' scripts, which run exa __complete
    std::string code;
    const std::string content = content_of(entry.path());
    for (const std::string_view line : split(content, '\n')) {
      if (!trim(line).starts_with("//")) code += std::string(line) + "\n";
    }
    add_matches(name, code, "`(exa [a-z][^`]*)`", mentions);
    add_matches(name, code, "[:;] (exa (?!did )[a-z][^\",;:\\\\]*)", mentions);
    if (name != "error.cc" && name != "help.cc") {
      add_matches(name, code, "\"(exa [a-z][^\",;:\\\\]*)", mentions);
    }
  }
  return mentions;
}

std::vector<Mention> mentions_in_rows(CommandTable commands) {
  std::vector<Mention> mentions;
  for (const CodeInfo& code : all_codes()) {
    add_matches(std::string(code.name), std::string(code.explain), "`(exa [a-z][^`]*)`", mentions);
  }
  for (const Route* route : commands) {
    for (const std::string_view example : route->examples) {
      mentions.push_back({std::string(route->id), std::string(example)});
    }
  }
  return mentions;
}

std::string wrong_with(CommandTable commands, const Mention& mention) {
  std::vector<std::string> words;
  const auto line = shell_words(mention.command, ShellSyntax::words);
  if (!line) return line.error().message;
  for (const ShellWord& word : line->words) words.push_back(word.text);
  words.erase(words.begin());
  const Descent descent = descend(commands, words);
  const bool more = !descent.rest.empty() && !descent.rest[0].starts_with('-');
  if (descent.words.empty() || (descent.route == nullptr && more))
    return "there is no such command";
  std::vector<std::string_view> flags;
  for (const GlobalFlag& flag : global_flags(descent.route)) {
    for (const std::string_view name : split(flag.names, ',')) flags.push_back(name);
  }
  if (descent.route != nullptr) {
    for (const Param& param : descent.route->params) flags.push_back(param.flag);
  }
  for (const std::string& word : descent.rest) {
    const std::string flag = word.substr(0, word.find('='));
    if (!flag.starts_with("--")) continue;
    if (std::ranges::find(flags, flag) == flags.end()) return "it has no flag " + flag;
  }
  return {};
}

TEST(Hints, NameOnlyCommandsAndFlagsThatExist) {
  const std::vector<const Route*> commands = command_table(routes(), local_routes());
  const std::vector<Mention> sources = mentions_in_sources();
  EXPECT_GT(sources.size(), 40U);  // the walk found the sources
  for (const auto& mentions : {sources, mentions_in_rows(commands)}) {
    for (const Mention& mention : mentions) {
      const std::string wrong = wrong_with(commands, mention);
      EXPECT_TRUE(wrong.empty()) << mention.place << ": " << mention.command << ": " << wrong;
    }
  }
}

TEST(Hints, AMissingCommandWouldBeNoticed) {
  const std::vector<const Route*> commands = command_table(routes(), local_routes());
  EXPECT_EQ(wrong_with(commands, {"", "exa surgeon"}), "there is no such command");
  EXPECT_EQ(wrong_with(commands, {"", "exa cluster surgeon"}), "there is no such command");
  EXPECT_EQ(wrong_with(commands, {"", "exa cluster discover NAME --save FILE"}),
            "it has no flag --save");
}

}  // namespace
}  // namespace exa
