// Patterns that an admin writes for an input's text. A small subset of regular expressions that
// means the same to JSON Schema (ECMA-262), to Python and here, and that is matched in time linear
// in the text: an expression that others wrote never makes the server backtrack. Pure.
//
//   ^ … $          both are required and stand nowhere else: the whole text is meant
//   abc            printable ASCII stands for itself
//   \. \\ \[ …     one of \ ^ $ . * + ? ( ) [ ] { } | / as a character
//   \d \w          0-9; letters, digits and _ of ASCII
//   .              any character but the ends of lines
//   [a-z_] [^0-9]  classes of ASCII characters and ranges, \d and \w inside; '-' first, last or \-
//   (a|b)          groups; alternatives stand in a group ("^a|b$" would mean something else)
//   * + ? {3} {1,8} {2,}   after a character, class or group; counts to 1,000
//
// Anything else (look-around, references, \b, \s, \p{…}, lazy quantifiers) is refused by name.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace exa {

inline constexpr size_t kLongestPattern = 256;

struct AnchoredPattern {
  struct Characters {
    std::bitset<128> ascii;
    bool others = false;  // every code point beyond ASCII
  };
  struct Step {
    enum class Kind : uint8_t { characters, split, jump, done } kind = Kind::done;
    uint32_t a = 0;  // characters: which of `sets`; split and jump: where to
    uint32_t b = 0;  // split: or where to
  };
  std::vector<Step> steps;
  std::vector<Characters> sets;
};

// Fails with invalid_input, saying at which character.
Result<AnchoredPattern> compile_pattern(std::string_view text);

// Whether the whole text matches. Malformed UTF-8 never does.
bool matches(const AnchoredPattern& pattern, std::string_view text);

}  // namespace exa
