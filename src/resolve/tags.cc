#include "resolve/tags.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

struct Tag {
  std::string product;  // lower case
  std::string version;  // empty: any
};

// What people call the products that probes report under another name.
struct OtherName {
  std::string_view written;
  std::string_view product;
};
constexpr std::array kOtherNames = {
    OtherName{"driver", "nvidia-driver"},
    OtherName{"nvidia", "nvidia-driver"},
    OtherName{"amdgpu", "amdgpu-driver"},
    OtherName{"synapse", "synapseai"},
};

std::string product_name(std::string_view text) {
  const std::string name = lower(text);
  const auto* other = std::ranges::find(kOtherNames, name, &OtherName::written);
  return other == kOtherNames.end() ? name : std::string(other->product);
}

// The version begins at the first '-' that a digit follows: nvidia-driver-550.54.
Tag parse_tag(std::string_view text) {
  for (size_t at = text.find('-'); at != std::string_view::npos; at = text.find('-', at + 1)) {
    if (at + 1 < text.size() && is_digit(text[at + 1]))
      return {product_name(text.substr(0, at)), std::string(text.substr(at + 1))};
  }
  return {product_name(text), ""};
}

// The numbers of a dotted version; nullopt when something else is in it ("12.4rc1").
std::optional<std::vector<int64_t>> numbers_of(std::string_view version) {
  std::vector<int64_t> numbers;
  for (const std::string_view part : split(version, '.')) {
    int64_t number = 0;
    const char* end = part.data() + part.size();
    const auto [stop, status] = std::from_chars(part.data(), end, number);
    if (part.empty() || !is_digit(part.front()) || status != std::errc{} || stop != end)
      return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

Match compare_versions(std::string_view asked_text, std::string_view seen_text) {
  if (asked_text.empty() || asked_text == seen_text) return Match::confirmed;
  const auto asked = numbers_of(asked_text);
  const auto seen = numbers_of(seen_text);
  if (!asked || !seen) return Match::not_reported;
  for (size_t i = 0; i < asked->size(); ++i) {
    if (i >= seen->size()) return Match::not_reported;
    if ((*seen)[i] != (*asked)[i])
      return (*seen)[i] > (*asked)[i] ? Match::confirmed : Match::contradicted;
  }
  return Match::confirmed;
}

// With several versions of one product the best counts: both can be used.
Match better(Match a, Match b) {
  if (a == Match::confirmed || b == Match::confirmed) return Match::confirmed;
  return a == Match::not_reported || b == Match::not_reported ? Match::not_reported
                                                              : Match::contradicted;
}

}  // namespace

TagVerdict match_driver(std::string_view text, const std::vector<Software>& software) {
  const Tag tag = parse_tag(text);
  std::optional<Match> match;
  std::vector<std::string> observed;
  for (const Software& row : software) {
    if (product_name(row.product) != tag.product) continue;
    const Match one = compare_versions(tag.version, row.version);
    match = match ? better(*match, one) : one;
    observed.push_back(fmt::format("{} {}", row.product, row.version));
  }
  return {match.value_or(Match::not_reported), join(observed, ", ")};
}

}  // namespace exa
