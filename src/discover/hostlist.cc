#include "discover/hostlist.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

// One number of a bracket, or a run of them; `width` keeps leading zeros.
struct Range {
  int64_t low = 0;
  int64_t high = 0;
  size_t width = 0;

  size_t size() const { return static_cast<size_t>(high - low) + 1; }
};

// A name is literal text and brackets in turn: text, bracket, text, bracket, …
struct Pattern {
  std::vector<std::string_view> literals;
  std::vector<std::vector<Range>> brackets;
};

constexpr size_t kMostDigits = 15;    // fits int64 with room for arithmetic
constexpr size_t kMostBrackets = 16;  // in one name; Slurm itself allows far fewer

std::optional<int64_t> number(std::string_view digits) {
  int64_t value = 0;
  if (digits.empty() || digits.size() > kMostDigits) return std::nullopt;
  const char* end = digits.data() + digits.size();
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
  }
  const auto [stop, status] = std::from_chars(digits.data(), end, value);
  if (status != std::errc{} || stop != end) return std::nullopt;
  return value;
}

Failure bad(std::string_view text, std::string_view why) {
  return fail(Code::invalid_input,
              fmt::format("host list \"{}\": {}", printable(text.substr(0, 80)), why));
}

Result<Range> parse_range(std::string_view text, std::string_view whole) {
  const size_t dash = text.find('-');
  const std::string_view low_text = text.substr(0, dash);
  const std::string_view high_text =
      dash == std::string_view::npos ? low_text : text.substr(dash + 1);
  const auto low = number(low_text);
  const auto high = number(high_text);
  if (!low || !high) return bad(whole, "a range needs a number at both ends");
  if (*high < *low) return bad(whole, "a range runs backward");
  return Range{*low, *high, low_text.size()};
}

Result<Pattern> parse_pattern(std::string_view text, std::string_view whole) {
  Pattern pattern;
  size_t at = 0;
  while (true) {
    const size_t open = text.find('[', at);
    const std::string_view literal =
        text.substr(at, open == std::string_view::npos ? open : open - at);
    if (literal.find(']') != std::string_view::npos) return bad(whole, "a ] has no [");
    pattern.literals.push_back(literal);
    if (open == std::string_view::npos) break;
    const size_t close = text.find(']', open);
    if (close == std::string_view::npos) return bad(whole, "a [ has no ]");
    if (pattern.brackets.size() == kMostBrackets) return bad(whole, "too many brackets in a name");
    std::vector<Range> ranges;
    for (const std::string_view part : split(text.substr(open + 1, close - open - 1), ',')) {
      EXA_ASSIGN(const Range range, parse_range(part, whole));
      ranges.push_back(range);
    }
    pattern.brackets.push_back(std::move(ranges));
    at = close + 1;
  }
  if (pattern.brackets.empty() && trim(text).empty()) return bad(whole, "an empty name");
  return pattern;
}

// How many names, or nullopt when more than `most`.
std::optional<size_t> size_of(const Pattern& pattern, size_t most) {
  size_t product = 1;
  for (const auto& ranges : pattern.brackets) {
    size_t sum = 0;
    for (const Range& range : ranges) {
      if (range.size() > most - sum) return std::nullopt;
      sum += range.size();
    }
    if (sum > most / product) return std::nullopt;
    product *= sum;
  }
  return product <= most ? std::optional(product) : std::nullopt;
}

void append_names(const Pattern& pattern, size_t bracket, const std::string& so_far,
                  std::vector<std::string>& out) {
  const std::string prefix = so_far + std::string(pattern.literals[bracket]);
  if (bracket == pattern.brackets.size()) {
    out.push_back(prefix);
    return;
  }
  for (const Range& range : pattern.brackets[bracket]) {
    for (int64_t n = range.low; n <= range.high; ++n) {
      append_names(pattern, bracket + 1, fmt::format("{}{:0{}}", prefix, n, range.width), out);
    }
  }
}

// Commas inside brackets belong to the bracket.
Result<std::vector<std::string_view>> split_outside_brackets(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t start = 0;
  bool inside = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') {
      if (inside) return bad(text, "a [ inside a [");
      inside = true;
    } else if (text[i] == ']') {
      inside = false;
    } else if (text[i] == ',' && !inside) {
      parts.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  parts.push_back(text.substr(start));
  return parts;
}

struct Split {
  std::string_view prefix;
  std::string_view digits;  // empty: no number that can be ranged over
  std::string_view suffix;
};

Split split_at_last_number(std::string_view name) {
  size_t end = name.size();
  while (end > 0 && (name[end - 1] < '0' || name[end - 1] > '9')) --end;
  size_t begin = end;
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
  if (end - begin > kMostDigits) begin = end;
  return {name.substr(0, begin), name.substr(begin, end - begin), name.substr(end)};
}

std::string compress_numbers(std::vector<std::string_view> digits) {
  std::ranges::sort(digits, [](std::string_view a, std::string_view b) {
    const auto x = number(a);
    const auto y = number(b);
    return x != y ? *x < *y : a < b;
  });
  std::vector<std::pair<std::string_view, std::string_view>> runs;
  for (const std::string_view text : digits) {
    if (!runs.empty()) {
      auto& [low, high] = runs.back();
      const int64_t next = *number(high) + 1;
      // part of the run only if expanding with the width of its first number spells it the same
      if (*number(text) == next && fmt::format("{:0{}}", next, low.size()) == text) {
        high = text;
        continue;
      }
    }
    runs.emplace_back(text, text);
  }
  std::vector<std::string> parts;
  for (const auto& [low, high] : runs) {
    parts.push_back(low == high ? std::string(low) : fmt::format("{}-{}", low, high));
  }
  if (runs.size() == 1 && runs[0].first == runs[0].second) return parts[0];
  return "[" + join(parts, ",") + "]";
}

}  // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view text, size_t most) {
  std::vector<Pattern> patterns;
  size_t total = 0;
  EXA_ASSIGN(const auto parts, split_outside_brackets(text));
  for (const std::string_view part : parts) {
    EXA_ASSIGN(Pattern pattern, parse_pattern(part, text));
    const auto size = size_of(pattern, most - total);
    if (!size) return bad(text, fmt::format("more than {} names", most));
    total += *size;
    patterns.push_back(std::move(pattern));
  }
  std::vector<std::string> names;
  names.reserve(total);
  for (const Pattern& pattern : patterns) append_names(pattern, 0, "", names);
  return names;
}

std::string compress_hostlist(std::span<const std::string> names) {
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());

  std::map<std::pair<std::string_view, std::string_view>, std::vector<std::string_view>> groups;
  std::vector<std::string> parts;
  for (const std::string_view name : sorted) {
    const Split at = split_at_last_number(name);
    if (at.digits.empty()) {
      parts.emplace_back(name);
    } else {
      groups[{at.prefix, at.suffix}].push_back(at.digits);
    }
  }
  for (auto& [around, digits] : groups) {
    parts.push_back(
        fmt::format("{}{}{}", around.first, compress_numbers(std::move(digits)), around.second));
  }
  std::ranges::sort(parts);
  return join(parts, ",");
}

}  // namespace exa
