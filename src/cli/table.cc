#include "cli/table.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

#include "base/text.h"

namespace exa {
namespace {

struct Range {
  uint32_t first;
  uint32_t last;
};

// Combining marks, joiners and variation selectors; the common blocks of Unicode 15.
constexpr std::array kNoWidth = {
    Range{0x0300, 0x036F},  Range{0x0483, 0x0489}, Range{0x0591, 0x05BD}, Range{0x0610, 0x061A},
    Range{0x064B, 0x065F},  Range{0x093A, 0x093C}, Range{0x0941, 0x0948}, Range{0x0E34, 0x0E3A},
    Range{0x0E47, 0x0E4E},  Range{0x1AB0, 0x1AFF}, Range{0x1DC0, 0x1DFF}, Range{0x200B, 0x200D},
    Range{0x20D0, 0x20FF},  Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}, Range{0xFEFF, 0xFEFF},
    Range{0xE0100, 0xE01EF}};

// East Asian Wide and Fullwidth, and the emoji blocks.
constexpr std::array kWide = {
    Range{0x1100, 0x115F},   Range{0x231A, 0x231B},   Range{0x2E80, 0x303E},
    Range{0x3041, 0x33FF},   Range{0x3400, 0x4DBF},   Range{0x4E00, 0x9FFF},
    Range{0xA000, 0xA4CF},   Range{0xA960, 0xA97F},   Range{0xAC00, 0xD7A3},
    Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},
    Range{0xFFE0, 0xFFE6},   Range{0x1F300, 0x1F64F}, Range{0x1F680, 0x1F6FF},
    Range{0x1F900, 0x1F9FF}, Range{0x20000, 0x3FFFD}};

template <size_t N>
bool within(const std::array<Range, N>& ranges, uint32_t c) {
  return std::ranges::any_of(ranges, [c](const Range& r) { return c >= r.first && c <= r.last; });
}

struct Paint {
  std::string_view word;
  std::string_view colour;
};

constexpr std::array kPaints = {
    Paint{"verified", "\x1b[32m"},     Paint{"confirmed", "\x1b[32m"},
    Paint{"done", "\x1b[32m"},         Paint{"degraded", "\x1b[33m"},
    Paint{"not-reported", "\x1b[33m"}, Paint{"stale", "\x1b[33m"},
    Paint{"deprecated", "\x1b[33m"},   Paint{"unresolvable", "\x1b[31m"},
    Paint{"contradicted", "\x1b[31m"}, Paint{"refused", "\x1b[31m"},
    Paint{"unchecked", "\x1b[2m"},     Paint{"deleted", "\x1b[2m"}};

// Below this a column that wraps is a ladder of single words.
constexpr size_t kNarrowest = 24;
constexpr size_t kBetween = 2;

// Which columns stay: the most needed first, each if it still fits. One that is too wide does not
// drive out the narrow ones after it; one without a single value stays only where all others do.
std::vector<size_t> fitting(const std::vector<Column>& columns, const std::vector<size_t>& widths,
                            const std::vector<bool>& filled, size_t most) {
  constexpr int kLast = 1000;
  std::vector<size_t> by_need(columns.size());
  std::iota(by_need.begin(), by_need.end(), size_t{0});
  const auto need = [&](size_t i) {
    return columns[i].wraps || columns[i].drop == 0 ? 0 : columns[i].drop + (filled[i] ? 0 : kLast);
  };
  std::ranges::stable_sort(by_need, {}, need);
  std::vector<size_t> kept;
  size_t used = 0;
  bool dropped = false;
  for (const size_t i : by_need) {
    const size_t with = used + widths[i] + (kept.empty() ? 0 : kBetween);
    const bool too_wide = need(i) != 0 && most != 0 && with > most;
    if (too_wide || (dropped && need(i) >= kLast)) {
      dropped = true;
      continue;
    }
    kept.push_back(i);
    used = with;
  }
  std::ranges::sort(kept);
  return kept;
}

// Columns that wrap share what the others leave: those that need less than their share first.
void share_the_rest(const std::vector<Column>& columns, const std::vector<size_t>& kept,
                    const std::vector<size_t>& wanted, size_t most, std::vector<size_t>& widths) {
  std::vector<size_t> wrapping;
  size_t used = kept.empty() ? 0 : (kept.size() - 1) * kBetween;
  for (const size_t i : kept) {
    if (columns[i].wraps) wrapping.push_back(i);
    used += columns[i].wraps ? 0 : widths[i];
  }
  std::ranges::sort(wrapping, {}, [&](size_t i) { return wanted[i]; });
  size_t rest = most > used ? most - used : 0;
  for (size_t n = 0; n < wrapping.size(); ++n) {
    const size_t i = wrapping[n];
    const size_t share = rest / (wrapping.size() - n);
    widths[i] = std::max(widths[i], std::min(wanted[i], share));
    rest -= std::min(rest, widths[i]);
  }
}

