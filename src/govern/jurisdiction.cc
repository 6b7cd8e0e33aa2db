#include "govern/jurisdiction.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

constexpr size_t kLongestRegion = 63;
constexpr size_t kLongestCode = 32;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_region_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestRegion && is_plain(text.front()) &&
         std::ranges::all_of(text, [](char c) {
           return is_plain(c) || c == '-' || c == '_' || c == '.' || c == ' ';
         });
}

auto row_of(auto& rows, std::string_view region) {
  return std::ranges::lower_bound(rows, region, {},
                                  [](const auto& row) -> std::string_view { return row.region; });
}

}  // namespace

bool is_jurisdiction_code(std::string_view text) {
  return text.size() >= 2 && text.size() <= kLongestCode && text.front() >= 'a' &&
         text.front() <= 'z' &&
         std::ranges::all_of(text, [](char c) { return is_plain(c) || c == '-'; });
}

std::optional<std::string_view> jurisdiction_of(const JurisdictionTable& table,
                                                std::string_view region) {
  const std::string wanted = lower(region);
  if (const auto row = row_of(table.rows, wanted);
      row != table.rows.end() && row->region == wanted) {
    if (row->jurisdiction.empty()) return std::nullopt;
    return row->jurisdiction;
  }
  const auto shipped = shipped_regions();
  const auto row = row_of(shipped, wanted);
  if (row == shipped.end() || row->region != wanted) return std::nullopt;
  return row->jurisdiction;
}

Result<JurisdictionTable> with_region(JurisdictionTable table, std::string_view region,
                                      std::string_view jurisdiction) {
  const std::string name = lower(trim(region));
  const std::string code = lower(trim(jurisdiction));
  std::vector<Problem> problems;
  if (!is_region_name(name)) {
    problems.push_back(
        {"/region", fmt::format("\"{}\" is not a region name such as eu-west-1", printable(region)),
         ""});
  }
  if (!code.empty() && !is_jurisdiction_code(code)) {
    problems.push_back(
        {"/jurisdiction",
         fmt::format("\"{}\" is not a jurisdiction; write a code such as eu, uk or us",
                     printable(jurisdiction)),
         ""});
  }
  if (!problems.empty()) return fail(invalid("region", std::move(problems)));
  const auto at = row_of(table.rows, name);
  if (at != table.rows.end() && at->region == name)
    at->jurisdiction = code;
  else
    table.rows.insert(at, {name, code});
  return table;
}

Result<JurisdictionTable> without_region(JurisdictionTable table, std::string_view region) {
  const std::string name = lower(trim(region));
  const auto at = row_of(table.rows, name);
  if (at == table.rows.end() || at->region != name) {
    return fail(Code::not_found, fmt::format("region '{}' is not written over", printable(region)));
  }
  table.rows.erase(at);
  return table;
}

json::object to_json(const RegionRow& row) {
  return {{"region", row.region},
          {"jurisdiction",
           row.jurisdiction.empty() ? json::value(nullptr) : json::value(row.jurisdiction)}};
}

}  // namespace exa
