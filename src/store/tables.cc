#include "store/tables.h"

#include <algorithm>

#include "base/text.h"

namespace exa {
namespace {

constexpr std::string_view kCreate = "CREATE TABLE ";
constexpr std::string_view kPrimaryKey = "PRIMARY KEY";

std::string without_comments(std::string_view sql) {
  std::string text;
  for (const std::string_view line : split(sql, '\n')) {
    text += line.substr(0, line.find("--"));
    text += '\n';
  }
  return text;
}

// "a, b (c, d), e" at its outer commas.
std::vector<std::string_view> parts_of(std::string_view body) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] == '(') ++depth;
    if (body[i] == ')') --depth;
    if (body[i] != ',' || depth != 0) continue;
    parts.push_back(trim(body.substr(begin, i - begin)));
    begin = i + 1;
  }
  parts.push_back(trim(body.substr(begin)));
  return parts;
}

size_t closing(std::string_view sql, size_t opening) {
  int depth = 0;
  for (size_t i = opening; i < sql.size(); ++i) {
    if (sql[i] == '(') ++depth;
    if (sql[i] == ')' && --depth == 0) return i;
  }
  return sql.size();
}

bool is_constraint(std::string_view part) {
  constexpr std::string_view kWords[] = {"PRIMARY ", "FOREIGN ", "UNIQUE ",    "CHECK ",
                                         "UNIQUE(",  "CHECK(",   "CONSTRAINT "};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return part.starts_with(word); });
}

TableKey table_of(std::string_view name, std::string_view body) {
  TableKey table{std::string(trim(name)), {}, {}};
  std::vector<std::string> columns;
  for (const std::string_view part : parts_of(body)) {
    if (!is_constraint(part)) {
      columns.emplace_back(part.substr(0, part.find(' ')));
      if (part.find(kPrimaryKey) != std::string_view::npos) table.columns = {columns.back()};
    } else if (part.starts_with(kPrimaryKey)) {
      const size_t open = part.find('(');
      for (const std::string_view column :
           parts_of(part.substr(open + 1, closing(part, open) - open - 1)))
        table.columns.emplace_back(column);
    }
  }
  for (const std::string& column : table.columns)
    table.places.push_back(
        static_cast<size_t>(std::ranges::find(columns, column) - columns.begin()));
  return table;
}

}  // namespace

std::vector<TableKey> tables_of(std::span<const Migration> migrations) {
  std::vector<TableKey> tables;
  for (const Migration& migration : migrations) {
    const std::string text = without_comments(migration.sql);
    const std::string_view sql = text;
    for (size_t at = sql.find(kCreate); at != std::string_view::npos; at = sql.find(kCreate, at)) {
      const size_t open = sql.find('(', at);
      const size_t close = closing(sql, open);
      at += kCreate.size();
      tables.push_back(table_of(sql.substr(at, open - at), sql.substr(open + 1, close - open - 1)));
      at = close;
    }
  }
  return tables;
}

}  // namespace exa
