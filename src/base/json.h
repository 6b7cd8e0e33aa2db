// JSON as exa reads and writes it: strict in (duplicate keys, depth, size, NaN refused, every
// problem with its pointer), stable out (keys in the order they were built, numbers without an
// exponent where a person would write none).
#pragma once

#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "base/error.h"

namespace exa {

namespace json = boost::json;

struct ReadLimits {
  size_t max_bytes = size_t{1} << 20;
  size_t max_depth = 64;
  size_t max_nodes = 10'000;
};

// Limits for what a tool or API server of the operator prints (up to 1 GiB, 100 M values).
ReadLimits tool_output_limits();

// A document of exactly one value. `what` names it in errors ("request body", "profile.json").
Result<json::value> parse_json(std::string_view text, std::string_view what,
                               ReadLimits limits = {});

// Compact text; doubles in shortest form ("0.5", not "5E-1"). Never fails: non-finite numbers
// cannot be built from checked values and are asserted against.
std::string to_text(const json::value& value);
std::string to_pretty_text(const json::value& value);  // two blanks of indentation, final newline

// RFC 8785-style canonical text for hashing: keys sorted by code unit, compact, integers and
// shortest doubles.
std::string to_canonical_text(const json::value& value);

// A JSON number from thousandths or from decimal text: integral values become integers.
json::value number_from_milli(int64_t milli);
json::value number_from_text(std::string_view decimal);

// Reading with defaults; none of these throws. What they return lies inside what they were given:
// a temporary (which an object turned into a value would be) is refused by the compiler.
const json::value* find(const json::object& object, std::string_view key);  // nullptr if absent
const json::value* find(const json::value& object, std::string_view key);
std::string_view text_or(const json::object& object, std::string_view key,
                         std::string_view otherwise);
std::string_view text_or(const json::value& object, std::string_view key,
                         std::string_view otherwise);
const json::value* find(json::value&&, std::string_view) = delete;
std::string_view text_or(json::value&&, std::string_view, std::string_view) = delete;

// JSON pointer step with ~ and / escaped.
std::string pointer(std::string_view base, std::string_view key);

}  // namespace exa
