#include "launch/vocabulary_options.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quote.h"
#include "base/text.h"

namespace exa::vocabulary {
namespace {

bool is_comment(std::string_view line) {
  return trim(line).starts_with('#');
}

struct Line {
  size_t begin = 0;  // in the text
  std::string_view text;
};

// Of a script: up to the first command.
std::vector<Line> head_of(std::string_view text) {
  std::vector<Line> lines;
  size_t begin = 0;
  for (const std::string_view line : split(text, '\n')) {
    if (!trim(line).empty() && !is_comment(line)) break;
    lines.push_back({begin, line});
    begin += line.size() + 1;
  }
  return lines;
}

const OptionRow* find_row(std::span<const OptionRow> rows, std::string_view name) {
  const OptionRow* only = nullptr;
  size_t matches = 0;
  for (const OptionRow& row : rows) {
    if (row.name == name) return &row;
    if (!row.name.starts_with(name)) continue;
    only = &row;
    ++matches;
  }
  return matches == 1 ? only : nullptr;  // both parsers take what is short for one option only
}

const OptionRow* find_letter(std::span<const OptionRow> rows, char letter) {
  const auto found = std::ranges::find(rows, letter, &OptionRow::letter);
  return found == rows.end() ? nullptr : &*found;
}

// Reads runs of words into an OptionText.
class Parser {
 public:
  Parser(const Source& source, const OptionGrammar& grammar, OptionText& text, Reading& reading)
      : file_(source.file), grammar_(grammar), text_(text), reading_(reading) {
    for (size_t at = 0; (at = source.text.find('\n', at)) != std::string::npos;)
      line_starts_.push_back(++at);
  }

  // The number of words up to the first that is no option. `base`: where the words' own places
  // begin in the text.
  size_t read(std::span<const ShellWord> words, size_t base) {
    words_ = words;
    base_ = base;
    at_ = 0;
    while (at_ < words_.size() && words_[at_].text.size() > 1 && words_[at_].text[0] == '-') {
      if (words_[at_].text == "--") break;
      if (words_[at_].text[1] == '-')
        read_long();
      else
        read_short();
    }
    return at_;
  }

  std::string place(size_t offset, std::string_view name) const {
    if (file_.empty()) return std::string(name);
    const auto line = std::ranges::upper_bound(line_starts_, offset) - 1;
    return fmt::format("{}:{}:{}", file_, line - line_starts_.begin() + 1, offset - *line + 1);
  }

 private:
  // `values` words after the first belong to it too.
  void close_unit(size_t values) {
    text_.units.push_back({base_ + words_[at_].begin, base_ + words_[at_ + values].end});
    at_ += values + 1;
  }

  void add(const OptionRow* row, std::string_view written) {
    Option option;
    option.name = row == nullptr ? std::string_view() : row->name;
    option.written = written;
    option.where = place(base_ + words_[at_].begin, written);
    option.unit = text_.units.size();
    text_.options.push_back(std::move(option));
  }

  void add(const OptionRow* row, std::string_view written, std::string_view value) {
    add(row, written);
    text_.options.back().has_value = true;
    text_.options.back().value = value;
  }

  void problem(std::string_view name, std::string message, std::string suggestion = {}) {
    reading_.problem(place(base_ + words_[at_].begin, name), std::move(message),
                     std::move(suggestion));
  }

  // Of the option that was added last.
  void must_be_fixed(const ShellWord& word) {
    if (word.is_fixed) return;
    text_.options.back().is_broken = true;
    problem(
        text_.options.back().written,
        fmt::format("\"{}\" is known only to the shell that runs the line", printable(word.text)),
        "write it out, or quote what is meant as it stands");
  }

  // The value is the next word.
  void read_value(const OptionRow* row, std::string_view written) {
    if (at_ + 1 == words_.size()) {
      problem(written, fmt::format("{} needs a value", written));
      add(row, written);
      text_.options.back().is_broken = true;
      return close_unit(0);
    }
    add(row, written, words_[at_ + 1].text);
    must_be_fixed(words_[at_ + 1]);
    close_unit(1);
  }

  void read_long() {
    const std::string& text = words_[at_].text;
    const size_t equals = text.find('=');
    const std::string_view written = std::string_view(text).substr(0, equals);
    const OptionRow* row = find_row(grammar_.rows, written);
    if (equals != std::string::npos) {
      add(row, written, std::string_view(text).substr(equals + 1));
      must_be_fixed(words_[at_]);
      return close_unit(0);
    }
    if (row != nullptr && row->takes == Takes::value) return read_value(row, written);
    if (row == nullptr) refuse_unknown_before_a_word(written);
    add(row, written);
    close_unit(0);
  }

