// Options as getopt and argparse read them, on a command line or in the head of a batch script, and
// how some of them are replaced while every other byte stays. Inside of src/launch only.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launch/vocabulary_text.h"

namespace exa::vocabulary {

enum class Takes { nothing, value, maybe };  // maybe: only as --name=value

struct OptionRow {
  std::string_view name;  // "--nodes"
  char letter = 0;        // 'N'; 0: none
  Takes takes = Takes::value;
};

struct OptionGrammar {
  std::span<const std::string_view> programs;  // what a command line may begin with; the first one
                                               // stands in errors
  std::span<const OptionRow> rows;
  // Where the options begin in a line of a script's head; npos: it is no such line.
  size_t (*head)(std::string_view line);
  std::string_view prefix;  // of a line of the head that is written: "#SBATCH "
};

struct Option {
  std::string_view name;  // of its row; empty: no option that is known
  std::string written;    // "--nodes", "-N", "--nodez"
  std::string value;
  bool has_value = false;
  bool is_broken = false;  // it has no value that can be known: a problem that is said already
  std::string where;
  size_t unit = 0;  // options of one word ("-vN2") share it
};

// An option and its value, or several short options in one word: where they stand in the text.
struct OptionUnit {
  size_t begin = 0;
  size_t end = 0;
};

// A script or a command line, taken apart.
struct OptionText {
  std::vector<Option> options;
  std::vector<OptionUnit> units;
  bool is_script = false;
  std::string_view program;  // that the command line begins with; empty: options alone
  size_t end = 0;            // where another option may be added
};

bool begins_with_program(std::string_view text, std::span<const std::string_view> programs);
bool has_head(std::string_view text, const OptionGrammar& grammar);

OptionText parse_options(const Source& source, const OptionGrammar& grammar, Reading& reading);

// nullptr: not given, or broken.
const Option* last_option(const OptionText& text, std::string_view name);

// The text without the options of these names and with `added` in the place of the first of them.
std::string with_options(const Source& source, const OptionGrammar& grammar, const OptionText& text,
                         std::span<const std::string_view> without,
                         std::span<const std::string> added);

}  // namespace exa::vocabulary