// Whole words: a line ends at a blank or after a comma. A word that is longer than the line stands
// alone and sticks out.
std::vector<std::string> wrapped(const std::string& text, size_t width) {
  std::vector<std::string> lines(1);
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find_first_of(" ,", at);
    end = end == std::string::npos ? text.size() : end + (text[end] == ',' ? 1 : 0);
    const bool blank = end == at;
    const std::string word = text.substr(at, blank ? 1 : end - at);
    if (display_width(lines.back()) + display_width(word) > width && !lines.back().empty()) {
      while (lines.back().ends_with(' ')) lines.back().pop_back();
      lines.emplace_back();
    }
    if (!blank || !lines.back().empty()) lines.back() += word;
    at += word.size();
  }
  return lines;
}

std::string without_trailing_blanks(std::string line) {
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

struct Layout {
  const std::vector<size_t>& kept;
  const std::vector<size_t>& widths;
  const Screen& screen;
};

std::string line_of(const std::vector<std::string>& texts, const Layout& layout) {
  std::string line;
  for (const size_t i : layout.kept) {
    const size_t width = display_width(texts[i]);
    std::string padded = texts[i];
    if (i != layout.kept.back()) {
      padded.append(std::max(layout.widths[i], width) - width + kBetween, ' ');
    }
    line += painted(texts[i], padded, layout.screen);
  }
  return without_trailing_blanks(std::move(line)) + '\n';
}

// A row is as many lines as its longest sentence needs.
std::string lines_of(const std::vector<std::string>& row, const std::vector<Column>& columns,
                     const Layout& layout) {
  std::vector<std::vector<std::string>> lines(1, std::vector<std::string>(row.size()));
  for (const size_t i : layout.kept) {
    const auto parts =
        columns[i].wraps ? wrapped(row[i], layout.widths[i]) : std::vector<std::string>{row[i]};
    if (parts.size() > lines.size())
      lines.resize(parts.size(), std::vector<std::string>(row.size()));
    for (size_t n = 0; n < parts.size(); ++n) lines[n][i] = parts[n];
  }
  std::string out;
  for (const auto& texts : lines) out += line_of(texts, layout);
  return out;
}

}  // namespace

std::string wrap(const std::string& text, size_t columns) {
  constexpr size_t kIndent = 2;
  if (columns <= 2 * kIndent || display_width(text) <= columns) return text;
  std::string out;
  for (const std::string& line : wrapped(text, columns - kIndent)) {
    if (!out.empty()) out += "\n  ";
    out += line;
  }
  return out;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    at += std::max<size_t>(1, point.length);
    if (point.value < 0x300) {
      ++width;
    } else if (!within(kNoWidth, point.value)) {
      width += within(kWide, point.value) ? 2 : 1;
    }
  }
  return width;
}

std::string painted(std::string_view word, std::string_view padded, const Screen& screen) {
  word = word.substr(0, word.find(" ("));  // "degraded (2 of 4)"
  const auto* paint = std::ranges::find(kPaints, word, &Paint::word);
  if (!screen.colour || paint == kPaints.end()) return std::string(padded);
  std::string text(paint->colour);
  text += word;
  text += "\x1b[0m";
  text += padded.substr(word.size());
  return text;
}

std::string lay_out(const Table& table, const Screen& screen) {
  std::vector<size_t> headers;
  for (const Column& column : table.columns) headers.push_back(display_width(column.header));
  std::vector<size_t> wanted = headers;
  std::vector<bool> filled(wanted.size(), false);
  std::vector<std::vector<std::string>> cells;
  for (const auto& row : table.rows) {
    auto& line = cells.emplace_back();
    for (size_t i = 0; i < wanted.size(); ++i) {
      line.push_back(i < row.size() && !row[i].empty() ? printable(row[i]) : "-");
      wanted[i] = std::max(wanted[i], display_width(line[i]));
      if (line[i] != "-") filled[i] = true;
    }
  }
  std::vector<size_t> widths = wanted;
  for (size_t i = 0; i < widths.size() && screen.columns != 0; ++i) {
    if (table.columns[i].wraps) widths[i] = std::min(wanted[i], std::max(headers[i], kNarrowest));
  }
  const std::vector<size_t> kept = fitting(table.columns, widths, filled, screen.columns);
  if (screen.columns != 0) share_the_rest(table.columns, kept, wanted, screen.columns, widths);
  const Layout layout{kept, widths, screen};
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(column.header);
  std::string out = line_of(names, layout);
  for (const auto& row : cells) out += lines_of(row, table.columns, layout);
  return out;
}

}  // namespace exa
