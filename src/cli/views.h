// How the table formats show each route's reply, as data: which part of the JSON, which columns,
// what to say when there is nothing. A route without a row is shown by its keys.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace exa {

enum class Show {
  text,
  age,
  bytes,
  milli,
  list,
  yes_no,
  short_number,  // at most two decimals, cut, so that no more is promised than there is
  cost,          // the same; "unpriced" where nobody set a price, so that it never looks free
  devices,       // of a list of card sets: "2/8", used of whole devices
  statuses,      // of a list of resolutions: the worst and of how many; wide: each with its cluster
};

struct ViewColumn {
  std::string_view header;
  std::string_view pointer;  // in an item; several with '|' between: the first that is there
  Show show = Show::text;
  int drop = 0;  // as in Column
  bool wide_only = false;
  bool wraps = false;     // as in Column: a sentence
  bool when_any = false;  // left out when no row has it
};

struct ViewTable {
  std::string_view title;    // a line above; empty: none
  std::string_view pointer;  // of the array, or of an object shown as one row
  std::vector<ViewColumn> columns;
  // beyond so many rows (0: never) this line stands for them, unless the format is wide
  size_t most = 0;
  std::string (*summary)(const json::value& body) = nullptr;
};

struct View {
  std::string_view route;
  std::string (*headline)(const json::value& body) = nullptr;            // empty result: no line
  std::vector<std::string> (*below)(const json::value& body) = nullptr;  // lines under the headline
  std::vector<ViewTable> tables;
  std::vector<std::string_view> hidden;  // pointers that the record leaves out
  bool record = false;                   // the other keys as `key: value` lines
  std::string_view empty;                // what to do next when the first table has no rows
  bool wraps = false;                    // the headline and the lines below it are sentences
  std::string_view prints;  // a text of the reply that is the answer: printed as it stands
  bool verbatim = false;    // the document is the purpose (a capture, a bundle): never a table
};

const View* find_view(std::string_view route);

// How many of a list of resolutions have each status, the worst first.
std::vector<std::pair<std::string, size_t>> count_statuses(const json::value& resolutions);

}  // namespace exa
