// Small text functions that several folders need.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace exa {

std::string_view trim(std::string_view text);  // ASCII white space at both ends
std::string lower(std::string_view text);      // ASCII
std::vector<std::string_view> split(std::string_view text, char separator);  // keeps empty parts
std::string join(std::span<const std::string> parts, std::string_view separator);
bool starts_with_ignoring_case(std::string_view text, std::string_view prefix);
bool is_valid_utf8(std::string_view text);

// One UTF-8 sequence at byte `at`: its code point and length in bytes; length 0 when malformed.
struct CodePoint {
  uint32_t value = 0;
  size_t length = 0;
};
CodePoint code_point_at(std::string_view text, size_t at);

// For a terminal or a log line: control characters (C0, C1, DEL, bidi overrides) as \xNN, so that
// data from elsewhere cannot move the cursor or hide text.
std::string printable(std::string_view text);

// The candidates that are close to `word` by edit distance (at most a third of its length, at least
// one), nearest first, at most three.
std::vector<std::string> close_matches(std::string_view word,
                                       std::span<const std::string> candidates);
// "did you mean A or B?", or empty.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

std::string hex(std::span<const uint8_t> bytes);
std::string base64(std::span<const uint8_t> bytes);  // RFC 4648 with padding
bool decode_base64(std::string_view text,
                   std::vector<uint8_t>& out);  // strict; false when malformed

}  // namespace exa
