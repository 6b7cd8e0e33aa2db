#include "base/text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace exa {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n\f\v";
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char lower_char(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

bool hides_text(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F || c == 0x2028 || c == 0x2029;
}

// Optimal string alignment distance: a swap of neighbours is one mistake, as in typing.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + cost});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, row);
  }
  return previous[b.size()];
}

}  // namespace

CodePoint code_point_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(at);
  if (first < 0x80) return {first, 1};
  const size_t length = first >= 0xF0 && first <= 0xF4 ? 4
                        : first >= 0xE0                ? 3
                        : first >= 0xC2                ? 2
                                                       : 0;
  if (length == 0 || first > 0xF4 || at + length > text.size()) return {};
  uint32_t value = first & (0xFFU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(at + i) & 0x3FU);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  if (overlong || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {};
  return {value, length};
}

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kWhiteSpace) - first + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), lower_char);
  return result;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t end = text.find(separator); end != std::string_view::npos;
       end = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts.begin(), parts.end(), separator));
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::ranges::equal(text.substr(0, prefix.size()), prefix, {}, lower_char, lower_char);
}

bool is_valid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = code_point_at(text, at).length;
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (point.length == 0 || (hides_text(point.value) && point.length == 1)) {
      result += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[at]));
      ++at;
    } else if (hides_text(point.value)) {
      result += fmt::format("\\u{:04x}", point.value);
      at += point.length;
    } else {
      result += text.substr(at, point.length);
      at += point.length;
    }
  }
  return result;
}

std::vector<std::string> close_matches(std::string_view word,
                                       std::span<const std::string> candidates) {
  constexpr size_t kLongestSlip =
      64;  // longer words are no slips, and comparing them takes its time
  if (word.size() > kLongestSlip) return {};
  const std::string wanted = lower(word);
  const size_t most = std::max<size_t>(1, wanted.size() / 3);
  std::vector<std::pair<size_t, std::string>> close;
  for (const std::string& candidate : candidates) {
    const std::string known = lower(candidate);
    size_t far = distance(wanted, known);
    // a word cut short ("work" for workbench) is close too, though many letters are missing
    if (wanted.size() >= 3 && known.starts_with(wanted)) far = std::min<size_t>(far, 1);
    if (far <= most) close.emplace_back(far, candidate);
  }
  std::ranges::sort(close);
  std::vector<std::string> result;
  for (auto& [far, candidate] : close) {
    if (result.size() < 3 && std::ranges::find(result, candidate) == result.end()) {
      result.push_back(std::move(candidate));
    }
  }
  return result;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::vector<std::string> close = close_matches(word, candidates);
  return close.empty() ? std::string() : fmt::format("did you mean {}?", join(close, " or "));
}

std::string hex(std::span<const uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result;
  result.reserve(bytes.size() * 2);
  for (const uint8_t byte : bytes) {
    result += kDigits[byte >> 4];
    result += kDigits[byte & 15];
  }
  return result;
}

std::string base64(std::span<const uint8_t> bytes) {
  std::string result;
  result.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = (group << 8) | (k < count ? bytes[i + k] : 0U);
    for (size_t k = 0; k < 4; ++k) {
      result += k <= count ? kBase64[(group >> (18 - 6 * k)) & 63] : '=';
    }
  }
  return result;
}

bool decode_base64(std::string_view text, std::vector<uint8_t>& out) {
  out.clear();
  if (text.size() % 4 != 0) return false;
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  uint32_t group = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool pad = i >= text.size() - padding;
    const size_t value = pad ? 0 : kBase64.find(text[i]);
    if (value == std::string_view::npos) return false;
    group = (group << 6) | static_cast<uint32_t>(value);
    if (i % 4 != 3) continue;
    const size_t keep = i + 1 == text.size() ? 3 - padding : 3;
    // bits that the padding says are absent must be zero, or two texts would mean the same bytes
    if ((group & ((1U << (8 * (3 - keep))) - 1)) != 0) return false;
    for (size_t k = 0; k < keep; ++k) out.push_back(static_cast<uint8_t>(group >> (16 - 8 * k)));
    group = 0;
  }
  return true;
}

}  // namespace exa