  void refuse_unknown_before_a_word(std::string_view written) {
    if (at_ + 1 == words_.size() || words_[at_ + 1].text.starts_with('-')) return;
    std::vector<std::string> names;
    for (const OptionRow& row : grammar_.rows) names.emplace_back(row.name);
    const std::string close = did_you_mean(written, names);
    problem(
        written,
        fmt::format("{} is no option of {} that is known, so \"{}\" may be its value or not",
                    printable(written), grammar_.programs.front(), printable(words_[at_ + 1].text)),
        close.empty() ? fmt::format("write {}=VALUE", printable(written)) : close);
  }

  // "-N2", "-N 2", "-vN2"
  void read_short() {
    const std::string& text = words_[at_].text;
    for (size_t i = 1; i < text.size(); ++i) {
      const std::string written = {'-', text[i]};
      const OptionRow* row = find_letter(grammar_.rows, text[i]);
      if (row == nullptr) {
        problem(written, fmt::format("{} is no option of {} that is known", printable(written),
                                     grammar_.programs.front()));
        break;
      }
      const bool is_last = i + 1 == text.size();
      if (row->takes == Takes::value && is_last) return read_value(row, written);
      if (row->takes == Takes::nothing || is_last) {
        add(row, written);
        continue;
      }
      // argparse takes "-N=2" for "2", getopt for "=2", which nobody means
      add(row, written, std::string_view(text).substr(text[i + 1] == '=' ? i + 2 : i + 1));
      must_be_fixed(words_[at_]);
      break;
    }
    close_unit(0);
  }

