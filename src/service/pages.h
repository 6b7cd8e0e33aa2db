// Lists of a project's documents, newest first, a page at a time.
#pragma once

#include <string>
#include <string_view>

#include "service/service.h"

namespace exa {

struct Page {
  std::string project;
  std::string after;  // where the page before stopped, as its next_cursor says; empty: the first
  int64_t limit = 50;
};

// Documents (spec) of a table, each made an item by `item`. `time` is the column that orders them;
// `condition` narrows the rows further (SQL without parameters; empty: none).
using DocumentItem = std::function<Result<json::object>(const json::value& spec)>;
Result<Answer> newest_first(Service& service, const Page& page, std::string_view table,
                            std::string_view time, std::string_view condition,
                            const DocumentItem& item);

}  // namespace exa
