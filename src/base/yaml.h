// YAML 1.2 core schema into the same JSON value, through libyaml's events. Anchors, aliases, custom
// tags, duplicate keys, NaN and infinities are refused; problems carry file:line:column.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace exa {

struct YamlDocument {
  json::value value;
  int line = 1;  // where the document starts
  // JSON pointer -> "file:line:column" of the key, or of the element of a list
  std::map<std::string, std::string, std::less<>> places;
};

// Where that pointer stands, or the nearest thing around it that has a place.
std::string place_of(const YamlDocument& document, std::string_view pointer, std::string_view file);

struct YamlLimits {
  ReadLimits each;
  size_t max_documents = 100;
  size_t max_scalar_bytes = size_t{64} << 10;
};

Result<std::vector<YamlDocument>> parse_yaml(std::string_view text, std::string_view file,
                                             YamlLimits limits = {});

// Block style, strings quoted whenever the core schema would read them as something else.
std::string to_yaml(const json::value& value);

}  // namespace exa
