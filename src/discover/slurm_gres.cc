#include "discover/slurm_gres.h"

#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "discover/plausible.h"

namespace exa {
namespace {

Failure unreadable(std::string_view entry) {
  return fail(Code::unreadable_output, fmt::format("resource \"{}\" is not name[:type]:count",
                                                   printable(entry.substr(0, 80))));
}

bool is_word(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!plain && std::string_view("._-+/ ").find(c) == std::string_view::npos) return false;
  }
  return true;
}

// name[:type][:no_consume][:count], with the parentheses taken off.
Result<Gres> parse_entry(std::string_view entry, MissingCount missing) {
  Gres gres;
  std::string_view head = entry;
  if (head.ends_with(')')) {
    const size_t open = head.rfind('(');
    if (open == std::string_view::npos) return unreadable(entry);
    gres.detail = head.substr(open + 1, head.size() - open - 2);
    head = head.substr(0, open);
  }
  const size_t colon = head.find(':');
  gres.name = head.substr(0, colon);
  if (!is_word(gres.name)) return unreadable(entry);
  std::string_view rest = colon == std::string_view::npos ? "" : head.substr(colon + 1);

  const size_t last = rest.rfind(':');
  const std::string_view amount = last == std::string_view::npos ? rest : rest.substr(last + 1);
  const auto count = is_unset_amount(amount) ? 0 : parse_gres_amount(amount);
  if (count) {
    gres.count = *count;
    gres.unset = is_unset_amount(amount);
    rest = last == std::string_view::npos ? "" : rest.substr(0, last);
  } else if (missing == MissingCount::is_one) {
    gres.count = 1;
  } else {
    return unreadable(entry);
  }
  constexpr std::string_view kNoConsume = "no_consume";
  if (rest == kNoConsume) {
    rest = "";
  } else if (rest.ends_with(":no_consume")) {
    rest.remove_suffix(kNoConsume.size() + 1);
  }
  if (rest == "(null)") rest = "";  // older releases print a missing type like this
  const bool has_type = !rest.empty();
  if (has_type && !is_word(rest)) return unreadable(entry);
  if (!has_type && !count && colon != std::string_view::npos) return unreadable(entry);
  gres.type = rest;
  return gres;
}

}  // namespace

bool says_nothing(std::string_view text) {
  return text.empty() || text == "(null)" || text == "N/A" || text == "n/a";
}

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && starts_with_ignoring_case(a, b);
}

bool is_unset_amount(std::string_view text) {
  if (text == "-1" || text == "-2") return true;
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  return status == std::errc{} && stop == end && is_unset_number(value);
}

std::optional<int64_t> parse_gres_amount(std::string_view text) {
  constexpr std::string_view kUnits = "KMGTP";
  // more than any node has of anything; sums over the entries of a node stay below int64
  constexpr int64_t kMostUnits = int64_t{1} << 44;
  int64_t factor = 1;
  if (!text.empty()) {
    const size_t unit = kUnits.find(text.back());
    if (unit != std::string_view::npos) {
      for (size_t i = 0; i <= unit; ++i) factor *= 1024;
      text.remove_suffix(1);
    }
  }
  int64_t count = 0;
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, count);
  if (status != std::errc{} || stop != end) return std::nullopt;
  if (count > kMostUnits / factor) return std::nullopt;
  return count * factor;
}

Result<std::vector<Gres>> parse_gres(std::string_view text, MissingCount missing) {
  std::vector<Gres> entries;
  if (says_nothing(text)) return entries;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    // commas inside parentheses list device numbers: "gpu:a100:2(IDX:0,2)"
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    EXA_ASSIGN(const Gres gres, parse_entry(text.substr(start, i - start), missing));
    entries.push_back(gres);
    start = i + 1;
  }
  return entries;
}

Result<TresGres> parse_tres_gres(std::string_view text) {
  TresGres tres{.known = true, .entries = {}};
  if (says_nothing(text)) return tres;
  for (const std::string_view part : split(text, ',')) {
    constexpr std::string_view kPrefix = "gres/";
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return fail(Code::unreadable_output,
                  fmt::format("\"{}\" is not name=amount", printable(part.substr(0, 80))));
    }
    if (!part.starts_with(kPrefix)) continue;
    const std::string_view text_of_amount = part.substr(equals + 1);
    const bool unset = is_unset_amount(text_of_amount);
    const auto amount = unset ? 0 : parse_gres_amount(text_of_amount);
    if (!amount) {
      return fail(Code::unreadable_output, fmt::format("the amount of \"{}\" is not a number",
                                                       printable(part.substr(0, 80))));
    }
    const std::string_view key = part.substr(kPrefix.size(), equals - kPrefix.size());
    const size_t colon = key.find(':');
    tres.entries.push_back({key.substr(0, colon),
                            colon == std::string_view::npos ? "" : key.substr(colon + 1), *amount,
                            unset, ""});
  }
  return tres;
}

}  // namespace exa
