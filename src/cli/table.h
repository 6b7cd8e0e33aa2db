// Columns as a person expects them of kubectl: two blanks between, no frames, and never a value
// cut: when the terminal is too narrow, sentences go on below themselves and the least needed of
// the other columns go.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace exa {

struct Column {
  std::string header;  // no blanks in it
  int drop = 0;        // 0: always shown; else the lowest stays longest
  bool wraps = false;  // never dropped: what does not fit stands in further lines, whole words
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // any text: it is made printable here
};

struct Screen {
  size_t columns = 80;  // 0: as wide as it gets
  bool colour = false;
};

std::string lay_out(const Table& table, const Screen& screen);

// Cells on a terminal: wide characters count two, combining marks none.
// A sentence in lines of at most `columns` (0: one line), whole words, each line after the first
// indented. A word that is longer than the line sticks out.
std::string wrap(const std::string& text, size_t columns);

size_t display_width(std::string_view text);
// A status word in its colour where colours are wanted; the word itself says everything.
std::string painted(std::string_view word, std::string_view padded, const Screen& screen);

}  // namespace exa