  std::string_view file_;
  const OptionGrammar& grammar_;
  OptionText& text_;
  Reading& reading_;
  std::vector<size_t> line_starts_ = {0};
  std::span<const ShellWord> words_;
  size_t base_ = 0;
  size_t at_ = 0;
};

void parse_script(const Source& source, const OptionGrammar& grammar, Parser& parser,
                  OptionText& text, Reading& reading) {
  const std::vector<Line> lines = head_of(source.text);
  if (source.text.starts_with("#!"))
    text.end = std::min(lines[0].text.size() + 1, source.text.size());
  for (const Line& line : lines) {
    const size_t head = grammar.head(line.text);
    if (head == std::string_view::npos) continue;
    const size_t base = line.begin + head;
    const auto words = shell_words(line.text.substr(head), ShellSyntax::words);
    if (!words) {
      reading.problem(parser.place(base, grammar.programs.front()), words.error().message);
      continue;
    }
    const size_t stop = parser.read(words->words, base);
    if (stop < words->words.size()) {
      reading.problem(parser.place(base + words->words[stop].begin, grammar.programs.front()),
                      fmt::format("\"{}\" is no option", printable(words->words[stop].text)));
    }
    text.end = std::min(line.begin + line.text.size() + 1, source.text.size());
  }
}

// How many words at the front name the program.
size_t program_words(const ShellLine& line, const OptionGrammar& grammar, OptionText& text) {
  for (const std::string_view program : grammar.programs) {
    const std::vector<std::string_view> parts = split(program, ' ');
    const auto is_same = [](std::string_view part, const ShellWord& word) {
      return part == word.text;
    };
    if (parts.size() > line.words.size() ||
        !std::equal(parts.begin(), parts.end(), line.words.begin(), is_same))
      continue;
    text.program = program;
    return parts.size();
  }
  return 0;
}

void parse_line(const Source& source, const OptionGrammar& grammar, Parser& parser,
                OptionText& text, Reading& reading) {
  const auto line = shell_words(source.text);
  if (!line)
    return reading.problem(parser.place(0, grammar.programs.front()), line.error().message);
  const size_t first = program_words(*line, grammar, text);
  const size_t stop = first + parser.read(std::span(line->words).subspan(first), 0);
  if (stop > 0) text.end = line->words[stop - 1].end;
  if (stop < line->words.size() && line->words[stop].text == ":") {
    reading.problem(parser.place(line->words[stop].begin, ":"),
                    "a job of several parts asks for several shapes", "import them one by one");
  }
  // options alone: an operator is more likely one that was meant for Slurm ("a100&ib")
  const std::string_view after = trim(std::string_view(source.text).substr(line->end));
  if (text.program.empty() && !after.empty() && !is_comment(after)) {
    reading.problem(parser.place(line->end, grammar.programs.front()),
                    fmt::format("\"{}\" ends the command", printable(after.substr(0, 1))),
                    "quote it where it belongs to an option");
  }
}

// --- writing

struct Edit {
  size_t begin;
  size_t end;
  std::string text;
};

std::string edited(std::string_view text, std::span<const Edit> edits) {
  std::string out;
  size_t at = 0;
  for (const Edit& edit : edits) {
    out += text.substr(at, edit.begin - at);
    out += edit.text;
    at = edit.end;
  }
  out += text.substr(at);
  return out;
}

struct GoneUnit {
  size_t unit;
  std::vector<std::string> rest;  // of a word like "-vN2": what stays
};

std::vector<GoneUnit> gone_units(const OptionText& text,
                                 std::span<const std::string_view> without) {
  const auto goes = [&](const Option& option) {
    return !option.name.empty() && std::ranges::find(without, option.name) != without.end();
  };
  std::vector<GoneUnit> gone;
  for (const Option& option : text.options)
    if (goes(option) && (gone.empty() || gone.back().unit != option.unit))
      gone.push_back({option.unit, {}});
  for (const Option& option : text.options) {
    const auto unit = std::ranges::find(gone, option.unit, &GoneUnit::unit);
    if (unit == gone.end() || goes(option)) continue;
    unit->rest.push_back(option.written);
    if (option.has_value) unit->rest.push_back(option.value);
  }
  return gone;
}

std::string edited_line(std::string_view text, const OptionText& parsed,
                        std::span<const GoneUnit> gone, std::span<const std::string> added) {
  std::vector<Edit> edits;
  std::vector<std::string> words(added.begin(), added.end());
  for (const GoneUnit& unit : gone) {
    Edit edit{parsed.units[unit.unit].begin, parsed.units[unit.unit].end, ""};
    words.insert(words.begin(), unit.rest.begin(), unit.rest.end());
    edit.text = shell_line(words);
    words.clear();
    while (edit.begin > 0 && text[edit.begin - 1] == ' ') --edit.begin;
    if (edit.text.empty() && edit.begin == 0)
      while (edit.end < text.size() && text[edit.end] == ' ') ++edit.end;
    if (!edit.text.empty() && edit.begin > 0) edit.text.insert(0, " ");
    edits.push_back(std::move(edit));
  }
  if (gone.empty() && !words.empty()) {
    std::string line = shell_line(words);
    if (parsed.end > 0) line.insert(0, " ");
    if (parsed.end == 0 && !text.empty()) line += ' ';
    edits.push_back({parsed.end, parsed.end, std::move(line)});
  }
  return edited(text, edits);
}

std::string edited_script(std::string_view text, const OptionGrammar& grammar,
                          const OptionText& parsed, std::span<const GoneUnit> gone,
                          std::span<const std::string> added) {
  std::string block;
  for (const std::string& option : added)
    block += fmt::format("{}{}\n", grammar.prefix, shell_quote(option));
  std::vector<Edit> edits;
  for (const Line& line : head_of(text)) {
    const size_t end = line.begin + line.text.size();
    std::vector<Edit> words;
    for (const GoneUnit& unit : gone) {
      const OptionUnit& place = parsed.units[unit.unit];
      if (place.begin >= line.begin && place.end <= end)
        words.push_back({place.begin - line.begin, place.end - line.begin, shell_line(unit.rest)});
    }
    if (words.empty()) continue;
    std::string rest = edited(line.text, words);
    while (rest.ends_with(' ')) rest.pop_back();
    // a line of the head of which nothing is left goes
    if (trim(std::string_view(rest).substr(std::min(grammar.head(line.text), rest.size()))).empty())
      rest.clear();
    if (!rest.empty()) rest += '\n';
    edits.push_back({line.begin, std::min(end + 1, text.size()), std::exchange(block, "") + rest});
  }
  if (!block.empty()) {
    const bool broken = parsed.end > 0 && text[parsed.end - 1] != '\n';
    edits.push_back({parsed.end, parsed.end, (broken ? "\n" : "") + block});
  }
  return edited(text, edits);
}

}  // namespace

bool begins_with_program(std::string_view text, std::span<const std::string_view> programs) {
  const std::string_view trimmed = trim(text);
  return std::ranges::any_of(programs, [&](std::string_view program) {
    return trimmed.starts_with(program) &&
           (trimmed.size() == program.size() || trimmed[program.size()] == ' ');
  });
}

bool has_head(std::string_view text, const OptionGrammar& grammar) {
  const std::vector<Line> lines = head_of(text);
  return std::ranges::any_of(
      lines, [&](const Line& line) { return grammar.head(line.text) != std::string_view::npos; });
}

OptionText parse_options(const Source& source, const OptionGrammar& grammar, Reading& reading) {
  OptionText text;
  text.is_script = source.text.starts_with("#!") || has_head(source.text, grammar);
  Parser parser(source, grammar, text, reading);
  if (text.is_script)
    parse_script(source, grammar, parser, text, reading);
  else
    parse_line(source, grammar, parser, text, reading);
  return text;
}

const Option* last_option(const OptionText& text, std::string_view name) {
  const auto found =
      std::find_if(text.options.rbegin(), text.options.rend(),
                   [&](const Option& option) { return option.name == name && !option.is_broken; });
  return found == text.options.rend() ? nullptr : &*found;
}

std::string with_options(const Source& source, const OptionGrammar& grammar, const OptionText& text,
                         std::span<const std::string_view> without,
                         std::span<const std::string> added) {
  const std::vector<GoneUnit> gone = gone_units(text, without);
  return text.is_script ? edited_script(source.text, grammar, text, gone, added)
                        : edited_line(source.text, text, gone, added);
}

}  // namespace exa::vocabulary
